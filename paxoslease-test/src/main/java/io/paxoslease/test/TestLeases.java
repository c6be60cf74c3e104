package io.paxoslease.test;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cell in memory for the tests of an application: this application's node and three members, all of them ordinary nodes that follow the protocol,
 * so that only what can happen in production happens here. A member can be told to take a lease over; the network and the clocks do what the
 * test says.
 *
 * <p>Time stands still until a method of this class lets it pass, and no method waits for real time. When a method returns, everybody has been
 * told what happened: listeners, events, {@code onLost} actions. Listeners that are still busy after two seconds of real time are not waited for.
 *
 * <p>A call that waits for others, such as {@code acquire} for a lease that another node holds, or {@code tryAcquire} during {@link #partition()}, ends
 * when another thread lets the time pass; if none does, it gives up after the real time that it would take in production.
 *
 * <p>Safe to call from any thread, one method at a time.
 */
public final class TestLeases implements AutoCloseable {

    static final Duration TELLING = Duration.ofSeconds(2);

    private static final Duration LEASE_TIME = Duration.ofSeconds(10);

    /** X2. Counters follow the wall clock, which counts milliseconds. */
    private static final long COUNTER_STEP_NANOS = Duration.ofMillis(1).toNanos();

    private final InMemoryCell cell;
    private final LeaseNode node;
    private final Supplier<Set<String>> guarded;
    private final Runnable awaitListeners;
    /** Known, not asked for: the node may be a spy, of which a test is just about to verify a call with this time. */
    private final Duration leaseTime;

    /** Null until it is asked for. */
    private @Nullable Set<String> candidacies;

    /** Where the node belongs to an application that starts and stops it. */
    TestLeases(InMemoryCell cell, LeaseNode node, Supplier<Set<String>> guarded, Runnable awaitListeners) {
        this.cell = cell;
        this.node = node;
        this.guarded = guarded;
        this.awaitListeners = awaitListeners;
        this.leaseTime = node.settings().leaseTime();
        cell.join(node);
    }

    /** A cell with a node of its own, for tests without an application context. To be closed. */
    static TestLeases started() {
        InMemoryCell cell = new InMemoryCell();
        LeaseNode node = new LeaseNode(
                new NodeSettings(
                        "application",
                        new Cell("test", List.of("node-1", "node-2", "node-3")),
                        new Timing(LEASE_TIME.toNanos(), 0.01),
                        LEASE_TIME,
                        Duration.ofSeconds(1),
                        false,
                        true,
                        NodeSettings.defaultMaxResources(),
                        Map.of()),
                cell.transport(),
                new SplittableRandom(1),
                cell.clock());
        TestLeases leases = new TestLeases(cell, node, Set::of, () -> {});
        node.start();
        leases.candidacies();
        return leases;
    }

    /** What the application uses. */
    public LeaseManager manager() {
        return node;
    }

    /** How long this application's leases last, unless they are extended or have a setting of their own. */
    public Duration leaseTime() {
        return leaseTime;
    }

    /**
     * Makes this application the leader: another node that holds the lease gives it up, this one becomes a candidate if it is none, and time
     * passes until it leads.
     *
     * @param leaseName the name of the lease
     * @throws IllegalStateException if it cannot lead: it is cut off, paused or set never to seek this lease, or holds it by {@code tryAcquire}
     */
    public synchronized void grant(String leaseName) {
        requireRunning("grant '" + leaseName + "'");
        cell.rival().election(leaseName).stop();
        node.election(leaseName).start();
        if (!cell.passUntil(cell.patienceNanos(), () -> node.election(leaseName).isLeader())) {
            throw new IllegalStateException("The application does not lead '" + leaseName
                    + "' although no other node does. Is it set never to seek it (paxoslease.leases." + leaseName
                    + ".candidate=false), or did it take the lease with tryAcquire or acquire?");
        }
        awaitTold();
    }

    /**
     * Makes another node the owner. If this application holds the lease, none of its messages about it arrives any more, until the lease has
     * run out and the other node has it. Other leases are extended meanwhile.
     *
     * @param leaseName the name of the lease
     */
    public synchronized void revoke(String leaseName) {
        cell.stopHearing(leaseName);
        try {
            cell.rival().election(leaseName).start();
            if (!cell.passUntil(
                    cell.patienceNanos(), () -> cell.rival().election(leaseName).isLeader() && !isHeld(leaseName))) {
                throw new IllegalStateException("No other node got the lease '" + leaseName + "'");
            }
        } finally {
            cell.hearAgain(leaseName);
        }
        if (!cell.isCutOff() && !cell.isPaused()) {
            cell.passUntil(cell.patienceNanos(), () -> !seeks(leaseName));
        }
        awaitTold();
    }

    /**
     * Lets the lease of this application run out without anybody taking it over. A standing candidate tries again and leads again, with a higher
     * token, when some time has passed.
     *
     * @param leaseName the name of the lease
     * @throws IllegalStateException if this application does not hold it
     */
    public synchronized void expire(String leaseName) {
        if (!isHeld(leaseName)) {
            throw new IllegalStateException("The application does not hold '" + leaseName + "'");
        }
        cell.stopHearing(leaseName);
        try {
            cell.passUntil(cell.patienceNanos(), () -> !isHeld(leaseName));
        } finally {
            cell.hearAgain(leaseName);
        }
        awaitTold();
    }

    /**
     * Lets another node give a lease up, so that nobody holds it until somebody tries. A millisecond passes.
     *
     * @param leaseName the name of the lease
     */
    public synchronized void free(String leaseName) {
        cell.rival().election(leaseName).stop();
        cell.settle();
        // So that the next ballot of this application, which has not heard those of the other node, is above them: its
        // second try would need time.
        cell.jump(COUNTER_STEP_NANOS);
        awaitTold();
    }

    /** Cuts this application off from all members. What it holds it keeps until its lease time has passed. */
    public synchronized void partition() {
        cell.settle();
        cell.setCutOff(true);
    }

    /** Ends {@link #partition()}. */
    public synchronized void heal() {
        cell.setCutOff(false);
        cell.settle();
        awaitTold();
    }

    /**
     * Stops this application's node, as a long garbage collection does: it notices, extends and asks nothing while time passes for the others. Its
     * leases tell the truth nevertheless, because they ask the clock. Who asks one after its end makes the node notice that, and try in vain to lead
     * again: after {@link #resume()} it leads when the time of that attempt is over.
     */
    public synchronized void pause() {
        cell.settle();
        cell.setPaused(true);
    }

    /** Ends {@link #pause()}: now the node notices what has become of its leases. */
    public synchronized void resume() {
        cell.setPaused(false);
        cell.settle();
        awaitTold();
    }

    /**
     * Lets time pass for all nodes. Leases are extended meanwhile, where nothing prevents it.
     *
     * @param time how much
     */
    public synchronized void advance(Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException("Time does not run backwards: " + time);
        }
        cell.passUntil(time.toNanos(), () -> false);
        awaitTold();
    }

    /** What the application stood for when it had started. To be asked for before a test can change that. */
    synchronized Set<String> candidacies() {
        Set<String> known = candidacies;
        if (known == null) {
            known = new TreeSet<>();
            for (LeaderElection election : node.startedElections()) {
                known.add(election.name());
            }
            candidacies = known;
        }
        return known;
    }

    /**
     * Begins anew: no node is cut off or paused, no other node is a candidate for anything, every lease is given up, and this application leads what it
     * was a candidate for when it had started, and what its methods are guarded by. Other elections are stopped, and calls that wait for a lease end
     * without one. Time does not go back.
     */
    public synchronized void reset() {
        cell.setCutOff(false);
        cell.setPaused(false);
        Set<String> standing = new TreeSet<>(candidacies());
        standing.addAll(guarded.get());
        cell.rival().releaseAll();
        node.releaseAll();
        cell.settle();
        cell.jump(cell.clock().behindNanos() + node.settings().timing().maxLeaseNanos());
        cell.settle();
        standing.forEach(name -> node.election(name).start());
        cell.passUntil(
                cell.patienceNanos(),
                () -> node.leases().values().stream().noneMatch(lease -> lease.candidate() && !lease.heldHere()));
        awaitTold();
    }

    private void requireRunning(String what) {
        if (cell.isCutOff() || cell.isPaused()) {
            throw new IllegalStateException("Cannot " + what + " while the application is "
                    + (cell.isPaused() ? "paused: resume() it first" : "cut off: heal() first"));
        }
    }

    private boolean isHeld(String leaseName) {
        LeaseStatus lease = cell.lease(leaseName);
        return lease != null && lease.heldHere();
    }

    private boolean seeks(String leaseName) {
        LeaseStatus lease = cell.lease(leaseName);
        return lease != null && lease.state() == LeaseStatus.State.SEEKING;
    }

    private void awaitTold() {
        uninterrupted(() -> {
            node.awaitTold(TELLING);
            awaitListeners.run();
        });
    }

    /** Waits to the end also if this thread is interrupted, which stays set: what is told may be what interrupts it. */
    static void uninterrupted(Runnable waiting) {
        boolean interrupted = false;
        do {
            interrupted |= Thread.interrupted();
            waiting.run();
        } while (Thread.currentThread().isInterrupted());
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized void close() {
        cell.close();
        node.close();
    }
}
