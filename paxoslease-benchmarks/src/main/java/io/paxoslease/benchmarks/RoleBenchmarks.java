package io.paxoslease.benchmarks;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Effect;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What the two roles cost without a network, and what {@link Lease#isHeld()} costs. */
@SuppressWarnings("NullAway.Init") // JMH calls the set-up method first
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RoleBenchmarks {

    private static final long LEASE = TimeUnit.HOURS.toNanos(1);

    /** How many leases are live. */
    @Param({"1000", "1000000"})
    private int leases;

    private final Incarnation self = new Incarnation("n1", 1);
    private final Timing timing = new Timing(LEASE, 0.01);
    private final List<Effect> effects = new ArrayList<>();
    private final BallotSequence ballots = new BallotSequence(now());
    private String[] names;
    private Acceptor acceptor;
    private Proposer proposer;
    private LeaseNode node;
    private Lease lease;
    private int next;

    /** Fills the tables. */
    @Setup
    public void fill() {
        names = new String[leases];
        Now now = now();
        acceptor = new Acceptor(timing, 1 << 28, now);
        acceptor.openAtOnce(now);
        proposer = new Proposer(self, new Cell("bench", List.of("n1", "n2", "n3")), timing, ballots);
        for (int i = 0; i < leases; i++) {
            names[i] = String.format("lease-%010d", i);
        }
        for (int i = 0; i < leases; i++) {
            acceptorExtends();
        }
        for (int i = 0; i < leases; i++) {
            proposerExtends();
        }
        node = new LeaseNode(
                NodeSettings.standalone("n1", Duration.ofHours(1)), new NoTransport(), RandomGenerator.getDefault());
        node.openAcceptor();
        node.start();
        lease = node.tryAcquire("held", Duration.ofHours(1)).orElseThrow();
    }

    /** Ends the timer thread. */
    @TearDown
    public void close() {
        node.close();
    }

    private static Now now() {
        return new Now(System.nanoTime(), System.currentTimeMillis());
    }

    /** Every name once, not in the order in which they were added; the step has no divisor in common with the number of leases. */
    private String nextName() {
        next = (int) ((next + 7_919L) % leases);
        return names[next];
    }

    /** One proposal for a lease that its owner extends. */
    @Benchmark
    public @Nullable ProposeResponse acceptorExtends() {
        Now now = now();
        return acceptor.onProposeRequest(
                new ProposeRequest(nextName(), new Ballot(ballots.next(now), self), LEASE), now);
    }

    /** One extension in one round trip: start, two answers, won. */
    @Benchmark
    public List<Effect> proposerExtends() {
        Now now = now();
        String name = nextName();
        effects.clear();
        proposer.startInOneRoundTrip(name, LEASE, now, effects);
        Effect.Broadcast broadcast = (Effect.Broadcast) effects.get(effects.size() - 1);
        Ballot ballot = broadcast.request().ballot();
        ProposeResponse accepted = new ProposeResponse(name, ballot, true, ballot.counter(), null);
        proposer.onResponse(0, accepted, now, effects);
        proposer.onResponse(1, accepted, now, effects);
        return effects;
    }

    /** The question that guards a method. */
    @Benchmark
    public boolean isHeld() {
        return lease.isHeld();
    }

    /** What of that is the two clocks. */
    @Benchmark
    public Now clocks() {
        return now();
    }
}
