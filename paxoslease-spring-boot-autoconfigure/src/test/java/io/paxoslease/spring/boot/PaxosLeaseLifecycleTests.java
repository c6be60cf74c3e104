package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.spring.ForwardingLeaseManager;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.EventListener;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.ResolvableType;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** When candidacies begin, and begin again. */
@ExtendWith(OutputCaptureExtension.class)
class PaxosLeaseLifecycleTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    PaxosLeaseAutoConfiguration.class,
                    PaxosLeaseInterceptionAutoConfiguration.class,
                    PaxosLeaseEventsAutoConfiguration.class));

    private static boolean leads(ConfigurableApplicationContext context, String lease) {
        return context.getBean(LeaseManager.class).election(lease).isLeader();
    }

    private static void restart(ConfigurableApplicationContext context, String... leases) {
        await().until(() -> Stream.of(leases).allMatch(lease -> leads(context, lease)));
        context.stop();
        assertThat(leases).noneMatch(lease -> leads(context, lease));
        context.start();
    }

    @Test
    void electionsThatCodeStartedGoOnWhenTheContextIsStartedAgain() {
        runner.withPropertyValues("paxoslease.leases.configured.candidate=true").run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            LeaseManager leases = context.getBean(LeaseManager.class);
            leases.election("jobs").start();
            leases.election("ended").start();
            leases.election("ended").stop();
            restart(context, "jobs", "configured");
            await().until(() -> leads(context, "jobs") && leads(context, "configured"));
            restart(context, "jobs", "configured");
            await().until(() -> leads(context, "jobs") && leads(context, "configured"));
            assertThat(leads(context, "ended")).isFalse();

            leases.election("jobs").stop();
            restart(context, "configured");
            await().until(() -> leads(context, "configured"));
            assertThat(leads(context, "jobs"))
                    .as("what was stopped long after it went on")
                    .isFalse();
        });
    }

    /** As Spring's tests do with a context that is not used just now. */
    @Test
    void aContextThatIsPausedDoesNotLead() {
        runner.withPropertyValues("paxoslease.leases.configured.candidate=true").run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            await().until(() -> leads(context, "configured"));

            context.pause();

            assertThat(context.getBean(LeaseNode.class).startedElections()).isEmpty();
            assertThat(leads(context, "configured")).isFalse();
            context.restart();
            await().until(() -> leads(context, "configured"));
        });
    }

    /** Tests may close many in the time after which one is warned of that does not become ready. */
    @Test
    void nothingIsKeptOfAContextThatWasClosed() {
        AtomicReference<WeakReference<PaxosLeaseLifecycle>> closed = new AtomicReference<>();
        runner.run(context -> closed.set(new WeakReference<>(context.getBean(PaxosLeaseLifecycle.class))));
        await().until(() -> {
            System.gc();
            return closed.get().get() == null;
        });
    }

    /** As an operator does by the endpoint, until somebody starts it. */
    @Test
    void aConfiguredElectionThatWasStoppedStaysSoWhenTheContextIsStartedAgain() {
        runner.withPropertyValues("paxoslease.leases.a.candidate=true", "paxoslease.leases.b.candidate=true")
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    await().until(() -> leads(context, "a"));
                    context.getBean(LeaseManager.class).election("a").stop();
                    restart(context, "b");

                    await().until(() -> leads(context, "b"));
                    assertThat(context.getBean(LeaseNode.class).startedElections())
                            .extracting(LeaderElection::name)
                            .containsExactly("b");
                });
    }

    static class Slow {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        @LeaderOnly("slow")
        public void run() throws InterruptedException {
            begun.countDown();
            assertThat(mayEnd.await(20, TimeUnit.SECONDS)).isTrue();
        }

        CountDownLatch begun() {
            return begun;
        }

        CountDownLatch mayEnd() {
            return mayEnd;
        }

        /** Begins a run through the guard, on a thread of its own, and waits until it is under way. */
        static CompletableFuture<Void> begin(Slow guarded) throws InterruptedException {
            CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
                try {
                    guarded.run();
                } catch (InterruptedException unexpected) {
                    throw new IllegalStateException(unexpected);
                }
            });
            assertThat(guarded.begun().await(10, TimeUnit.SECONDS)).isTrue();
            return call;
        }
    }

    static class Told extends Slow {
        private volatile boolean ofTheEnd;

        @Override
        @LeaderOnly("slow")
        @EventListener(LeaseAcquiredEvent.class)
        public void run() throws InterruptedException {
            super.run();
        }

        @EventListener(LeaseReleasedEvent.class)
        public void end() throws InterruptedException {
            TimeUnit.MILLISECONDS.sleep(200);
            ofTheEnd = true;
        }

        boolean ofTheEnd() {
            return ofTheEnd;
        }
    }

    /** What they use is stopped then. */
    @Test
    void stoppingLastsUntilListenersWereToldOfTheEnd() {
        runner.withBean(Told.class).run(context -> {
            Told told = context.getBean(Told.class);
            assertThat(told.begun().await(10, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Boolean> toldBefore = new CompletableFuture<>();

            context.getBean(PaxosLeaseLifecycle.class).stop(() -> toldBefore.complete(told.ofTheEnd()));
            told.mayEnd().countDown();

            assertThat(toldBefore).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(true);
        });
    }

    /** A web request, for example, that graceful shutdown lets finish. */
    @Test
    void aLeaseThatCodeAcquiredIsKeptUntilAllElseHasStopped() {
        ReleasedEvents released = new ReleasedEvents();
        runner.withBean(ReleasedEvents.class, () -> released)
                .withPropertyValues("paxoslease.leases.jobs.candidate=true")
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    await().until(() -> leads(context, "jobs"));
                    LeaseManager leases = context.getBean(LeaseManager.class);
                    Lease lease =
                            leases.tryAcquire("import", Duration.ofSeconds(10)).orElseThrow();
                    assertThat(leases.election("import").leader()).isPresent();
                    CountDownLatch stopped = new CountDownLatch(1);
                    PaxosLeaseLifecycle lifecycle = context.getBean(PaxosLeaseLifecycle.class);
                    lifecycle.eventsWithin = Duration.ofMinutes(1);

                    lifecycle.stop(stopped::countDown);

                    assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(released.names).containsExactly("jobs");
                    assertThat(lease.isHeld()).isTrue();

                    context.getBean(LastRelease.class).stop();

                    assertThat(lease.isHeld()).isFalse();
                    assertThat(released.names).containsExactly("jobs", "import");
                });
    }

    /** Nothing else may be left to stop. */
    @Test
    void theLastReleaseIsNotAheadOfTheStopThatHasJustEnded() {
        runner.run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            Lease lease = context.getBean(LeaseManager.class)
                    .tryAcquire("import", Duration.ofSeconds(10))
                    .orElseThrow();
            CompletableFuture<Boolean> held = new CompletableFuture<>();

            context.getBean(PaxosLeaseLifecycle.class).stop(() -> {
                context.getBean(LastRelease.class).stop();
                held.complete(lease.isHeld());
            });

            assertThat(held).succeedsWithin(Duration.ofSeconds(10)).isEqualTo(false);
        });
    }

    static class ReleasedEvents {
        private final List<String> names = new CopyOnWriteArrayList<>();

        @EventListener
        void on(LeaseReleasedEvent event) {
            names.add(event.leaseName());
        }
    }

    static class TidiesUp implements DisposableBean {
        private final LeaseManager leases;
        private final AtomicBoolean held;

        TidiesUp(LeaseManager leases, AtomicBoolean held) {
            this.leases = leases;
            this.held = held;
        }

        @Override
        public void destroy() {
            held.set(leases.tryAcquire("tidy", Duration.ofSeconds(10)).isPresent());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Tidying {
        @Bean
        TidiesUp tidiesUp(LeaseManager leases, AtomicBoolean held) {
            return new TidiesUp(leases, held);
        }
    }

    /** It has no port that somebody else could have by then. */
    @Test
    void aStandaloneNodeHasLeasesForWhatIsDestroyed() {
        AtomicBoolean held = new AtomicBoolean();
        runner.withBean(AtomicBoolean.class, () -> held)
                .withUserConfiguration(Tidying.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(held).isTrue();
    }

    /** As it may, where a phase of the shutdown may take less time than what drains. */
    @Test
    void nothingIsReleasedLastWhileAGuardedCallRuns() {
        runner.withBean(Slow.class).run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            await().until(() -> leads(context, "slow"));
            Lease lease = context.getBean(LeaseManager.class)
                    .tryAcquire("import", Duration.ofSeconds(10))
                    .orElseThrow();
            Slow slow = context.getBean(Slow.class);
            CompletableFuture<Void> call = Slow.begin(slow);

            context.getBean(PaxosLeaseLifecycle.class).stop();
            context.getBean(LastRelease.class).stop();

            assertThat(leads(context, "slow")).isTrue();
            slow.mayEnd().countDown();
            await().until(() -> !leads(context, "slow") && !lease.isHeld());
            assertThat(call).succeedsWithin(Duration.ofSeconds(10));
        });
    }

    static class Stopping {
        @LeaderOnly("once")
        public Duration stop(ConfigurableApplicationContext context) {
            long began = System.nanoTime();
            context.stop();
            return Duration.ofNanos(System.nanoTime() - began);
        }
    }

    @Test
    void aGuardedCallThatStopsTheContextDoesNotWaitForItself() {
        runner.withBean(Stopping.class).run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            await().until(() -> leads(context, "once"));
            assertThat(context.getBean(Stopping.class).stop(context)).isLessThan(Duration.ofSeconds(5));
        });
    }

    /** A long run under one lease is no reason for nobody to do the work of the others. */
    @Test
    void aLeaseOfWhichNoGuardedCallRunsIsGivenUpWhileThoseOfOthersRun() {
        runner.withBean(Slow.class).withBean(Stopping.class).run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            await().until(() -> leads(context, "slow") && leads(context, "once"));
            Slow slow = context.getBean(Slow.class);
            CompletableFuture<Void> call = Slow.begin(slow);
            CountDownLatch stopped = new CountDownLatch(1);

            context.getBean(PaxosLeaseLifecycle.class).stop(stopped::countDown);

            assertThat(leads(context, "once")).isFalse();
            assertThat(leads(context, "slow")).isTrue();
            slow.run();
            assertThat(stopped.getCount()).as("the second call is skipped").isOne();
            slow.mayEnd().countDown();
            assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(leads(context, "slow")).isFalse();
            assertThat(call).succeedsWithin(Duration.ofSeconds(10));
            context.getBean(PaxosLeaseLifecycle.class).start();
            await().until(() -> leads(context, "slow") && leads(context, "once"));
        });
    }

    static class Ticking {
        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.HOURS)
        @LeaderOnly("scheduled")
        public void tick() {}
    }

    /** Stands for a container of listeners, which is stopped in the same phase and may take long. */
    static class Waiting implements SmartLifecycle {
        private final ConfigurableApplicationContext context;
        private final List<String> ledMeanwhile = new CopyOnWriteArrayList<>();
        private volatile boolean running;

        Waiting(ConfigurableApplicationContext context) {
            this.context = context;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            context.getBean(LeaseNode.class).leases().forEach((name, status) -> {
                if (status.state() == LeaseStatus.State.HELD) {
                    ledMeanwhile.add(name);
                }
            });
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    @Test
    void aLeaseThatOnlyScheduledMethodsNeedIsGivenUpBeforeTheSchedulerHasStopped() {
        assertThat(ledWhileTheSchedulerStops(runner.withBean(Slow.class), context -> {
                    await().until(() -> leads(context, "slow"));
                }))
                .containsExactly("slow");
    }

    @Test
    void itIsAlsoGivenUpAfterTheContextWasStartedAgain() {
        assertThat(ledWhileTheSchedulerStops(runner, context -> {
                    restart(context, "scheduled");
                    await().until(() -> leads(context, "scheduled"));
                    context.getBean(Waiting.class).ledMeanwhile.clear();
                }))
                .isEmpty();
    }

    @Test
    void itIsKeptWhileAChildOfTheContextCloses() {
        runner.withUserConfiguration(SchedulingConfiguration.class)
                .withBean(Ticking.class)
                .run(context -> {
                    await().until(() -> leads(context.getSourceApplicationContext(), "scheduled"));
                    GenericApplicationContext child = new GenericApplicationContext(context);
                    child.refresh();
                    child.close();
                    assertThat(leads(context.getSourceApplicationContext(), "scheduled"))
                            .isTrue();
                });
    }

    @Test
    void aLeaseThatASettingNeedsTooIsKeptUntilTheSchedulerHasStopped() {
        assertThat(ledWhileTheSchedulerStops(
                        runner.withPropertyValues("paxoslease.leases.scheduled.candidate=true"), context -> {}))
                .containsExactly("scheduled");
    }

    @Test
    void aLeaseForWhichCodeStartedTheElectionIsKeptUntilTheSchedulerHasStopped() {
        assertThat(ledWhileTheSchedulerStops(
                        runner,
                        context -> context.getBean(LeaseNode.class)
                                .election("scheduled")
                                .start()))
                .containsExactly("scheduled");
    }

    @Test
    void itIsAlsoKeptAfterTheContextWasStartedAgain() {
        assertThat(ledWhileTheSchedulerStops(runner, context -> {
                    context.getBean(LeaseNode.class).election("scheduled").start();
                    restart(context, "scheduled");
                    await().until(() -> leads(context, "scheduled"));
                    context.getBean(Waiting.class).ledMeanwhile.clear();
                }))
                .containsExactly("scheduled");
    }

    /** What a node still leads, of which one lease guards a scheduled method, while its context closes. */
    private static List<String> ledWhileTheSchedulerStops(
            ApplicationContextRunner application, Consumer<ConfigurableApplicationContext> before) {
        AtomicReference<Waiting> waiting = new AtomicReference<>();
        application
                .withUserConfiguration(SchedulingConfiguration.class)
                .withBean(Waiting.class)
                .withBean(Ticking.class)
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    await().until(() -> leads(context, "scheduled"));
                    before.accept(context);
                    waiting.set(context.getBean(Waiting.class));
                });
        return waiting.get().ledMeanwhile;
    }

    /** The node does not know by which name it is guarded. */
    @Test
    void aLeaseOfAManagerThatMapsNamesIsKeptWhileAGuardedCallOfItRuns() {
        runner.withUserConfiguration(MappingConfiguration.class)
                .withBean(Slow.class)
                .withBean(Stopping.class)
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    LeaderElection election = context.getBean(LeaseNode.class).election("once");
                    await().until(election::isLeader);
                    Slow slow = context.getBean(Slow.class);
                    CompletableFuture<Void> call = Slow.begin(slow);
                    CountDownLatch stopped = new CountDownLatch(1);
                    context.getBean(PaxosLeaseLifecycle.class).stop(stopped::countDown);
                    assertThat(election.isLeader()).isTrue();
                    slow.mayEnd().countDown();
                    assertThat(call).succeedsWithin(Duration.ofSeconds(10));
                    assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(election.isLeader()).isFalse();
                });
    }

    private static final class Mapping extends ForwardingLeaseManager {

        Mapping(LeaseManager leases) {
            super(leases);
        }

        @Override
        public LeaderElection election(String leaseName) {
            return super.election(leaseName.equals("slow") ? "once" : leaseName);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MappingConfiguration {
        @Bean
        @Primary
        LeaseManager mapping(LeaseNode node) {
            return new Mapping(node);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class SchedulingConfiguration {}

    /** As happens where a phase of the shutdown may take less time than what drains. */
    @ParameterizedTest
    @ValueSource(strings = {"20s", "5s"})
    void whatBeganToStopBeforeItWasStartedAgainReleasesNothing(String drainTimeout, CapturedOutput output) {
        String timeout = "paxoslease.shutdown.drain-timeout=" + drainTimeout;
        runner.withBean(Slow.class).withPropertyValues(timeout).run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            await().until(() -> leads(context, "slow"));
            Slow slow = context.getBean(Slow.class);
            CompletableFuture<Void> call = Slow.begin(slow);
            PaxosLeaseLifecycle lifecycle = context.getBean(PaxosLeaseLifecycle.class);
            CountDownLatch stopped = new CountDownLatch(1);

            lifecycle.stop(stopped::countDown);
            context.getBean(LastRelease.class).stop();
            lifecycle.start();
            if (drainTimeout.equals("20s")) {
                slow.mayEnd().countDown();
            }

            assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(leads(context, "slow")).isTrue();
            assertThat(output).doesNotContain("released all the same");
            slow.mayEnd().countDown();
            assertThat(call).succeedsWithin(Duration.ofSeconds(10));
        });
    }

    @Test
    void whatBeganToStopBeforeItWasStartedAgainReleasesNothingOfTheNextStop() {
        Duration drainTimeout = Duration.ofSeconds(2);
        runner.withBean(Slow.class)
                .withPropertyValues("paxoslease.shutdown.drain-timeout=" + drainTimeout)
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    await().until(() -> leads(context, "slow"));
                    Slow slow = context.getBean(Slow.class);
                    CompletableFuture<Void> call = Slow.begin(slow);
                    PaxosLeaseLifecycle lifecycle = context.getBean(PaxosLeaseLifecycle.class);
                    CompletableFuture<Boolean> ledAfterTheFirst = new CompletableFuture<>();
                    CountDownLatch stopped = new CountDownLatch(1);

                    lifecycle.stop(() -> ledAfterTheFirst.complete(leads(context, "slow")));
                    lifecycle.start();
                    await().pollDelay(drainTimeout.multipliedBy(3).dividedBy(4)).until(() -> true);
                    lifecycle.stop(stopped::countDown);

                    assertThat(ledAfterTheFirst)
                            .succeedsWithin(Duration.ofSeconds(10))
                            .isEqualTo(true);
                    slow.mayEnd().countDown();
                    assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(leads(context, "slow")).isFalse();
                    assertThat(call).succeedsWithin(Duration.ofSeconds(10));
                });
    }

    static class Late {
        @LeaderOnly("late")
        public void run() {}
    }

    @Test
    void theElectionOfABeanThatIsMadeLaterIsStarted() {
        runner.withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(context -> {
                    context.getBean(Late.class);
                    await().until(() -> leads(context.getSourceApplicationContext(), "late"));
                });
    }

    /** Its first call is skipped, perhaps at night in a job that runs once a day. */
    @Test
    void saysOnceThatABeanIsMadeLater(CapturedOutput output) {
        runner.withBean("late", Late.class, Late::new, definition -> definition.setLazyInit(true))
                .withBean("later", Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(context -> {
                    assertThat(output).doesNotContain("was made only now");
                    context.getBean("late");
                    context.getBean("later");
                    assertThat(output)
                            .containsOnlyOnce("was made only now")
                            .contains("lease 'late'", "paxoslease.leases[late].candidate=true");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void doesNotSayThatABeanIsMadeLaterWhereItIsKnownWhetherThisNodeStands(String candidate, CapturedOutput output) {
        runner.withPropertyValues("paxoslease.leases[late].candidate=" + candidate)
                .withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(context -> {
                    context.getBean(Late.class);
                    assertThat(output).doesNotContain("was made only now");
                });
    }

    @Test
    void doesNotSayThatABeanIsMadeLaterWhereCodeHasStartedTheElection(CapturedOutput output) {
        runner.withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(context -> {
                    context.getBean(LeaseManager.class).election("late").start();
                    context.getBean(Late.class);
                    assertThat(output).doesNotContain("was made only now");
                });
    }

    @Test
    void theElectionOfABeanThatIsMadeWhileTheContextIsStoppedIsStartedWithIt() {
        runner.withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    context.stop();
                    context.getBean(Late.class);
                    assertThat(context.getBean(LeaseNode.class).startedElections())
                            .isEmpty();
                    context.start();
                    await().until(() -> leads(context, "late"));
                });
    }

    /** So many that the bean is made while they are started. */
    @Test
    void theElectionOfABeanThatIsMadeMeanwhileIsStartedToo() {
        int leases = 10_000;
        String[] candidates = IntStream.range(0, leases)
                .mapToObj(i -> "paxoslease.leases.lease-" + i + ".candidate=true")
                .toArray(String[]::new);
        CompletableFuture<Void> made = new CompletableFuture<>();
        runner.withPropertyValues(candidates)
                .withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .withInitializer(context -> new Thread(() -> {
                            while (!context.getBeanFactory().containsSingleton("paxosLeaseNode")) {
                                Thread.onSpinWait();
                            }
                            LeaseNode node =
                                    (LeaseNode) context.getBeanFactory().getSingleton("paxosLeaseNode");
                            while (node.existingElection("lease-100").isEmpty()) {
                                Thread.onSpinWait();
                            }
                            context.getBean(Late.class);
                            made.complete(null);
                        })
                        .start())
                .run(context -> {
                    assertThat(made).succeedsWithin(Duration.ofSeconds(60));
                    await().until(() -> leads(context.getSourceApplicationContext(), "late"));
                });
    }

    @Test
    void theElectionOfABeanThatIsMadeWhileTheContextStopsEndsWithIt() {
        runner.withBean(Late.class, Late::new, definition -> definition.setLazyInit(true))
                .run(assertable -> {
                    ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
                    LeaderElection election =
                            context.getBean(LeaseManager.class).election("late");
                    Thread maker = new Thread(() -> context.getBean(Late.class));
                    Thread stopper = new Thread(context::stop);
                    // An election begins and ends under its own monitor: the bean comes first, and both wait for it.
                    synchronized (election) {
                        maker.start();
                        await().until(() -> maker.getState() == Thread.State.BLOCKED);
                        stopper.start();
                        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                                .anyMatch(thread -> thread.getName().equals("paxoslease-stop")
                                        && thread.getState() == Thread.State.BLOCKED));
                    }
                    maker.join();
                    stopper.join();

                    assertThat(context.getBean(LeaseNode.class).startedElections())
                            .isEmpty();
                });
    }

    @Test
    void aLogThatBlocksDoesNotHoldUpTheRelease() {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AppenderBase<ILoggingEvent> blocked = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent line) {
                if (line.getFormattedMessage().contains("the quarantine of node")) {
                    begun.countDown();
                    try {
                        mayEnd.await();
                    } catch (InterruptedException interrupt) {
                        throw new IllegalStateException(interrupt);
                    }
                }
            }
        };
        blocked.start();
        Logger logger = (Logger) LoggerFactory.getLogger("io.paxoslease");
        logger.setLevel(Level.INFO);
        runner.withPropertyValues("paxoslease.leases.jobs.candidate=true").run(assertable -> {
            ConfigurableApplicationContext context = assertable.getSourceApplicationContext();
            await().until(() -> leads(context, "jobs"));
            logger.addAppender(blocked);
            try {
                new Thread(context.getBean(PaxosLeaseLifecycle.class)::tellEndOfQuarantine).start();
                assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

                new Thread(context::stop).start();

                await().until(() -> !leads(context, "jobs"));
            } finally {
                mayEnd.countDown();
                logger.detachAppender(blocked);
                logger.setLevel(null);
            }
        });
    }

    @Test
    void isNoListenerOfLeaseEvents() {
        runner.run(
                context -> assertThat(new GenericApplicationListenerAdapter(context.getBean(PaxosLeaseLifecycle.class))
                                .supportsEventType(ResolvableType.forClass(LeaseLostEvent.class)))
                        .isFalse());
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    private static String[] candidateFor(String lease) {
        return new String[] {
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--logging.level.io.paxoslease=info",
            "--paxoslease.leases." + lease + ".candidate=true"
        };
    }

    private static SpringApplication application(Duration readyWithin, ThrowingConsumer<PaxosLeaseLifecycle> runner) {
        return new SpringApplicationBuilder(App.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> {
                    GenericApplicationContext beans = (GenericApplicationContext) context;
                    beans.registerBean(
                            CommandLineRunner.class,
                            () -> ignored -> runner.accept(beans.getBean(PaxosLeaseLifecycle.class)));
                    beans.registerBean(BeanPostProcessor.class, () -> new BeanPostProcessor() {
                        @Override
                        public Object postProcessBeforeInitialization(Object bean, String name) {
                            if (bean instanceof PaxosLeaseLifecycle lifecycle) {
                                lifecycle.readyWithin = readyWithin;
                            }
                            return bean;
                        }
                    });
                })
                .build();
    }

    /** No other test has the lease: contexts of others write to the same output. */
    @Test
    void warnsThatNobodyStandsWhileTheApplicationDoesNotBecomeReady(CapturedOutput output) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        SpringApplication application = application(Duration.ofMillis(1), lifecycle -> go.await());
        CompletableFuture<ConfigurableApplicationContext> started = CompletableFuture.supplyAsync(
                () -> application.run(candidateFor("unready")), task -> new Thread(task).start());
        try {
            await().atMost(Duration.ofSeconds(60)).until(() -> output.getOut().contains("[unready], and what"));
            assertThat(output).contains("not ready", "CommandLineRunner").doesNotContain("leads 'unready'");
        } finally {
            go.countDown();
            started.get(60, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void doesNotWarnIfNothingWaitsForTheApplicationOrItIsReady(CapturedOutput output) {
        application(Duration.ofHours(1), PaxosLeaseLifecycle::warnUnlessReady)
                .run("--spring.main.banner-mode=off", "--logging.level.root=warn")
                .close();
        try (ConfigurableApplicationContext context =
                application(Duration.ofHours(1), lifecycle -> {}).run(candidateFor("jobs"))) {
            context.getBean(PaxosLeaseLifecycle.class).warnUnlessReady();
        }
        assertThat(output).doesNotContain("not ready");
    }
}
