package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpoint;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpointWebExtension;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Auto-configuration of the actuator endpoint {@code lease}. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseEndpointAutoConfiguration {

    // Nested, because the condition class itself is missing where the actuator is.
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnAvailableEndpoint(PaxosLeaseEndpoint.class)
    static class EndpointConfiguration {

        @Bean
        @ConditionalOnMissingBean
        PaxosLeaseEndpoint paxosLeaseEndpoint(LeaseNode node, ObjectProvider<CellView> view) {
            return new PaxosLeaseEndpoint(node, view.getIfAvailable(() -> CellView.NONE));
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(PaxosLeaseEndpoint.class)
        @ConditionalOnAvailableEndpoint(endpoint = PaxosLeaseEndpoint.class, exposure = EndpointExposure.WEB)
        PaxosLeaseEndpointWebExtension paxosLeaseEndpointWebExtension(PaxosLeaseEndpoint endpoint) {
            return new PaxosLeaseEndpointWebExtension(endpoint);
        }
    }
}
