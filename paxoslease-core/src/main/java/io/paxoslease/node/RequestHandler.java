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

    /**
     * A node of this cell introduced itself that has another maximum lease time (T3). It is refused.
     *
     * @param sender the node
     * @param maxLeaseNanos its maximum lease time
     */
    default void onOtherMaximum(Incarnation sender, long maxLeaseNanos) {}

    /**
     * Somebody votes who must not do so together with the acceptor: a majority of another list of members, which need not meet one of this cell's (X9),
     * or another process with the id of this node (A4). Told whenever it is heard.
     *
     * @param who who it is, as a sentence without its full stop
     */
    default void onOtherVoter(String who) {}

    /** Whether a majority of the cell votes, as far as is known. */
    default boolean majorityVotes() {
        return false;
    }

    /** The state of the acceptor now. */
    AcceptorState acceptorState();

    /** How long the quarantine lasts from now, zero if it is over. */
    long quarantineRemainingNanos();
}
