package io.paxoslease.test;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.Transport;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.events.LeaseEventPublisher;
import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import io.paxoslease.wire.FrameChannel;
import java.util.Set;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

/** What the auto-configuration takes instead of the network and the clocks of the system. */
@Configuration(proxyBeanMethods = false)
class TestLeasesConfiguration {

    @Bean
    InMemoryCell inMemoryCell() {
        return new InMemoryCell();
    }

    @Bean
    NodeClock virtualClock(InMemoryCell cell) {
        return cell.clock();
    }

    @Bean(destroyMethod = "")
    @Primary
    Transport inMemoryTransport(InMemoryCell cell) {
        return cell.transport();
    }

    @Bean
    FrameChannel noFrameChannel() {
        return new NoFrameChannel();
    }

    @Bean
    @Primary
    CellView inMemoryCellView(InMemoryCell cell) {
        return new InMemoryCellView(cell::view);
    }

    /** The context closes cell and node, each at its time. */
    @Bean(destroyMethod = "")
    @Lazy(false)
    TestLeases testLeases(
            InMemoryCell cell,
            LeaseNode node,
            ObjectProvider<LeaderOnlyRegistry> guarded,
            ObjectProvider<LeaseEventPublisher> events) {
        return new TestLeases(
                cell,
                node,
                () -> {
                    LeaderOnlyRegistry registry = guarded.getIfAvailable();
                    return registry == null ? Set.of() : registry.leaseNames();
                },
                () -> events.ifAvailable(publisher -> publisher.awaitTold(TestLeases.TELLING)));
    }
}
