package io.paxoslease.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.actuate.MicrometerWireListener;
import io.paxoslease.spring.boot.actuate.PaxosLeaseMetrics;
import io.paxoslease.spring.interception.GuardedLeases;
import java.util.Locale;
import org.springframework.beans.factory.ObjectProvider;
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

    @Bean
    SmartInitializingSingleton paxosLeaseCallMetrics(PaxosLeaseMetrics metrics, ObjectProvider<GuardedLeases> guarded) {
        return () -> guarded.ifAvailable(leases -> leases.addCallListener(
                (lease, outcome) -> metrics.leaderOnlyCall(lease, outcome.name().toLowerCase(Locale.ROOT))));
    }
}
