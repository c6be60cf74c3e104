package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaseLostEvent;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.core.ResolvableType;

/** When candidacies begin, and begin again. */
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
        });
    }

    @Test
    void isNoListenerOfLeaseEvents() {
        runner.run(
                context -> assertThat(new GenericApplicationListenerAdapter(context.getBean(PaxosLeaseLifecycle.class))
                                .supportsEventType(ResolvableType.forClass(LeaseLostEvent.class)))
                        .isFalse());
    }
}
