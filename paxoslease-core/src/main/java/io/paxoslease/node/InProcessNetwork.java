package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Connects nodes of one process without a network, for demonstrations and tests: messages are handed over on the given executor and lost only
 * where a node is missing or cut off.
 */
public final class InProcessNetwork {

    private final Cell cell;
    private final Executor executor;
    private final Map<String, RequestHandler> handlers = new ConcurrentHashMap<>();
    private final Set<String> isolated = ConcurrentHashMap.newKeySet();

    /**
     * Creates a network that nobody is on yet.
     *
     * @param cell the acceptors
     * @param executor runs the handing over; must not run it on the thread that calls it; what it refuses is lost
     */
    public InProcessNetwork(Cell cell, Executor executor) {
        this.cell = cell;
        this.executor = executor;
    }

    /** A transport for a node that is about to be made. */
    public Transport transport() {
        return new Link();
    }

    /**
     * Lets the others reach a node.
     *
     * @param nodeId the id of the node
     * @param handler the node
     */
    public void attach(String nodeId, RequestHandler handler) {
        handlers.put(nodeId, handler);
    }

    /** Takes a node off the network, as if its process had ended. */
    public void detach(String nodeId) {
        handlers.remove(nodeId);
    }

    /** Cuts a node off in both directions. */
    public void isolate(String nodeId) {
        isolated.add(nodeId);
    }

    /** Ends {@link #isolate}. */
    public void rejoin(String nodeId) {
        isolated.remove(nodeId);
    }

    private record Envelope(int acceptor, Request request) {}

    private final class Link implements Transport {

        private final Queue<Envelope> queue = new ConcurrentLinkedQueue<>();
        private final AtomicBoolean draining = new AtomicBoolean();
        private volatile @Nullable Receiver receiver;
        private volatile String self = "";

        @Override
        public void start(Incarnation incarnation, Receiver started) {
            self = incarnation.nodeId();
            receiver = started;
        }

        @Override
        public void send(int acceptor, Request request) {
            queue.add(new Envelope(acceptor, request));
        }

        @Override
        public void flush() {
            if (!queue.isEmpty() && draining.compareAndSet(false, true)) {
                try {
                    executor.execute(this::drain);
                } catch (RuntimeException | Error refused) {
                    queue.clear();
                    draining.set(false);
                    throw refused;
                }
            }
        }

        /** What a node throws is its own affair: the rest goes on in another run. */
        private void drain() {
            try {
                Envelope envelope;
                while ((envelope = queue.poll()) != null) {
                    deliver(envelope);
                }
            } finally {
                draining.set(false);
                flush();
            }
        }

        private void deliver(Envelope envelope) {
            Receiver target = receiver;
            if (target == null) {
                return;
            }
            String member = cell.acceptors().get(envelope.acceptor());
            RequestHandler handler = isolated.contains(self) || isolated.contains(member) ? null : handlers.get(member);
            List<Request> requests = List.of(envelope.request());
            List<@Nullable Response> responses =
                    handler == null ? Collections.singletonList(null) : handler.onRequests(requests);
            target.onAnswers(envelope.acceptor(), requests, responses);
        }

        @Override
        public void close() {
            queue.clear();
        }
    }
}
