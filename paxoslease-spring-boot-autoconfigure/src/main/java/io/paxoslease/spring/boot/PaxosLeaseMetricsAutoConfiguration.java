package io.paxoslease.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.actuate.MicrometerWireListener;
import io.paxoslease.spring.boot.actuate.PaxosLeaseMetrics;
import io.paxoslease.spring.interception.GuardedLeases;
import java.util.Locale;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the meters of the node, its leases and its traffic. */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({LeaseNode.class, MeterRegistry.class})
@EnableConfigurationProperties(PaxosLeaseMetricsProperties.class)
public final class PaxosLeaseMetricsAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    MicrometerWireListener paxosLeaseWireListener() {
        return new MicrometerWireListener();
    }

    @Bean
    @ConditionalOnMissingBean
    PaxosLeaseMetrics paxosLeaseMetrics(LeaseNode node, PaxosLeaseMetricsProperties properties) {
        int maxLeases = properties.maxLeases();
        if (maxLeases < 0) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.metrics.max-leases",
                    Integer.toString(maxLeases),
                    "it is negative",
                    "Set how many leases are to have meters of their own, 0 for none.");
        }
        return new PaxosLeaseMetrics(node, maxLeases);
    }

    /** Once in a hierarchy of contexts: those of a parent are its children's too. */
    @Bean
    @ConditionalOnBean(GuardedLeases.class)
    @ConditionalOnMissingBean(name = "paxosLeaseCallMetrics")
    SmartInitializingSingleton paxosLeaseCallMetrics(PaxosLeaseMetrics metrics, GuardedLeases guarded) {
        return () -> guarded.addCallListener(
                (lease, outcome) -> metrics.leaderOnlyCall(lease, outcome.name().toLowerCase(Locale.ROOT)));
    }
}
