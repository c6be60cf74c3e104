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
 * @param receiverNonce which life of that member is meant, 0 in a hello
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
     */
    record Hello(long maxLeaseNanos, Cell members) {}

    /** The hello of a node to a member. */
    static RequestFrame hello(WireSettings settings, Incarnation sender, String receiver, long sequence) {
        Cell cell = settings.cell();
        Hello hello = new Hello(settings.timing().maxLeaseNanos(), cell);
        return new RequestFrame(
                cell.name(), sender, receiver, 0, NO_SESSION, cell.fingerprint(), sequence, hello, List.of());
    }

    RequestFrame {
        if ((hello != null) != (session == NO_SESSION) || (hello != null && !requests.isEmpty())) {
            throw new IllegalArgumentException(
                    "A hello has no session and no requests, every other frame has a session");
        }
    }
}
