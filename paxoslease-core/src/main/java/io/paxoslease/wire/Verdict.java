package io.paxoslease.wire;

import org.jspecify.annotations.Nullable;

/**
 * What an exchange came to.
 *
 * @param kind what it came to
 * @param answer the verified answer of the member, also if that refused the frame; null if there was none
 * @param problem what is wrong, in words; null if nothing is
 */
record Verdict(
        Kind kind, @Nullable AnswerFrame answer, @Nullable String problem) {

    enum Kind {
        /** The requests were handled. */
        ANSWERED,
        /** The member opened a session. */
        SESSION_OPENED,
        /** The member knows no such session; it handled nothing. */
        SESSION_UNKNOWN,
        /** There was no answer, or not one to this frame: whether it was handled is unknown. */
        LOST,
        /** The two nodes do not fit together. */
        REFUSED
    }

    static Verdict lost(String problem) {
        return new Verdict(Kind.LOST, null, problem);
    }

    static Verdict refused(String problem) {
        return new Verdict(Kind.REFUSED, null, problem);
    }

    /** Whether the member takes frames of this node. */
    boolean isGood() {
        return answer != null && kind != Kind.REFUSED;
    }
}
