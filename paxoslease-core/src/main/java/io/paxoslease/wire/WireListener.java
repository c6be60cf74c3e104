package io.paxoslease.wire;

/** Told about traffic, for metrics. Called often and on protocol threads: must be quick, must not block or throw. */
public interface WireListener {

    /** Hears nothing. */
    WireListener NONE = new WireListener() {};

    /**
     * A message was sent, received or dropped.
     *
     * <p>Of a {@code prepare}, {@code propose} or {@code release} that this node sends: {@code sent}, then {@code answered} or {@code
     * unanswered} (not for a release); {@code dropped} if too many wait. Of one that it receives: {@code received}.
     *
     * <p>Of a {@code frame} that it sends: {@code sent}, then {@code answered} or {@code unanswered}. Of one that it receives: {@code
     * accepted}, {@code session-opened}, {@code session-unknown}, {@code replayed}, {@code refused}, {@code malformed}, {@code
     * unauthenticated}, {@code other-version}, {@code oversized} or {@code defect}.
     *
     * @param type what it was
     * @param outcome what became of it
     */
    default void onMessage(String type, String outcome) {}

    /**
     * An exchange with a member succeeded.
     *
     * @param member the node id of the member
     * @param nanos how long it took
     */
    default void onRoundTrip(String member, long nanos) {}
}
