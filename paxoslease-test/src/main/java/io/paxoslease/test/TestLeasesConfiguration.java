package io.paxoslease.test;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.node.Transport;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.events.LeaseEventPublisher;
import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.MemberStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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

    /** In place of connections to the members that are configured. */
    @Bean
    FrameChannel noFrameChannel() {
        return new FrameChannel() {
            @Override
            public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
                return CompletableFuture.failedFuture(new IOException("There is no network in this test"));
            }

            @Override
            public void close() {}
        };
    }

    @Bean
    @Primary
    CellView inMemoryCellView(InMemoryCell cell) {
        return new InMemoryCellView(cell);
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

    /** What health and the endpoint show. */
    private record InMemoryCellView(InMemoryCell cell) implements CellView {

        @Override
        public Map<String, MemberStatus> members() {
            Map<String, MemberStatus> members = new LinkedHashMap<>();
            boolean cut = cell.isCutOff();
            for (String id : cell.application().settings().cell().acceptors()) {
                members.put(
                        id,
                        new MemberStatus(
                                id,
                                !cut,
                                Duration.ZERO,
                                AcceptorState.VOTING,
                                false,
                                cut ? "cut off by the test" : null));
            }
            return members;
        }

        @Override
        public Map<String, String> memberUrls() {
            Map<String, String> urls = new LinkedHashMap<>();
            members().keySet().forEach(id -> urls.put(id, "in-memory:" + id));
            return urls;
        }

        @Override
        public List<String> problems() {
            return List.of();
        }
    }
}
