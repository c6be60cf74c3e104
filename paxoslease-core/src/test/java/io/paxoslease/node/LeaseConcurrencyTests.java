package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.Lease;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What several threads may do at once with a lease, a manager and the events. */
@Timeout(120)
class LeaseConcurrencyTests {

    private static final Duration TIME = Duration.ofSeconds(10);
    private static final Now START = new Now(Long.MAX_VALUE - 5, 1_800_000_000_000L);
    private static final boolean LONG = Boolean.getBoolean("paxoslease.long");

    private static Now later(Now now, Duration time) {
        return new Now(now.nanos() + time.toNanos(), now.wallMillis() + time.toMillis());
    }

    private static LeaseNode standalone(NodeClock clock) {
        LeaseNode node =
                new LeaseNode(NodeSettings.standalone("solo", TIME), new NoTransport(), new SplittableRandom(1), clock);
        node.openAcceptor();
        return node;
    }

    /**
     * A reader looks at the state of a lease and then at the clock. The clock of these tests lets something else happen completely in between.
     * The node's timer does not run: it would only do what any call does.
     */
    @Nested
    class BetweenStateAndClock {

        private final AtomicReference<Now> now = new AtomicReference<>(START);
        private final AtomicReference<Runnable> meanwhile = new AtomicReference<>();
        private final LeaseNode node = standalone(() -> {
            Runnable other = meanwhile.getAndSet(null);
            if (other != null) {
                other.run();
            }
            return now.get();
        });
        private final Lease lease = node.tryAcquire("job", TIME).orElseThrow();

        @AfterEach
        void closeNode() {
            node.close();
        }

        private boolean isHeldWhile(Runnable other) {
            meanwhile.set(other);
            boolean held = lease.isHeld();
            assertThat(meanwhile.get()).as("it did happen").isNull();
            return held;
        }

        private void pass(Duration time) {
            now.updateAndGet(was -> later(was, time));
        }

        private void isOver() {
            assertThat(lease.isHeld()).isFalse();
            assertThat(lease.remaining()).isZero();
            assertThat(lease.extend()).isFalse();
            assertThat(lease.autoExtend().isHeld()).isFalse();
            lease.release();
            assertThat(lease.isHeld()).isFalse();
        }

        @Test
        void aReleaseIsFinal() {
            isHeldWhile(lease::release);

            isOver();
        }

        @Test
        void aReleaseAndANewTenureDoNotReviveTheOldLease() {
            isHeldWhile(() -> {
                lease.release();
                assertThat(node.tryAcquire("job", TIME)).isPresent();
            });

            isOver();
        }

        @Test
        void anExtensionThatAReaderMissedIsForgottenOnceItSaidNo() {
            pass(Duration.ofSeconds(6));

            boolean held = isHeldWhile(() -> {
                assertThat(lease.extend()).isTrue();
                pass(Duration.ofSeconds(6));
            });

            // The reader saw the end of the lease as it was before the extension: too early is allowed, coming back is
            // not.
            assertThat(held).isFalse();
            isOver();
        }

        @Test
        void whatAnotherReaderSawEndedStaysEnded() {
            isHeldWhile(() -> {
                pass(TIME);
                assertThat(lease.isHeld()).isFalse();
                assertThat(lease.extend()).isFalse();
            });

            isOver();
        }

        @Test
        void aStepOfTheWallClockThatWasSeenCannotBeTakenBack() {
            isHeldWhile(() -> {
                now.updateAndGet(was -> new Now(was.nanos(), was.wallMillis() + TIME.toMillis()));
                assertThat(lease.isHeld()).isFalse();
                now.updateAndGet(was -> new Now(was.nanos(), was.wallMillis() - TIME.toMillis()));
            });

            isOver();
        }
    }

    /** Lincheck lets threads call what they like and wants an order of the calls that explains what they were answered. */
    @Nested
    class AsIfOneAfterTheOther {

        private StressOptions stress() {
            return new StressOptions()
                    .threads(2)
                    .actorsPerThread(3)
                    .actorsBefore(0)
                    .actorsAfter(2)
                    .iterations(LONG ? 50 : 4)
                    .invocationsPerIteration(LONG ? 2_000 : 20);
        }

        @Test
        void holdsForALease() {
            stress().check(OneLease.class);
        }

        @Test
        void isNotHeldByALeaseThatExtendsWithoutALock() {
            assertThatThrownBy(() ->
                            stress().iterations(20).invocationsPerIteration(500).check(Careless.class))
                    .isInstanceOf(LincheckAssertionError.class);
        }
    }

    /** What Lincheck plays with: a lease of a standalone node whose clock moves when a thread says so. */
    public static class OneLease {

        private final AtomicReference<Now> now = new AtomicReference<>(START);
        private final Lease lease = standalone(now::get).tryAcquire("job", TIME).orElseThrow();

        @Operation
        public boolean isHeld() {
            return lease.isHeld();
        }

        @Operation
        public boolean extend() {
            return lease.extend();
        }

        @Operation
        public void release() {
            lease.release();
        }

