package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.paxoslease.HeardLog;
import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What several threads may do at once with a lease, a manager and the events. */
@Timeout(120)
class LeaseConcurrencyTests {

    private static final Duration TIME = Duration.ofSeconds(10);
    private static final Now START = new Now(Long.MAX_VALUE - 5, 1_800_000_000_000L);

    private static Now later(Now now, Duration time) {
        return new Now(now.nanos() + time.toNanos(), now.wallMillis() + time.toMillis());
    }

    private static LeaseNode standalone(NodeClock clock) {
        return standalone(new NoTransport(), clock);
    }

    private static LeaseNode standalone(Transport transport, NodeClock clock) {
        LeaseNode node =
                new LeaseNode(NodeSettings.standalone("solo", TIME), transport, new SplittableRandom(1), clock);
        node.openAcceptor();
        return node;
    }

    /** Has nobody to send to. */
    private record OnFlush(Runnable action) implements Transport {

        @Override
        public void start(Incarnation self, Receiver receiver) {}

        @Override
        public void send(int acceptor, Request request) {}

        @Override
        public void flush() {
            action.run();
        }

        @Override
        public void close() {}
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

    /** A reader beside threads that extend, let time pass and release, as they come: once it saw no, it never sees yes again. */
    @Nested
    class AReader {

        private static final int ROUNDS = 40;

        private final ExecutorService threads = Executors.newFixedThreadPool(3);
        private final AtomicReference<Now> now = new AtomicReference<>(START);

        @AfterEach
        void stopThreads() {
            threads.shutdownNow();
        }

