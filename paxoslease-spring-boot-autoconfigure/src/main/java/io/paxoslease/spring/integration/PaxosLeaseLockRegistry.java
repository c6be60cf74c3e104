package io.paxoslease.spring.integration;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.BoundedLease;
import io.paxoslease.spring.bounded.BoundedLeases;
import io.paxoslease.spring.bounded.SystemExit;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.util.Assert;

/**
 * A lock registry that needs nothing besides the instances of the application. Keys are strings; the lease of the key {@code orders} is called
 * {@code lock:orders}.
 *
 * <p>Its locks behave as those of the JDBC and Redis registries: reentrant, owned by a thread, and whoever unlocks a lock that had
 * expired gets a {@link ConcurrentModificationException}, because another node may have worked under it in the meantime. A lock without a time
 * to live is renewed until it is unlocked; a node that dies gives it up after one lease time. A lock with a time to live ends
 * then, unless it is renewed.
 *
 * <p>Safe to call from any thread.
 */
public final class PaxosLeaseLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock>, AutoCloseable {

    /** What the names of the leases begin with, so that a lock and an election of the same name do not meet. */
    public static final String PREFIX = "lock:";

    private static final int CAPACITY = 100_000;

    private final BoundedLeases leases;

    /** In the order of their use; guarded by itself. */
    private final Map<String, PaxosLeaseLock> locks = new LinkedHashMap<>(16, 0.75F, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, PaxosLeaseLock> eldest) {
            if (size() > CAPACITY) {
                removeEldestUnused(values().iterator());
            }
            return false;
        }
    };

    /**
     * Creates a registry.
     *
     * @param manager the leases of the cell
     * @param leaseTime how long a lock outlives a node that dies; at most the cell's maximum lease time
     */
    public PaxosLeaseLockRegistry(LeaseManager manager, Duration leaseTime) {
        this.leases = new BoundedLeases(manager, leaseTime, "locks");
    }

    /** Never the last, which is about to be used. */
    private static void removeEldestUnused(Iterator<PaxosLeaseLock> locks) {
        while (locks.hasNext()) {
            PaxosLeaseLock lock = locks.next();
            if (locks.hasNext() && lock.isUnused()) {
                locks.remove();
                return;
            }
        }
    }

    @Override
    public DistributedLock obtain(Object lockKey) {
        synchronized (locks) {
            return locks.computeIfAbsent(name(lockKey), name -> new PaxosLeaseLock(leases, name));
        }
    }

    /**
     * The lease under a lock that this node holds now, for its fencing token.
     *
     * @param lockKey the key of the lock
     * @return the lease, empty if this node does not hold the lock
     */
    public Optional<Lease> lease(Object lockKey) {
        return leases.held(name(lockKey)).map(BoundedLease::lease);
    }

    /**
     * Lets a lock that the current thread holds live for as long again as it was taken for.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws IllegalStateException if the lock had expired or was never obtained
     */
    @Override
    public void renewLock(Object lockKey) {
        existing(lockKey).renew(null);
    }

    /**
     * Lets a lock that the current thread holds live for some time from now on.
     *
     * @throws IllegalMonitorStateException if the current thread does not hold the lock
     * @throws IllegalStateException if the lock had expired or was never obtained
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        existing(lockKey).renew(ttl);
    }

    private PaxosLeaseLock existing(Object lockKey) {
        synchronized (locks) {
            PaxosLeaseLock lock = locks.get(name(lockKey));
            if (lock == null) {
                throw new IllegalStateException("The lock '" + lockKey + "' was never obtained");
            }
            return lock;
        }
    }

    @Override
    public void expireUnusedOlderThan(long ageMillis) {
        synchronized (locks) {
            locks.values().removeIf(lock -> lock.isUnused() && lock.idleMillis() > ageMillis);
        }
    }

    /**
     * Grants no more locks until {@link #resume()}, because the application stops: {@code tryLock()} has nothing, {@code lock()} waits.
     *
     * @return a stage that completes when no lock is held any more, but for those of the calling thread and of one in {@code System.exit}, which
     *     wait for the end of the application themselves, and those of threads that ended without unlocking
     */
    public CompletableFuture<Void> drain() {
        Thread waiting = Thread.currentThread();
        leases.drain();
        return CompletableFuture.allOf(leases.used()
                .filter(lease -> mayUnlock(lease.takenBy(), waiting))
                .map(BoundedLease::whenUnused)
                .toArray(CompletableFuture<?>[]::new));
    }

    private static boolean mayUnlock(Thread owner, Thread waiting) {
        return owner != waiting && owner.isAlive() && !SystemExit.isUnderWayOn(owner);
    }

    /** Ends {@link #drain()}. */
    public void resume() {
        leases.resume();
    }

    private static String name(Object lockKey) {
        Assert.isInstanceOf(String.class, lockKey, "The key of a lock must be a string: ");
        return PREFIX + lockKey;
    }

    /**
     * Gives up all locks. From then on {@code lock()} throws an {@link IllegalStateException}, and {@code tryLock()} has nothing. So it is on a node
     * that failed because of a defect.
     */
    @Override
    public void close() {
        leases.close();
    }
}
