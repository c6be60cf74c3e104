package io.paxoslease.spring.shedlock;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.BoundedLease;
import io.paxoslease.spring.bounded.BoundedLeases;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * A ShedLock lock provider that needs nothing besides the instances of the application.
 *
 * <p>A lock is a short lease that this node renews until the lock is unlocked. So a node that dies gives its locks up after one lease time, not
 * after {@code lockAtMostFor}, which may be as long as it likes; it is kept by a timer of this process. {@code lockAtLeastFor} is
 * kept while this process lives: a node that stops in between gives the lock up. Neither depends on clocks that agree.
 *
 * <p>The lease of the lock {@code report} is called {@code shedlock:report}. Safe to call from any thread; no thread per lock.
 */
public final class PaxosLeaseLockProvider implements ExtensibleLockProvider, AutoCloseable {

    /** What the names of the leases begin with, so that a lock and an election of the same name do not meet. */
    public static final String PREFIX = "shedlock:";

    private static final Log LOG = LogFactory.getLog(PaxosLeaseLockProvider.class);

    private final BoundedLeases leases;

    /**
     * Creates a provider.
     *
     * @param manager the leases of the cell
     * @param leaseTime how long a lock outlives a node that dies; at most the cell's maximum lease time
     */
    public PaxosLeaseLockProvider(LeaseManager manager, Duration leaseTime) {
        this.leases = new BoundedLeases(manager, leaseTime, "shedlock");
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        return leases.tryAcquire(PREFIX + configuration.getName(), configuration.getLockAtMostFor())
                .map(lease -> {
                    lease.lease().onLost(() -> warn(configuration));
                    return new PaxosLeaseLock(configuration, lease);
                });
    }

    private static void warn(LockConfiguration configuration) {
        LOG.warn("The lock '" + configuration.getName()
                + "' was lost before its time: this node could not renew it with a"
                + " majority of its cell in time. Another node may hold it now.");
    }

    /**
     * The lease under a lock that this node holds now, for its fencing token.
     *
     * @param lockName the name of the lock
     * @return the lease, empty if this node does not hold the lock
     */
    public Optional<Lease> lease(String lockName) {
        return leases.held(PREFIX + lockName).map(BoundedLease::lease);
    }

    /**
     * Grants no more locks until {@link #resume()}, because the application stops.
     *
     * @return a stage that completes when no task runs under a lock of this provider any more, or with {@link #resume()}
     */
    public CompletableFuture<Void> drain() {
        return leases.drain();
    }

    /** Ends {@link #drain()}. */
    public void resume() {
        leases.resume();
    }

    /** Gives up all locks. */
    @Override
    public void close() {
        leases.close();
    }
}
