package io.paxoslease.spring.bounded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.node.LeaseNode;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
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

    @Test
    void giveALeaseBackThatComesWithoutAThreadForItsEnd() {
        ThreadFactory none = task -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        try (LeaseNode node = LocalCell.standalone();
                BoundedLeases leases = new BoundedLeases(node, LocalCell.leaseTime(), none)) {
            assertThatThrownBy(() -> leases.tryAcquire("jobs", LONG)).isInstanceOf(OutOfMemoryError.class);

            assertThat(leases.held("jobs")).isEmpty();
            assertThat(node.tryAcquire("jobs", LocalCell.leaseTime())).isPresent();
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
