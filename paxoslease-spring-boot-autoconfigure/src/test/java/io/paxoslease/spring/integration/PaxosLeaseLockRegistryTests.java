package io.paxoslease.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Now;
import io.paxoslease.spring.ForwardingLeaseManager;
import io.paxoslease.spring.bounded.BoundedLeases;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.slf4j.LoggerFactory;
import org.springframework.integration.support.locks.DistributedLock;

/** The lock registry as two nodes of a cell of three see it. */
class PaxosLeaseLockRegistryTests {

    private static final Duration SOON = LocalCell.leaseTime().multipliedBy(5);

    private static LocalCell cell;

    private final ExecutorService otherThread = Executors.newSingleThreadExecutor();
    private PaxosLeaseLockRegistry first;
    private PaxosLeaseLockRegistry second;
    private String key;

    @BeforeAll
    static void startCell() {
        cell = LocalCell.of(3);
    }

    @AfterAll
    static void closeCell() {
        cell.close();
    }

    @BeforeEach
    void createRegistries(TestInfo test) {
        key = test.getDisplayName();
        first = new PaxosLeaseLockRegistry(cell.node(1), LocalCell.leaseTime());
        second = new PaxosLeaseLockRegistry(cell.node(2), LocalCell.leaseTime());
    }

    @AfterEach
    void closeRegistries() {
        otherThread.shutdownNow();
        first.close();
        second.close();
    }

    @Test
    void excludesTheOtherNodeUntilItIsUnlocked() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        lock.lock();
        assertThat(second.obtain(key).tryLock()).isFalse();
        assertThat(second.obtain(key).tryLock(50, TimeUnit.MILLISECONDS)).isFalse();

        lock.unlock();

        assertThat(second.obtain(key).tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
        second.obtain(key).unlock();
    }

