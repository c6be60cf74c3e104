package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.spring.bounded.BoundedLease;
import io.paxoslease.spring.bounded.BoundedLeases;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestLeasesExtension.class)
class TestLeasesTests {

    /** Of a listener: long enough to see that it is waited for. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final long FIRST_RUN_MILLIS = System.currentTimeMillis();

    private TestLeases leases;
    private LeaseManager manager;
    private LeaderElection invoices;

    @BeforeEach
    void take(TestLeases given, LeaseManager itsManager) {
        leases = given;
        manager = itsManager;
        invoices = manager.election("invoices");
    }

    @Test
    void nobodyLeadsAtFirst() {
        leases.advance(Duration.ofMinutes(1));

        assertThat(invoices.isLeader()).isFalse();
        assertThat(invoices.leader()).isEmpty();
    }

    @Test
    void grantMakesThisApplicationTheLeader() {
        leases.grant("invoices");

        assertThat(invoices.isLeader()).isTrue();
        assertThat(invoices.leader()).map(LeaderHint::nodeId).contains("application");
    }

    @Test
    void aLeaderStaysLeaderForAsLongAsNothingHappens() {
        leases.grant("invoices");
        Lease lease = invoices.lease().orElseThrow();

        leases.advance(Duration.ofHours(1));

        assertThat(lease.isHeld()).isTrue();
    }

    @Test
    void timeStandsStillOtherwise() {
        leases.grant("invoices");
        Lease lease = invoices.lease().orElseThrow();
        Duration remaining = lease.remaining();

        assertThat(remaining).isPositive();
        assertThat(lease.remaining()).isEqualTo(remaining);
        leases.advance(Duration.ofSeconds(1));
        assertThat(lease.remaining()).isEqualTo(remaining.minusSeconds(1));
    }

    @Test
    void timePassesAlsoWhenNoNodeHasAnythingToDo() {
        Lease lease = manager.tryAcquire("import", leases.leaseTime()).orElseThrow();
        leases.pause();

        leases.advance(leases.leaseTime());

        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void noNodeHasATimerThatRunsByRealTime() {
        leases.grant("invoices");

        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.matches("paxoslease-(application|node-\\d)-timer"));
    }

    @Test
    void tokensAreAboveThoseThatADatabaseHasSeenInEarlierRuns() {
        leases.grant("invoices");

        assertThat(invoices.lease().orElseThrow().fencingToken())
                .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toMicros(FIRST_RUN_MILLIS));
    }

    @Test
    void tokensAreAboveThoseOfACellWhoseTimeHasRunAhead() {
        leases.advance(Duration.ofHours(1));
        leases.grant("invoices");
        long token = invoices.lease().orElseThrow().fencingToken();

        try (TestLeases later = TestLeases.started()) {
            later.grant("invoices");
            Lease lease = later.manager().election("invoices").lease().orElseThrow();
            assertThat(lease.fencingToken()).isGreaterThan(token);
        }
    }

    @Test
    void revokeGivesTheLeaseToAnotherNodeAndEverybodyHasBeenTold() {
        leases.grant("invoices");
        Lease lease = invoices.lease().orElseThrow();
        AtomicInteger lost = new AtomicInteger();
        lease.onLost(() -> {
            LockSupport.parkNanos(SLOW_NANOS);
            lost.incrementAndGet();
        });

        leases.revoke("invoices");

        assertThat(lost).hasValue(1);
        assertThat(lease.isHeld()).isFalse();
        assertThat(invoices.isLeader()).isFalse();
        assertThat(invoices.leader()).map(LeaderHint::nodeId).contains("node-1");
        leases.advance(Duration.ofHours(1));
        assertThat(invoices.isLeader()).isFalse();
    }

    @Test
    void revokeLeavesOtherLeasesAlone() {
        leases.grant("invoices");
        leases.grant("reports");
        Lease reports = manager.election("reports").lease().orElseThrow();

        leases.revoke("invoices");

        assertThat(reports.isHeld()).isTrue();
    }

    @Test
    void whatWasRevokedCanBeGrantedAgainWithAHigherToken() {
        leases.grant("invoices");
        long first = invoices.lease().orElseThrow().fencingToken();
        leases.revoke("invoices");

        leases.grant("invoices");

        assertThat(invoices.lease().orElseThrow().fencingToken()).isGreaterThan(first);
    }

    @Test
    void aLeaseThatAnotherNodeHoldsCannotBeAcquiredUntilItIsFree() {
        leases.revoke("report/2026-11");
        assertThat(manager.tryAcquire("report/2026-11", leases.leaseTime())).isEmpty();

        leases.free("report/2026-11");
        assertThat(manager.tryAcquire("report/2026-11", leases.leaseTime())).isPresent();
    }

    @Test
    void whatWasFreedCanBeAcquiredAtTheFirstTry() {
        leases.revoke("import");
        leases.free("import");

        assertThat(manager.tryAcquire("import", leases.leaseTime())).isPresent();
    }

    @Test
    void aCallThatWaitsGetsTheLeaseWhenTimePasses() {
        leases.revoke("import");
        CompletableFuture<Lease> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                // A minute of the cell passes in milliseconds, in which this thread may not get to run.
                return manager.acquire("import", leases.leaseTime(), Duration.ofDays(1));
            } catch (InterruptedException | LeaseUnavailableException failure) {
                throw new IllegalStateException(failure);
            }
        });
        leases.free("import");

        while (!waiting.isDone()) {
            leases.advance(Duration.ofMillis(100));
        }

        assertThat(waiting.join().fencingToken()).isPositive();
    }

    @Test
    void expireEndsTheTenureAndTheNextOneHasAHigherToken() {
        leases.grant("invoices");
        Lease first = invoices.lease().orElseThrow();
        AtomicInteger lost = new AtomicInteger();
        first.onLost(lost::incrementAndGet);

        leases.expire("invoices");

        assertThat(lost).hasValue(1);
        assertThat(invoices.isLeader()).isFalse();
        leases.advance(Duration.ofSeconds(1));
        assertThat(invoices.lease().orElseThrow().fencingToken()).isGreaterThan(first.fencingToken());
    }

    /** What the guide says among its limits: adapters count the times of their locks by the clock of the system. */
    @Test
    void theTimeOfALockOfAnAdapterDoesNotPassWithThatOfTheCell() {
        try (BoundedLeases locks = new BoundedLeases(manager, leases.leaseTime(), "test")) {
            BoundedLease lock =
                    locks.tryAcquire("shedlock:report", Duration.ofHours(1)).orElseThrow();

            leases.advance(Duration.ofHours(2));
            assertThat(lock.isHeld()).isTrue();

            leases.expire("shedlock:report");
            assertThat(lock.isHeld()).isFalse();
        }
    }

