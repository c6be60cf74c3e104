package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.node.EventQueue;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * A cell of production nodes with the production wire, whose time is that of an event queue and whose network counts. Nothing is lost; each way
 * of a frame takes from {@link #LEAST_DELAY_NANOS} to {@link #MOST_DELAY_NANOS}. The same seed gives the same counts.
 */
final class CostSimulation {

    static final Duration LEASE_TIME = Duration.ofSeconds(10);
    static final Timing TIMING = new Timing(LEASE_TIME.toNanos(), 0.01);
    static final long MOST_DELAY_NANOS = 500_000;
    static final String CELL = "default";

    private static final long LEAST_DELAY_NANOS = 100_000;
    private static final long TICK_NANOS = 250_000_000;
    private static final long ANSWERED_NANOS = 1_000_000;
    private static final long EPOCH_MILLIS = 1_795_000_000_000L;
    private static final int ID_BYTES = 6;

    /** Kept, so that its level is: every first meeting would be logged. */
    private static final Logger LOGGER = Logger.getLogger("io.paxoslease.wire");

    /** What went over the network. */
    record Counts(
            long hellos,
            long unknownSessions,
            long probes,
            long frames,
            long bytes,
            long requests,
            long prepares,
            long answers,
            long granted) {

        static final Counts NONE = new Counts(0, 0, 0, 0, 0, 0, 0, 0, 0);

        /** Counts one exchange. Frames are those that were handled, with requests or as probes. */
        Counts plus(int bytes, List<Request> requests, AnswerFrame answer, boolean hello) {
            boolean unknown = !hello && answer.status() == AnswerFrame.Status.NEW_SESSION;
            boolean handled = answer.status() == AnswerFrame.Status.OK;
            return new Counts(
                    hellos + (hello ? 1 : 0),
                    unknownSessions + (unknown ? 1 : 0),
                    probes + (handled && requests.isEmpty() ? 1 : 0),
                    frames + (handled ? 1 : 0),
                    this.bytes + bytes,
                    this.requests + requests.size(),
                    prepares
                            + requests.stream()
                                    .filter(PrepareRequest.class::isInstance)
                                    .count(),
                    answers
                            + answer.responses().stream()
                                    .filter(response -> response != null)
                                    .count(),
                    granted
                            + answer.responses().stream()
                                    .filter(Counts::isGranted)
                                    .count());
        }

        private static boolean isGranted(Response response) {
            return response instanceof PrepareResponse prepare && prepare.promised()
                    || response instanceof ProposeResponse propose && propose.accepted();
        }

        Counts minus(Counts before) {
            return new Counts(
                    hellos - before.hellos,
                    unknownSessions - before.unknownSessions,
                    probes - before.probes,
                    frames - before.frames,
                    bytes - before.bytes,
                    requests - before.requests,
                    prepares - before.prepares,
                    answers - before.answers,
                    granted - before.granted);
        }
    }

    private final EventQueue events = new EventQueue();
    private final Map<String, FrameServer> servers = new HashMap<>();
    private final List<Peer> peers = new ArrayList<>();
    private final RandomGenerator random;
    private final Cell cell;
    private final boolean oneRoundTrip;
    private long nowNanos;
    private int underWay;
    private Counts counts = Counts.NONE;

    private CostSimulation(int acceptors, boolean oneRoundTrip, long seed) {
        this.cell = new Cell(
                CELL,
                IntStream.range(0, acceptors).mapToObj(CostSimulation::nodeId).toList());
        this.oneRoundTrip = oneRoundTrip;
        this.random = Samples.random(seed);
        LOGGER.setLevel(Level.OFF);
    }

    /** Starts nodes, the acceptors first, and waits until all have met and may vote. */
    static CostSimulation of(int acceptors, int nodes, boolean oneRoundTrip) {
        CostSimulation simulation = new CostSimulation(acceptors, oneRoundTrip, 31 * acceptors + nodes);
        simulation.start(nodes);
        return simulation;
    }

    private void start(int nodes) {
        for (int i = 0; i < nodes; i++) {
            peers.add(new Peer(nodeId(i)));
        }
        advance(LEASE_TIME.multipliedBy(2));
        settle();
    }

    CostModel model(int nameBytes) {
        return new CostModel(cell.size(), CELL.length(), ID_BYTES, nameBytes);
    }

    private static String nodeId(int number) {
        return String.format(Locale.ROOT, "n%05d", number);
    }

    /** What was counted since a picture of {@link #counts}. */
    Counts since(Counts before) {
        return counts.minus(before);
    }

    Counts counts() {
        return counts;
    }

    Peer peer(int number) {
        return peers.get(number);
    }

    // Time.

    private void step() {
        nowNanos = events.nextAt();
        events.poll().run();
    }

    void advance(Duration duration) {
        long endNanos = nowNanos + duration.toNanos();
        while (events.nextAt() <= endNanos) {
            step();
        }
        nowNanos = endNanos;
    }

    /** Goes on until no frame is under way. */
    void settle() {
        while (underWay > 0) {
            step();
        }
    }

    private long delayNanos() {
        return LEAST_DELAY_NANOS + random.nextLong(MOST_DELAY_NANOS - LEAST_DELAY_NANOS + 1);
    }

    /** One node. It is driven by events: what its transport's thread and its timer would do. */
    final class Peer implements NodeClock, FrameChannel, Transport {

        final LeaseNode node;
        private final FrameTransport frames;
        private long wakesAtNanos = Long.MAX_VALUE;

        Peer(String nodeId) {
            WireSettings wire = new WireSettings(
                    cell, TIMING, Duration.ofSeconds(1), List.of(), WireSettings.DEFAULT_MAX_FRAME_BYTES);
            frames = new FrameTransport(wire, this, WireListener.NONE, this);
            NodeSettings settings = new NodeSettings(
                    nodeId, cell, TIMING, LEASE_TIME, Duration.ofSeconds(1), false, oneRoundTrip, 1_000_000, Map.of());
            node = new LeaseNode(settings, this, random, this);
            if (cell.indexOf(nodeId) >= 0) {
                servers.put(nodeId, new FrameServer(node.incarnation(), wire, node, WireListener.NONE, random));
                node.openAcceptor();
            }
            node.start();
            events.add(nowNanos + random.nextLong(TICK_NANOS), this::tick);
        }

        private void tick() {
            frames.tick();
            wake();
            events.add(nowNanos + TICK_NANOS, this::tick);
        }

        private void wake() {
            OptionalLong next = node.onTime();
            if (next.isPresent()) {
                wakeBy(Math.max(nowNanos, next.getAsLong()));
            }
        }

        /** What an answer changed about the next due time is noticed a little later. */
        private void wakeBy(long nanos) {
            if (nanos < wakesAtNanos) {
                wakesAtNanos = nanos;
                events.add(nanos, () -> {
                    if (wakesAtNanos == nanos) {
                        wakesAtNanos = Long.MAX_VALUE;
                        wake();
                    }
                });
            }
        }

        @Override
        public Now now() {
            return new Now(nowNanos, EPOCH_MILLIS + nowNanos / 1_000_000);
        }

        @Override
        public boolean isDriven() {
            return true;
        }

        @Override
        public void start(Incarnation self, Receiver receiver) {
            frames.startWithoutTicks(
                    self,
                    receiver,
                    task -> events.add(nowNanos, task),
                    (task, nanos) -> events.add(nowNanos + nanos, task));
        }

        @Override
        public void send(int acceptor, Request request) {
            frames.send(acceptor, request);
        }

        @Override
        public void flush() {
            frames.flush();
        }

        @Override
        public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
            if (member.equals(node.settings().nodeId())) {
                // That takes no network.
                return CompletableFuture.completedFuture(servers.get(member).handle(frame, null));
            }
            CompletableFuture<FrameReply> answer = new CompletableFuture<>();
            underWay++;
            events.add(nowNanos + delayNanos(), () -> {
                FrameReply reply = servers.get(member).handle(frame, null);
                count(frame, reply);
                events.add(nowNanos + delayNanos(), () -> {
                    answer.complete(reply);
                    wakeBy(nowNanos + ANSWERED_NANOS);
                    underWay--;
                });
            });
            return answer;
        }

        @Override
        public void close() {}

        // What an application does.

        private CompletableFuture<Optional<Lease>> tryAcquire(String name) {
            CompletableFuture<Optional<Lease>> lease =
                    node.tryAcquireAsync(name, LEASE_TIME).toCompletableFuture();
            wake();
            return lease;
        }

        private void awaitTold() {
            assertThat(node.awaitTold(Duration.ofSeconds(30))).isTrue();
        }

        /** Stands for election from now on. */
        void stand(String name) {
            node.election(name).start();
            wake();
        }

        /** Asks for all leases at once. */
        List<Lease> acquire(List<String> names) {
            List<CompletableFuture<Optional<Lease>>> wanted =
                    names.stream().map(this::tryAcquire).toList();
            settle();
            awaitTold();
            return wanted.stream().map(lease -> lease.join().orElseThrow()).toList();
        }

        /** Takes a lease, for which everybody is asked, and gives it back: from now on a majority is known for a while. */
        void learnWhomToAsk() {
            release(acquire(List.of("first")));
        }

        /** Gives back all leases at once. */
        void release(List<Lease> leases) {
            leases.forEach(Lease::release);
            settle();
        }

        /** Acquires and releases each lease, so that as many are wanted at any time as there are workers. */
        void cycle(List<String> names, int workers) {
            Map<String, CompletableFuture<Optional<Lease>>> wanted = new LinkedHashMap<>();
            int next = 0;
            while (next < names.size() || !wanted.isEmpty()) {
                while (next < names.size() && wanted.size() < workers) {
                    wanted.put(names.get(next), tryAcquire(names.get(next)));
                    next++;
                }
                step();
                awaitTold();
                wanted.values().removeIf(lease -> {
                    if (lease.isDone()) {
                        lease.join().orElseThrow().release();
                    }
                    return lease.isDone();
                });
            }
            settle();
        }
    }

    private void count(byte[] frame, FrameReply reply) {
        try {
            RequestFrame asked = FrameCodec.decodeRequest(frame, sender -> sender);
            AnswerFrame answer = FrameCodec.decodeAnswer(reply.body(), asked.requests());
            counts = counts.plus(frame.length + reply.body().length, asked.requests(), answer, asked.hello() != null);
        } catch (MalformedFrameException malformed) {
            throw new AssertionError(malformed);
        }
    }
}
