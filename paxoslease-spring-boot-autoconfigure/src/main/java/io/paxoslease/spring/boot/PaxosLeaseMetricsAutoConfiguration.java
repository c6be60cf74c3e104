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
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/** Auto-configuration of the meters of the node, its leases and its traffic. */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({LeaseNode.class, MeterRegistry.class})
public final class PaxosLeaseMetricsAutoConfiguration {

    private static final int MAX_LEASES = 1_000;

    @Bean
    @ConditionalOnMissingBean
    MicrometerWireListener paxosLeaseWireListener() {
        return new MicrometerWireListener();
    }

    @Bean
    @ConditionalOnMissingBean
    PaxosLeaseMetrics paxosLeaseMetrics(LeaseNode node, Environment environment) {
        return new PaxosLeaseMetrics(
                node, environment.getProperty("paxoslease.metrics.max-leases", Integer.class, MAX_LEASES));
    }

    @Bean
    SmartInitializingSingleton paxosLeaseCallMetrics(PaxosLeaseMetrics metrics, ObjectProvider<GuardedLeases> guarded) {
        return () -> guarded.ifAvailable(leases -> leases.addCallListener(
                (lease, outcome) -> metrics.leaderOnlyCall(lease, outcome.name().toLowerCase(Locale.ROOT))));
    }
}
