package io.paxoslease.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.paxoslease.wire.AnswerFrame.Status;
import io.paxoslease.wire.Verdict.Kind;
import org.jspecify.annotations.Nullable;

/** Decides what a reply is worth. Only an answer that is authentic, fresh, from the right member and about this frame counts. */
final class AnswerCheck {

    /** Frames begin with their version, which is below; texts begin with a letter or white space. */
    private static final int FIRST_TEXT_BYTE = '\t';

    private final WireSettings settings;
    private final @Nullable FrameMac mac;
    private final long fingerprint;

    AnswerCheck(WireSettings settings, @Nullable FrameMac mac) {
        this.settings = settings;
        this.mac = mac;
        this.fingerprint = settings.cell().fingerprint();
    }

    Verdict judge(FrameReply reply, RequestFrame asked) {
        byte[] body = reply.body();
        boolean frame = body.length >= FrameCodec.MIN_BYTES && FrameCodec.version(body) < FIRST_TEXT_BYTE;
        if ((reply.status() == 200 || reply.status() == 409) && frame) {
            return authenticate(body, asked);
        }
        return switch (reply.status()) {
            case 200 -> Verdict.lost("does not answer with a frame (is the URL right?)");
            case 401 -> FrameServer.isUnauthenticated(text(body)) ? otherSecret() : notOurs(reply);
            case 409 -> FrameServer.isRefusal(text(body)) ? Verdict.refused(text(body)) : notOurs(reply);
            case 400 ->
                Verdict.lost(
                        body.length == 0
                                ? "answers with HTTP status 400 (does it expect https?)"
                                : "did not understand a frame: " + text(body));
            case 413, 503 ->
                Verdict.lost(
                        body.length == 0
                                ? "answers with HTTP status " + reply.status()
                                : "answers with status " + reply.status() + ": " + text(body));
            default -> notOurs(reply);
        };
    }

    private static Verdict notOurs(FrameReply reply) {
        return Verdict.lost("answers with HTTP status " + reply.status() + " (is the URL right?)");
    }

    private Verdict otherSecret() {
        return Verdict.refused(
                mac == null
                        ? "has a shared secret, this node has none"
                        : "does not know the shared secret, or has another one");
    }

    private static String text(byte[] body) {
        return Words.clean(new String(body, UTF_8));
    }

    private Verdict authenticate(byte[] body, RequestFrame asked) {
        if (FrameCodec.version(body) != FrameCodec.VERSION) {
            return Verdict.refused(
                    "speaks protocol version " + FrameCodec.version(body) + ", this node speaks " + FrameCodec.VERSION);
        }
        if (mac == null ? FrameCodec.hasMac(body) : !mac.matches(body)) {
            return otherSecret();
        }
        try {
            return check(FrameCodec.decodeAnswer(body, asked.requests()), asked);
        } catch (MalformedFrameException malformed) {
            return Verdict.lost("gave an answer that is no frame: " + malformed.getMessage());
        }
    }

    private Verdict check(AnswerFrame answer, RequestFrame asked) {
        if (!answer.asker().equals(asked.sender()) || answer.sequence() != asked.sequence()) {
            return Verdict.lost("gave the answer to another frame");
        }
        if (!answer.sender().nodeId().equals(asked.receiver())) {
            return Verdict.refused("answers as " + Words.clean(answer.sender().nodeId()) + " instead of "
                    + asked.receiver() + whyAnother(answer, asked));
        }
        return switch (answer.status()) {
            case REFUSED, OTHER_MAJORITY -> new Verdict(Kind.REFUSED, answer, Words.clean(answer.reason()));
            case REPLAYED -> Verdict.lost("got a frame twice or late");
            case OK, NEW_SESSION ->
                fits(answer, asked)
                        ? new Verdict(kind(answer, asked), answer, remark(answer))
                        : Verdict.lost("gave an answer that does not fit the frame");
        };
    }

    private static String whyAnother(AnswerFrame answer, RequestFrame asked) {
        if (answer.sender().equals(asked.sender())) {
            return ": the URL leads to this node itself (is its node id right?)";
        }
        return answer.sender().nodeId().equals(asked.sender().nodeId())
                ? ": another process uses this node's id"
                : " (is the URL right?)";
    }

    /** OK comes from the life and session that was asked; a session is opened for a hello and asked for otherwise. */
    private boolean fits(AnswerFrame answer, RequestFrame asked) {
        boolean hello = asked.hello() != null;
        if (!answer.cell().equals(settings.cell().name())) {
            return false;
        }
        return answer.status() == Status.OK
                ? !hello
                        && answer.session() == asked.session()
                        && answer.sender().nonce() == asked.receiverNonce()
                : hello == (answer.session() != RequestFrame.NO_SESSION);
    }

    private static Kind kind(AnswerFrame answer, RequestFrame asked) {
        return answer.status() == Status.OK
                ? Kind.ANSWERED
                : asked.hello() != null ? Kind.SESSION_OPENED : Kind.SESSION_UNKNOWN;
    }

    private @Nullable String remark(AnswerFrame answer) {
        return answer.fingerprint() == fingerprint
                ? null
                : "has another list of members, which is safe because any two majorities meet";
    }
}
