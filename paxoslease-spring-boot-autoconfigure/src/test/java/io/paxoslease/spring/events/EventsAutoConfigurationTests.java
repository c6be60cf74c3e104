package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.boot.PaxosLeaseEventsAutoConfiguration;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** When {@link PaxosLeaseEventsAutoConfiguration} applies, and that it hears the node. */
class EventsAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseEventsAutoConfiguration.class));

    private static LeaseNode node() {
        return new LeaseNode(NodeSettings.standalone("n1", Duration.ofSeconds(10)), new NoTransport(), new Random(1));
    }

    static class Recorder {
        private final List<String> seen = new CopyOnWriteArrayList<>();

        @EventListener
        void on(LeaseEvent event) {
            seen.add(event.getClass().getSimpleName() + " " + event.node());
        }
    }

    @Test
    void publishesTheEventsOfTheNode() {
        LeaseNode node = node();
        runner.withBean(LeaseNode.class, () -> node).withBean(Recorder.class).run(context -> {
            node.openAcceptor();
            node.start();
            node.election("jobs").start();
            await().until(() -> node.election("jobs").isLeader());
            node.releaseAll();
            LeaseEventPublisher publisher = context.getBean(LeaseEventPublisher.class);
            assertThat(publisher.awaitDelivered(Duration.ofSeconds(60))).isTrue();
            assertThat(context.getBean(Recorder.class).seen)
                    .startsWith("LeaseAcquiredEvent n1")
                    .contains("LeaseReleasedEvent n1");
        });
    }

    @Test
    void backsOffWithoutANode() {
        runner.run(context -> assertThat(context).doesNotHaveBean(LeaseEventPublisher.class));
    }

    @Test
    void backsOffWhenDisabled() {
        runner.withBean(LeaseNode.class, EventsAutoConfigurationTests::node)
                .withPropertyValues("paxoslease.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(LeaseEventPublisher.class));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPublisher {
        @Bean
        LeaseEventPublisher mine(ApplicationContext context) {
            return new LeaseEventPublisher("source", "n1", context);
        }
    }

    @Test
    void usesThePublisherOfTheApplication() {
        runner.withBean(LeaseNode.class, EventsAutoConfigurationTests::node)
                .withUserConfiguration(OwnPublisher.class)
                .run(context -> assertThat(context).hasSingleBean(LeaseEventPublisher.class));
    }
}
