package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.spring.boot.transport.PaxosLeaseServlet;
import io.paxoslease.wire.FrameServer;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.context.WebApplicationContext;

/** The acceptor endpoint in the application's own servlet web server. A standalone cell exposes nothing. */
@AutoConfiguration(after = PaxosLeaseAutoConfiguration.class)
@ConditionalOnClass({Servlet.class, ServletRegistrationBean.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnBean(FrameServer.class)
public final class PaxosLeaseHttpAutoConfiguration {

    /** The name of the bean that is there only where the acceptor can be called. */
    static final String SERVLET = "paxosLeaseServlet";

    @Bean(SERVLET)
    ServletContextInitializer paxosLeaseServlet(CellConfiguration cell, FrameServer server) {
        return servlet(SERVLET, cell, server, Port.APPLICATION);
    }

    /** Whether a web server took the servlet: one of the application's own, or one that it is deployed in. A mock of one takes nothing. */
    static boolean isRegistered(ApplicationContext context) {
        ServletContext server = context instanceof WebApplicationContext web ? web.getServletContext() : null;
        return server != null
                && (server.getServletRegistration(SERVLET) != null
                        || server.getServletRegistration(PaxosLeaseManagementHttpConfiguration.SERVLET) != null);
    }

    /** The servlet, or nothing where the acceptor does not answer: decided here and not by a condition, and not logged as a disabled servlet. */
    static ServletContextInitializer servlet(String name, CellConfiguration cell, FrameServer server, Port port) {
        if (!cell.answersIn(port)) {
            return context -> {};
        }
        ServletRegistrationBean<PaxosLeaseServlet> registration = new ServletRegistrationBean<>(
                new PaxosLeaseServlet(() -> server, cell.origin()), cell.basePath() + FrameChannels.PATH);
        registration.setName(name);
        return registration;
    }
}
