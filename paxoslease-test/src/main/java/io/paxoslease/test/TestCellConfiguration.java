package io.paxoslease.test;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.Transport;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.events.LeaseEventPublisher;
import io.paxoslease.wire.FrameChannel;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;

/** What the auto-configuration takes instead of the network and the clocks of the system. */
@Configuration(proxyBeanMethods = false)
class TestCellConfiguration {

    @Bean
    NodeClock virtualClock(TestCell.Member member) {
        return member.clock();
    }

    @Bean(destroyMethod = "")
    @Primary
    Transport inMemoryTransport(TestCell.Member member) {
        return member.transport();
    }

    @Bean
    FrameChannel noFrameChannel() {
        return new NoFrameChannel();
    }

    @Bean
    @Primary
    CellView inMemoryCellView(TestCell.Member member) {
        return new InMemoryCellView(member::view);
    }

    /** Before the node starts. */
    @Bean
    @Lazy(false)
    SmartInitializingSingleton joinTestCell(
            TestCell.Member member, LeaseNode node, ObjectProvider<LeaseEventPublisher> events) {
        return () -> member.join(node, () -> events.ifAvailable(publisher -> publisher.awaitTold(TestLeases.TELLING)));
    }
}