    @Test
    void withoutAMajorityTheLeaseLastsForItsLeaseTimeOnly() {
        leases.grant("invoices");
        leases.partition();
        assertThat(invoices.isLeader()).isTrue();

        leases.advance(leases.leaseTime());
        assertThat(invoices.isLeader()).isFalse();

        leases.advance(Duration.ofMinutes(1));
        assertThat(invoices.isLeader()).isFalse();

        leases.heal();
        leases.advance(Duration.ofSeconds(1));
        assertThat(invoices.isLeader()).isTrue();
    }

    @Test
    void aPausedApplicationNoticesNothingButItsLeaseTellsTheTruth() {
        leases.grant("invoices");
        Lease lease = invoices.lease().orElseThrow();
        AtomicInteger lost = new AtomicInteger();
        lease.onLost(lost::incrementAndGet);

        leases.pause();
        leases.advance(leases.leaseTime());
        assertThat(lost).hasValue(0);
        assertThat(lease.isHeld()).isFalse();

        leases.resume();
        assertThat(lost).hasValue(1);
    }

    @Test
    void aPausedApplicationNoticesTheEndOfALeaseThatIsAskedAndLeadsAgainWhenItsAttemptIsOver()
            throws InterruptedException {
        leases.grant("invoices");
        Lease lease = invoices.lease().orElseThrow();
        CountDownLatch lost = new CountDownLatch(1);
        lease.onLost(lost::countDown);
        leases.pause();
        leases.advance(leases.leaseTime());
        assertThat(lease.isHeld()).isFalse();
        assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();

        leases.resume();
        assertThat(invoices.isLeader()).isFalse();

        leases.advance(Duration.ofSeconds(5));
        assertThat(invoices.isLeader()).isTrue();
    }

