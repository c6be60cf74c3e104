package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.paxoslease.LeaderElection;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.events.LeaseEventPublisher;
import io.paxoslease.spring.integration.PaxosLeaseLeaderInitiators;
import io.paxoslease.spring.observation.LeaseAttemptObservationContext;
import io.paxoslease.spring.quartz.PaxosLeaseTriggerListener;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.impl.StdSchedulerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.OnGrantedEvent;

/** Applications of a parent and a child context: one of the two has the node. */
@Timeout(120)
class ContextHierarchyTests {

    private static final String[] QUIET = {"--spring.main.banner-mode=off", "--logging.level.root=warn"};

    static class Job {
        @LeaderOnly("job")
        public String run() {
            return "ran";
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Configured {}

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Job.class)
    static class ConfiguredWithJob {}

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = PaxosLeaseAutoConfiguration.class)
    @Import(Job.class)
    static class WithJobButWithoutNode {}

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            exclude = {PaxosLeaseAutoConfiguration.class, PaxosLeaseInterceptionAutoConfiguration.class})
    static class WithoutNodeAndGuards {}

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Scheduling {

        @Bean(destroyMethod = "shutdown")
        Scheduler scheduler() throws SchedulerException {
            Properties settings = new Properties();
            settings.setProperty("org.quartz.threadPool.threadCount", "1");
            return new StdSchedulerFactory(settings).getScheduler();
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Observed {

        @Bean
        Attempts attempts() {
            return new Attempts();
        }
    }

    /** The leases of the attempts that were observed. */
    static final class Attempts implements ObservationHandler<LeaseAttemptObservationContext> {
        private final List<String> leases = new CopyOnWriteArrayList<>();

        @Override
        public boolean supportsContext(Observation.Context context) {
            return context instanceof LeaseAttemptObservationContext;
        }

        @Override
        public void onStop(LeaseAttemptObservationContext context) {
            leases.add(context.getLeaseName());
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ConfiguredWithCandidate {

        @Bean
        RoleCandidate parentCandidate() {
            return new RoleCandidate("parent");
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = PaxosLeaseAutoConfiguration.class)
    @Import(Granted.class)
    static class WithCandidateButWithoutNode {

        @Bean
        RoleCandidate childCandidate(@Value("${role:child}") String role) {
            return new RoleCandidate(role);
        }
    }

    /** Counts how often it leads. */
    static final class RoleCandidate extends AbstractCandidate {
        private final AtomicInteger granted = new AtomicInteger();
        private final AtomicInteger revoked = new AtomicInteger();

        RoleCandidate(String role) {
            super("any id", role);
        }

        @Override
        public void onGranted(Context context) {
            granted.incrementAndGet();
        }

        @Override
        public void onRevoked(Context context) {
            revoked.incrementAndGet();
        }
    }

    /** The roles that its context was told of. */
    static class Granted {
        private final List<String> roles = new CopyOnWriteArrayList<>();

        @EventListener
        public void onGranted(OnGrantedEvent event) {
            roles.add(event.getRole());
        }
    }

    private static ConfigurableApplicationContext start(Class<?> application, String... arguments) {
        return run(new SpringApplicationBuilder(application), arguments);
    }

    private static ConfigurableApplicationContext start(
            ConfigurableApplicationContext parent, Class<?> application, String... arguments) {
        return run(new SpringApplicationBuilder(application).parent(parent), arguments);
    }

    private static ConfigurableApplicationContext run(SpringApplicationBuilder application, String... arguments) {
        return application
                .web(WebApplicationType.NONE)
                .run(Stream.of(QUIET, arguments).flatMap(Stream::of).toArray(String[]::new));
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aSecondNodeIsRefusedAndTheFirstGoesOn(CapturedOutput output) {
        try (ConfigurableApplicationContext parent = start(Configured.class)) {
            parent.setId("above");
            assertThatThrownBy(() -> start(parent, Configured.class).close())
                    .hasStackTraceContaining("SecondNodeException");
            assertThat(output)
                    .contains("APPLICATION FAILED TO START", "its parent 'above'", "the node of the parent is there")
                    .contains("PaxosLeaseAutoConfiguration and PaxosLeaseInterceptionAutoConfiguration");
            assertThat(parent.getBean(LeaseManager.class).tryAcquire("other", Duration.ofSeconds(1)))
                    .isPresent();
        }
    }

    @Test
    void theChildMayHaveTheNode() {
        try (ConfigurableApplicationContext parent = start(WithoutNodeAndGuards.class);
                ConfigurableApplicationContext child = start(parent, ConfiguredWithJob.class)) {
            assertThat(parent.getBeanNamesForType(LeaseManager.class)).isEmpty();
            await().until(() -> child.getBean(Job.class).run() != null);
        }
    }

    @Test
    void theParentMayHaveTheNode() {
        try (ConfigurableApplicationContext parent = start(Configured.class);
                ConfigurableApplicationContext child = start(parent, WithJobButWithoutNode.class)) {
            await().until(() -> child.getBean(Job.class).run() != null);
            assertThat(child.getBeanNamesForType(LeaseEventPublisher.class)).isEmpty();
            assertThat(parent.getBean(LeaseManager.class).election("job").isLeader())
                    .isTrue();
        }
    }

    /** What both contexts are auto-configured with is there once. */
    @Nested
    class WithTheNodeInTheParent {

        @Test
        void callsAndAttemptsAreCountedOnce() {
            try (ConfigurableApplicationContext parent = start(Observed.class);
                    ConfigurableApplicationContext child = start(parent, WithJobButWithoutNode.class)) {
                Job job = child.getBean(Job.class);
                await().until(() ->
                        parent.getBean(LeaseManager.class).election("job").isLeader());
                job.run();
                parent.getBean(LeaseManager.class).tryAcquire("other", Duration.ofSeconds(1));

                assertThat(parent.getBean(MeterRegistry.class)
                                .get("paxoslease.leaderonly.calls")
                                .tag("outcome", "run")
                                .counter()
                                .count())
                        .isEqualTo(1);
                parent.getBean(LeaseNode.class).awaitTold(Duration.ofSeconds(10));
                assertThat(parent.getBean(Attempts.class).leases).containsOnlyOnce("other");
            }
        }

        @Test
        void theJobsOfQuartzGoOnWhenTheChildCloses() {
            try (ConfigurableApplicationContext parent = start(Scheduling.class, "--paxoslease.quartz.lease=jobs")) {
                start(parent, WithJobButWithoutNode.class, "--paxoslease.quartz.lease=jobs")
                        .close();

                PaxosLeaseTriggerListener listener = parent.getBean(PaxosLeaseTriggerListener.class);
                await().until(() ->
                        parent.getBean(LeaseManager.class).election("jobs").isLeader());
                assertThat(listener.vetoJobExecution(null, null)).isFalse();
                listener.triggerComplete(null, null, null);
            }
        }

        @Test
        void aCandidateOfTheChildLeadsUntilTheChildCloses() {
            try (ConfigurableApplicationContext parent = start(ConfiguredWithCandidate.class)) {
                LeaderElection child = parent.getBean(LeaseManager.class).election("child");
                for (int i = 0; i < 2; i++) {
                    try (ConfigurableApplicationContext context = start(parent, WithCandidateButWithoutNode.class)) {
                        RoleCandidate candidate = context.getBean("childCandidate", RoleCandidate.class);
                        await().until(() -> candidate.granted.get() == 1 && child.isLeader());
                        await().until(() -> context.getBean(Granted.class).roles.equals(List.of("child")));
                        context.close();
                        assertThat(candidate.revoked).hasValue(1);
                        await().until(() -> !child.isLeader());
                    }
                }
                RoleCandidate candidate = parent.getBean("parentCandidate", RoleCandidate.class);
                await().until(() -> candidate.granted.get() > 0);
                assertThat(candidate.granted).hasValue(1);
                assertThat(candidate.revoked).hasValue(0);
            }
        }

        @Test
        void aRoleOfTheParentHasNoSecondCandidateInTheChild() {
            try (ConfigurableApplicationContext parent = start(ConfiguredWithCandidate.class)) {
                assertThatThrownBy(() -> start(parent, WithCandidateButWithoutNode.class, "--role=parent")
                                .close())
                        .hasStackTraceContaining("two candidates for the role 'parent'");
                start(parent, WithCandidateButWithoutNode.class).close();
            }
        }

        @Test
        void aRoleOfOneChildHasNoSecondCandidateInAnother() {
            try (ConfigurableApplicationContext parent = start(ConfiguredWithCandidate.class);
                    ConfigurableApplicationContext child = start(parent, WithCandidateButWithoutNode.class)) {
                assertThatThrownBy(() ->
                                start(parent, WithCandidateButWithoutNode.class).close())
                        .hasStackTraceContaining("two candidates for the role 'child'");
                RoleCandidate candidate = child.getBean(RoleCandidate.class);
                await().until(() -> candidate.granted.get() == 1);
            }
        }

        @Test
        void theRolesOfTheSettingsAreTheParents() {
            String roles = "--paxoslease.integration.roles=reports";
            try (ConfigurableApplicationContext parent = start(Configured.class, roles);
                    ConfigurableApplicationContext child = start(parent, WithJobButWithoutNode.class, roles)) {
                assertThat(child.getBean(PaxosLeaseLeaderInitiators.class).initiator("reports"))
                        .isEqualTo(
                                parent.getBean(PaxosLeaseLeaderInitiators.class).initiator("reports"))
                        .isPresent();
            }
        }

        @Test
        void locksAreGrantedWhenTheChildIsClosed() {
            try (ConfigurableApplicationContext parent = start(Configured.class)) {
                start(parent, WithJobButWithoutNode.class).close();

                Optional<SimpleLock> lock = parent.getBean(LockProvider.class)
                        .lock(new LockConfiguration(Instant.now(), "task", Duration.ofMinutes(1), Duration.ZERO));
                assertThat(lock).isPresent();
                lock.get().unlock();
            }
        }
    }
}
