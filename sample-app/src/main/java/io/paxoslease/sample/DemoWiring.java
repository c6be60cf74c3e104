package io.paxoslease.sample;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.Transport;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameTransport;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.annotation.Profile;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Lets the demo cell break its nodes and see their messages, around beans that an application could replace as well. */
@Configuration(proxyBeanMethods = false)
@Profile(DemoCell.PROFILE)
class DemoWiring {

    /** Reading the clock takes until the pause is over: so the whole protocol of the node stands still, as in a long garbage collection. */
    @Bean
    NodeClock pausingClock(DemoCell cell, @Value("${paxoslease.node-id}") String node) {
        return () -> {
            cell.faults().awaitRunning(node);
            return NodeClock.SYSTEM.now();
        };
    }

    @Bean
    static BeanPostProcessor breakingChannel(DemoCell cell, @Value("${paxoslease.node-id}") String node) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                return bean instanceof FrameChannel channel ? new DemoChannel(node, channel, cell.faults()) : bean;
            }
        };
    }

    @Bean
    MessageTrace messageTrace() {
        return new MessageTrace();
    }

    @Bean(destroyMethod = "")
    @Primary
    Transport tracingTransport(
            FrameTransport transport, MessageTrace trace, @Value("${paxoslease.node-id}") String node, DemoCell cell) {
        return new TracingTransport(transport, trace, node, cell.nodeIds());
    }

    /** A node that stands still could not stop. Before anybody else asks it to. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    ApplicationListener<ContextClosedEvent> resumeToStop(DemoCell cell, LeaseNode node) {
        return closed -> cell.resume(node.incarnation().nodeId());
    }
}
