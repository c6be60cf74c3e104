package io.paxoslease.spring.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.ForwardingLeaseManager;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The lock provider as two nodes of a cell of three see it. */
@ExtendWith(OutputCaptureExtension.class)
class PaxosLeaseLockProviderTests {

    private static final Duration LONG = Duration.ofHours(1);

    private static LocalCell cell;

    private PaxosLeaseLockProvider first;
    private PaxosLeaseLockProvider second;
    private String name;

    @BeforeAll
    static void startCell() {
        cell = LocalCell.of(3);
    }

    @AfterAll
    static void closeCell() {
        cell.close();
    }

    @BeforeEach
    void createProviders(TestInfo test) {
        name = test.getDisplayName();
        first = new PaxosLeaseLockProvider(cell.node(1), LocalCell.leaseTime());
        second = new PaxosLeaseLockProvider(cell.node(2), LocalCell.leaseTime());
    }

    @AfterEach
    void closeProviders() {
        first.close();
        second.close();
    }

    @Test
    void excludesTheOtherNodeUntilItIsUnlocked() {
        SimpleLock lock = first.lock(config(LONG, Duration.ZERO)).orElseThrow();
        assertThat(second.lock(config(LONG, Duration.ZERO))).isEmpty();

        lock.unlock();

        assertThat(lockSoon(second)).isNotNull();
        assertThat(first.lock(config(LONG, Duration.ZERO))).isEmpty();
    }

    @Test
    void goesBackAndForthBetweenTheNodesWithoutWaitingForTheLeaseTime() {
        long began = System.nanoTime();

        for (int i = 0; i < 20; i++) {
            lockSoon(first).unlock();
            lockSoon(second).unlock();
        }

        assertThat(Duration.ofNanos(System.nanoTime() - began))
                .isLessThan(LocalCell.leaseTime().multipliedBy(20));
    }

    @Test
    void isHeldForMuchLongerThanTheLeaseTime() throws InterruptedException {
        SimpleLock lock = first.lock(config(LONG, Duration.ZERO)).orElseThrow();

        Thread.sleep(LocalCell.leaseTime().multipliedBy(2).toMillis());

        assertThat(second.lock(config(LONG, Duration.ZERO))).isEmpty();
        assertThat(first.lease(name)).isPresent();
        lock.unlock();
    }

    @Test
    void outlivesADeadNodeByTheLeaseTimeAndNotByLockAtMostFor() {
        assertThat(first.lock(config(LONG, Duration.ZERO))).isPresent();

        cell.isolate(1);
        try {
            await().atMost(LocalCell.leaseTime().multipliedBy(3))
                    .until(() -> second.lock(config(LONG, Duration.ZERO)).isPresent());
            assertThat(first.lease(name)).isEmpty();
        } finally {
            cell.rejoin(1);
        }
    }

    @Test
    void saysOfALockThatIsLostDuringLockAtLeastForWhatIsTrue(CapturedOutput output) {
        first.lock(config(LONG, LONG)).orElseThrow().unlock();

        cell.isolate(1);
        try {
            await().atMost(LocalCell.leaseTime().multipliedBy(3))
                    .until(() -> output.getAll().contains("The lock '" + name + "' was lost before its time"));
        } finally {
            cell.rejoin(1);
        }
    }

    @Test
    void endsAtLockAtMostForAlthoughTheTaskStillRuns() {
        SimpleLock lock =
                first.lock(config(Duration.ofMillis(100), Duration.ZERO)).orElseThrow();

        lockSoon(second);

        assertThat(first.lease(name)).isEmpty();
        lock.unlock();
        assertThat(second.lease(name)).isPresent();
    }

    /** A task that takes longer than its lock lasts may end while the next one runs. */
    @Test
    void unlockingALockThatHasEndedLeavesTheNextOneAlone() {
        SimpleLock ended =
                first.lock(config(Duration.ofMillis(100), Duration.ZERO)).orElseThrow();
        SimpleLock next = lockSoon(first);

        ended.unlock();

        assertThat(first.lease(name)).isPresent();
        assertThat(first.drain()).isNotDone();
        next.unlock();
    }

