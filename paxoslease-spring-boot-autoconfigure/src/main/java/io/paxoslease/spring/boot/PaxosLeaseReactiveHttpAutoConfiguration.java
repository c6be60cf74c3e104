package io.paxoslease.spring.boot;

import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.spring.boot.transport.PaxosLeaseWebFilter;
import io.paxoslease.wire.FrameServer;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/** The acceptor endpoint in the application's own reactive web server. A standalone cell exposes nothing. */
@AutoConfiguration(after = PaxosLeaseAutoConfiguration.class)
@ConditionalOnClass({WebFilter.class, Mono.class})
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnBean(FrameServer.class)
public final class PaxosLeaseReactiveHttpAutoConfiguration {

    /** The name of the bean that is there only where the acceptor can be called. */
    static final String WEB_FILTER = "paxosLeaseWebFilter";

    @Bean(WEB_FILTER)
    WebFilter paxosLeaseWebFilter(CellConfiguration cell, FrameServer server, ApplicationContext context) {
        return filter(cell, server, Port.APPLICATION, context);
    }

    static WebFilter filter(CellConfiguration cell, FrameServer server, Port port, ApplicationContext context) {
        return cell.answersIn(port)
                ? new PaxosLeaseWebFilter(cell.basePath() + FrameChannels.PATH, server, context, cell.origin())
                : (exchange, chain) -> chain.filter(exchange);
    }
}
