package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Timing;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of the application when a node has failed. */
class NodeLoopTests {

    private static final Duration TIME = Duration.ofSeconds(10);
    private static final Cell CELL = new Cell("cell", List.of("n"));
    private static final Incarnation SELF = new Incarnation("n", 1);
    private static final Now START = new Now(Long.MAX_VALUE - 5, 1_800_000_000_000L);
    private static final IllegalStateException DEFECT = new IllegalStateException("planted");

    private final Timing timing = new Timing(TIME.toNanos(), 0.01);
    private final BallotSequence ballots = new BallotSequence(START);
    private final Proposer proposer = new Proposer(SELF, CELL, timing, ballots);
    private final LeaseEngine engine =
            new LeaseEngine(SELF, proposer, true, Duration.ofSeconds(1).toNanos(), new SplittableRandom(1));
    private final LocalAcceptor acceptor = new LocalAcceptor(new Acceptor(timing, 100, START), ballots, Runnable::run);
    private final AtomicInteger threadsRefused = new AtomicInteger();
    private final BlockingQueue<Boolean> askedByInterrupted = new LinkedBlockingQueue<>();
    private boolean interruptsWhoAsks;
    private Runnable whenRefused = () -> {};
    private final Dispatcher dispatcher = new Dispatcher(1, scarce(Dispatcher.threadsOf("test")));
    private final LeaseNode node =
            new LeaseNode(NodeSettings.standalone("n", TIME), new NoTransport(), new SplittableRandom(1));
    private final News news = new News(node, CELL, NodeClock.SYSTEM, dispatcher);
    private final BlockingQueue<String> lost = new LinkedBlockingQueue<>();

    private ThreadFactory scarce(ThreadFactory threads) {
        return task -> {
            askedByInterrupted.add(Thread.currentThread().isInterrupted());
            if (threadsRefused.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                if (interruptsWhoAsks) {
                    Thread.currentThread().interrupt();
                }
                whenRefused.run();
                throw new OutOfMemoryError("unable to create native thread, as the test wants it");
            }
            return threads.newThread(task);
        };
    }

    private NodeLoop loop(@Nullable LocalAcceptor own, NodeClock clock) {
        return new NodeLoop(SELF, CELL, clock, new NoTransport(), own, engine, news, dispatcher);
    }

    private NodeLoop drivenLoop() {
        return loop(acceptor, new NodeClock() {
            @Override
            public Now now() {
                return START;
            }

            @Override
            public boolean isDriven() {
                return true;
            }
        });
    }

    private Claim take(NodeLoop loop, String name) {
        Claim claim = Claim.once(name, TIME.toNanos(), START.nanos() + TIME.toNanos());
        loop.run((now, output) -> engine.submit(claim, now, output));
        assertThat(claim.tenure).isNotNull();
        return claim;
    }

    private void listen() {
        news.addListener(transition -> lost.add(transition.kind() + " " + transition.leaseName()));
    }

    @BeforeEach
    void open() {
        acceptor.open(true, START);
        ballots.observe(START.counterFloor(), START);
    }

    @AfterEach
    void close() {
        node.close();
        dispatcher.close();
    }

    /** The defect may be just that one is parked which is not held. */
    @Test
    void aLossThatCannotBeToldHoldsUpNoOther() {
        NodeLoop loop = drivenLoop();
        for (String name : List.of("a", "b", "c")) {
            Claim claim = take(loop, name);
            loop.run((now, output) -> engine.autoExtend(claim, now, output));
        }
        loop.run((now, output) -> engine.tellAttempts());
        loop.run(engine::onTime);
        assertThat(engine.parked()).isEqualTo(3);
        proposer.release("b", START, new ArrayList<>());
        listen();

        loop.failAndTell(DEFECT);

        assertThat(dispatcher.awaitIdle(TIME)).isTrue();
        assertThat(lost).containsExactlyInAnyOrder("LOST a", "LOST c");
    }

    /** The defect may be that the system has no thread left; soon it may have one. */
    @Test
    void lossesThatFoundNoThreadAreToldWhenThereIsOne() throws InterruptedException {
        NodeLoop loop = loop(acceptor, () -> START);
        take(loop, "job");
        listen();
        threadsRefused.set(1);
        loop.start();

        loop.failAndTell(DEFECT);

        assertThat(lost.poll(10, TimeUnit.SECONDS)).isEqualTo("LOST job");
    }

    /** It would end every pause at once, and the timer would ask for a thread without end. */
    @Test
    void anInterruptEndsOnePauseOfTheTimerThatLacksAThread() throws InterruptedException {
        NodeLoop loop = loop(acceptor, () -> START);
        take(loop, "job");
        listen();
        threadsRefused.set(2);
        interruptsWhoAsks = true;
        loop.start();

        loop.failAndTell(DEFECT);

        assertThat(lost.poll(10, TimeUnit.SECONDS)).isEqualTo("LOST job");
        assertThat(askedByInterrupted).containsExactly(false, true, false);
    }