        @Operation
        public void sixSecondsPass() {
            now.updateAndGet(was -> later(was, Duration.ofSeconds(6)));
        }
    }

    /** A lease that a release and an extension may bring back, because the extension looks first and acts then. */
    public static class Careless {

        private volatile boolean held = true;

        @Operation
        public boolean isHeld() {
            return held;
        }

        @Operation
        public boolean extend() {
            boolean extended = held;
            Thread.yield();
            held = extended;
            return extended;
        }

        @Operation
        public void release() {
            held = false;
        }
    }

    @Nested
    class UnderContention {

        private static final int ROUNDS = 100;

        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final AtomicInteger owners = new AtomicInteger();
        private final AtomicInteger mostOwners = new AtomicInteger();
        private final AtomicInteger tenures = new AtomicInteger();

        @AfterEach
        void stopThreads() {
            threads.shutdownNow();
        }

        private void contend(List<LeaseNode> nodes) throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            List<Callable<Void>> work = new ArrayList<>();
            for (LeaseNode node : nodes) {
                work.add(() -> {
                    go.await();
                    for (int round = 0; round < ROUNDS; round++) {
                        Optional<Lease> lease = node.tryAcquire("job", TIME);
                        if (lease.isPresent()) {
                            mostOwners.accumulateAndGet(owners.incrementAndGet(), Math::max);
                            tenures.incrementAndGet();
                            Thread.yield();
                            owners.decrementAndGet();
                            lease.get().release();
                        }
                    }
                    return null;
                });
            }
            List<Future<Void>> results = work.stream().map(threads::submit).toList();
            go.countDown();
            for (Future<Void> result : results) {
                result.get(100, TimeUnit.SECONDS);
            }
            assertThat(tenures.get()).isPositive();
            assertThat(mostOwners.get()).isEqualTo(1);
        }

        @Test
        void theThreadsOfOneNodeGetALeaseOneAtATime() throws Exception {
            try (LeaseNode node = standalone(() -> START)) {
                contend(List.of(node, node, node, node));
            }
        }

        @Test
        void theThreadsOfThreeNodesGetALeaseOneAtATime() throws Exception {
            Cell cell = new Cell("test", List.of("n1", "n2", "n3"));
            InProcessNetwork network = new InProcessNetwork(cell, threads);
            AtomicReference<Now> now = new AtomicReference<>(START);
            List<LeaseNode> nodes = new ArrayList<>();
            for (String id : cell.acceptors()) {
                NodeSettings settings = new NodeSettings(
                        id,
                        cell,
                        new Timing(TIME.toNanos(), 0.01),
                        TIME,
                        Duration.ofSeconds(1),
                        false,
                        true,
                        100,
                        Map.of());
                LeaseNode node =
                        new LeaseNode(settings, network.transport(), new SplittableRandom(id.hashCode()), now::get);
                node.openAcceptor();
                network.attach(id, node);
                nodes.add(node);
            }
            // The quarantine passes; from then on time stands still, so that no lease ends but by its release.
            now.updateAndGet(was -> later(was, TIME.multipliedBy(2)));
            nodes.forEach(LeaseNode::start);
            List<LeaseNode> twice = new ArrayList<>(nodes);
            twice.addAll(nodes);
            try {
                contend(twice);
            } finally {
                nodes.forEach(LeaseNode::close);
            }
        }
    }

    @Nested
    class Events {

        @Test
        void keepTheirOrderPerKeyAndComeOneAtATime() throws Exception {
            int senders = 4;
            int each = 2_000;
            CountDownLatch done = new CountDownLatch(senders * each);
            Map<String, int[]> seen = Map.of("a", new int[senders], "b", new int[senders]);
            Map<String, AtomicInteger> running = Map.of("a", new AtomicInteger(), "b", new AtomicInteger());
            AtomicInteger wrong = new AtomicInteger();
            ExecutorService threads = Executors.newFixedThreadPool(senders);
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                for (int sender = 0; sender < senders; sender++) {
                    int from = sender;
                    threads.execute(() -> {
                        for (int i = 0; i < each; i++) {
                            int number = i;
                            String key = i % 2 == 0 ? "a" : "b";
                            dispatcher.dispatch(key, () -> {
                                // A plain array: that tasks of a key see each other's writes is part of the promise.
                                int[] last = seen.get(key);
                                if (running.get(key).incrementAndGet() != 1 || last[from] > number) {
                                    wrong.incrementAndGet();
                                }
                                last[from] = number;
                                running.get(key).decrementAndGet();
                                done.countDown();
                            });
                        }
                    });
                }
                assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
                assertThat(wrong.get()).isZero();
            } finally {
                threads.shutdownNow();
            }
        }

        @Test
        void doNotWaitForAKeyThatBlocks() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch other = new CountDownLatch(1);
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                dispatcher.dispatch("blocked", () -> {
                    try {
                        release.await();
                    } catch (InterruptedException interrupt) {
                        Thread.currentThread().interrupt();
                    }
                });
                dispatcher.dispatch("free", other::countDown);

                assertThat(other.await(60, TimeUnit.SECONDS)).isTrue();
                release.countDown();
            }
        }
    }
}
