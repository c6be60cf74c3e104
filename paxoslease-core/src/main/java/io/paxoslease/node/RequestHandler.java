package io.paxoslease.node;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a node offers to the frames of its peers: its acceptor. Safe to call from any thread; never throws for what a peer may send. */
public interface RequestHandler {

    /** The state of the acceptor, sent along with every answer. */
    enum AcceptorState {
        /** A4. Takes part in nothing yet. */
        QUARANTINED,
        /** Takes part. */
        VOTING,
        /** This node is proposer-only. */
        NONE
    }

    /**
     * Handles requests in order.
     *
     * @param requests the requests of one peer
     * @return for each request its answer, null where the acceptor takes no part and for releases
     */
    List<@Nullable Response> onRequests(List<Request> requests);

    /**
     * A node introduced itself, as each does in a new life before it sends requests.
     *
     * @param sender the node
     */
    default void onHello(Incarnation sender) {}

    /** The state of the acceptor now. */
    AcceptorState acceptorState();

    /** How long the quarantine lasts from now, zero if it is over. */
    long quarantineRemainingNanos();
}