        @Test
        void neverSeesALeaseComeBack() throws Exception {
            try (LeaseNode node = standalone(now::get)) {
                for (int round = 0; round < ROUNDS; round++) {
                    Lease lease = node.tryAcquire("job", TIME).orElseThrow();
                    boolean released = round % 2 == 0;
                    CountDownLatch over = new CountDownLatch(1);
                    Future<?> extender = threads.submit(() -> {
                        while (over.getCount() > 0) {
                            lease.extend();
                        }
                    });
                    Future<?> ender = threads.submit(() -> {
                        for (int i = 0; i < 20; i++) {
                            now.updateAndGet(was -> later(was, TIME.dividedBy(released ? 8 : 2)));
                            Thread.yield();
                        }
                        if (!released) {
                            now.updateAndGet(was -> later(was, TIME.multipliedBy(2)));
                        }
                        lease.release();
                    });
                    Future<Integer> reader = threads.submit(() -> {
                        while (lease.isHeld()) {
                            Thread.yield();
                        }
                        int revived = 0;
                        while (over.getCount() > 0) {
                            revived += lease.isHeld() ? 1 : 0;
                        }
                        return revived;
                    });
                    ender.get(60, TimeUnit.SECONDS);
                    assertThat(lease.isHeld()).as("released").isFalse();
                    over.countDown();
                    extender.get(60, TimeUnit.SECONDS);
                    assertThat(reader.get(60, TimeUnit.SECONDS)).as("came back").isZero();
                }
            }
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

        /** Threads that leave the node's lock one after another must not overtake each other with what they have to tell. */
        @Test
        @Timeout(480)
        void theNewsOfALeaseComeInOrder() throws Exception {
            List<LeaseTransition.Kind> told = new ArrayList<>();
            try (LeaseNode node = standalone(() -> START)) {
                node.addListener(news -> {
                    if (news.kind() == LeaseTransition.Kind.ACQUIRED || news.kind() == LeaseTransition.Kind.RELEASED) {
                        told.add(news.kind());
                    }
                });
                for (int i = 0; i < 200; i++) {
                    contend(List.of(node, node, node, node));
                }
                assertThat(node.awaitTold(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(told).hasSize(2 * tenures.get());
            for (int i = 0; i < told.size(); i += 2) {
                assertThat(told.subList(i, i + 2))
                        .containsExactly(LeaseTransition.Kind.ACQUIRED, LeaseTransition.Kind.RELEASED);
            }
        }

        @Test
        void theThreadsOfThreeNodesGetALeaseOneAtATime() throws Exception {
            List<LeaseNode> nodes = cell();
            List<LeaseNode> twice = new ArrayList<>(nodes);
            twice.addAll(nodes);
            try {
                contend(twice);
            } finally {
                nodes.forEach(LeaseNode::close);
            }
        }

        /** The others must be asked all the same. */
        @Test
        void aFreeLeaseIsHadWithoutATimeToWait() throws Exception {
            List<LeaseNode> nodes = cell();
            try {
                for (int i = 0; i < ROUNDS; i++) {
                    assertThat(nodes.get(0).acquire("free-" + i, TIME, Duration.ZERO))
                            .matches(Lease::isHeld, "is held");
                }
                assertThatExceptionOfType(LeaseUnavailableException.class)
                        .isThrownBy(() -> nodes.get(1).acquire("free-0", TIME, Duration.ofDays(-200_000)))
                        .withMessageContaining("held by n1");
            } finally {
                nodes.forEach(LeaseNode::close);
            }
        }

        private List<LeaseNode> cell() {
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
            return nodes;
        }
    }

    /** One thread is kept inside the node's lock while others want something. */
    @Nested
    class WhileAnotherThreadHoldsTheLock {

        private final AtomicReference<Thread> kept = new AtomicReference<>();
        private final CountDownLatch inside = new CountDownLatch(1);
        private final CountDownLatch go = new CountDownLatch(1);
        private final LeaseNode node = standalone(() -> {
            if (Thread.currentThread() == kept.get()) {
                inside.countDown();
                awaitSafely(go);
            }
            return START;
        });
        private final Lease lease = node.tryAcquire("job", TIME).orElseThrow();
        private final Thread holder = new Thread(node::onTime);

        @BeforeEach
        void keepOneInside() throws Exception {
            kept.set(holder);
            holder.start();
            assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
        }

        @AfterEach
        void letGo() throws Exception {
            go.countDown();
            holder.join();
            node.close();
        }

        @Test
        void aReleaseCountsAtOnceAndIsDoneLater() throws Exception {
            lease.release();
            assertThat(lease.isHeld()).isFalse();
            CompletableFuture<Optional<Lease>> next = next();
            assertThat(next).isNotDone();
            go.countDown();
            assertThat(next.get(60, TimeUnit.SECONDS).orElseThrow().fencingToken())
                    .isGreaterThan(lease.fencingToken());
        }

        @Test
        void whoBringsAnswersDoesNotWait() {
            ReleaseRequest request = new ReleaseRequest("job", new Ballot(1, node.incarnation()));
            CompletableFuture<Void> brought = CompletableFuture.runAsync(() -> {
                node.onAnswers(0, List.of(request), Collections.singletonList(null));
                node.onUnanswered(0, request);
            });

            assertThat(brought).succeedsWithin(Duration.ofSeconds(30));
            assertThat(holder.isAlive()).isTrue();
        }

        @Test
        void aCallerIsAnsweredAlthoughTheNodeCloses() throws Exception {
            CompletableFuture<Optional<Lease>> other =
                    node.tryAcquireAsync("other", TIME).toCompletableFuture();
            Thread closing = new Thread(node::close);
            closing.start();
            go.countDown();
            closing.join();
            CompletableFuture<Optional<Lease>> late = next();

            assertThat(other.get(60, TimeUnit.SECONDS).filter(Lease::isHeld)).isEmpty();
            assertThat(late.get(60, TimeUnit.SECONDS)).isEmpty();
        }

        private CompletableFuture<Optional<Lease>> next() {
            return node.tryAcquireAsync("job", TIME).toCompletableFuture();
        }
    }

    /** The heap would fill with what listeners are still to be told. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoTakesOneLeaseAfterAnotherWaitsForListenersThatAreFarBehind(boolean patient) throws Exception {
        AtomicBoolean waited = new AtomicBoolean();
        LeaseNode node = standalone(() -> START);
        node.addListener(transition -> {
            for (int i = 0; i < 20_000 && !waited.get(); i++) {
                Thread.onSpinWait();
            }
        });
        // Each lease is two pieces of news.
        Thread taking = new Thread(() -> {
            for (int i = 0; i < Dispatcher.MANY_WAITING && !waited.get(); i++) {
                String name = "lease-" + i;
                assertThat(patient ? acquired(node, name) : node.tryAcquire(name, TIME))
                        .isPresent();
            }
        });
        taking.start();
        while (taking.isAlive() && !waited.get()) {
            waited.set(LockSupport.getBlocker(taking) instanceof Dispatcher);
        }
        boolean hasWaited = waited.getAndSet(true);
        taking.join();
        node.close();
        assertThat(hasWaited).isTrue();
    }

    private static Optional<Lease> acquired(LeaseNode node, String name) {
        try {
            return Optional.of(node.acquire(name, TIME, TIME));
        } catch (InterruptedException | LeaseUnavailableException failure) {
            return Optional.empty();
        }
    }

    /** Whoever held the lock has not come to it yet. */
    @Test
    void whatAThreadAskedForIsDoneBeforeWhatItAsksForNext() throws Exception {
        AtomicReference<Thread> kept = new AtomicReference<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Transport transport = new OnFlush(() -> {
            if (Thread.currentThread() == kept.get()) {
                awaitSafely(released);
            }
        });
        NodeClock clock = () -> {
            if (Thread.currentThread() == kept.get()) {
                inside.countDown();
                awaitSafely(go);
            }
            return START;
        };
        try (LeaseNode node = standalone(transport, clock)) {
            Thread holder = new Thread(node::onTime);
            kept.set(holder);
            holder.start();
            assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
            Thread caller = new Thread(() -> {
                node.tryAcquireAsync("job", TIME);
                node.releaseAll();
                released.countDown();
            });
            caller.start();
            Events.await(() -> caller.getState() == Thread.State.WAITING);
            go.countDown();
            caller.join();
            holder.join();

            assertThat(node.lease("job")).isEmpty();
        }
    }

    /** A release does not wait for the lock, and whoever held it has not come to the release yet. */
    @Test
    void whatAThreadReleasedIsReleasedInWhatItLooksAtNext() throws Exception {
        AtomicReference<Thread> kept = new AtomicReference<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch unlocked = new CountDownLatch(1);
        CountDownLatch looked = new CountDownLatch(1);
        Transport transport = new OnFlush(() -> {
            if (Thread.currentThread() == kept.get()) {
                unlocked.countDown();
                awaitSafely(looked);
            }
        });
        NodeClock clock = () -> {
            if (Thread.currentThread() == kept.get()) {
                inside.countDown();
                awaitSafely(go);
            }
            return START;
        };
        try (LeaseNode node = standalone(transport, clock)) {
            Lease lease = node.tryAcquire("job", TIME).orElseThrow();
            Thread holder = new Thread(node::onTime);
            kept.set(holder);
            holder.start();
            assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
            lease.release();
            go.countDown();
            assertThat(unlocked.await(60, TimeUnit.SECONDS)).isTrue();

            Optional<LeaseStatus> one = node.lease("job");
            Map<String, LeaseStatus> all = node.leases();
            looked.countDown();
            holder.join();

            assertThat(one).isEmpty();
            assertThat(all).isEmpty();
        }
    }

    /** Nothing else may happen for seconds that would bring it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoHeldTheLockDoesWhatOthersAskedForMeanwhile(boolean onlyLooked) throws Exception {
        AtomicReference<Thread> kept = new AtomicReference<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        NodeClock clock = () -> {
            if (Thread.currentThread() == kept.get()) {
                inside.countDown();
                awaitSafely(go);
            }
            return START;
        };
        try (LeaseNode node = standalone(clock)) {
            node.election("watched");
            Thread holder = new Thread(onlyLooked ? () -> node.lease("watched") : () -> node.election("other"));
            kept.set(holder);
            holder.start();
            assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Optional<Lease>> answer =
                    node.tryAcquireAsync("job", TIME).toCompletableFuture();
            go.countDown();
            holder.join();

            assertThat(answer)
                    .succeedsWithin(Duration.ofSeconds(10))
                    .satisfies(lease -> assertThat(lease).isPresent());
        }
    }

    /** What was asked of a tenure, or seen of it, may come when its election has lost it and won again. */
    @Nested
    class BehindTheNextTenure {

        private final AtomicReference<Now> now = new AtomicReference<>(START);
        private final AtomicReference<Runnable> meanwhile = new AtomicReference<>();
        private final LeaseNode node = standalone(new NodeClock() {
            @Override
            public Now now() {
                Runnable other = meanwhile.getAndSet(null);
                if (other != null) {
                    other.run();
                }
                return now.get();
            }

            @Override
            public boolean isDriven() {
                return true;
            }
        });
        private final LeaderElection election = node.election("job");
        private Lease first;

        @BeforeEach
        void lead() {
            node.start();
            election.start();
            first = election.lease().orElseThrow();
        }

        @AfterEach
        void leadsStill() {
            assertThat(node.awaitTold(TIME)).isTrue();
            assertThat(election.lease())
                    .hasValueSatisfying(next -> assertThat(next.fencingToken()).isGreaterThan(first.fencingToken()));
            node.close();
        }

        /** The thread that does has the lock, and something else comes before. */
        private void winAgainAfter(Runnable other) {
            meanwhile.set(() -> {
                now.updateAndGet(was -> later(was, TIME));
                other.run();
            });
            node.onTime();
        }

        private static boolean isWaitedFor(String thread) {
            return Thread.getAllStackTraces().keySet().stream()
                    .anyMatch(each -> each.getName().startsWith(thread) && each.getState() == Thread.State.WAITING);
        }

        @Test
        void theEndThatAReaderSawIsNotItsEnd() {
            winAgainAfter(() -> {
                assertThat(first.isHeld()).isFalse();
                Events.await(() -> isWaitedFor("paxoslease-solo-events-"));
            });
        }

        @Test
        void aReleaseIsNotItsRelease() {
            winAgainAfter(() -> CompletableFuture.runAsync(first::release).join());
        }

        @Test
        void anExtensionIsDenied() throws Exception {
            FutureTask<Boolean> extension = new FutureTask<>(first::extend);
            winAgainAfter(() -> {
                new Thread(extension, "extending").start();
                Events.await(() -> isWaitedFor("extending"));
            });

            assertThat(extension.get(60, TimeUnit.SECONDS)).isFalse();
        }
    }

    /** The timer's thread may wait for the lock while others take it one after the other; here it does not even run. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoHoldsTheLockDoesWhatIsDue(boolean posted) {
        AtomicReference<Now> now = new AtomicReference<>(START);
        try (LeaseNode node = standalone(now::get)) {
            Lease lease = node.tryAcquire("job", TIME).orElseThrow().autoExtend();
            now.updateAndGet(was -> later(was, Duration.ofSeconds(6)));
            assertThat(lease.remaining()).isLessThan(Duration.ofSeconds(5));

            if (posted) {
                node.tryAcquire("other", TIME);
            } else {
                node.election("other");
            }
            assertThat(lease.remaining()).isGreaterThan(Duration.ofSeconds(9));
        }
    }

    /** Who interrupts every thread that there is means others. */
    @Test
    @Timeout(10)
    void theTimerIsNotKeptBusyByAnInterrupt() {
        try (LeaseNode node = new LeaseNode(
                NodeSettings.standalone("interrupted", TIME), new NoTransport(), new SplittableRandom(1))) {
            node.start();
            Thread timer = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("paxoslease-interrupted-timer"))
                    .findFirst()
                    .orElseThrow();
            timer.interrupt();
            while (timer.isInterrupted() && !Thread.currentThread().isInterrupted()) {
                Thread.yield();
            }
            assertThat(timer.isInterrupted()).isFalse();
        }
    }

    private static void awaitSafely(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
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
                            dispatch(dispatcher, key, () -> {
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

        private static void await(BooleanSupplier condition) {
            while (!condition.getAsBoolean()) {
                Thread.yield();
            }
        }

        private void dispatch(Dispatcher dispatcher, String key, Runnable code) {
            dispatcher.dispatch(List.of(new Dispatcher.Task(key, code)));
        }

        /** Whoever interrupted it came a moment too late. A thread that goes because it is idle would end that too, but later. */
        @Test
        @Timeout(5)
        void areNotKeptBusyByAnInterruptWhenThereIsNothingToDo() throws Exception {
            AtomicReference<Thread> worker = new AtomicReference<>();
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                dispatcher.execute(() -> worker.set(Thread.currentThread()));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                Thread thread = worker.get();
                await(() -> thread.getState() == Thread.State.TIMED_WAITING);
                thread.interrupt();
                await(() -> !thread.isInterrupted());
            }
        }

        @Test
        void thatAreToRunAtOnceDoNotNeedAThreadEach() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger done = new AtomicInteger();
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            int tasks = 4 * Dispatcher.MOST_AT_ONCE;
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                for (int i = 0; i < tasks; i++) {
                    boolean blocks = i < Dispatcher.MOST_AT_ONCE;
                    dispatcher.executeAtOnce(() -> {
                        threads.add(Thread.currentThread());
                        if (blocks) {
                            awaitSafely(release);
                        }
                        done.incrementAndGet();
                    });
                }
                // The others do not wait for those.
                await(() -> done.get() == tasks - Dispatcher.MOST_AT_ONCE);
                release.countDown();
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                assertThat(done).hasValue(tasks);
                assertThat(threads).hasSizeLessThan(Dispatcher.MOST_AT_ONCE + 50);
                // Without what the other threads take turns with, a thread of its own runs it all the same.
                CountDownLatch again = new CountDownLatch(1);
                synchronized (dispatcher) {
                    dispatcher.executeAtOnce(again::countDown);
                    assertThat(again.await(10, TimeUnit.SECONDS)).isTrue();
                }
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
        }

        @Test
        void doNotWaitForKeysThatBlock() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch other = new CountDownLatch(1);
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                // All are there before the first begins to block, and nothing comes after them.
                dispatch(dispatcher, "first", () -> {
                    dispatch(dispatcher, "blocked", () -> awaitSafely(release));
                    dispatch(dispatcher, "blocked too", () -> awaitSafely(release));
                    dispatcher.execute(() -> awaitSafely(release));
                    dispatch(dispatcher, "free", other::countDown);
                });

                assertThat(other.await(60, TimeUnit.SECONDS)).isTrue();
                assertThat(dispatcher.awaitIdle(Duration.ofMillis(1))).isFalse();
                release.countDown();
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
        }

        @Test
        void keepTheirOrderBehindOneThatBlocked() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch passed = new CountDownLatch(2);
            List<Integer> order = new CopyOnWriteArrayList<>();
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                dispatch(dispatcher, "a", () -> {
                    order.add(1);
                    blocked.countDown();
                    awaitSafely(release);
                });
                assertThat(blocked.await(60, TimeUnit.SECONDS)).isTrue();
                dispatch(dispatcher, "a", () -> order.add(2));
                dispatch(dispatcher, "b", passed::countDown);
                dispatch(dispatcher, "a", () -> order.add(3));
                dispatch(dispatcher, "b", passed::countDown);
                assertThat(passed.await(60, TimeUnit.SECONDS)).isTrue();
                dispatch(dispatcher, "a", () -> order.add(4));
                assertThat(order).containsExactly(1);
                release.countDown();

                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                dispatch(dispatcher, "a", () -> order.add(5));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                assertThat(order).containsExactly(1, 2, 3, 4, 5);

                CountDownLatch begun = new CountDownLatch(1);
                CountDownLatch end = new CountDownLatch(1);
                dispatch(dispatcher, "a", () -> {
                    begun.countDown();
                    awaitSafely(end);
                });
                assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
                assertThat(dispatcher.awaitIdle(Duration.ZERO)).as("idle").isFalse();
                end.countDown();
            }
        }

