package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.wire.FrameServer;
import org.springframework.boot.actuate.autoconfigure.web.ManagementContextConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** The acceptor endpoint in the reactive web server of Actuator, if it is wanted there. */
@ManagementContextConfiguration(proxyBeanMethods = false)
@ConditionalOnClass({WebFilter.class, Mono.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnBean(AcceptorServers.class)
final class PaxosLeaseManagementReactiveHttpConfiguration {

    /** Not lazy: it tells the node that there is such a server. */
    @Bean
    @Lazy(false)
    WebFilter paxosLeaseManagementWebFilter(
            CellConfiguration cell, FrameServer server, AcceptorServers servers, ApplicationContext context) {
        servers.answersInManagementServer();
        return PaxosLeaseReactiveHttpAutoConfiguration.filter(cell, server, Port.MANAGEMENT, context);
    }
}
