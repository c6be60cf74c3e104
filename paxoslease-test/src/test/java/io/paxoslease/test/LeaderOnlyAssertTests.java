package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseScope;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestLeasesExtension.class)
class LeaderOnlyAssertTests {

    @Test
    void failsOutsideOfAGuardedMethod() {
        assertThatThrownBy(LeaderOnlyAssert::assertGuarded)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("without a lease");
    }

    @Test
    void saysThatAnotherThreadIsNotInTheGuardedMethod(TestLeases leases, LeaseManager manager) {
        Lease lease = manager.tryAcquire("invoices", leases.leaseTime()).orElseThrow();
        try (LeaseScope scope = LeaseScope.open(lease)) {
            CompletableFuture<Lease> elsewhere = CompletableFuture.supplyAsync(LeaderOnlyAssert::assertGuarded);
            assertThatThrownBy(elsewhere::join)
                    .hasCauseInstanceOf(AssertionError.class)
                    .hasMessageContaining("another thread")
                    .hasMessageContaining("Reactor's context");
        }
    }

    @Test
    void answersTheLeaseOfAGuardedMethodAndTellsItFromOthers(TestLeases leases, LeaseManager manager) {
        Lease lease = manager.tryAcquire("invoices", leases.leaseTime()).orElseThrow();
        try (LeaseScope scope = LeaseScope.open(lease)) {
            assertThat(LeaderOnlyAssert.assertGuarded()).isSameAs(lease);
            assertThat(LeaderOnlyAssert.assertGuarded("invoices")).isSameAs(lease);
            assertThatThrownBy(() -> LeaderOnlyAssert.assertGuarded("reports"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("'invoices'")
                    .hasMessageContaining("'reports'");
        }
    }

    @Test
    void failsWhenTheLeaseHasEnded(TestLeases leases, LeaseManager manager) {
        Lease lease = manager.tryAcquire("invoices", leases.leaseTime()).orElseThrow();
        leases.advance(leases.leaseTime());
        try (LeaseScope scope = LeaseScope.open(lease)) {
            assertThatThrownBy(LeaderOnlyAssert::assertGuarded)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("has ended");
        }
    }
}
