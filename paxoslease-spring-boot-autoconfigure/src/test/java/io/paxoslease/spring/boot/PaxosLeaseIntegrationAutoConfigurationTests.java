package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.integration.PaxosLeaseLeaderInitiator;
import io.paxoslease.spring.integration.PaxosLeaseLeaderInitiators;
import io.paxoslease.spring.integration.PaxosLeaseLockRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.cloud.kubernetes.commons.leader.LeaderInitiator;
import org.springframework.cloud.kubernetes.fabric8.Fabric8AutoConfiguration;
import org.springframework.cloud.kubernetes.fabric8.leader.Fabric8LeaderAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;

@ExtendWith(OutputCaptureExtension.class)
class PaxosLeaseIntegrationAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseIntegrationAutoConfiguration.class));

    private final ApplicationContextRunner withNode =
            runner.withBean(LeaseNode.class, LocalCell::standalone).withPropertyValues("paxoslease.lease-time=6s");

    @Test
    void providesTheLockRegistryAndTheElection() {
        withNode.run(context -> assertThat(context)
                .hasSingleBean(PaxosLeaseLockRegistry.class)
                .hasSingleBean(PaxosLeaseLeaderInitiators.class));
    }

    @Test
    void backsOffFromTheApplicationsOwnLockRegistry() {
        withNode.withBean(LockRegistry.class, DefaultLockRegistry::new)
                .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseLockRegistry.class));
    }

    /** Another node would work under it meanwhile. */
    @Test
    void stoppingWaitsForAThreadThatWorksUnderALock() {
        withNode.run(context -> {
            PaxosLeaseLockRegistry registry = context.getBean(PaxosLeaseLockRegistry.class);
            CountDownLatch stopped = new CountDownLatch(1);
            try (Worker worker = new Worker(registry.obtain("import"))) {
                worker.lock();

                context.getBean(AdapterDrain.class).stop(stopped::countDown);

                assertThat(stopped.getCount()).isOne();
                assertThat(registry.lease("import")).isPresent();
                worker.unlock();
                assertThat(stopped.await(15, TimeUnit.SECONDS)).isTrue();
            }
        });
    }

    @Test
    void stoppingDoesNotWaitForTheThreadThatStops() {
        withNode.run(context -> {
            Lock lock = context.getBean(PaxosLeaseLockRegistry.class).obtain("import");
            CountDownLatch stopped = new CountDownLatch(1);
            lock.lock();

            context.getBean(AdapterDrain.class).stop(stopped::countDown);

            assertThat(stopped.getCount()).isZero();
            lock.unlock();
        });
    }

    @Test
    void stoppingDoesNotWaitForAThreadThatEndedWithoutUnlocking() {
        withNode.run(context -> {
            Lock lock = context.getBean(PaxosLeaseLockRegistry.class).obtain("import");
            CountDownLatch stopped = new CountDownLatch(1);
            Thread forgetful = new Thread(lock::lock);
            forgetful.start();
            forgetful.join();

            context.getBean(AdapterDrain.class).stop(stopped::countDown);

            assertThat(stopped.getCount()).isZero();
        });
    }

    @Test
    void stoppingDoesNotWaitForALockForever(CapturedOutput output) {
        withNode.withPropertyValues("paxoslease.shutdown.drain-timeout=50ms").run(context -> {
            CountDownLatch stopped = new CountDownLatch(1);
            try (Worker worker =
                    new Worker(context.getBean(PaxosLeaseLockRegistry.class).obtain("import"))) {
                worker.lock();

                context.getBean(AdapterDrain.class).stop(stopped::countDown);

                assertThat(stopped.await(15, TimeUnit.SECONDS)).isTrue();
                assertThat(output).contains("threads that hold a lock of the registry still run after");
                worker.unlock();
            }
        });
    }

    @Test
    void whatBeganToStopBeforeItWasStartedAgainDoesNotSayThatItReleases(CapturedOutput output) {
        withNode.withPropertyValues("paxoslease.shutdown.drain-timeout=5s").run(context -> {
            AdapterDrain drain = context.getBean(AdapterDrain.class);
            CountDownLatch stopped = new CountDownLatch(1);
            try (Worker worker =
                    new Worker(context.getBean(PaxosLeaseLockRegistry.class).obtain("import"))) {
                worker.lock();

                drain.stop(stopped::countDown);
                drain.start();

                assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
                assertThat(output).doesNotContain("released all the same");
                worker.unlock();
            }
        });
    }

    @Test
    @Timeout(60)
    void aLockIsHeldUntilItsThreadUnlocksItAlthoughTheApplicationStops() throws Exception {
        ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run("--spring.main.banner-mode=off");
        PaxosLeaseLockRegistry registry = application.getBean(PaxosLeaseLockRegistry.class);
        try (Worker worker = new Worker(registry.obtain("import"))) {
            worker.lock();
            Lease lease = registry.lease("import").orElseThrow();
            Thread closing = new Thread(application::close);
            closing.start();
            await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
            assertThat(lease.isHeld()).isTrue();

            worker.unlock();
            closing.join();
        }
    }

    /** It would work under it when the registry closes. */
    @Test
    void whoWaitsForALockWhileTheLastOnesAreWaitedForDoesNotGetIt() {
        AtomicReference<CompletableFuture<Void>> waiting = new AtomicReference<>();
        withNode.run(context -> {
            Lock lock = context.getBean(PaxosLeaseLockRegistry.class).obtain("import");
            CountDownLatch stopped = new CountDownLatch(1);
            try (Worker worker = new Worker(lock)) {
                worker.lock();
                waiting.set(CompletableFuture.runAsync(lock::lock));

                context.getBean(AdapterDrain.class).stop(stopped::countDown);
                worker.unlock();

                assertThat(stopped.await(15, TimeUnit.SECONDS)).isTrue();
            }
        });
        assertThat(waiting.get())
                .failsWithin(Duration.ofSeconds(15))
                .withThrowableThat()
                .withMessageContaining("The registry of the lock 'lock:import' is closed");
    }

    @Test
    void thereAreLocksAgainAfterTheNextStart() {
        withNode.run(context -> {
            AdapterDrain drain = context.getBean(AdapterDrain.class);
            Lock lock = context.getBean(PaxosLeaseLockRegistry.class).obtain("import");

            drain.stop();
            assertThat(lock.tryLock()).isFalse();
            drain.start();

            assertThat(lock.tryLock()).isTrue();
            lock.unlock();
        });
    }

    /** As a listener of messages or an initiator of Spring Integration. */
    static class Later implements SmartLifecycle {
        private final PaxosLeaseLockRegistry registry;
        private final Worker worker;
        private volatile boolean running;
        private volatile boolean heldToTheEnd;

        Later(PaxosLeaseLockRegistry registry) {
            this.registry = registry;
            this.worker = new Worker(registry.obtain("import"));
        }

        @Override
        public int getPhase() {
            return 0;
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
            heldToTheEnd = registry.lease("import").isPresent();
            try (worker) {
                worker.unlock();
            } catch (Exception ended) {
                throw new IllegalStateException(ended);
            }
        }
    }

    @Test
    void aLockOfABeanThatStopsAfterTheElectionsIsKept() {
        AtomicReference<Later> later = new AtomicReference<>();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseIntegrationAutoConfiguration.class))
                .withPropertyValues("paxoslease.shutdown.drain-timeout=50ms")
                .withBean(Later.class)
                .run(context -> {
                    later.set(context.getBean(Later.class));
                    later.get().worker.lock();
                });
        assertThat(later.get().heldToTheEnd).isTrue();
    }

    /** It holds its lock for as long as it runs. */
    @Test
    @Timeout(60)
    void anInitiatorOnTheRegistryStopsBeforeLocksAreWaitedFor(CapturedOutput output) {
        ConfigurableApplicationContext application = new SpringApplicationBuilder(Application.class, OldInitiator.class)
                .web(WebApplicationType.NONE)
                .run("--spring.main.banner-mode=off");
        LockRegistryLeaderInitiator initiator = application.getBean(LockRegistryLeaderInitiator.class);
        await().until(() -> initiator.getContext().isLeader());

        application.close();

        assertThat(output).doesNotContain("still run after");
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    static class OldInitiator {
        @Bean
        LockRegistryLeaderInitiator initiator(LockRegistry<?> locks) {
            return new LockRegistryLeaderInitiator(locks, new DefaultCandidate("", "old"));
        }
    }

    /** A thread that takes a lock. */
    private static final class Worker implements AutoCloseable {
        private final ExecutorService thread = Executors.newSingleThreadExecutor();
        private final Lock lock;

        Worker(Lock lock) {
            this.lock = lock;
        }

        void lock() throws Exception {
            thread.submit(lock::lock).get(60, TimeUnit.SECONDS);
        }

        void unlock() throws Exception {
            thread.submit(lock::unlock).get(60, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            thread.shutdown();
        }
    }

    @Test
    void leavesTheElectionToAnInitiatorOfTheApplication() {
        withNode.withBean(LockRegistryLeaderInitiator.class, () -> {
                    LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(new DefaultLockRegistry());
                    initiator.setAutoStartup(false);
                    return initiator;
                })
                .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseLeaderInitiators.class));
    }

    @Test
    void leavesTheElectionToSpringCloudKubernetes() {
        withNode.withConfiguration(
                        AutoConfigurations.of(Fabric8LeaderAutoConfiguration.class, Fabric8AutoConfiguration.class))
                .run(context -> assertThat(context)
                        .hasSingleBean(LeaderInitiator.class)
                        .doesNotHaveBean(PaxosLeaseLeaderInitiators.class));
    }

    @Test
    void electsForTheRolesThatAreNamed() {
        withNode.withPropertyValues("paxoslease.integration.roles=a,b")
                .withBean(Candidate.class, () -> new DefaultCandidate("me", "b"))
                .run(context -> {
                    PaxosLeaseLeaderInitiators initiators = context.getBean(PaxosLeaseLeaderInitiators.class);
                    assertThat(initiators.initiator("a")).isPresent();
                    assertThat(initiators.initiator("b"))
                            .hasValueSatisfying(initiator ->
                                    assertThat(initiator).hasToString("PaxosLeaseLeaderInitiator[role b, id me]"));
                    assertThat(initiators.initiator("c")).isEmpty();
                });
    }

    @Test
    void stopsAtOnceWithoutCandidates() {
        withNode.run(context -> {
            CountDownLatch stopped = new CountDownLatch(1);
            context.getBean(PaxosLeaseLeaderInitiators.class).stop(stopped::countDown);
            assertThat(stopped.await(15, TimeUnit.SECONDS)).isTrue();
        });
    }

    /** An empty role would be elected under the name that Spring Integration gives to a candidate without one. */
    @Test
    void refusesARoleThatNamesNoLease() {
        withNode.withPropertyValues("paxoslease.integration.roles=a,")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                "Property paxoslease.integration.roles = '': The lease name must not be empty"));
        withNode.withPropertyValues("paxoslease.integration.roles=a," + "b".repeat(256))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("is longer than 255 bytes")
                        .isInstanceOf(InvalidCellConfigurationException.class));
    }

    /** Each would be a role of its own, of which nobody hears. */
    @ParameterizedTest
    @ValueSource(strings = {"${NO_SUCH_ROLE}", "a\u00a0", "a\tb"})
    void refusesARoleThatNobodyMeant(String role) {
        withNode.withPropertyValues("paxoslease.integration.roles=" + role)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith("Property paxoslease.integration.roles = '")
                        .isInstanceOf(InvalidCellConfigurationException.class));
    }

    static class Reports {
        @LeaderOnly("guarded")
        public void write() {}
    }

    /** At shutdown initiators stop before guarded calls have ended. */
    @Test
    void anInitiatorThatStopsDoesNotGiveUpALeaseThatOthersNeed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class,
                        PaxosLeaseInterceptionAutoConfiguration.class,
                        PaxosLeaseQuartzAutoConfiguration.class,
                        PaxosLeaseIntegrationAutoConfiguration.class))
                .withBean(Reports.class)
                .withPropertyValues(
                        "paxoslease.integration.roles=alone,configured,guarded,quartz",
                        "paxoslease.leases.configured.candidate=true",
                        "paxoslease.quartz.lease=quartz")
                .run(context -> {
                    LeaseManager leases = context.getBean(LeaseManager.class);
                    List<String> roles = List.of("alone", "configured", "guarded", "quartz");
                    await().until(() -> roles.stream()
                            .allMatch(role -> leases.election(role).isLeader()));
                    PaxosLeaseLeaderInitiators initiators = context.getBean(PaxosLeaseLeaderInitiators.class);
                    CountDownLatch stopped = new CountDownLatch(1);
                    initiators.stop(stopped::countDown);
                    assertThat(stopped.await(20, TimeUnit.SECONDS)).isTrue();
                    assertThat(roles)
                            .filteredOn(role -> leases.election(role).isLeader())
                            .containsExactly("configured", "guarded", "quartz");
                    assertThat(initiators
                                    .initiator("guarded")
                                    .orElseThrow()
                                    .getContext()
                                    .isLeader())
                            .isFalse();
                    initiators.start();
                    await().until(() -> roles.stream()
                            .allMatch(role -> initiators
                                    .initiator(role)
                                    .orElseThrow()
                                    .getContext()
                                    .isLeader()));
                });
    }

    @Test
    void anInitiatorMadeByHandDoesNotGiveUpALeaseThatOthersNeed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class,
                        PaxosLeaseInterceptionAutoConfiguration.class,
                        PaxosLeaseQuartzAutoConfiguration.class))
                .withBean(Reports.class)
                .withPropertyValues("paxoslease.leases.configured.candidate=true", "paxoslease.quartz.lease=quartz")
                .run(context -> {
                    LeaseNode node = context.getBean(LeaseNode.class);
                    List<String> roles = List.of("alone", "configured", "guarded", "quartz", "twice");
                    List<PaxosLeaseLeaderInitiator> initiators = roles.stream()
                            .map(role -> new PaxosLeaseLeaderInitiator(
                                    node, new DefaultCandidate("me", role), new DefaultLeaderEventPublisher(context)))
                            .toList();
                    PaxosLeaseLeaderInitiator other = new PaxosLeaseLeaderInitiator(
                            node, new DefaultCandidate("other", "twice"), new DefaultLeaderEventPublisher(context));
                    initiators.forEach(PaxosLeaseLeaderInitiator::start);
                    other.start();
                    await().until(() ->
                            roles.stream().allMatch(role -> node.election(role).isLeader()));

                    CountDownLatch stopped = new CountDownLatch(roles.size());
                    initiators.forEach(initiator -> initiator.stop(stopped::countDown));

                    assertThat(stopped.await(20, TimeUnit.SECONDS)).isTrue();
                    assertThat(roles)
                            .filteredOn(role -> node.election(role).isLeader())
                            .containsExactly("configured", "guarded", "quartz", "twice");
                    other.stop();
                    await().until(() -> !node.election("twice").isLeader());
                });
    }

    /** Notes at its end whether the lease is still held: if not, another node may have been granted the role before. */
    private static final class Watchful extends AbstractCandidate {

        private final CompletableFuture<LeaseNode> node = new CompletableFuture<>();
        private final CompletableFuture<Boolean> ledAtTheEnd = new CompletableFuture<>();

        Watchful() {
            super("me", "watched");
        }

        @Override
        public void onGranted(Context granted) {}

        @Override
        public void onRevoked(Context revoked) {
            ledAtTheEnd.complete(node.join().election("watched").isLeader());
        }

        /** Lets an application lead and end. */
        void runIn(ApplicationContextRunner application) {
            application.run(context -> {
                node.complete(context.getBean(LeaseNode.class));
                await().until(() -> node.join().election("watched").isLeader());
                assertThat(node.join().awaitTold(Duration.ofSeconds(10))).isTrue();
            });
        }
    }

    @Test
    void closingTheContextRevokesBeforeTheLeaseIsReleased() {
        Watchful candidate = new Watchful();
        candidate.runIn(new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseIntegrationAutoConfiguration.class))
                .withBean(Candidate.class, () -> candidate));
        assertThat(candidate.ledAtTheEnd).isCompletedWithValue(true);
    }

    @Test
    void closingTheContextRevokesBeforeTheLeaseIsReleasedAlsoByAnInitiatorMadeByHand() {
        Watchful candidate = new Watchful();
        candidate.runIn(new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseAutoConfiguration.class))
                .withInitializer(context -> ((GenericApplicationContext) context)
                        .registerBean(
                                PaxosLeaseLeaderInitiator.class,
                                () -> new PaxosLeaseLeaderInitiator(
                                        context.getBean(LeaseNode.class),
                                        candidate,
                                        new DefaultLeaderEventPublisher(context)))));
        assertThat(candidate.ledAtTheEnd).isCompletedWithValue(true);
    }

    /** Started after the node and before the application is ready. */
    record Early(LeaseNode node, AtomicBoolean kept) implements SmartLifecycle {

        @Override
        public void start() {
            PaxosLeaseLeaderInitiator initiator = new PaxosLeaseLeaderInitiator(
                    node, new DefaultCandidate("me", "guarded"), new DefaultLeaderEventPublisher(event -> {}));
            initiator.start();
            await().until(() -> node.election("guarded").isLeader());
            CompletableFuture<Void> stopped = new CompletableFuture<>();
            initiator.stop(() -> stopped.complete(null));
            assertThat(stopped).succeedsWithin(Duration.ofSeconds(20));
            kept.set(node.election("guarded").isLeader());
        }

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return false;
        }
    }

    @Test
    void whatGuardedMethodsNeedIsKeptBeforeTheApplicationIsReadyToo() {
        AtomicBoolean kept = new AtomicBoolean();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseInterceptionAutoConfiguration.class))
                .withBean(Reports.class)
                .withUserConfiguration(EarlyConfiguration.class)
                .withBean(AtomicBoolean.class, () -> kept)
                .run(context -> assertThat(kept).isTrue());
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyConfiguration {

        @Bean
        Early early(LeaseNode node, AtomicBoolean kept) {
            return new Early(node, kept);
        }
    }

    @Test
    void refusesTwoCandidatesForOneRole() {
        withNode.withBean("one", Candidate.class, () -> new DefaultCandidate("one", "role"))
                .withBean("two", Candidate.class, () -> new DefaultCandidate("two", "role"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("two candidates for the role 'role'"));
    }

    @Test
    void doesNothingWithoutSpringIntegration() {
        withNode.withClassLoader(new FilteredClassLoader("org.springframework.integration"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseLockRegistry"));
    }

    @Test
    void doesNothingWithoutLeases() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRegistry.class));
    }
}
