package io.paxoslease.spring.integration;

import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.spring.bounded.BoundedLease;
import io.paxoslease.spring.bounded.BoundedLeases;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.integration.support.locks.DistributedLock;

/** A lock of the registry: first among the threads of this process, then among the nodes of the cell. */
final class PaxosLeaseLock implements DistributedLock {

    private static final Log LOG = LogFactory.getLog(PaxosLeaseLock.class);
    private static final Duration ONE_WAIT = Duration.ofHours(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final BoundedLeases leases;
    private final String name;
    private final Duration firstWait;
    private final ReentrantLock local = new ReentrantLock();
    private volatile long usedNanos = System.nanoTime();

    /** What the thread that holds {@link #local} got from the cell; guarded by it. */
    private @Nullable BoundedLease lease;

    private Duration timeToLive = BoundedLeases.UNBOUNDED;

    PaxosLeaseLock(BoundedLeases leases, String name) {
        this(leases, name, Duration.ofMinutes(1));
    }

    /**
     * With another patience.
     *
     * @param firstWait after how long {@code lock()} says what it waits for, which it does once
     */
    PaxosLeaseLock(BoundedLeases leases, String name, Duration firstWait) {
        this.leases = leases;
        this.name = name;
        this.firstWait = firstWait;
    }

    /** How a thread that holds the local lock asks the cell. */
    private interface Attempt {
        @Nullable
        BoundedLease run() throws InterruptedException;
    }

    @Override
    public void lock() {
        lock(BoundedLeases.UNBOUNDED);
    }

    @Override
    public void lock(Duration ttl) {
        local.lock();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    enter(ttl, () -> waitFor(ttl));
                    return;
                } catch (InterruptedException later) {
                    interrupted = true;
                    local.lock();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        local.lockInterruptibly();
        enter(BoundedLeases.UNBOUNDED, () -> waitFor(BoundedLeases.UNBOUNDED));
    }

    @Override
    public boolean tryLock() {
        if (!local.tryLock()) {
            return false;
        }
        try {
            return enter(BoundedLeases.UNBOUNDED, () -> tryOnce(BoundedLeases.UNBOUNDED));
        } catch (InterruptedException impossible) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(Duration.ofNanos(unit.toNanos(time)), BoundedLeases.UNBOUNDED);
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        long waitNanos = Math.max(0, TimeUnit.NANOSECONDS.convert(waitTime));
        long began = System.nanoTime();
        if (!local.tryLock(waitNanos, TimeUnit.NANOSECONDS)) {
            return false;
        }
        long restNanos = waitNanos - (System.nanoTime() - began);
        return enter(ttl, () -> tryFor(ttl, Duration.ofNanos(restNanos)));
    }

    /** Keeps the local lock, which the caller took, exactly if the cell's lock is held or is had now. */
    private boolean enter(Duration ttl, Attempt attempt) throws InterruptedException {
        boolean entered = false;
        try {
            BoundedLease held = lease;
            if (held != null) {
                // Whoever comes in again may count on the time that it asks for.
                if (!held.prolongToAtLeast(ttl)) {
                    throw new ConcurrentModificationException(ended());
                }
                if (ttl.compareTo(timeToLive) > 0) {
                    timeToLive = ttl;
                }
                entered = true;
            } else {
                BoundedLease taken = attempt.run();
                if (taken != null) {
                    lease = taken;
                    timeToLive = ttl;
                    entered = true;
                }
            }
            usedNanos = System.nanoTime();
            return entered;
        } finally {
            if (!entered) {
                local.unlock();
            }
        }
    }

    private @Nullable BoundedLease tryOnce(Duration ttl) {
        return leases.tryAcquire(name, ttl).orElse(null);
    }

    private @Nullable BoundedLease tryFor(Duration ttl, Duration maxWait) throws InterruptedException {
        try {
            return leases.acquire(name, ttl, maxWait);
        } catch (LeaseUnavailableException unavailable) {
            return null;
        }
    }

    private BoundedLease waitFor(Duration ttl) throws InterruptedException {
        Duration wait = firstWait;
        while (true) {
            try {
                return leases.acquire(name, ttl, wait);
            } catch (LeaseUnavailableException unavailable) {
                if (leases.isClosed()) {
                    throw new IllegalStateException("The registry of the lock '" + name + "' is closed");
                }
                if (leases.isFailed()) {
                    throw new IllegalStateException(unavailable.getMessage(), unavailable);
                }
                if (wait.equals(firstWait)) {
                    // Perhaps the one that starts the application, and with it the node.
                    LOG.info("Thread " + Thread.currentThread().getName() + " goes on waiting: "
                            + unavailable.getMessage());
                }
            }
            wait = ONE_WAIT;
            TimeUnit.NANOSECONDS.sleep(PAUSE_NANOS);
        }
    }

    @Override
    public void unlock() {
        requireOwner();
        if (local.getHoldCount() > 1) {
            local.unlock();
            return;
        }
        BoundedLease held = lease;
        boolean wasHeld = held != null && held.isHeld();
        try {
            if (held != null) {
                held.release();
            }
        } finally {
            lease = null;
            usedNanos = System.nanoTime();
            local.unlock();
        }
        if (!wasHeld) {
            throw new ConcurrentModificationException(ended());
        }
    }

    /** Sets a new end; the time to live that the lock was taken with if none is given. */
    void renew(@Nullable Duration ttl) {
        requireOwner();
        BoundedLease held = lease;
        if (held == null || !held.prolong(ttl == null ? timeToLive : ttl)) {
            throw new IllegalStateException(ended());
        }
    }

    private void requireOwner() {
        if (!local.isHeldByCurrentThread()) {
            throw new IllegalMonitorStateException("The current thread does not hold the lock '" + name + "'");
        }
    }

    private String ended() {
        return "The lock '" + name + "' ended before it was unlocked: it expired, or this application stops."
                + " Another node may have worked under it since";
    }

    boolean isUnused() {
        return !local.isLocked() && !local.hasQueuedThreads();
    }

    long idleMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - usedNanos);
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A distributed lock has no conditions");
    }

    @Override
    public String toString() {
        return "PaxosLeaseLock[" + name + (local.isLocked() ? ", locked here]" : ", not locked here]");
    }
}
