package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseHistory;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.Transport;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.spring.boot.transport.TcpFrameServer;
import io.paxoslease.spring.events.LeaseEventPublisher;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameServer;
import io.paxoslease.wire.FrameTransport;
import io.paxoslease.wire.WireListener;
import java.security.SecureRandom;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * The node of this application: its acceptor, its proposer, and the transport between nodes.
 *
 * <p>Conditions never look at the members, so that an ahead-of-time processed application can be given other members at run time.
 */
@AutoConfiguration(
        after = SslAutoConfiguration.class,
        beforeName = "org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration")
@ConditionalOnSwitch(value = "paxoslease.enabled", byDefault = true)
@EnableConfigurationProperties(PaxosLeaseProperties.class)
public final class PaxosLeaseAutoConfiguration {

    /** The name of the bean that is there only where the application does not bring a channel of its own. */
    static final String CHANNEL = "paxosLeaseFrameChannel";

    @Bean
    CellConfiguration paxosLeaseCellConfiguration(
            PaxosLeaseProperties properties, Environment environment, ApplicationContext context) {
        requireNoNodeAbove(context);
        return CellConfiguration.of(properties, environment, new LocalAddresses());
    }

    /** Else this context would take the node of its parent for its own, and start it once more. */
    private static void requireNoNodeAbove(ApplicationContext context) {
        for (ApplicationContext above = context.getParent(); above != null; above = above.getParent()) {
            if (above.getBeanNamesForType(PaxosLeaseLifecycle.class, false, false).length > 0) {
                throw new SecondNodeException(context, above);
            }
        }
    }

    @Bean
    PeerSsl paxosLeasePeerSsl(PaxosLeaseProperties properties, ObjectProvider<SslBundles> sslBundles) {
        return new PeerSsl(properties.ssl().bundle(), sslBundles.getIfAvailable());
    }

    @Bean(CHANNEL)
    @ConditionalOnMissingBean
    FrameChannel paxosLeaseFrameChannel(CellConfiguration cell, PeerSsl ssl) {
        return FrameChannels.create(
                cell.node().nodeId(),
                cell.members(),
                cell.basePath(),
                cell.wire().maxFrameBytes(),
                ssl::context);
    }

    @Bean(destroyMethod = "")
    FrameTransport paxosLeaseFrameTransport(
            CellConfiguration cell, FrameChannel channel, ObjectProvider<WireListener> listeners) {
        return new FrameTransport(cell.wire(), channel, WireListeners.of(listeners), NodeClock.SYSTEM);
    }

    @Bean
    @ConditionalOnMissingBean
    LeaseNode paxosLeaseNode(
            CellConfiguration cell,
            Transport transport,
            PaxosLeaseProperties properties,
            ObjectProvider<NodeClock> clock,
            ConfigurableListableBeanFactory beans) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        // The threads of the node keep what this one has, which is Tomcat's while that starts, and ends with it.
        thread.setContextClassLoader(beans.getBeanClassLoader());
        LeaseNode node;
        try {
            node = new LeaseNode(
                    cell.node(), transport, new SecureRandom(), clock.getIfAvailable(() -> NodeClock.SYSTEM));
        } finally {
            thread.setContextClassLoader(before);
        }
        node.addListener(new LeaseLog(node, node::log));
        if (properties.history().events() > 0) {
            node.keepHistory(new LeaseHistory(
                    properties.history().events(), properties.history().leases()));
        }
        return node;
    }

    @Bean
    FrameServer paxosLeaseFrameServer(CellConfiguration cell, LeaseNode node, ObjectProvider<WireListener> listeners) {
        return new FrameServer(node.incarnation(), cell.wire(), node, WireListeners.of(listeners), new SecureRandom());
    }

    @Bean
    TcpFrameServer paxosLeaseTcpFrameServer(CellConfiguration cell, FrameServer server, PeerSsl ssl) {
        return new TcpFrameServer(cell.node().nodeId(), server, cell.answersEncrypted() ? ssl::context : null);
    }

    @Bean
    CellView paxosLeaseCellView(CellConfiguration cell, FrameTransport transport, FrameServer server) {
        return new WiredCellView(cell, transport, server);
    }

    @Bean
    AcceptorServers paxosLeaseAcceptorServers(
            CellConfiguration cell,
            PaxosLeaseProperties properties,
            TcpFrameServer tcpServer,
            LeaseNode node,
            ApplicationContext context) {
        return new AcceptorServers(cell, properties, tcpServer, node, context);
    }

    @Bean
    PaxosLeaseLifecycle paxosLeaseLifecycle(
            CellConfiguration cell,
            PaxosLeaseProperties properties,
            LeaseNode node,
            AcceptorServers servers,
            ObjectProvider<GuardedLeases> guarded,
            ObjectProvider<LeaderOnlyRegistry> guardedNames,
            ObjectProvider<LeaseEventPublisher> events,
            ApplicationContext context) {
        return new PaxosLeaseLifecycle(cell, properties, node, servers, guarded, guardedNames, events, context);
    }

    @Bean
    LastRelease paxosLeaseLastRelease(ObjectProvider<PaxosLeaseLifecycle> lifecycle) {
        return new LastRelease(lifecycle);
    }
}