    /** As a thread that starts the application and waits for a node which is started later. */
    @Test
    void whoWaitsForLongSaysOnceWhatFor() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(PaxosLeaseLock.class);
        Level before = logger.getLevel();
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.list = new CopyOnWriteArrayList<>();
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.INFO);
        Lease held = cell.node(1).tryAcquire(key, LocalCell.leaseTime()).orElseThrow();
        held.autoExtend();
        try (BoundedLeases leases = new BoundedLeases(cell.node(2), LocalCell.leaseTime(), "test")) {
            PaxosLeaseLock lock = new PaxosLeaseLock(leases, key, Duration.ofMillis(50));
            Future<?> waiting = otherThread.submit(() -> lock.lock());
            await().until(() -> !lines.list.isEmpty());
            await().pollDelay(Duration.ofMillis(300)).until(() -> true);
            held.release();

            waiting.get(SOON.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .singleElement()
                    .asString()
                    .contains("goes on waiting: Lease '" + key + "' could not be acquired within PT0.05S: held by n1");
        } finally {
            logger.detachAppender(lines);
            logger.setLevel(before);
        }
    }

    @Test
    void whoWaitsGetsTheLockWhenItIsUnlocked() throws Exception {
        first.obtain(key).lock();
        Future<?> waiting = otherThread.submit(() -> second.obtain(key).lock());
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> waiting.get(100, TimeUnit.MILLISECONDS));

        first.obtain(key).unlock();

        waiting.get(SOON.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(second.lease(key)).isPresent();
    }

    @Test
    void waitsForTheThreadsOfThisNodeAndForTheOthersTogetherAsLongAsItMay() throws Exception {
        AtomicReference<Duration> waitForTheOthers = new AtomicReference<>();
        LeaseManager node = new ForwardingLeaseManager(cell.node(1)) {
            @Override
            public Lease acquire(String leaseName, Duration leaseTime, Duration maxWait)
                    throws InterruptedException, LeaseUnavailableException {
                waitForTheOthers.set(maxWait);
                return super.acquire(leaseName, leaseTime, maxWait);
            }
        };
        try (PaxosLeaseLockRegistry registry = new PaxosLeaseLockRegistry(node, LocalCell.leaseTime())) {
            Thread other = otherThread.submit(Thread::currentThread).get();
            registry.obtain(key).lock();
            Future<Boolean> waiting =
                    otherThread.submit(() -> registry.obtain(key).tryLock(60, TimeUnit.MINUTES));
            await().until(() -> other.getState() == Thread.State.TIMED_WAITING);
            Thread.sleep(100);

            registry.obtain(key).unlock();

            assertThat(waiting.get(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
            assertThat(waitForTheOthers.get())
                    .isBetween(Duration.ofMinutes(50), Duration.ofMinutes(60).minusMillis(100));
        }
    }

    @Test
    void isTheSameLockForTheSameKey() {
        assertThat(first.obtain(key)).isSameAs(first.obtain(key)).isNotSameAs(first.obtain("another"));
        assertThatIllegalArgumentException().isThrownBy(() -> first.obtain(42));
    }

    @Test
    void isTheSameLockForAllThreadsThatAskAtOnce() throws Exception {
        Callable<List<DistributedLock>> asking = () ->
                IntStream.range(0, 10_000).mapToObj(i -> first.obtain(key + i)).toList();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            Set<List<DistributedLock>> answers = new HashSet<>();
            for (Future<List<DistributedLock>> each : threads.invokeAll(Collections.nCopies(4, asking))) {
                answers.add(each.get());
            }
            assertThat(answers).hasSize(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void isReentrant() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        lock.lock();
        lock.lockInterruptibly();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();

        lock.unlock();
        lock.unlock();
        lock.unlock();
        assertThat(second.obtain(key).tryLock()).isFalse();
        lock.unlock();

        assertThat(second.obtain(key).tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
    }

    @Test
    void belongsToTheThreadThatTookIt() throws Exception {
        DistributedLock lock = first.obtain(key);
        lock.lock();

        assertThat((boolean) inOtherThread(() -> lock.tryLock())).isFalse();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> inOtherThread(Executors.callable(lock::unlock)))
                .withCauseInstanceOf(IllegalMonitorStateException.class);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> inOtherThread(Executors.callable(() -> first.renewLock(key))))
                .withCauseInstanceOf(IllegalMonitorStateException.class);

        lock.unlock();
        assertThat((boolean) inOtherThread(() -> lock.tryLock())).isTrue();
    }

    @Test
    void isRenewedForMuchLongerThanTheLeaseTime() throws InterruptedException {
        first.obtain(key).lock();

        assertThat(second.obtain(key)
                        .tryLock(LocalCell.leaseTime().multipliedBy(2).toMillis(), TimeUnit.MILLISECONDS))
                .isFalse();

        first.obtain(key).unlock();
    }

    @Test
    void whoUnlocksALockThatWasLostIsTold() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        lock.lock();
        cell.isolate(1);
        try {
            assertThat(second.obtain(key).tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS))
                    .isTrue();
        } finally {
            cell.rejoin(1);
        }

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::tryLock);
        assertThatExceptionOfType(ConcurrentModificationException.class)
                .as("for less time than it is wanted already")
                .isThrownBy(() -> lock.lock(Duration.ofMillis(1)));
        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
        assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
        assertThat(second.lease(key)).isPresent();
        second.obtain(key).unlock();
        assertThat(lock.tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }

    @Test
    void whoUnlocksALockThatItsNodeGaveUpToStopIsToldSo() {
        DistributedLock lock = first.obtain(key);
        lock.lock();

        cell.node(1).releaseAll();

        assertThatExceptionOfType(ConcurrentModificationException.class)
                .isThrownBy(lock::unlock)
                .withMessageContainingAll(key, "this application stops");
    }

    @Test
    void endsWithItsTimeToLive() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        lock.lock(Duration.ofMillis(100));

        assertThat(second.obtain(key).tryLock(SOON, Duration.ofSeconds(10))).isTrue();

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
        assertThat(second.lease(key)).isPresent();
    }

    @Test
    void renewalGivesItAnotherTimeToLive() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        assertThat(lock.tryLock(Duration.ZERO, Duration.ofSeconds(3))).isTrue();
        for (int i = 0; i < 32; i++) {
            Thread.sleep(100);
            first.renewLock(key);
        }
        first.renewLock(key, Duration.ofSeconds(30));
        Thread.sleep(3_100);

        lock.unlock();
    }

    @Test
    void renewalWithoutATimeLetsItLiveAsLongAsItWasTakenFor() {
        DistributedLock lock = first.obtain(key);
        lock.lock(Duration.ofSeconds(2));
        first.renewLock(key, Duration.ofHours(1));
        first.renewLock(key);

        await().until(() -> first.lease(key).isEmpty());

        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
    }

    /** As with the JDBC and Redis registries, which set the time anew each time; but never to an earlier one. */
    @Test
    void whoEntersAgainHasTheTimeToLiveThatItAsksFor() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        lock.lock(Duration.ofSeconds(2));
        assertThat(lock.tryLock(Duration.ZERO, Duration.ofSeconds(6))).isTrue();
        lock.lock(Duration.ofMillis(1));
        Thread.sleep(2_500);
        assertThat(first.lease(key)).isPresent();

        first.renewLock(key);
        Thread.sleep(3_500);
        assertThat(first.lease(key)).isPresent();
        lock.lock();
        Thread.sleep(3_000);

        lock.unlock();
        lock.unlock();
        lock.unlock();
        lock.unlock();
        assertThat(second.obtain(key).tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
    }

    @Test
    void aTimeThatMakesNoSenseLeavesNoLockBehind() throws Exception {
        DistributedLock lock = first.obtain(key);
        Duration longAgo = Duration.ofSeconds(Long.MIN_VALUE);
        assertThatNullPointerException().isThrownBy(() -> lock.lock(null));
        assertThatNullPointerException().isThrownBy(() -> lock.tryLock(Duration.ZERO, null));
        assertThat(first.lease(key)).isEmpty();

        lock.lock(longAgo);
        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
        assertThat(lock.tryLock(longAgo, Duration.ofSeconds(10))).isTrue();
        lock.unlock();

        assertThat((boolean) inOtherThread(() -> lock.tryLock())).isTrue();
        assertThat(second.obtain(key).tryLock(longAgo, Duration.ofSeconds(10))).isFalse();
    }

    @Test
    void anExpiredLockIsNotRenewed() {
        DistributedLock lock = first.obtain(key);
        lock.lock(Duration.ofMillis(20));
        await().until(() -> first.lease(key).isEmpty());

        assertThatIllegalStateException().isThrownBy(() -> first.renewLock(key));
        assertThatIllegalStateException().isThrownBy(() -> first.renewLock("never obtained"));
        assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(lock::unlock);
    }

    @Test
    void whoWaitsCanBeInterrupted() throws Exception {
        first.obtain(key).lock();
        Thread waiting = new Thread(() -> {
            try {
                second.obtain(key).lockInterruptibly();
            } catch (InterruptedException expected) {
                Thread.currentThread().interrupt();
            }
        });
        waiting.start();

        waiting.interrupt();

        waiting.join(5_000);
        assertThat(waiting.isAlive()).isFalse();
        first.obtain(key).unlock();
        assertThat(second.obtain(key).tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
    }

    @Test
    void whoWaitsForAThreadOfThisNodeCanBeInterrupted() {
        DistributedLock lock = first.obtain(key);
        lock.lock();
        Future<?> waiting = otherThread.submit(() -> {
            Thread.currentThread().interrupt();
            lock.lockInterruptibly();
            return null;
        });

        assertThat(waiting)
                .failsWithin(SOON)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(InterruptedException.class);
        lock.unlock();
    }

    /** Its caller would wait until the process is restarted, and could not say why. */
    @Test
    void aNodeThatFailedLocksNothing() {
        AtomicBoolean planted = new AtomicBoolean();
        NodeClock broken = new NodeClock() {
            @Override
            public Now now() {
                return planted.getAndSet(false) ? null : SYSTEM.now();
            }

            @Override
            public boolean isDriven() {
                return true;
            }
        };
        try (LeaseNode node = new LeaseNode(
                        NodeSettings.standalone("broken", LocalCell.leaseTime()),
                        new NoTransport(),
                        new SplittableRandom(1),
                        broken);
                PaxosLeaseLockRegistry registry = new PaxosLeaseLockRegistry(node, LocalCell.leaseTime())) {
            node.openAcceptor();
            node.start();
            node.tryAcquire("held", LocalCell.leaseTime()).orElseThrow().autoExtend();
            planted.set(true);
            node.onTime();
            assertThat(node.isFailed()).isTrue();

            Future<?> locking = otherThread.submit(() -> registry.obtain(key).lock());

            assertThat(locking)
                    .failsWithin(SOON)
                    .withThrowableOfType(ExecutionException.class)
                    .havingCause()
                    .isInstanceOf(IllegalStateException.class)
                    .withMessageContaining("this node failed because of a defect; restart it");
        }
    }

    @Test
    void aClosedRegistryLocksNothing() throws Exception {
        second.obtain(key).lock();
        Future<?> waiting = otherThread.submit(() -> first.obtain(key).lock());
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> waiting.get(100, TimeUnit.MILLISECONDS));

        first.close();
        second.obtain(key).unlock();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> waiting.get(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .withCauseInstanceOf(IllegalStateException.class);
        assertThat(first.obtain(key).tryLock()).isFalse();
        assertThat(first.obtain(key).tryLock(1, TimeUnit.SECONDS)).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> first.obtain(key).lock());
        // What the closed registry was still granted it gave back, but that may be under way.
        assertThat(second.obtain(key).tryLock(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
    }

    @Test
    void lockItselfIsNotEndedByAnInterrupt() throws Exception {
        first.obtain(key).lock();
        Future<Boolean> waiting = otherThread.submit(() -> {
            Thread.currentThread().interrupt();
            second.obtain(key).lock();
            boolean locked = Thread.interrupted() && second.lease(key).isPresent();
            second.obtain(key).unlock();
            return locked;
        });
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> waiting.get(100, TimeUnit.MILLISECONDS));

        first.obtain(key).unlock();

        assertThat(waiting.get(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }

    @Test
    void runsTasksUnderALockOnAllNodes() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 40; i++) {
            PaxosLeaseLockRegistry registry = i % 2 == 0 ? first : second;
            threads.submit(() -> {
                registry.executeLocked(key, () -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    inside.decrementAndGet();
                    runs.incrementAndGet();
                });
                return null;
            });
        }
        threads.shutdown();

        assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        assertThat(most).hasValue(1);
        assertThat(runs).hasValue(40);
    }

    @Test
    void forgetsLocksThatNobodyUsesWhenAsked() {
        DistributedLock used = first.obtain("used");
        used.lock();
        DistributedLock unused = first.obtain(key);

        first.expireUnusedOlderThan(60_000);
        assertThat(first.obtain(key)).isSameAs(unused);
        first.expireUnusedOlderThan(-1);

        assertThat(first.obtain("used")).isSameAs(used);
        assertThat(first.obtain(key)).isNotSameAs(unused);
        used.unlock();
    }

    @Test
    void aLockIsUsedWhenItIsTriedAndWhenItIsUnlocked() throws InterruptedException {
        DistributedLock lock = first.obtain(key);
        lock.lock();
        Thread.sleep(3_100);
        lock.unlock();
        first.expireUnusedOlderThan(3_000);
        assertThat(first.obtain(key)).isSameAs(lock);

        second.obtain(key).lock();
        Thread.sleep(3_100);
        assertThat(lock.tryLock()).isFalse();
        first.expireUnusedOlderThan(3_000);
        assertThat(first.obtain(key)).isSameAs(lock);
    }

    @Test
    void aLockThatIsHeldForLongDoesNotKeepUnusedOnesInMemory() {
        DistributedLock held = first.obtain("held");
        held.lock();
        DistributedLock unused = first.obtain(key);
        DistributedLock usedOften = first.obtain("used often");

        for (int i = 0; i < 100_000; i++) {
            first.obtain("one of many " + i);
            first.obtain("used often");
        }

        assertThat(first.obtain(key)).isNotSameAs(unused);
        assertThat(first.obtain("used often")).isSameAs(usedOften);
        assertThat(first.obtain("held")).isSameAs(held);
        held.unlock();
    }

    @Test
    void hasNoConditions() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> first.obtain(key).newCondition());
    }

    private <T> T inOtherThread(Callable<T> task) throws InterruptedException, ExecutionException {
        return otherThread.submit(task).get();
    }
}
