package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.LeaseTransition.Kind;
import io.paxoslease.spring.LeaderChangedEvent;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseExtensionFailedEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.DefaultApplicationArguments;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;

/** Order, pairing and patience of lease events. */
@ExtendWith(OutputCaptureExtension.class)
class LeaseEventPublisherTests {

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    private final AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext();
    private @Nullable LeaseEventPublisher publisher;

    @AfterEach
    void close() {
        context.close();
        parent.close();
    }

    private LeaseEventPublisher start(Class<?>... listeners) {
        context.register(listeners);
        context.registerBean(LeaseEventPublisher.class, () -> new LeaseEventPublisher("source", "n1", context));
        context.refresh();
        publisher = context.getBean(LeaseEventPublisher.class);
        return publisher;
    }

    private void tell(Kind kind, String lease, long token) {
        publisher.onTransition(new LeaseTransition(kind, lease, token, null, "why", Duration.ZERO));
    }

    private void delivered() {
        await().until(() -> publisher.awaitDelivered(Duration.ZERO));
    }

    static class Recorder {
        final List<String> seen = new CopyOnWriteArrayList<>();
        final List<String> threads = new CopyOnWriteArrayList<>();

        @EventListener
        void on(LeaseEvent event) {
            threads.add(Thread.currentThread().getName());
            seen.add(event.getClass().getSimpleName() + " " + event.leaseName() + " " + event.fencingToken());
        }
    }

    private Recorder recorder() {
        return context.getBean(Recorder.class);
    }

    @Test
    void publishesEveryKindInOrderOnItsOwnThreads() {
        start(Recorder.class);
        for (Kind kind : List.of(Kind.ACQUIRED, Kind.EXTENDED, Kind.EXTENSION_FAILED, Kind.LOST)) {
            tell(kind, "jobs", 5);
        }
        tell(Kind.ACQUIRED, "jobs", 6);
        tell(Kind.RELEASED, "jobs", 6);
        tell(Kind.LEADER_CHANGED, "jobs", 0);
        delivered();
        assertThat(recorder().seen)
                .containsExactly(
                        "LeaseAcquiredEvent jobs 5",
                        "LeaseExtendedEvent jobs 5",
                        "LeaseExtensionFailedEvent jobs 5",
                        "LeaseLostEvent jobs 5",
                        "LeaseAcquiredEvent jobs 6",
                        "LeaseReleasedEvent jobs 6",
                        "LeaderChangedEvent jobs 0");
        assertThat(recorder().threads).allMatch(name -> name.startsWith("paxoslease-listeners-"));
    }

    static class Details {
        final List<Object> seen = new CopyOnWriteArrayList<>();

        @EventListener
        void on(LeaseExtensionFailedEvent event) {
            seen.add(event.reason());
        }

        @EventListener
        void on(LeaderChangedEvent event) {
            seen.add(event.leader());
            seen.add(event.node());
            seen.add(event.getSource());
        }
    }

    @Test
    void carriesReasonsAndLeaders() {
        start(Details.class);
        tell(Kind.EXTENSION_FAILED, "jobs", 5);
        publisher.onTransition(new LeaseTransition(Kind.LEADER_CHANGED, "jobs", 0, "n2", null, Duration.ZERO));
        delivered();
        assertThat(context.getBean(Details.class).seen)
                .containsExactly("why", java.util.Optional.of("n2"), "n1", "source");
    }