        @Test
        void thatComeOneAfterTheOtherNeedOneThread() {
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                for (int i = 0; i < 10; i++) {
                    dispatch(dispatcher, "key", () -> threads.add(Thread.currentThread()));
                    assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                }
            }
            assertThat(threads).hasSize(1).allMatch(Thread::isDaemon);
        }

        /** The thread of an application that is replaced would keep its classes; what a lease that ends late has to say is told all the same. */
        @Test
        void keepNoThreadBehindTheEndAndAreToldBehindIt() throws Exception {
            AtomicReference<Thread> worker = new AtomicReference<>();
            Dispatcher dispatcher = new Dispatcher("test");
            dispatch(dispatcher, "key", () -> worker.set(Thread.currentThread()));
            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            dispatcher.close();
            worker.get().join(TimeUnit.SECONDS.toMillis(5));
            assertThat(worker.get().isAlive()).isFalse();

            CountDownLatch late = new CountDownLatch(1);
            dispatch(dispatcher, "key", late::countDown);
            assertThat(late.await(10, TimeUnit.SECONDS)).isTrue();
        }

        @Test
        void ofThousandsOfKeysNeedFewThreads() {
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            AtomicInteger done = new AtomicInteger();
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                for (int i = 0; i < 10_000; i++) {
                    dispatch(dispatcher, "key " + i, () -> {
                        threads.add(Thread.currentThread());
                        if (done.incrementAndGet() % 100 == 0) {
                            throw new IllegalStateException("as the test wants it");
                        }
                    });
                }
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(done).hasValue(10_000);
            // Two if nothing holds a thread up for milliseconds, as a busy machine may.
            assertThat(threads).hasSizeLessThan(100);
        }

