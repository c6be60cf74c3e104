package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.events.LeaseEventPublisher;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;

/** Publishes what happens to leases as {@link io.paxoslease.spring.LeaseEvent}s. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnSwitch(value = "paxoslease.enabled", byDefault = true)
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseEventsAutoConfiguration {

    @Bean
    @Lazy(false)
    @ConditionalOnMissingBean
    LeaseEventPublisher paxosLeaseEventPublisher(LeaseNode node, ApplicationContext context) {
        LeaseEventPublisher publisher =
                new LeaseEventPublisher(node, node.settings().nodeId(), context);
        node.addListener(publisher);
        return publisher;
    }
}