    @Test
    void aPausedApplicationAsksNothingUntilItIsResumed() {
        leases.pause();
        CompletableFuture<Optional<Lease>> asked =
                manager.tryAcquireAsync("import", leases.leaseTime()).toCompletableFuture();
        leases.advance(Duration.ofSeconds(5));
        assertThat(asked).isNotDone();

        leases.resume();
        leases.advance(Duration.ofMinutes(1));
        assertThat(asked).isDone();
    }

    @Test
    void anotherNodeTakesOverFromAPausedApplication() {
        leases.grant("invoices");

        leases.pause();
        leases.revoke("invoices");
        assertThat(invoices.isLeader()).isFalse();

        leases.resume();
        leases.advance(Duration.ofMinutes(1));
        assertThat(invoices.leader()).map(LeaderHint::nodeId).contains("node-1");
    }

    @Test
    void afterResetNobodyLeadsAsAtFirst() {
        leases.grant("invoices");
        long token = invoices.lease().orElseThrow().fencingToken();
        leases.revoke("reports");
        leases.partition();

        leases.reset();

        leases.advance(Duration.ofMinutes(1));
        assertThat(invoices.isLeader()).isFalse();
        assertThat(manager.tryAcquire("reports", leases.leaseTime())).isPresent();
        leases.grant("invoices");
        assertThat(invoices.lease().orElseThrow().fencingToken()).isGreaterThan(token);
    }

    @Test
    void tokensAreAboveThoseOfALaterCellAfterReset() {
        leases.grant("invoices");
        long token;
        try (TestLeases later = TestLeases.started()) {
            later.advance(Duration.ofHours(1));
            later.grant("invoices");
            token = later.manager().election("invoices").lease().orElseThrow().fencingToken();
        }

        leases.reset();
        leases.grant("invoices");

        assertThat(invoices.lease().orElseThrow().fencingToken()).isGreaterThan(token);
    }

    @Test
    void resetTellsNobodyOfALoss() {
        leases.grant("invoices");
        Lease lease = invoices.lease().orElseThrow();
        AtomicInteger lost = new AtomicInteger();
        lease.onLost(lost::incrementAndGet);

        leases.reset();

        assertThat(lease.isHeld()).isFalse();
        assertThat(lost).hasValue(0);
    }

    @Test
    void resetEndsALeaseThatNobodyGaveBack() {
        Lease forgotten = manager.tryAcquire("import", leases.leaseTime()).orElseThrow();
        forgotten.autoExtend();

        leases.reset();

        assertThat(forgotten.isHeld()).isFalse();
        assertThat(manager.tryAcquire("import", leases.leaseTime())).isPresent();
    }

    @Test
    void whatCannotBeDoneSaysWhy() {
        assertThatThrownBy(() -> leases.expire("invoices")).hasMessageContaining("does not hold 'invoices'");

        leases.partition();
        assertThatThrownBy(() -> leases.grant("invoices")).hasMessageContaining("heal()");
        leases.heal();

        leases.pause();
        assertThatThrownBy(() -> leases.grant("invoices")).hasMessageContaining("resume()");
        leases.resume();

        manager.tryAcquire("import", leases.leaseTime()).orElseThrow().autoExtend();
        assertThatThrownBy(() -> leases.grant("import")).hasMessageContaining("tryAcquire");
        assertThatThrownBy(() -> leases.advance(Duration.ofSeconds(-1))).hasMessageContaining("backwards");
    }
}
