package io.paxoslease.spring.bounded;

import static org.awaitility.Awaitility.await;

import io.paxoslease.node.LeaseNode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the contracts of the adapters do not show. */
class BoundedLeasesTests {

    private static final Duration LONG = Duration.ofHours(1);

    @Test
    void keepNothingOfALeaseThatIsReleasedLongBeforeItsEnd() {
        try (LeaseNode node = LocalCell.standalone();
                BoundedLeases leases = new BoundedLeases(node, LocalCell.leaseTime(), "test")) {
            WeakReference<BoundedLease> lease = acquireProlongAndRelease(leases);

            await().until(() -> {
                System.gc();
                return lease.get() == null;
            });
        }
    }

    private static WeakReference<BoundedLease> acquireProlongAndRelease(BoundedLeases leases) {
        BoundedLease lease = await().until(() -> leases.tryAcquire("jobs", LONG), found -> found.isPresent())
                .orElseThrow();
        lease.prolong(LONG);
        lease.release();
        return new WeakReference<>(lease);
    }
}
