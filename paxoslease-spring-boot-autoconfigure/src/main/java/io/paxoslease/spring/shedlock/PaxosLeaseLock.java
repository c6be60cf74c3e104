package io.paxoslease.spring.shedlock;

import io.paxoslease.spring.bounded.BoundedLease;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/** A lock from its acquisition or extension to its unlocking or next extension. */
final class PaxosLeaseLock extends AbstractSimpleLock {

    private final BoundedLease lease;
    private final long beganNanos = System.nanoTime();

    PaxosLeaseLock(LockConfiguration configuration, BoundedLease lease) {
        super(configuration);
        this.lease = lease;
    }

    @Override
    protected void doUnlock() {
        Duration stillFor = lockConfiguration.getLockAtLeastFor().minusNanos(System.nanoTime() - beganNanos);
        if (stillFor.isNegative() || stillFor.isZero()) {
            lease.release();
        } else {
            lease.linger(stillFor);
        }
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration configuration) {
        return lease.prolong(configuration.getLockAtMostFor())
                ? Optional.of(new PaxosLeaseLock(configuration, lease))
                : Optional.empty();
    }
}
