package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpoint;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpointWebExtension;
import io.paxoslease.spring.boot.actuate.PaxosLeaseUiEndpoint;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;

/**
 * Auto-configuration of the actuator endpoint {@code lease}, of the page over it where that is asked for, and of what keeps the secrets of the
 * cell out of other endpoints.
 */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseEndpointAutoConfiguration {

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

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

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnSwitch(value = "paxoslease.ui.enabled", byDefault = false)
    @ImportRuntimeHints(PageHints.class)
    static class UiConfiguration {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint(endpoint = PaxosLeaseUiEndpoint.class, exposure = EndpointExposure.WEB)
        PaxosLeaseUiEndpoint paxosLeaseUiEndpoint() {
            return new PaxosLeaseUiEndpoint();
        }

        @Bean
        SmartInitializingSingleton paxosLeaseUiAdvice(
                ObjectProvider<PaxosLeaseUiEndpoint> page, ObjectProvider<PaxosLeaseEndpoint> endpoint) {
            return () -> {
                if (page.getIfAvailable() == null || endpoint.getIfAvailable() == null) {
                    LOG.warn(
                            "paxoslease.ui.enabled is true, but the page is not there, or shows nothing: it needs the endpoints 'lease' and"
                                    + " 'leaseui'. Add both to management.endpoints.web.exposure.include.");
                }
            };
        }
    }

    /** With its secret anybody can vote for any node, so it stays hidden also where endpoints are told to show values. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(PaxosLeaseProperties.class)
    static class SecretsConfiguration {

        @Bean
        SanitizingFunction paxosLeaseSecretsSanitizer(PaxosLeaseProperties properties) {
            List<String> secrets = Stream.concat(
                            Stream.ofNullable(properties.security().sharedSecret()),
                            properties.security().acceptedSecrets().stream())
                    .filter(text -> !text.isEmpty())
                    .toList();
            // By value: a secret may have come by a variable of any name, or be part of a command line or a JSON text.
            Predicate<Object> secret = value -> secrets.stream().anyMatch(Objects.toString(value, "")::contains);
            return SanitizingFunction.sanitizeValue().ifValueMatches(List.of(secret));
        }
    }

    /** The page is found by name. */
    static final class PageHints implements RuntimeHintsRegistrar {
        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
            hints.resources().registerPattern(PaxosLeaseUiEndpoint.PAGE);
        }
    }
}
