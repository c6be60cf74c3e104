package io.paxoslease.spring.observation;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.paxoslease.Lease;
import io.paxoslease.node.AttemptListener.Outcome;
import io.paxoslease.node.AttemptListener.Purpose;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseObservationAutoConfiguration;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Attempts to acquire and extend as Micrometer observes them. */
class LeaseAttemptObservationTests {

    private static final String NAME = "paxoslease.attempt";
    private static final Duration TIME = Duration.ofSeconds(5);

    private final TestObservationRegistry registry = TestObservationRegistry.create();

    private final ApplicationContextRunner context = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    PaxosLeaseAutoConfiguration.class, PaxosLeaseObservationAutoConfiguration.class));

    private ApplicationContextRunner observed() {
        return context.withBean(TestObservationRegistry.class, () -> registry);
    }

    private static Lease taken(LeaseNode node) {
        return node.tryAcquire("job", TIME).orElseThrow();
    }

    private static void told(LeaseNode node) {
        assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void anAcquisitionIsObserved() {
        observed().run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            taken(node);
            told(node);

            assertThat(registry)
                    .hasSingleObservationThat()
                    .hasNameEqualTo(NAME)
                    .hasContextualNameEqualTo("acquire lease job")
                    .hasLowCardinalityKeyValue("purpose", "acquire")
                    .hasLowCardinalityKeyValue("outcome", "success")
                    .hasHighCardinalityKeyValue("lease", "job")
                    .doesNotHaveHighCardinalityKeyValueWithKey("reason")
                    .hasBeenStarted()
                    .hasBeenStopped();
        });
    }

    @Test
    void anExtensionIsObserved() {
        context.run(plain -> {
            LeaseNode node = plain.getBean(LeaseNode.class);
            Lease lease = taken(node);
            node.addAttemptListener(new LeaseAttemptObserver(registry, null));
            lease.extend();
            told(node);

            assertThat(registry)
                    .hasSingleObservationThat()
                    .hasContextualNameEqualTo("extend lease job")
                    .hasLowCardinalityKeyValue("purpose", "extend")
                    .hasLowCardinalityKeyValue("outcome", "success")
                    .hasBeenStopped();
        });
    }

    @Test
    void aFailureHasAReasonAndIsNoError() {
        LeaseAttemptObserver observer = new LeaseAttemptObserver(registry, null);
        observer.onBegin("job", Purpose.ACQUIRE);
        assertThat(registry).hasSingleObservationThat().hasBeenStarted().isNotStopped();

        observer.onEnd("job", Outcome.FAILURE, "held by node-2");
        observer.onEnd("job", Outcome.FAILURE, "held by node-2");

        assertThat(registry)
                .hasSingleObservationThat()
                .hasLowCardinalityKeyValue("outcome", "failure")
                .hasHighCardinalityKeyValue("reason", "held by node-2")
                .doesNotHaveError()
                .hasBeenStopped();
    }

    @Test
    void aConventionOfTheApplicationReplacesTheNames() {
        observed().withBean(OwnNames.class).run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            taken(node);
            told(node);

            assertThat(registry).hasSingleObservationThat().hasNameEqualTo("my.leases");
        });
    }

    static class OwnNames implements LeaseAttemptObservationConvention {
        @Override
        public String getName() {
            return "my.leases";
        }

        @Override
        public String getContextualName(LeaseAttemptObservationContext context) {
            return context.getLeaseName();
        }
    }

    @Test
    void aTimerHasItWithoutTheNameOfTheLease() {
        context.withConfiguration(
                        AutoConfigurations.of(MetricsAutoConfiguration.class, ObservationAutoConfiguration.class))
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(context -> {
                    LeaseNode node = context.getBean(LeaseNode.class);
                    taken(node);
                    told(node);

                    assertThat(context.getBean(MeterRegistry.class)
                                    .get(NAME)
                                    .tags("purpose", "acquire", "outcome", "success")
                                    .timer()
                                    .getId()
                                    .getTag("lease"))
                            .isNull();
                });
    }

    @Test
    void theyAreSwitchedOffAsAllObservationsAre() {
        observed()
                .withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class))
                .withPropertyValues("management.observations.enable.paxoslease.attempt=false")
                .run(context -> {
                    LeaseNode node = context.getBean(LeaseNode.class);
                    taken(node);
                    told(node);

                    assertThat(registry).doesNotHaveAnyObservation();
                });
    }

    @Test
    void nothingIsObservedWithoutARegistry() {
        context.run(context -> assertThat(context.getBeanNamesForType(ObservationRegistry.class))
                .isEmpty());
        context.run(context -> assertThat(context.containsBean("paxosLeaseAttemptObservations"))
                .isFalse());
    }
}
