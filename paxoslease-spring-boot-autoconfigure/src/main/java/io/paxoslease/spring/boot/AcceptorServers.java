package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.boot.transport.TcpFrameServer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.UnsupportedAddressTypeException;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.Lifecycle;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;

/**
 * The servers in which this node's acceptor answers: those of the web, and its own port over TCP. A4. All of them must be bound before its
 * quarantine begins, because until then a former process of this node may answer there. Before the first web server gives up its port the
 * acceptor is silenced: the next process may have it while leases that code acquired are still held here. The port over TCP is kept until all leases are
 * released.
 */
final class AcceptorServers implements SmartLifecycle, ApplicationListener<ContextClosedEvent>, DisposableBean {

    /** Just before web servers shut down gracefully, which closes their ports at once. */
    private static final int PHASE = WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE + 1;

    /** The bean of Spring Boot that starts the web server. */
    private static final String WEB_SERVER = "webServerStartStop";

    /** The bean of Actuator that starts a web server of its own, where there is one for the application too. */
    private static final String MANAGEMENT_SERVER = "childManagementContextInitializer";

    private final CellConfiguration cell;
    private final PaxosLeaseProperties properties;
    private final TcpFrameServer tcpServer;
    private final LeaseNode node;
    private final ApplicationContext context;

    private volatile boolean managementServer;
    private volatile boolean running;

    AcceptorServers(
            CellConfiguration cell,
            PaxosLeaseProperties properties,
            TcpFrameServer tcpServer,
            LeaseNode node,
            ApplicationContext context) {
        this.cell = cell;
        this.properties = properties;
        this.tcpServer = tcpServer;
        this.node = node;
        this.context = context;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        silence();
    }

    /** Where an application fails that has started already, Actuator's web server is closed before the rest begins to stop. */
    @Override
    public void onApplicationEvent(ContextClosedEvent event) {
        if (cell.answersIn(Port.MANAGEMENT)
                && WebServerApplicationContext.hasServerNamespace(event.getApplicationContext(), "management")) {
            silence();
        }
    }

    /** Unless there is a port over TCP, which the next process needs, too. */
    private void silence() {
        if (cell.answersOverHttp() && !cell.answersOverTcp()) {
            node.closeAcceptor();
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** The port over TCP is given up next. A standalone node has none, and beans that are destroyed after this may still want leases. */
    @Override
    public void destroy() {
        if (!cell.standalone()) {
            node.closeAcceptor();
        }
    }

    /** Of the web servers only Actuator's is paused. */
    @Override
    public boolean isPauseable() {
        return cell.answersIn(Port.MANAGEMENT);
    }

    /** Told by the configuration of Actuator's web server, before the node is started. */
    void answersInManagementServer() {
        managementServer = true;
    }

    /**
     * Binds the port over TCP, and fails unless the others are bound. Where the application brings a channel of its own, how frames arrive is its
     * own affair.
     */
    void requireBound() {
        if (!has(PaxosLeaseAutoConfiguration.CHANNEL)) {
            return;
        }
        if (cell.answersIn(Port.APPLICATION)) {
            if (!cell.answersOverTcp()) {
                requireServer();
            }
            requireRunning(WEB_SERVER);
        } else if (cell.answersIn(Port.MANAGEMENT)) {
            requireRunning(WEB_SERVER);
            if (has(WEB_SERVER)) {
                requireRunning(MANAGEMENT_SERVER);
            }
            if (!cell.answersOverTcp()) {
                requireManagementServer();
            }
        }
        if (cell.answersOverTcp()) {
            bindTcpPort();
        }
    }

    private void bindTcpPort() {
        Integer configured = properties.tcp().port();
        int port = configured != null ? configured : cell.ownUrl().orElseThrow().getPort();
        try {
            tcpServer.open(cell.tcpAddress(properties.tcp().address()), port);
        } catch (IOException | UnsupportedAddressTypeException failure) {
            InetAddress address = properties.tcp().address();
            throw new InvalidCellConfigurationException(
                    "paxoslease.tcp.port",
                    Integer.toString(port),
                    "this node cannot listen there" + (address == null ? "" : " at " + address.getHostAddress()) + ": "
                            + (failure instanceof IOException ? failure.getMessage() : "this JVM does without IPv6"),
                    "Stop what uses the port, or choose another one: by the node's own URL in paxoslease.members, or by"
                            + " paxoslease.tcp.port where the others reach it through another."
                            + (address == null ? "" : " paxoslease.tcp.address must be an address of this machine."));
        }
    }

    /** Whether anybody can call them. Not where the web application has neither a server of its own nor one that it is deployed in. */
    boolean canBeCalled() {
        return !has(PaxosLeaseAutoConfiguration.CHANNEL)
                || !cell.answersOverHttp()
                || cell.answersOverTcp()
                || (cell.answersIn(Port.MANAGEMENT) && has(MANAGEMENT_SERVER) && managementServer)
                || (has(PaxosLeaseHttpAutoConfiguration.SERVLET)
                        ? PaxosLeaseHttpAutoConfiguration.isRegistered(context)
                        : context instanceof WebServerApplicationContext);
    }

    /** The port over TCP, once it is bound. */
    int tcpPort() {
        return tcpServer.port();
    }

    private boolean has(String bean) {
        return context.containsBean(bean);
    }

    private boolean isWebApplication() {
        return has(PaxosLeaseHttpAutoConfiguration.SERVLET) || has(PaxosLeaseReactiveHttpAutoConfiguration.WEB_FILTER);
    }

    private void requireServer() {
        if (!isWebApplication()) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.members." + cell.node().nodeId(),
                    String.valueOf(cell.members().get(cell.node().nodeId())),
                    "this node is a member, but the application has no web server in which its acceptor could answer",
                    "Add spring-boot-starter-webmvc or spring-boot-starter-webflux, or leave this node out of the members: it can lead without being one.");
        }
    }

    /** Beans that depend on the node's lifecycle can make it start before its phase. */
    private void requireRunning(String server) {
        if (has(server) && !context.getBean(server, Lifecycle.class).isRunning()) {
            throw new IllegalStateException(
                    "PaxosLease was started before the web server: a bean that starts early depends on paxosLeaseLifecycle."
                            + " That is allowed only in a node that is not one of paxoslease.members.");
        }
    }

    /** A mock web environment has no servers at all, and starts like that. */
    private void requireManagementServer() {
        boolean mock = isWebApplication() && !(context instanceof WebServerApplicationContext);
        if (!managementServer && !mock) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.endpoint.port",
                    "management",
                    "the application has no management server in which its acceptor could answer",
                    "Add spring-boot-starter-actuator and a web server, do not set management.server.port=-1, or leave"
                            + " paxoslease.endpoint.port at application.");
        }
    }
}
