package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.HeardLog;
import io.paxoslease.protocol.Names;
import java.io.IOException;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DispatcherTests {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private Runnable whenLogged = () -> {};

    private final HeardLog log = new HeardLog(Dispatcher.class, line -> {
        lines.add(line.getMessage());
        whenLogged.run();
    });

    @AfterEach
    void close() {
        log.close();
    }

    /** Whatever runs has run for long whenever the dispatcher looks. */
    private static Dispatcher whereTimeFlies() {
        AtomicLong nanos = new AtomicLong();
        return new Dispatcher(1, Dispatcher.threadsOf("test"), new Backlog(() -> nanos.addAndGet(Backlog.LONG_NANOS)));
    }

    @Test
    void saysWhatWaitsForATaskThatDoesNotEnd() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch last = new CountDownLatch(2 * Backlog.WORTH_A_WARNING);
        CountDownLatch others = new CountDownLatch(1);
        try (Dispatcher dispatcher = whereTimeFlies()) {
            dispatcher.dispatch(List.of(new Dispatcher.Task("stuck", () -> {
                begun.countDown();
                awaitQuietly(mayEnd);
            })));
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
            dispatcher.dispatch(
                    Collections.nCopies(2 * Backlog.WORTH_A_WARNING, new Dispatcher.Task("stuck", last::countDown)));
            dispatcher.dispatch(List.of(new Dispatcher.Task("free", others::countDown)));

            assertThat(others.await(60, TimeUnit.SECONDS)).isTrue();

            mayEnd.countDown();
            assertThat(last.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            // Who has a line to write may be overtaken by the one that runs what is free.
            assertThat(lines)
                    .hasSize(2)
                    .allMatch(line -> line.contains(" news of lease 'stuck' wait for a listener"))
                    .satisfiesExactly(
                            line -> assertThat(line).startsWith(Backlog.WORTH_A_WARNING + " "),
                            line -> assertThat(line).startsWith(2 * Backlog.WORTH_A_WARNING + " "));
        }
    }

    /** Its news would wait for a log that blocks. */
    @Test
    void noLeaseIsCalledAsTheLinesForTheLog() {
        assertThatThrownBy(() -> Names.require("lease name", Dispatcher.LOG_KEY, Names.MAX_RESOURCE_BYTES))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void linesThatWaitForTheLogAreNoNewsOfALease() throws InterruptedException {
        CountDownLatch flows = new CountDownLatch(1);
        CountDownLatch others = new CountDownLatch(1);
        List<Integer> written = new ArrayList<>();
        try (Dispatcher dispatcher = whereTimeFlies()) {
            dispatcher.log(() -> awaitQuietly(flows));
            for (int i = 0; i < 2 * Backlog.WORTH_A_WARNING; i++) {
                int number = i;
                dispatcher.log(() -> written.add(number));
            }
            dispatcher.dispatch(List.of(new Dispatcher.Task("free", others::countDown)));
            assertThat(others.await(60, TimeUnit.SECONDS)).isTrue();

            flows.countDown();
            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            assertThat(written).hasSize(2 * Backlog.WORTH_A_WARNING).isSorted();
            assertThat(lines).isEmpty();
        }
    }

    /** An application may make names of what its users write. */
    @Test
    void namesForgeNoLines() {
        try (Dispatcher dispatcher = new Dispatcher("test")) {
            dispatcher.dispatch(List.of(new Dispatcher.Task("a\nERROR b", () -> {
                throw new IllegalStateException("on purpose");
            })));
            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            assertThat(lines).containsExactly("A listener of lease 'a?ERROR b' failed");
        }
    }

    @Test
    void saysOnceThatThreadsRunShort() {
        try (Dispatcher dispatcher = new Dispatcher(1, task -> {
            throw new OutOfMemoryError("unable to create native thread, as the test wants it");
        })) {
            for (int i = 0; i < 3; i++) {
                dispatcher.dispatch(List.of(new Dispatcher.Task("key", () -> {})));
                dispatcher.tryAgain();
            }
            assertThat(lines).containsExactly("No thread can be had to tell the application what became of its leases");
        }
    }

    /** Whoever gives a task holds the lock of the node, and the log may block. */
    @Test
    void saysThatThreadsRunShortWhereNobodyWaitsForIt() {
        try (Dispatcher dispatcher = new Dispatcher(1, task -> {
            throw new OutOfMemoryError("unable to create native thread, as the test wants it");
        })) {
            whenLogged = () -> lines.add(Thread.holdsLock(dispatcher) ? "under the lock" : "free");
            dispatcher.dispatch(List.of(new Dispatcher.Task("key", () -> {})));
            dispatcher.executeAtOnce(() -> {});
            assertThat(lines).isEmpty();

            dispatcher.tryAgain();

            assertThat(lines).hasSize(2).last().isEqualTo("free");
        }
    }

    /** Nobody would ever be told anything any more. */
    @Test
    @Timeout(20)
    void goesOnAlthoughTheThreadThatHasTheTurnFindsNoMemory() {
        AtomicInteger planted = new AtomicInteger(1);
        List<String> told = new CopyOnWriteArrayList<>();
        List<Dispatcher.Task> news = new AbstractList<>() {
            @Override
            public Dispatcher.Task get(int index) {
                if (planted.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("planted");
                }
                return new Dispatcher.Task("key", () -> told.add("first"));
            }

            @Override
            public int size() {
                return 1;
            }
        };
        ThreadFactory threads = Dispatcher.threadsOf("test");
        try (Dispatcher dispatcher = new Dispatcher(1, task -> {
            Thread thread = threads.newThread(task);
            thread.setUncaughtExceptionHandler((who, planned) -> {});
            return thread;
        })) {
            dispatcher.dispatch(news);
            while (told.isEmpty() && !Thread.currentThread().isInterrupted()) {
                dispatcher.tryAgain();
            }
            dispatcher.dispatch(List.of(new Dispatcher.Task("key", () -> told.add("next"))));

            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
            assertThat(told).containsExactly("first", "next");
        }
    }

    /** It needs one that watches while others wait. */
    @Test
    @Timeout(20)
    void runsWhatAThreadHasBegunAlthoughThatFindsNoOther() {
        AtomicInteger threadsMade = new AtomicInteger();
        List<String> told = new CopyOnWriteArrayList<>();
        ThreadFactory threads = Dispatcher.threadsOf("test");
        try (Dispatcher dispatcher = new Dispatcher(1, task -> {
            if (threadsMade.incrementAndGet() == 2) {
                throw new InternalError("as the test wants it");
            }
            Thread thread = threads.newThread(task);
            thread.setUncaughtExceptionHandler((who, planned) -> {});
            return thread;
        })) {
            dispatcher.dispatch(List.of(
                    new Dispatcher.Task("key", () -> told.add("first")),
                    new Dispatcher.Task("key", () -> told.add("next"))));

            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(5))).isTrue();
            assertThat(told).containsExactly("first", "next");
        }
    }

    /** Code in other languages throws what Java would have it declare. */
    @Test
    void goesOnAlthoughALogThrowsWhatItDoesNotDeclare() {
        List<String> told = new CopyOnWriteArrayList<>();
        whenLogged = () -> DispatcherTests.<RuntimeException>raise(new IOException("as the test wants it"));
        try (Dispatcher dispatcher = new Dispatcher("test")) {
            dispatcher.dispatch(List.of(
                    new Dispatcher.Task("key", () -> {
                        throw new IllegalStateException("an application's own trouble");
                    }),
                    new Dispatcher.Task("key", () -> told.add("next"))));

            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(5))).isTrue();
            assertThat(told).containsExactly("next");
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> void raise(Throwable undeclared) throws E {
        throw (E) undeclared;
    }

    /** The heap would fill with what is to be told. */
    @Test
    @Timeout(20)
    void whoBringsMoreWaitsWhileTooManyWaitAlready() throws InterruptedException {
        AtomicBoolean threadsRunShort = new AtomicBoolean(true);
        ThreadFactory threads = Dispatcher.threadsOf("test");
        try (Dispatcher dispatcher = new Dispatcher(1, task -> {
            if (threadsRunShort.get()) {
                throw new OutOfMemoryError("unable to create native thread, as the test wants it");
            }
            return threads.newThread(task);
        })) {
            dispatcher.dispatch(Collections.nCopies(Dispatcher.MANY_WAITING, new Dispatcher.Task("key", () -> {})));
            dispatcher.awaitRoom(Long.MAX_VALUE);
            dispatcher.dispatch(List.of(new Dispatcher.Task("key", () -> {})));
            dispatcher.awaitRoom(1);
            Thread bringing = new Thread(() -> dispatcher.awaitRoom(Long.MAX_VALUE));
            bringing.start();
            while (bringing.isAlive() && bringing.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            assertThat(bringing.isAlive()).isTrue();

            threadsRunShort.set(false);
            dispatcher.tryAgain();
            bringing.join();
        }
    }

    @Test
    @Timeout(90)
    void aTaskDoesNotWaitForThoseBehindIt() {
        CountDownLatch full = new CountDownLatch(1);
        AtomicInteger threadsMade = new AtomicInteger();
        ThreadFactory threads = Dispatcher.threadsOf("test");
        try (Dispatcher dispatcher = new Dispatcher(1, task -> {
            if (threadsMade.incrementAndGet() > 1) {
                throw new OutOfMemoryError("unable to create native thread, as the test wants it");
            }
            return threads.newThread(task);
        })) {
            dispatcher.dispatch(List.of(new Dispatcher.Task("key", () -> {
                awaitQuietly(full);
                dispatcher.awaitRoom(Long.MAX_VALUE);
            })));
            dispatcher.dispatch(Collections.nCopies(2 * Dispatcher.MANY_WAITING, new Dispatcher.Task("key", () -> {})));
            full.countDown();

            assertThat(dispatcher.awaitIdle(Duration.ofSeconds(60))).isTrue();
        }
    }

    /** It may be what the listener itself waits for. */
    @Test
    void aLogThatBlocksHoldsUpNobodyElse() throws Exception {
        CountDownLatch mayEnd = new CountDownLatch(1);
        CountDownLatch others = new CountDownLatch(1);
        whenLogged = () -> awaitQuietly(mayEnd);
        Dispatcher dispatcher = whereTimeFlies();
        try {
            dispatcher.dispatch(List.of(new Dispatcher.Task("stuck", () -> awaitQuietly(mayEnd))));
            dispatcher.dispatch(Collections.nCopies(Backlog.WORTH_A_WARNING, new Dispatcher.Task("stuck", () -> {})));
            CompletableFuture.runAsync(() -> {
                        while (lines.isEmpty()) {
                            Thread.onSpinWait();
                        }
                        dispatcher.dispatch(List.of(new Dispatcher.Task("free", others::countDown)));
                    })
                    .get(60, TimeUnit.SECONDS);
            assertThat(others.await(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            mayEnd.countDown();
            dispatcher.close();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