    /** It would ask for a thread without end, and where memory is short leave none to the others. */
    @Test
    @Timeout(60)
    void aTimerThatMeetsADefectDoesNotWakeItself() throws InterruptedException {
        AtomicBoolean woken = new AtomicBoolean();
        BlockingQueue<Boolean> wokenByOthers = new LinkedBlockingQueue<>();
        BlockingQueue<Thread> asking = new LinkedBlockingQueue<>();
        NodeLoop loop = loop(acceptor, () -> {
            if (Thread.currentThread().getName().endsWith("-timer")) {
                throw DEFECT;
            }
            return START;
        });
        take(loop, "job");
        listen();
        threadsRefused.set(1);
        whenRefused = () -> {
            asking.add(Thread.currentThread());
            LockSupport.park();
            wokenByOthers.add(woken.get());
        };
        loop.start();

        Thread timer = asking.take();
        while (wokenByOthers.isEmpty() && timer.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        woken.set(true);
        LockSupport.unpark(timer);

        assertThat(wokenByOthers.take()).isTrue();
        assertThat(lost.poll(10, TimeUnit.SECONDS)).isEqualTo("LOST job");
    }

    @Test
    void lossesThatFoundNoThreadAreToldWhenWhoDrivesTheClockCalls() {
        NodeLoop loop = drivenLoop();
        take(loop, "job");
        listen();
        threadsRefused.set(1);
        loop.failAndTell(DEFECT);

        loop.onTime();

        assertThat(dispatcher.awaitIdle(TIME)).isTrue();
        assertThat(lost).containsExactly("LOST job");
    }

    /** What wakes the timer while it waits for the lock is forgotten. */
    @Test
    @Timeout(60)
    void theTimerDoesNotSleepOnADefectThatItWaitedFor() {
        AtomicInteger calls = new AtomicInteger();
        CountDownLatch locked = new CountDownLatch(1);
        AtomicBoolean waits = new AtomicBoolean();
        Thread[] timer = new Thread[1];
        NodeLoop loop = loop(null, () -> {
            if (!Thread.currentThread().getName().endsWith("-timer")) {
                return START;
            }
            timer[0] = Thread.currentThread();
            switch (calls.incrementAndGet()) {
                case 3 -> {
                    // What was due is done, and the timer is to find out for how long it may sleep.
                    awaitSafely(locked);
                    waits.set(true);
                    return START;
                }
                case 5 -> {
                    // For an hour.
                    return new Now(START.nanos() - Duration.ofHours(1).toNanos(), START.wallMillis());
                }
                default -> {
                    return START;
                }
            }
        });
        Claim claim = Claim.patient("job", TIME.toNanos(), START.nanos() + TIME.toNanos());
        loop.run((now, output) -> {
            loop.start();
            engine.watch("job").claims.add(claim);
        });
        while (calls.get() < 3) {
            Thread.onSpinWait();
        }
        loop.run((now, output) -> {
            locked.countDown();
            while (!waits.get() || timer[0].getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
            throw DEFECT;
        });

        assertThat(claim.result).succeedsWithin(TIME);
    }

    /** Where memory is short, what tells of the first defect meets another one. */
    @Test
    @Timeout(60)
    void aTimerThatFailsAgainAtItsEndAnswersWhoeverWaits() {
        CompletableFuture<Boolean> answered = new CompletableFuture<>();
        AtomicInteger calls = new AtomicInteger();
        NodeLoop[] loop = new NodeLoop[1];
        loop[0] = loop(null, () -> {
            if (calls.incrementAndGet() != 2) {
                return START;
            }
            // The timer has the lock, so that these wait for it; what it performs at once is less than a hundred.
            CompletableFuture.runAsync(() -> {
                        for (int i = 0; i < 200; i++) {
                            loop[0].post((now, output) -> {}, NodeLoopTests::failWithoutPause);
                        }
                        loop[0].post((now, output) -> {}, () -> answered.complete(true));
                    })
                    .join();
            throw DEFECT;
        });

        loop[0].start();

        assertThat(answered).succeedsWithin(TIME);
    }

    private static void failWithoutPause() {
        Thread.currentThread().interrupt();
        throw new OutOfMemoryError("as the test wants it");
    }

    private static void awaitSafely(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    /** The lock of a thread that has ended would never be free again. In a JVM without compilers, whose frames are of the same size each time. */
    @Test
    @Timeout(60)
    void whoComesToTheEndOfTheStackLeavesNoLockBehind() throws Exception {
        Process interpreted = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xint",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        EndOfTheStack.class.getName())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            assertThat(interpreted.waitFor(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            interpreted.destroyForcibly();
        }
        assertThat(interpreted.exitValue()).as("how many locks stayed held").isZero();
    }

    static final class EndOfTheStack {

        private EndOfTheStack() {}

        public static void main(String[] arguments) throws InterruptedException {
            int held = 0;
            for (int i = 0; i < 20 && held == 0; i++) {
                NodeLoop loop = new NodeLoopTests().drivenLoop();
                loop.ask(() -> "");
                Thread diver = new Thread(null, () -> askAtEachDepth(loop, 100_000), "diver", 256 * 1024);
                diver.start();
                diver.join();
                Thread next = new Thread(() -> loop.ask(() -> ""));
                next.setDaemon(true);
                next.start();
                next.join(10_000);
                held += next.isAlive() ? 1 : 0;
            }
            System.exit(held);
        }

        private static void askAtEachDepth(NodeLoop loop, int further) {
            try {
                if (further > 0) {
                    askAtEachDepth(loop, further - 1);
                }
                loop.ask(() -> "");
            } catch (StackOverflowError end) {
                // further up there is more room
            }
        }
    }
}
