package io.paxoslease.wire;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Many requests of one node for one member, or the hello that opens a session. A frame that is neither is a probe: it has no requests.
 *
 * @param cell the name of the cell
 * @param sender who sends, the owner of the ballots of all requests
 * @param receiver the node id of the member that is meant
 * @param receiverNonce which life of that member is meant; in a hello the one that was heard last, 0 if none was
 * @param session the session that the receiver opened, 0 in a hello
 * @param fingerprint the sender's {@link Cell#fingerprint()}
 * @param sequence grows from frame to frame of one sender to one member
 * @param hello what a session rests on; null if this is no hello
 * @param requests the requests; none in a hello
 */
record RequestFrame(
        String cell,
        Incarnation sender,
        String receiver,
        long receiverNonce,
        long session,
        long fingerprint,
        long sequence,
        @Nullable Hello hello,
        List<Request> requests) {

    /** The session of a hello. */
    static final long NO_SESSION = 0;

    /**
     * The settings that must fit before two nodes exchange a message.
     *
     * @param maxLeaseNanos M, equal on all nodes of a cell (T3)
     * @param members the cell as the sender knows it (X9)
     * @param majorityVotes whether a majority of these votes, as far as the sender knows
     */
    record Hello(long maxLeaseNanos, Cell members, boolean majorityVotes) {}

    /** A hello that tells of no majority. */
    static RequestFrame hello(
            WireSettings settings, Incarnation sender, String receiver, long receiverNonce, long sequence) {
        Cell cell = settings.cell();
        Hello hello = new Hello(settings.timing().maxLeaseNanos(), cell, false);
        return new RequestFrame(
                cell.name(),
                sender,
                receiver,
                receiverNonce,
                NO_SESSION,
                cell.fingerprint(),
                sequence,
                hello,
                List.of());
    }

    /** This frame; if it is a hello, with what it is to tell of the majority. */
    RequestFrame telling(boolean majorityVotes) {
        return hello == null
                ? this
                : new RequestFrame(
                        cell,
                        sender,
                        receiver,
                        receiverNonce,
                        session,
                        fingerprint,
                        sequence,
                        new Hello(hello.maxLeaseNanos, hello.members, majorityVotes),
                        requests);
    }

    RequestFrame {
        if ((hello != null) != (session == NO_SESSION) || (hello != null && !requests.isEmpty())) {
            throw new IllegalArgumentException(
                    "A hello has no session and no requests, every other frame has a session");
        }
    }
}