        @Test
        void afterHundredsComeTogetherUnlessSomebodyWaits() {
            List<String> order = new CopyOnWriteArrayList<>();
            try (Dispatcher dispatcher = new Dispatcher(TimeUnit.HOURS.toNanos(1), Dispatcher.threadsOf("test"))) {
                boolean naps = false;
                // A thread may wake from its nap without a reason.
                for (int attempt = 0; attempt < 100 && !naps; attempt++) {
                    order.clear();
                    dispatcher.dispatch(Collections.nCopies(200, new Dispatcher.Task("key", () -> {})));
                    assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                    dispatch(dispatcher, "key", () -> order.add("after the nap"));
                    naps = !dispatcher.awaitIdle(Duration.ofMillis(50));
                }
                assertThat(naps).isTrue();
                dispatcher.execute(() -> order.add("at once"));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                dispatch(dispatcher, "key", () -> order.add("without a nap"));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
            // The first may wake from its nap just when the second comes.
            assertThat(order).containsExactlyInAnyOrder("after the nap", "at once", "without a nap");
            assertThat(order).last().isEqualTo("without a nap");
        }

        @Test
        void beginWithoutTheInterruptThatOneBeforeThemLeftBehind() {
            AtomicInteger interrupted = new AtomicInteger();
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                for (int i = 0; i < 10; i++) {
                    dispatch(dispatcher, "key", () -> {
                        interrupted.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
                        Thread.currentThread().interrupt();
                    });
                }
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(interrupted).hasValue(0);
        }

        /** The system had no thread left, and whoever gave the task met the error, under the node's lock. */
        @Test
        void thatGotNoThreadAreToldLater() {
            AtomicInteger refused = new AtomicInteger();
            ThreadFactory threads = Dispatcher.threadsOf("test");
            ThreadFactory scarce = task -> {
                if (refused.incrementAndGet() <= 3) {
                    throw new OutOfMemoryError("unable to create native thread, as the test wants it");
                }
                return threads.newThread(task);
            };
            List<String> order = new CopyOnWriteArrayList<>();
            try (Dispatcher dispatcher = new Dispatcher(1, scarce)) {
                dispatcher.executeAtOnce(() -> order.add("at once"));
                dispatch(dispatcher, "key", () -> order.add("first"));
                assertThat(refused).hasValue(3);
                assertThat(order).isEmpty();
                assertThat(dispatcher.awaitIdle(Duration.ZERO)).isFalse();

                dispatcher.tryAgain();
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
                dispatch(dispatcher, "key", () -> order.add("second"));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(order).containsExactly("at once", "first", "second");
        }

        /** The timer asks for threads again; nothing else need ever happen. */
        @Test
        void thatGotNoThreadBehindOneThatBlocksAreToldLater() throws Exception {
            AtomicInteger asked = new AtomicInteger();
            ThreadFactory threads = Dispatcher.threadsOf("test");
            ThreadFactory scarce = task -> {
                int number = asked.incrementAndGet();
                if (number == 2 || number == 3) {
                    throw new OutOfMemoryError("unable to create native thread, as the test wants it");
                }
                return threads.newThread(task);
            };
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch other = new CountDownLatch(1);
            try (Dispatcher dispatcher = new Dispatcher(1, scarce)) {
                dispatch(dispatcher, "blocked", () -> {
                    blocked.countDown();
                    awaitSafely(release);
                });
                assertThat(blocked.await(60, TimeUnit.SECONDS)).isTrue();
                dispatch(dispatcher, "free", other::countDown);
                assertThat(dispatcher.tryAgain()).isFalse();
                assertThat(dispatcher.tryAgain()).isTrue();

                assertThat(other.await(10, TimeUnit.SECONDS)).isTrue();
                assertThat(asked).hasValue(4);
            } finally {
                release.countDown();
            }
        }

        @Test
        void thatMustNotWaitEndANap() throws Exception {
            CountDownLatch release = new CountDownLatch(1);
            CountDownLatch told = new CountDownLatch(1);
            AtomicReference<Thread> worker = new AtomicReference<>();
            try (Dispatcher dispatcher = new Dispatcher(TimeUnit.HOURS.toNanos(1), Dispatcher.threadsOf("test"))) {
                for (int i = 0; i < Dispatcher.MOST_AT_ONCE; i++) {
                    dispatcher.executeAtOnce(() -> awaitSafely(release));
                }
                dispatcher.dispatch(
                        Collections.nCopies(200, new Dispatcher.Task("key", () -> worker.set(Thread.currentThread()))));
                await(() -> worker.get() != null && worker.get().getState() == Thread.State.TIMED_WAITING);

                dispatcher.executeAtOnce(told::countDown);
                assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
            } finally {
                release.countDown();
            }
        }

        @Test
        void thatMustNotWaitComeBeforeTheNewsOfThousandsWhereThereAreTooManyOfThem() {
            CountDownLatch all = new CountDownLatch(1);
            AtomicInteger threadsMade = new AtomicInteger();
            ThreadFactory threads = Dispatcher.threadsOf("test");
            List<String> order = new CopyOnWriteArrayList<>();
            try (Dispatcher dispatcher = new Dispatcher(1, task -> {
                threadsMade.incrementAndGet();
                return threads.newThread(() -> {
                    awaitSafely(all);
                    task.run();
                });
            })) {
                dispatcher.dispatch(IntStream.range(0, 2_000)
                        .mapToObj(i -> new Dispatcher.Task("key " + i, () -> order.add("news")))
                        .toList());
                for (int i = 0; i < Dispatcher.MOST_AT_ONCE; i++) {
                    dispatcher.executeAtOnce(() -> {});
                }
                dispatcher.executeAtOnce(() -> order.add("loss"));
                assertThat(threadsMade).hasValue(1 + Dispatcher.MOST_AT_ONCE);
                all.countDown();
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
            // First, unless its thread is held up just then and another tells the news meanwhile.
            assertThat(order).hasSize(2_001).last().isEqualTo("news");
        }

        /** Nor anything later: whoever writes the log may throw, or ask what was thrown for a message and meet that again. */
        @ParameterizedTest
        @ValueSource(booleans = {false, true})
        void comeAlsoAfterOneThatThrewWhatCouldNotBeLogged(boolean atOnce) {
            Runnable failing = () -> {
                throw new NoClassDefFoundError("an application's own trouble");
            };
            List<String> told = new CopyOnWriteArrayList<>();
            try (HeardLog full = new HeardLog(Dispatcher.class, NewsTests::full);
                    Dispatcher dispatcher = new Dispatcher("test")) {
                if (atOnce) {
                    dispatcher.executeAtOnce(failing);
                } else {
                    dispatch(dispatcher, "key", failing);
                }
                dispatch(dispatcher, "key", () -> told.add("next"));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(10))).isTrue();
                dispatch(dispatcher, "key", () -> told.add("last"));
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(10))).isTrue();
            }
            assertThat(told).containsExactly("next", "last");
        }

