package io.paxoslease.node;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Port: carries requests to the other acceptors of the cell and brings their answers back.
 *
 * <p>Failure semantics first. It may drop, duplicate, reorder and delay any message; nothing rests on its doing better. It must not
 * alter a message, or deliver one that nobody sent. {@link #send} and {@link #flush} must not block, must not throw and must not call the
 * {@link Receiver} on the calling thread. What it keeps queued is bounded; beyond that it drops and says so.
 */
public interface Transport extends AutoCloseable {

    /** What the transport calls back, on threads of its own. */
    interface Receiver {

        /**
         * An answer arrived.
         *
         * @param acceptor the position in the cell of the acceptor that answered
         * @param response the answer
         */
        void onResponse(int acceptor, Response response);

        /**
         * A request will probably not be answered: it could not be delivered, or the acceptor took no part. A hint that saves waiting.
         *
         * @param acceptor the position in the cell of the acceptor
         * @param request the request
         */
        void onUnanswered(int acceptor, Request request);

        /**
         * Answers arrived together: the same as one call for each, in order. Releases are not answered, and nobody is told so.
         *
         * @param acceptor the position in the cell of the acceptor that answered
         * @param requests the requests
         * @param responses for each request its answer, null if there is none
         */
        default void onAnswers(int acceptor, List<Request> requests, List<@Nullable Response> responses) {
            for (int i = 0; i < requests.size(); i++) {
                Response response = responses.get(i);
                if (response != null) {
                    onResponse(acceptor, response);
                } else if (!(requests.get(i) instanceof ReleaseRequest)) {
                    onUnanswered(acceptor, requests.get(i));
                }
            }
        }

        /** Whether this node has an acceptor that is to vote, and does not yet: then the transport looks for others that vote in its place. */
        default boolean awaitsVote() {
            return false;
        }

        /** See {@link RequestHandler#onOtherVoter}. */
        default void onOtherVoter(String who) {}
    }

    /**
     * Tells the transport who sends and whom to call; called once before anything is sent.
     *
     * @param self this life of this node
     * @param receiver what to call back
     */
    void start(Incarnation self, Receiver receiver);

    /**
     * Queues a request for an acceptor.
     *
     * @param acceptor the position in the cell of the acceptor, never the one of this node
     * @param request the request
     */
    void send(int acceptor, Request request);

    /**
     * Queues requests for an acceptor: the same as one call of {@link #send} for each, in order.
     *
     * @param acceptor the position in the cell of the acceptor, never the one of this node
     * @param requests the requests; the list is not kept
     */
    default void sendAll(int acceptor, List<Request> requests) {
        for (int i = 0; i < requests.size(); i++) {
            send(acceptor, requests.get(i));
        }
    }

    /** Called after a group of {@code send}s: what is queued may go out now. */
    void flush();

    /**
     * A node introduced itself to this one, as each does in a new life. The transport may use it to renew what it has with that node. Called by
     * any thread, perhaps before the start; must not block or throw.
     *
     * @param sender the node
     */
    default void onHello(Incarnation sender) {}

    /** Whether a majority of the cell votes, this node's acceptor included, by the last answers. Called by any thread. */
    default boolean majorityVotes() {
        return false;
    }

    /** Stops; what is queued may be sent or dropped. Called again, where the container closes it too, it does nothing. */
    @Override
    void close();
}