    @Test
    void holdsEventsBackUntilTheApplicationIsReady() {
        context.registerBean("springApplicationArguments", DefaultApplicationArguments.class);
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        for (int i = 0; i < 1000; i++) {
            tell(Kind.EXTENDED, "jobs", 5);
        }
        tell(Kind.EXTENSION_FAILED, "jobs", 5);
        tell(Kind.EXTENDED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        assertThat(recorder().seen).isEmpty();
        context.publishEvent(
                new ApplicationReadyEvent(new SpringApplication(Object.class), new String[0], context, Duration.ZERO));
        delivered();
        assertThat(recorder().seen)
                .containsExactly(
                        "LeaseAcquiredEvent jobs 5",
                        "LeaseExtendedEvent jobs 5",
                        "LeaseExtensionFailedEvent jobs 5",
                        "LeaseExtendedEvent jobs 5",
                        "LeaseLostEvent jobs 5");
    }

    /** A runner may take one lease after the other for ever. */
    @Test
    void keepsWholeTenuresOfSomeLeasesUntilTheApplicationIsReady() {
        context.registerBean("springApplicationArguments", DefaultApplicationArguments.class);
        start(Recorder.class);
        for (int i = 0; i < 10_000; i++) {
            tell(Kind.ACQUIRED, "lease-" + i, i);
            tell(Kind.RELEASED, "lease-" + i, i);
            tell(Kind.LEADER_CHANGED, "lease-" + i, 0);
        }
        tell(Kind.ACQUIRED, "held", 5);
        context.publishEvent(
                new ApplicationReadyEvent(new SpringApplication(Object.class), new String[0], context, Duration.ZERO));
        tell(Kind.RELEASED, "held", 5);
        delivered();
        assertThat(recorder().seen)
                .hasSize(3 * 256 + 2)
                .contains("LeaseAcquiredEvent lease-0 0", "LeaseAcquiredEvent held 5");
        assertThat(recorder().seen)
                .filteredOn(event -> event.startsWith("LeaseReleasedEvent"))
                .hasSize(257);
    }

    /** No ApplicationReadyEvent comes for a context that was made by hand, whoever started its parent. */
    @Test
    void isReadyWithAChildOfAnApplication() {
        parent.registerBean("springApplicationArguments", DefaultApplicationArguments.class);
        parent.refresh();
        context.setParent(parent);
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        await().untilAsserted(() ->
                assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5"));
    }

    @Test
    void saysNothingIfTheApplicationDoesNotBecomeReadyBeforeTheEnd() {
        context.registerBean("springApplicationArguments", DefaultApplicationArguments.class);
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        assertThat(publisher.awaitDelivered(Duration.ofSeconds(10))).isTrue();
        publisher.close();
        context.publishEvent(
                new ApplicationReadyEvent(new SpringApplication(Object.class), new String[0], context, Duration.ZERO));
        assertThat(publisher.awaitTold(Duration.ofSeconds(10))).isTrue();
        assertThat(recorder().seen).isEmpty();
    }

    /** There may be many names over time. */
    @Test
    void keepsNothingOfALeaseThatIsOver() {
        start(Recorder.class);
        WeakReference<String> name = tellATenure();

        await().until(() -> {
            System.gc();
            return name.get() == null;
        });
    }

    private WeakReference<String> tellATenure() {
        String name = "jobs".repeat(2);
        tell(Kind.ACQUIRED, name, 5);
        tell(Kind.RELEASED, name, 5);
        delivered();
        return new WeakReference<>(name);
    }

    static class Throwing {
        @Order(1)
        @EventListener
        void on(LeaseEvent event) {
            throw new IllegalStateException("broken listener");
        }
    }

    @Test
    void aListenerThatThrowsStopsNeitherTheOthersNorWhatFollows(CapturedOutput output) {
        start(Throwing.class, Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        delivered();
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
        assertThat(output).contains("'jobs'").contains("LeaseAcquiredEvent").contains("broken listener");
    }

    static class Unspeakable {
        final AtomicInteger calls = new AtomicInteger();

        @Order(1)
        @EventListener
        void on(LeaseEvent event) {
            calls.incrementAndGet();
            throw new IllegalStateException() {
                @Override
                public String getMessage() {
                    throw new IllegalStateException("no message either");
                }
            };
        }
    }

    @Test
    void aFailureThatCannotBeLoggedStopsNeitherItsListenerNorTheOthers() {
        start(Unspeakable.class, Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        delivered();
        assertThat(context.getBean(Unspeakable.class).calls).hasValue(2);
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
    }

    /** An application may make names of what its users write. */
    @Test
    void namesForgeNoLines(CapturedOutput output) {
        start(Throwing.class);
        tell(Kind.ACQUIRED, "a\nERROR b", 5);
        tell(Kind.LOST, "a\nERROR b", 5);
        tell(Kind.LEADER_CHANGED, "a\nERROR b", 0);
        delivered();
        assertThat(output).contains("a?ERROR b").doesNotContain("\nERROR b");
    }

    static class Blocking {
        final CountDownLatch go = new CountDownLatch(1);
        final AtomicBoolean ended = new AtomicBoolean();
        final AtomicBoolean interrupted = new AtomicBoolean();
        final List<String> own = new CopyOnWriteArrayList<>();

        @Order(1)
        @EventListener
        void lead(LeaseAcquiredEvent event) {
            try {
                go.await();
            } catch (InterruptedException interrupt) {
                interrupted.set(true);
            }
        }

        @EventListener({LeaseLostEvent.class, LeaseReleasedEvent.class})
        void stop() {
            ended.set(true);
        }
    }

    static class BlockingInAll {
        final CountDownLatch go = new CountDownLatch(1);
        final List<String> seen = new CopyOnWriteArrayList<>();

        @EventListener
        void on(LeaseEvent event) throws InterruptedException {
            go.await();
            seen.add(event.getClass().getSimpleName());
        }
    }

    @Test
    void aListenerThatBlocksKeepsTheEndOfATenureFromNobody() {
        start(Blocking.class, Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        await().untilTrue(context.getBean(Blocking.class).ended);
        await().untilAsserted(() ->
                assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5"));
        assertThat(publisher.awaitDelivered(Duration.ofMillis(10))).isFalse();
        context.getBean(Blocking.class).go.countDown();
        delivered();
    }

    @Test
    void aListenerThatBlockedReceivesWhatFollowedInOrder() {
        start(BlockingInAll.class, Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.EXTENDED, "jobs", 5);
        tell(Kind.RELEASED, "jobs", 5);
        await().untilAsserted(() -> assertThat(recorder().seen).hasSize(3));
        BlockingInAll blocking = context.getBean(BlockingInAll.class);
        assertThat(blocking.seen).isEmpty();
        blocking.go.countDown();
        delivered();
        assertThat(blocking.seen).containsExactly("LeaseAcquiredEvent", "LeaseExtendedEvent", "LeaseReleasedEvent");
    }

    @Test
    void aLeaseDoesNotWaitForAnother() {
        start(Blocking.class, Recorder.class);
        tell(Kind.ACQUIRED, "slow", 5);
        for (int i = 0; i < 20; i++) {
            tell(Kind.EXTENDED, "quick", i);
        }
        await().untilAsserted(() -> assertThat(recorder().seen)
                .filteredOn(text -> text.contains("quick"))
                .hasSize(20));
        context.getBean(Blocking.class).go.countDown();
    }

    private static AppenderBase<ILoggingEvent> blocking(CountDownLatch begun, CountDownLatch mayEnd) {
        AppenderBase<ILoggingEvent> blocked = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent line) {
                begun.countDown();
                try {
                    mayEnd.await();
                } catch (InterruptedException interrupt) {
                    throw new IllegalStateException(interrupt);
                }
            }
        };
        blocked.start();
        return blocked;
    }

    @Test
    void aLogThatBlocksHoldsUpNoOtherLease() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AppenderBase<ILoggingEvent> blocked = blocking(begun, mayEnd);
        Logger logger = (Logger) LoggerFactory.getLogger(LeaseEventPublisher.class);
        logger.setLevel(Level.WARN);
        start(Blocking.class, Recorder.class);
        logger.addAppender(blocked);
        try {
            tell(Kind.ACQUIRED, "slow", 5);
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

            Thread other = new Thread(() -> tell(Kind.EXTENDED, "quick", 1));
            other.start();

            other.join(10_000);
            assertThat(other.isAlive()).isFalse();
            await().untilAsserted(() -> assertThat(recorder().seen).contains("LeaseExtendedEvent quick 1"));
        } finally {
            mayEnd.countDown();
            logger.detachAppender(blocked);
            logger.setLevel(null);
            context.getBean(Blocking.class).go.countDown();
        }
    }

    @Test
    void manyLeasesThatEndAtOnceDoNotTakeAThreadEach() {
        start(BlockingInAll.class);
        tellTenures(400);
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("paxoslease-listeners-"))
                .hasSizeLessThan(400);
        BlockingInAll blocking = context.getBean(BlockingInAll.class);
        blocking.go.countDown();
        delivered();
        assertThat(blocking.seen).hasSize(800);
    }

    @Test
    void listenersThatBlockInManyLeasesKeepTheEndOfAnotherFromNobody() {
        start(BlockingInAll.class, Recorder.class);
        tellTenures(100);
        tell(Kind.ACQUIRED, "another", 5);
        tell(Kind.LOST, "another", 5);
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(recorder().seen)
                        .contains("LeaseAcquiredEvent another 5", "LeaseLostEvent another 5"));
        context.getBean(BlockingInAll.class).go.countDown();
    }

    static class BlockingAtEach {
        final Semaphore go = new Semaphore(0);

        @EventListener
        void on(LeaseEvent event) {
            go.acquireUninterruptibly();
        }
    }

    /** Else a node that loses thousands of leases had as many threads at once; and it is not for ever. */
    @Test
    void theMoreListenersAreLeftBehindTheLongerTheOthersWait(CapturedOutput output) {
        start(BlockingAtEach.class);
        Semaphore go = context.getBean(BlockingAtEach.class).go;
        for (int i = 0; i < 64; i++) {
            tell(Kind.EXTENDED, "lease-" + i, 5);
        }
        await().until(() -> leftBehindAfter("PT1S", output) == 64);
        tell(Kind.EXTENDED, "one-more", 5);
        await().until(() -> leftBehindAfter("PT2S", output) == 1);
        go.release(65);
        delivered();

        tell(Kind.EXTENDED, "again", 5);
        await().until(() -> leftBehindAfter("PT1S", output) == 65);
        go.release();
    }

    private static int leftBehindAfter(String patience, CapturedOutput output) {
        return output.getOut().split("for " + patience + "; the others go on without it", -1).length - 1;
    }

    private void tellTenures(int leases) {
        for (int i = 0; i < leases; i++) {
            tell(Kind.ACQUIRED, "lease-" + i, 5);
            tell(Kind.LOST, "lease-" + i, 5);
        }
    }

    /** The first thread is that of the lease, the second that of the listener. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aThreadThatCannotBeStartedCostsNoEvent(int failing) {
        AtomicInteger threads = new AtomicInteger();
        context.register(Recorder.class);
        context.refresh();
        publisher = new LeaseEventPublisher("source", "n1", context, task -> {
            if (threads.incrementAndGet() == failing) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
        publisher.onApplicationEvent(new ContextRefreshedEvent(context));
        assertThatCode(() -> tell(Kind.ACQUIRED, "jobs", 5)).doesNotThrowAnyException();
        await().untilAsserted(() -> assertThat(threads).hasValueGreaterThanOrEqualTo(failing));
        tell(Kind.LOST, "jobs", 5);
        delivered();
        publisher.close();
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
    }

    /** Nothing else may happen to the lease, nor to another one, when there are threads again. */
    @Test
    void whereNoThreadCanBeStartedTheEndOfATenureIsToldAllTheSame() {
        context.register(Recorder.class);
        context.refresh();
        publisher = new LeaseEventPublisher("source", "n1", context, task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        publisher.onApplicationEvent(new ContextRefreshedEvent(context));
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
    }

    /** As where there was no memory for the event of its end. */
    @Test
    void tellsTheEndOfATenureBeforeTheNextBegins() {
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.ACQUIRED, "jobs", 6);
        tell(Kind.LOST, "jobs", 6);
        delivered();
        assertThat(recorder().seen)
                .containsExactly(
                        "LeaseAcquiredEvent jobs 5",
                        "LeaseLostEvent jobs 5",
                        "LeaseAcquiredEvent jobs 6",
                        "LeaseLostEvent jobs 6");
    }

    @Test
    void saysOnceThatThreadsRunShort(CapturedOutput output) {
        AtomicInteger threads = new AtomicInteger();
        context.register(Recorder.class);
        context.refresh();
        publisher = new LeaseEventPublisher("source", "n1", context, task -> {
            if (threads.incrementAndGet() <= 3) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
        publisher.onApplicationEvent(new ContextRefreshedEvent(context));
        tellTenures(3);
        delivered();
        assertThat(recorder().seen).hasSize(6);
        assertThat(output).containsOnlyOnce("could not be started");
    }

    /** The first thread is that of the lease, the second that of the listener. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sayingThatThreadsRunShortHoldsUpNobodyElse(int failing) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AppenderBase<ILoggingEvent> blocked = blocking(begun, mayEnd);
        Logger logger = (Logger) LoggerFactory.getLogger(LeaseEventPublisher.class);
        logger.setLevel(Level.WARN);
        AtomicInteger threads = new AtomicInteger();
        context.register(Recorder.class);
        context.refresh();
        publisher = new LeaseEventPublisher("source", "n1", context, task -> {
            if (threads.incrementAndGet() == failing) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
        publisher.onApplicationEvent(new ContextRefreshedEvent(context));
        logger.addAppender(blocked);
        Thread first = new Thread(() -> tell(Kind.EXTENDED, "slow", 5));
        try {
            first.start();
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

            Thread other = new Thread(() -> tell(Kind.EXTENDED, "quick", 1));
            other.start();

            other.join(10_000);
            assertThat(other.isAlive()).isFalse();
            await().untilAsserted(() -> assertThat(recorder().seen).contains("LeaseExtendedEvent quick 1"));
        } finally {
            mayEnd.countDown();
            logger.detachAppender(blocked);
            logger.setLevel(null);
            first.join();
            publisher.close();
        }
    }

    @Test
    void closingTellsTheEndThatNobodyToldAndInterruptsWhoBlocks() {
        start(Blocking.class, Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        await().untilAsserted(() -> assertThat(recorder().seen).hasSize(1));
        publisher.close();
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
        assertThat(context.getBean(Blocking.class).interrupted).isTrue();
        tell(Kind.RELEASED, "jobs", 5);
        tell(Kind.ACQUIRED, "jobs", 6);
        assertThat(publisher.awaitTold(Duration.ofSeconds(10))).isTrue();
        assertThat(recorder().seen).hasSize(2);
    }

    static class Stubborn {
        final CountDownLatch begun = new CountDownLatch(1);
        final List<Boolean> interruptedNext = new CopyOnWriteArrayList<>();

        @Order(1)
        @EventListener
        void lead(LeaseAcquiredEvent event) {
            begun.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
        }

        @Order(2)
        @EventListener
        void on(LeaseEvent event) {
            interruptedNext.add(Thread.currentThread().isInterrupted());
        }
    }

    /** Where there is but one thread for all. */
    @Test
    void theInterruptOfAListenerThatBlocksIsForNoOther() throws InterruptedException {
        AtomicInteger threads = new AtomicInteger();
        context.register(Stubborn.class);
        context.refresh();
        publisher = new LeaseEventPublisher("source", "n1", context, task -> {
            if (threads.incrementAndGet() > 1) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            return new Thread(task);
        });
        publisher.onApplicationEvent(new ContextRefreshedEvent(context));
        tell(Kind.ACQUIRED, "jobs", 5);
        Stubborn stubborn = context.getBean(Stubborn.class);
        assertThat(stubborn.begun.await(10, TimeUnit.SECONDS)).isTrue();
        publisher.close();
        assertThat(stubborn.interruptedNext).containsExactly(false, false);
    }

    @Test
    void itsThreadsEndWithIt() {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        context.register(Recorder.class);
        context.refresh();
        publisher = new LeaseEventPublisher("source", "n1", context, task -> {
            threads.add(new Thread(task));
            return threads.get(threads.size() - 1);
        });
        publisher.onApplicationEvent(new ContextRefreshedEvent(context));
        tell(Kind.EXTENDED, "jobs", 5);
        delivered();
        publisher.close();
        await().atMost(Duration.ofSeconds(5)).until(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    static class OnItsThread {
        final CompletableFuture<Boolean> daemon = new CompletableFuture<>();
        final CompletableFuture<ClassLoader> classes = new CompletableFuture<>();

        @EventListener
        void on(LeaseEvent event) {
            daemon.complete(Thread.currentThread().isDaemon());
            classes.complete(Thread.currentThread().getContextClassLoader());
        }
    }

    /** Whoever needs one first makes it, perhaps a thread of the web server. */
    @Test
    void itsThreadsHaveTheClassesOfTheApplicationAndLetTheProcessEnd() {
        ClassLoader classes = new ClassLoader(getClass().getClassLoader()) {};
        context.setClassLoader(classes);
        start(OnItsThread.class);
        tell(Kind.EXTENDED, "jobs", 5);
        OnItsThread listener = context.getBean(OnItsThread.class);
        assertThat(listener.daemon).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(true);
        assertThat(listener.classes).succeedsWithin(Duration.ofSeconds(10)).isSameAs(classes);
    }

    static class Closing {
        final AnnotationConfigApplicationContext context;
        final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();

        Closing(AnnotationConfigApplicationContext context) {
            this.context = context;
        }

        @EventListener
        void on(LeaseEvent event) {
            context.close();
            interrupted.complete(Thread.currentThread().isInterrupted());
        }
    }

    @Test
    void aListenerThatClosesTheContextDoesNotWaitForItself(CapturedOutput output) {
        context.registerBean(Closing.class, () -> new Closing(context));
        start(Recorder.class);
        Closing closing = context.getBean(Closing.class);
        Recorder recorder = recorder();
        tell(Kind.ACQUIRED, "jobs", 5);
        assertThat(closing.interrupted).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(false);
        assertThat(recorder.seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
        assertThat(output).doesNotContain("the others go on without it").doesNotContain("still busy");
    }

    @Test
    void aListenerThatClosesTheContextIsNotInterruptedWithThoseThatBlock() {
        context.registerBean(Closing.class, () -> new Closing(context));
        start(Blocking.class);
        Blocking blocking = context.getBean(Blocking.class);
        Closing closing = context.getBean(Closing.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        assertThat(closing.interrupted).succeedsWithin(Duration.ofSeconds(9)).isEqualTo(false);
        assertThat(blocking.interrupted).isTrue();
    }

    static class Waiting {
        final ApplicationContext context;
        final CompletableFuture<Boolean> delivered = new CompletableFuture<>();

        Waiting(ApplicationContext context) {
            this.context = context;
        }

        @EventListener
        void on(LeaseAcquiredEvent event) {
            LeaseEventPublisher publisher = context.getBean(LeaseEventPublisher.class);
            Thread self = Thread.currentThread();
            delivered.complete(CompletableFuture.supplyAsync(
                            () -> publisher.awaitDelivered(Duration.ofSeconds(10), self, lease -> false))
                    .join());
        }
    }

    @Test
    void theListenerThatWaitsForAllToBeDeliveredIsLeftOut(CapturedOutput output) {
        start(Waiting.class, Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.RELEASED, "jobs", 5);
        assertThat(context.getBean(Waiting.class).delivered)
                .succeedsWithin(Duration.ofSeconds(9))
                .isEqualTo(true);
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseReleasedEvent jobs 5");
        assertThat(output).doesNotContain("the others go on without it");
    }

    @Test
    void anEndIsToldOnce() {
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.RELEASED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        delivered();
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseReleasedEvent jobs 5");
    }

    @Test
    void anEndOfAnotherTenureIsNotTold() {
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 4);
        tell(Kind.RELEASED, "jobs", 5);
        delivered();
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5", "LeaseReleasedEvent jobs 5");
    }

    @Test
    void canBeAwaitedWhileATenureGoesOn() {
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);

        assertThat(publisher.awaitTold(Duration.ofSeconds(10))).isTrue();
        assertThat(recorder().seen).containsExactly("LeaseAcquiredEvent jobs 5");
        assertThat(publisher.awaitDelivered(Duration.ofMillis(10))).isFalse();
        tell(Kind.LOST, "jobs", 5);
    }

    /** It may lead for as long as it works. */
    @Test
    void aListenerOfATenureThatGoesOnIsNotWaitedFor() {
        start(BlockingInAll.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        Thread self = Thread.currentThread();

        assertThat(publisher.awaitDelivered(Duration.ofMillis(10), self, lease -> false))
                .isFalse();
        assertThat(publisher.awaitDelivered(Duration.ofMillis(10), self, lease -> true))
                .isTrue();
        context.getBean(BlockingInAll.class).go.countDown();
        tell(Kind.LOST, "jobs", 5);
    }

    @Test
    void goesOnHoweverOftenThereWasNothingToTell() {
        start(Recorder.class);
        for (int i = 0; i < 300; i++) {
            tell(Kind.EXTENDED, "jobs", i);
            assertThat(publisher.awaitTold(Duration.ofSeconds(10))).isTrue();
        }
        assertThat(recorder().seen).hasSize(300);
    }

    @Test
    void doesNotKeepAThreadThatIsInterruptedWaiting() {
        start(BlockingInAll.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        Thread.currentThread().interrupt();
        assertThat(publisher.awaitTold(Duration.ofSeconds(20))).isFalse();
        assertThat(Thread.interrupted()).isTrue();
        context.getBean(BlockingInAll.class).go.countDown();
    }

    @Test
    void waitsForTheEndOfWhatWasAcquired() {
        start(Recorder.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        assertThat(publisher.awaitDelivered(Duration.ofMillis(50))).isFalse();
        tell(Kind.RELEASED, "jobs", 5);
        assertThat(publisher.awaitDelivered(Duration.ofSeconds(60))).isTrue();
        assertThat(recorder().seen).hasSize(2);
    }

    @Lazy
    static class LazyListener implements ApplicationListener<LeaseAcquiredEvent> {
        static final List<Long> SEEN = new CopyOnWriteArrayList<>();

        @Override
        public void onApplicationEvent(LeaseAcquiredEvent event) {
            SEEN.add(event.fencingToken());
        }
    }

    @Test
    void findsLazyListenersLaterOnesAndThoseOfTheParent() {
        LazyListener.SEEN.clear();
        parent.register(Recorder.class);
        parent.refresh();
        context.setParent(parent);
        start(LazyListener.class);
        tell(Kind.ACQUIRED, "jobs", 5);
        tell(Kind.LOST, "jobs", 5);
        delivered();
        List<LeaseEvent> late = new CopyOnWriteArrayList<>();
        ApplicationListener<LeaseEvent> listener = late::add;
        context.addApplicationListener(listener);
        tell(Kind.ACQUIRED, "jobs", 6);
        tell(Kind.LOST, "jobs", 6);
        delivered();
        context.removeApplicationListener(listener);
        tell(Kind.ACQUIRED, "jobs", 7);
        tell(Kind.LOST, "jobs", 7);
        delivered();
        assertThat(LazyListener.SEEN).containsExactly(5L, 6L, 7L);
        assertThat(late).hasSize(2);
        assertThat(parent.getBean(Recorder.class).seen).hasSize(6);
    }

    /** Whose listeners are looked at once while another thread removes one. */
    static class Removing extends AnnotationConfigApplicationContext {
        private final AtomicInteger looks = new AtomicInteger();

        @Override
        public Collection<ApplicationListener<?>> getApplicationListeners() {
            return new LinkedHashSet<>(super.getApplicationListeners()) {
                @Override
                public Object[] toArray() {
                    // As many as there were before, of which the last is gone.
                    return looks.getAndIncrement() == 0 ? Arrays.copyOf(super.toArray(), size() + 1) : super.toArray();
                }
            };
        }
    }

    @Test
    void aListenerThatIsRemovedMeanwhileCostsTheOthersNoEvent() {
        try (Removing parent = new Removing()) {
            parent.register(Recorder.class);
            parent.refresh();
            context.setParent(parent);
            start(Details.class);
            tell(Kind.ACQUIRED, "jobs", 5);
            tell(Kind.LOST, "jobs", 5);
            delivered();
            assertThat(parent.looks).hasPositiveValue();
            assertThat(parent.getBean(Recorder.class).seen)
                    .containsExactly("LeaseAcquiredEvent jobs 5", "LeaseLostEvent jobs 5");
        }
    }
}
