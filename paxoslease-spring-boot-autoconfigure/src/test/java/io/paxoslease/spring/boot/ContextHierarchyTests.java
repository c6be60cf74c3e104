package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.events.LeaseEventPublisher;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;

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

    private static ConfigurableApplicationContext start(Class<?> application) {
        return new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .run(QUIET);
    }

    private static ConfigurableApplicationContext start(ConfigurableApplicationContext parent, Class<?> application) {
        return new SpringApplicationBuilder(application)
                .parent(parent)
                .web(WebApplicationType.NONE)
                .run(QUIET);
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
}
