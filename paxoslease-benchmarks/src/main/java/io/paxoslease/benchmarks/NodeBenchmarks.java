package io.paxoslease.benchmarks;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a node of three, owner and acceptor, spends on a lease without a network: the other two accept everything. Time passes as the benchmark
 * says, so that the extensions of all leases come as evenly as they do in a process that took them one after the other.
 */
@SuppressWarnings("NullAway.Init") // JMH calls the set-up method first
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class NodeBenchmarks {

    private static final long LEASE = TimeUnit.SECONDS.toNanos(60);
    private static final Duration TIME = Duration.ofNanos(LEASE);
    private static final int TOGETHER = 512;
    private static final int WORKERS = 128;

    /** How many leases are held. */
    @Param({"10000", "1000000"})
    private int leases;

    private final Willing others = new Willing();
    private volatile Now now = new Now(0, 1_800_000_000_000L);
    private final NodeClock clock = new NodeClock() {
        @Override
        public Now now() {
            return now;
        }

        @Override
        public boolean isDriven() {
            return true;
        }
    };
    private LeaseNode node;
    private long extensions;
    private long round;

    /** Takes the leases, spread over the time after which each is extended. */
    @Setup
    public void hold() {
        NodeSettings settings = new NodeSettings(
                "n1",
                new Cell("bench", List.of("n1", "n2", "n3")),
                new Timing(LEASE, 0.01),
                TIME,
                Duration.ofSeconds(1),
                false,
                true,
                1 << 28,
                Map.of());
        node = new LeaseNode(settings, others, new SplittableRandom(1), clock);
        node.openAcceptor();
        pass(2 * LEASE);
        node.start();
        node.addListener(transition -> extensions++);
        for (int i = 0; i < leases; i++) {
            node.tryAcquireAsync(String.format("held%012d", i), TIME)
                    .thenAccept(lease -> lease.ifPresent(Lease::autoExtend));
            if (i % TOGETHER == TOGETHER - 1) {
                others.answer(node);
                node.awaitTold(Duration.ofSeconds(1));
                pass(LEASE / 2 / leases * TOGETHER);
                node.onTime();
                others.answer(node);
            }
        }
        others.answer(node);
        node.awaitTold(Duration.ofSeconds(1));
    }

    /** Ends the threads. */
    @TearDown
    public void close() {
        if (extensions < leases) {
            throw new IllegalStateException("Only " + extensions + " of the leases were told of");
        }
        node.close();
    }

    private void pass(long nanos) {
        now = new Now(now.nanos() + nanos, now.wallMillis() + nanos / 1_000_000);
    }

    /** One extension: due, proposed to three, answered by three, told. */
    @Benchmark
    @OperationsPerInvocation(TOGETHER)
    public void extend() {
        pass(LEASE / 2 / leases * TOGETHER);
        node.onTime();
        others.answer(node);
    }

    /** One acquisition and the release that follows: proposed to three, answered by three, its taker called back. */
    @Benchmark
    @OperationsPerInvocation(WORKERS)
    public void cycle() {
        AtomicInteger taken = new AtomicInteger();
        for (int worker = 0; worker < WORKERS; worker++) {
            node.tryAcquireAsync(Workers.name(worker, round), TIME).thenAccept(lease -> {
                lease.ifPresent(Lease::release);
                taken.incrementAndGet();
            });
        }
        round++;
        others.answer(node);
        while (taken.get() < WORKERS) {
            Thread.onSpinWait();
        }
        others.answer(node);
    }

    /** Two acceptors that accept, whose answers come when the benchmark says so. */
    private static final class Willing implements Transport {

        private List<Request> requests = new ArrayList<>();

        @Override
        public void start(Incarnation self, Receiver receiver) {}

        @Override
        public synchronized void send(int acceptor, Request request) {
            if (acceptor == 1) {
                requests.add(request);
            }
        }

        void answer(Receiver receiver) {
            for (List<Request> answered = take(); !answered.isEmpty(); answered = take()) {
                List<@Nullable Response> responses = new ArrayList<>(answered.size());
                for (Request request : answered) {
                    responses.add(
                            request instanceof ProposeRequest propose
                                    ? new ProposeResponse(
                                            propose.resource(),
                                            propose.ballot(),
                                            true,
                                            propose.ballot().counter(),
                                            new AcceptedLease(propose.ballot(), propose.leaseNanos()))
                                    : null);
                }
                receiver.onAnswers(1, answered, responses);
                receiver.onAnswers(2, answered, responses);
            }
        }

        private synchronized List<Request> take() {
            List<Request> taken = requests;
            requests = new ArrayList<>();
            return taken;
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
