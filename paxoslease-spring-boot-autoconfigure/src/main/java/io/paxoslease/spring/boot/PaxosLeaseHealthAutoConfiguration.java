package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.boot.actuate.PaxosLeaseHealthIndicator;
import io.paxoslease.spring.boot.actuate.QuarantineHealthIndicator;
import io.paxoslease.spring.boot.actuate.QuarantineReadinessGroups;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.web.AdditionalPathsMapper;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Auto-configuration of the health component {@code paxoslease} and of what the quarantine does to readiness. Boot makes the names of the
 * components from those of the beans.
 */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration"
        })
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseHealthAutoConfiguration {

    // Nested, because the condition class itself is missing where Boot's health module is.
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabledHealthIndicator("paxoslease")
    static class HealthConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "paxosleaseHealthIndicator")
        PaxosLeaseHealthIndicator paxosleaseHealthIndicator(LeaseNode node, ObjectProvider<CellView> view) {
            return new PaxosLeaseHealthIndicator(node, view.getIfAvailable(() -> CellView.NONE));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthEndpointGroupsPostProcessor.class, AdditionalPathsMapper.class})
    @ConditionalOnSwitch(value = "paxoslease.readiness.quarantine", byDefault = true)
    static class ReadinessConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "paxosleaseQuarantineHealthIndicator")
        QuarantineHealthIndicator paxosleaseQuarantineHealthIndicator(LeaseNode node) {
            return new QuarantineHealthIndicator(node);
        }

        @Bean
        @ConditionalOnMissingBean
        QuarantineReadinessGroups paxosleaseQuarantineReadinessGroups() {
            return new QuarantineReadinessGroups();
        }
    }
}