    @Test
    void keepsTheOtherNodeOutForLockAtLeastFor() {
        long began = System.nanoTime();
        first.lock(config(LONG, Duration.ofMillis(1_500))).orElseThrow().unlock();

        lockSoon(second);

        assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(1_500));
    }

    @Test
    void anExtendedLockEndsAtItsNewTimeOnly() throws InterruptedException {
        SimpleLock lock =
                first.lock(config(Duration.ofSeconds(3), Duration.ZERO)).orElseThrow();
        SimpleLock extended = lock.extend(LONG, Duration.ofSeconds(3)).orElseThrow();

        Thread.sleep(3_100);

        assertThat(second.lock(config(LONG, Duration.ZERO))).isEmpty();
        assertThatIllegalStateException().isThrownBy(lock::unlock);
        extended.unlock();
        assertThat(first.lease(name)).as("lockAtLeastFor is over").isEmpty();
        assertThat(lockSoon(second)).isNotNull();
    }

    @Test
    void anExtensionMayBringTheEndForward() {
        SimpleLock lock = first.lock(config(LONG, Duration.ZERO)).orElseThrow();

        assertThat(lock.extend(Duration.ofMillis(500), Duration.ZERO)).isPresent();

        await().until(() -> first.lease(name).isEmpty());
    }

    @Test
    void anExtensionHasALockAtLeastForOfItsOwn() {
        SimpleLock lock = first.lock(config(LONG, Duration.ZERO)).orElseThrow();

        lock.extend(LONG, LONG).orElseThrow().unlock();

        assertThat(first.lease(name)).isPresent();
    }

    @Test
    void theFencingTokenGrowsFromNodeToNode() {
        SimpleLock lock = first.lock(config(LONG, Duration.ZERO)).orElseThrow();
        long before = first.lease(name).orElseThrow().fencingToken();
        lock.unlock();

        lockSoon(second);

        assertThat(second.lease(name).orElseThrow().fencingToken()).isGreaterThan(before);
    }

    @Test
    void drainingRefusesLocksAndWaitsForThoseInUse() {
        SimpleLock lock = first.lock(config(LONG, LONG)).orElseThrow();

        CompletableFuture<Void> drained = first.drain();

        assertThat(drained).isNotDone();
        assertThat(first.lock(new LockConfiguration(Instant.now(), "another", LONG, Duration.ZERO)))
                .isEmpty();
        lock.unlock();
        assertThat(drained).isCompleted();
        assertThat(first.lease(name)).as("lockAtLeastFor goes on").isPresent();
        first.resume();
        assertThat(first.lock(new LockConfiguration(Instant.now(), "another", LONG, Duration.ZERO)))
                .isPresent();
    }

    /** Nothing that is left here to be released is worth waiting for. */
    @Test
    void drainingDoesNotWaitForALockThatIsLost() {
        assertThat(first.lock(config(LONG, Duration.ZERO))).isPresent();
        CompletableFuture<Void> drained = first.drain();
        assertThat(drained).isNotDone();

        cell.isolate(1);
        try {
            assertThat(drained).succeedsWithin(LocalCell.leaseTime().multipliedBy(3));
        } finally {
            cell.rejoin(1);
        }
    }

    @Test
    void drainingDoesNotWaitBeyondLockAtMostFor() {
        assertThat(first.lock(config(Duration.ofMillis(300), Duration.ZERO))).isPresent();

        assertThat(first.drain()).succeedsWithin(Duration.ofSeconds(10));
    }

    @Test
    void closingGivesUpAllLocks() {
        assertThat(first.lock(config(LONG, LONG))).isPresent();

        first.close();

        assertThat(first.lease(name)).isEmpty();
        assertThat(lockSoon(second)).isNotNull();
        assertThat(first.lock(config(LONG, Duration.ZERO))).isEmpty();
    }

    @Test
    void aLockThatArrivesAfterTheDrainIsGivenBack() throws Exception {
        SlowLeases slow = new SlowLeases(cell.node(1));
        try (PaxosLeaseLockProvider provider = new PaxosLeaseLockProvider(slow, LocalCell.leaseTime())) {
            CompletableFuture<Optional<SimpleLock>> lock =
                    CompletableFuture.supplyAsync(() -> provider.lock(config(LONG, Duration.ZERO)));
            assertThat(slow.asked.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(provider.drain()).isCompleted();

            slow.mayAnswer.countDown();

            assertThat(lock.get(10, TimeUnit.SECONDS)).isEmpty();
            assertThat(provider.lease(name)).isEmpty();
            lockSoon(second).unlock();
            assertThat(provider.lock(config(LONG, Duration.ZERO))).isEmpty();
            assertThat(slow.asks)
                    .as("the others do not lose a lease that nobody wants")
                    .hasValue(1);
        }
    }

    @Test
    void lockAtMostForIsCountedFromTheCall() throws Exception {
        SlowLeases slow = new SlowLeases(cell.node(1));
        try (PaxosLeaseLockProvider provider = new PaxosLeaseLockProvider(slow, LocalCell.leaseTime())) {
            CompletableFuture<Optional<SimpleLock>> lock =
                    CompletableFuture.supplyAsync(() -> provider.lock(config(Duration.ofMillis(500), Duration.ZERO)));
            assertThat(slow.asked.await(10, TimeUnit.SECONDS)).isTrue();
            Thread.sleep(500);

            slow.mayAnswer.countDown();

            assertThat(lock).succeedsWithin(10, TimeUnit.SECONDS);
            assertThat(provider.lease(name)).isEmpty();
        }
    }

    @Test
    void needsNoThreadPerLock() {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        List<SimpleLock> locks = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            locks.add(first.lock(new LockConfiguration(Instant.now(), "one of many " + i, LONG, Duration.ZERO))
                    .orElseThrow());
        }

        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> !before.contains(thread) && !LocalCell.isWire(thread))
                .hasSizeLessThan(20);
        locks.forEach(SimpleLock::unlock);
    }

    private LockConfiguration config(Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
    }

    /** The news that a lock was released takes a moment to reach the other nodes. */
    private SimpleLock lockSoon(PaxosLeaseLockProvider provider) {
        return await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> provider.lock(config(LONG, Duration.ZERO)), Optional::isPresent)
                .orElseThrow();
    }

    /** Answers when it is let. */
    private static final class SlowLeases extends ForwardingLeaseManager {

        private final AtomicInteger asks = new AtomicInteger();
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch mayAnswer = new CountDownLatch(1);

        SlowLeases(LeaseManager leases) {
            super(leases);
        }

        @Override
        public Optional<Lease> tryAcquire(String name, Duration time) {
            asks.incrementAndGet();
            asked.countDown();
            try {
                assertThat(mayAnswer.await(10, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
            return super.tryAcquire(name, time);
        }
    }
}
