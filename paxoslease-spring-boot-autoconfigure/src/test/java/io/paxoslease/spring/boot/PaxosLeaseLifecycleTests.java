package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaseLostEvent;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.core.ResolvableType;

/** When candidacies begin, and begin again. */
class PaxosLeaseLifecycleTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    PaxosLeaseAutoConfiguration.class,
                    PaxosLeaseInterceptionAutoConfiguration.class,
                    PaxosLeaseEventsAutoConfiguration.class));

    @Test
    void isNoListenerOfLeaseEvents() {
        runner.run(
                context -> assertThat(new GenericApplicationListenerAdapter(context.getBean(PaxosLeaseLifecycle.class))
                                .supportsEventType(ResolvableType.forClass(LeaseLostEvent.class)))
                        .isFalse());
    }
}
