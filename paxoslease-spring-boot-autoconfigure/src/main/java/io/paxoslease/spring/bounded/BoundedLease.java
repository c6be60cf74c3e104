package io.paxoslease.spring.bounded;

import io.paxoslease.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A renewed lease with an end of its own. Safe to call from any thread. */
public final class BoundedLease {

    private static final long FOREVER_NANOS = Long.MAX_VALUE / 4;

    private final Lease lease;
    private final ScheduledExecutorService timer;
    private final Consumer<BoundedLease> onChange;
    private final Thread takenBy = Thread.currentThread();
    private final CompletableFuture<Void> unused = new CompletableFuture<>();
    private volatile long endNanos;
    private volatile boolean inUse = true;
    private @Nullable Future<?> pending;

    BoundedLease(Lease lease, ScheduledExecutorService timer, Consumer<BoundedLease> onChange) {
        this.lease = lease;
        this.timer = timer;
        this.onChange = onChange;
        this.endNanos = System.nanoTime() + FOREVER_NANOS;
    }

    /** The lease underneath, for its fencing token. */
    public Lease lease() {
        return lease;
    }

    /** The thread that took it. */
    public Thread takenBy() {
        return takenBy;
    }

    /** Whether the lease is held and its end has not come, by the clock at this call. */
    public boolean isHeld() {
        return !isOver() && lease.isHeld();
    }

    /**
     * Sets another end.
     *
     * @param atMost when the lease ends from now on, or {@link BoundedLeases#UNBOUNDED}
     * @return whether the lease is held until then unless it is lost; false if it had ended before
     */
    public synchronized boolean prolong(Duration atMost) {
        if (!isHeld()) {
            return false;
        }
        endAfter(System.nanoTime(), nanos(atMost));
        return true;
    }

    /**
     * Sets another end, unless the present one is later.
     *
     * @param atLeast how much longer the lease is wanted from now on, or {@link BoundedLeases#UNBOUNDED}
     * @return whether the lease is held until then unless it is lost; false if it had ended before
     */
    public synchronized boolean prolongToAtLeast(Duration atLeast) {
        long now = System.nanoTime();
        return now + nanos(atLeast) - endNanos > 0 ? prolong(atLeast) : isHeld();
    }

    /**
     * Says that the lease is not used any more, and gives it up later.
     *
     * @param time how much longer others are excluded while this process lives
     */
    public void linger(Duration time) {
        inUse = false;
        prolong(time);
        changed();
    }

    /** Whether somebody still works under the lease. */
    boolean isInUse() {
        return inUse && isHeld();
    }

    /** A stage that completes when nobody works under the lease any more: it was given up, ended or was lost. */
    public CompletableFuture<Void> whenUnused() {
        return unused.copy();
    }

    private void changed() {
        onChange.accept(this);
        unused.complete(null);
    }

    /** Gives the lease up now. */
    public synchronized void release() {
        if (pending != null) {
            pending.cancel(false);
        }
        lease.release();
        changed();
    }

    /** Gives the lease up if its end has come. */
    synchronized void releaseIfOver() {
        if (isOver()) {
            release();
        }
    }

    synchronized void endAfter(long nowNanos, long atMostNanos) {
        endNanos = nowNanos + atMostNanos;
        if (pending != null) {
            pending.cancel(false);
            pending = null;
        }
        if (atMostNanos < FOREVER_NANOS) {
            try {
                pending = timer.schedule(this::releaseIfOver, endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException closed) {
                release();
            }
        }
    }

    private boolean isOver() {
        return System.nanoTime() - endNanos >= 0;
    }

    /** Of any duration; one that is negative is over at once. */
    static long nanos(Duration duration) {
        return Math.max(0, Math.min(FOREVER_NANOS, TimeUnit.NANOSECONDS.convert(duration)));
    }

    @Override
    public String toString() {
        return lease.toString();
    }
}
