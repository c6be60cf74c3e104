package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.wire.FrameServer;
import jakarta.servlet.Servlet;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;

/** The acceptor endpoint in the servlet web server of Actuator, if it is wanted there. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnClass({Servlet.class, ServletRegistrationBean.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnBean(AcceptorServers.class)
final class PaxosLeaseManagementHttpConfiguration {

    /** The name of the servlet that is there only in the server that answers. */
    static final String SERVLET = "paxosLeaseManagementServlet";

    @Bean(SERVLET)
    ServletContextInitializer paxosLeaseManagementServlet(
            CellConfiguration cell, FrameServer server, AcceptorServers servers) {
        servers.answersInManagementServer();
        return PaxosLeaseHttpAutoConfiguration.servlet(SERVLET, cell, server, Port.MANAGEMENT);
    }
}
