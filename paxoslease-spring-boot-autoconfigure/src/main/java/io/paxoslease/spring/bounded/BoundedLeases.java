package io.paxoslease.spring.bounded;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.node.LeaseNode;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Takes leases that are renewed for as long as somebody wants them, however long that is: the cell excludes others for one short lease
 * time only, so that a node that dies gives its locks up within that time, and a timer of this process ends the lease at the time that
 * its user set.
 *
 * <p>Safe to call from any thread. One daemon thread serves all leases; there is none while no lease has an end to wait for.
 */
public final class BoundedLeases implements AutoCloseable {

    /** For leases that last until they are released. */
    public static final Duration UNBOUNDED = Duration.ofSeconds(Long.MAX_VALUE);

    private static final long IDLE_SECONDS = 10;

    private final LeaseManager manager;
    private final Duration leaseTime;
    private final ScheduledThreadPoolExecutor timer;
    private final Map<String, BoundedLease> held = new ConcurrentHashMap<>();
    private final Drain drain = new Drain(() -> held.values().stream().noneMatch(BoundedLease::isInUse));

    /**
     * Creates the leases of one adapter.
     *
     * @param manager the leases of the cell
     * @param leaseTime for how long others are excluded when this node stops without a word
     * @param adapter names the timer's thread
     */
    public BoundedLeases(LeaseManager manager, Duration leaseTime, String adapter) {
        this(manager, leaseTime, task -> {
            Thread thread = new Thread(task, "paxoslease-" + adapter + "-timer");
            thread.setDaemon(true);
            return thread;
        });
    }

    BoundedLeases(LeaseManager manager, Duration leaseTime, ThreadFactory factory) {
        this.manager = manager;
        this.leaseTime = leaseTime;
        this.timer = new ScheduledThreadPoolExecutor(1, factory);
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
    }

    /**
     * Tries once to take a lease and does not wait for others.
     *
     * @param name the name of the lease
     * @param atMost when it ends unless it is prolonged, counted from this call, or {@link #UNBOUNDED}
     * @return the lease, empty if it could not be had
     */
    public Optional<BoundedLease> tryAcquire(String name, Duration atMost) {
        long now = System.nanoTime();
        long atMostNanos = BoundedLease.nanos(atMost);
        if (handsOutNone()) {
            return Optional.empty();
        }
        releaseIfOver(name);
        return manager.tryAcquire(name, leaseTime)
                .map(lease -> keep(lease, now, atMostNanos))
                .filter(this::isInTime);
    }

    private boolean handsOutNone() {
        return drain.isUnderWay() || isClosed();
    }

    /**
     * A lease that was asked for before the drain or the end and came after it is given back. It is kept by now: the drain sees it, or this sees
     * the drain.
     */
    private boolean isInTime(BoundedLease lease) {
        boolean late = handsOutNone();
        if (late) {
            lease.release();
        }
        return !late;
    }

    /**
     * Takes a lease, waiting for another owner.
     *
     * @param name the name of the lease
     * @param atMost when it ends unless it is prolonged, counted from its acquisition, or {@link #UNBOUNDED}
     * @param maxWait how long to wait at most
     * @return the lease
     * @throws InterruptedException if the thread was interrupted before or while it waited
     * @throws LeaseUnavailableException if the lease could not be had within {@code maxWait}, or the application stops: {@link #drain()},
     *     {@link #close()}
     */
    public BoundedLease acquire(String name, Duration atMost, Duration maxWait)
            throws InterruptedException, LeaseUnavailableException {
        long atMostNanos = BoundedLease.nanos(atMost);
        if (!handsOutNone()) {
            releaseIfOver(name);
            Lease lease = manager.acquire(name, leaseTime, maxWait);
            BoundedLease bounded = keep(lease, System.nanoTime(), atMostNanos);
            if (isInTime(bounded)) {
                return bounded;
            }
        }
        throw new LeaseUnavailableException("Lease '" + name + "' is not to be had while the application stops");
    }

    /** The leases that are used, in no order. */
    public Stream<BoundedLease> used() {
        return held.values().stream().filter(BoundedLease::isInUse);
    }

    /** The lease of this name that was taken here and is held now. */
    public Optional<BoundedLease> held(String name) {
        return Optional.ofNullable(held.get(name)).filter(BoundedLease::isHeld);
    }

    /**
     * Hands out no more leases until {@link #resume()}.
     *
     * @return a stage that completes when nobody uses a lease any more, or with {@link #resume()}; leases that linger are not used
     */
    public CompletableFuture<Void> drain() {
        return drain.begin();
    }

    /** Ends {@link #drain()}. */
    public void resume() {
        drain.end();
    }

    /** Where it fails, for want of a thread for the timer, the lease is given back: nobody else could do that. */
    private BoundedLease keep(Lease lease, long nowNanos, long atMostNanos) {
        BoundedLease bounded = new BoundedLease(lease, timer, this::onChange);
        held.put(lease.name(), bounded);
        lease.onLost(bounded::release);
        lease.autoExtend();
        try {
            bounded.endAfter(nowNanos, atMostNanos);
        } catch (OutOfMemoryError noThread) {
            bounded.release();
            throw noThread;
        }
        return bounded;
    }

    /** The timer may be late; whoever asks next does not have to wait for it. */
    private void releaseIfOver(String name) {
        BoundedLease last = held.get(name);
        if (last != null) {
            last.releaseIfOver();
        }
    }

    private void onChange(BoundedLease lease) {
        if (!lease.isHeld()) {
            held.remove(lease.lease().name(), lease);
        }
        drain.check();
    }

    /** Whether {@link #close()} was called. */
    public boolean isClosed() {
        return timer.isShutdown();
    }

    /** Whether the node failed for good, so that there will be no more leases. */
    public boolean isFailed() {
        return manager instanceof LeaseNode node && node.isFailed();
    }

    /** Releases every lease, hands out no more and ends the timer. */
    @Override
    public void close() {
        timer.shutdownNow();
        held.values().forEach(BoundedLease::release);
    }
}