        /** A thread is made by whoever asks for it first, perhaps for a request of a user, and runs what others gave it for as long as there is any. */
        @Test
        void runWithoutWhatBelongsToTheThreadThatGaveThem() throws Exception {
            InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
            List<String> users = new CopyOnWriteArrayList<>();
            List<ClassLoader> loaders = new CopyOnWriteArrayList<>();
            Runnable code = () -> {
                users.add("user " + user.get());
                loaders.add(Thread.currentThread().getContextClassLoader());
            };
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                Thread caller = new Thread(() -> {
                    user.set("alice");
                    dispatcher.execute(code);
                    dispatcher.executeAtOnce(code);
                });
                caller.setContextClassLoader(ClassLoader.getPlatformClassLoader());
                caller.start();
                caller.join();
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
            assertThat(users).containsExactly("user null", "user null");
            ClassLoader own = Thread.currentThread().getContextClassLoader();
            assertThat(loaders).containsExactly(own, own);
        }

        @Test
        void leaveWhoWaitsForThemInterrupted() {
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                CountDownLatch end = new CountDownLatch(1);
                dispatch(dispatcher, "key", () -> awaitSafely(end));
                Thread.currentThread().interrupt();
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isFalse();
                assertThat(Thread.interrupted()).isTrue();
                end.countDown();
            }
        }

        @Test
        void thatMustNotWaitHaveThreadsOfTheirOwn() throws Exception {
            CountDownLatch all = new CountDownLatch(3);
            try (Dispatcher dispatcher = new Dispatcher("test")) {
                for (int i = 0; i < 3; i++) {
                    dispatcher.executeAtOnce(() -> {
                        all.countDown();
                        awaitSafely(all);
                    });
                }
                assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            }
        }
    }
}
