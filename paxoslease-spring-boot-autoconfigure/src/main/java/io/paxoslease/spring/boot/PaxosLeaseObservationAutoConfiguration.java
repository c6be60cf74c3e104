package io.paxoslease.spring.boot;

import io.micrometer.observation.ObservationRegistry;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.observation.LeaderOnlyObservationConvention;
import io.paxoslease.spring.observation.LeaderOnlyObserver;
import io.paxoslease.spring.observation.LeaseAttemptObservationConvention;
import io.paxoslease.spring.observation.LeaseAttemptObserver;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the observations of guarded calls and of attempts. */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
public final class PaxosLeaseObservationAutoConfiguration {

    @Bean
    @ConditionalOnBean(GuardedLeases.class)
    SmartInitializingSingleton paxosLeaseCallObservations(
            GuardedLeases guarded,
            ObservationRegistry registry,
            ObjectProvider<LeaderOnlyObservationConvention> convention) {
        return () -> {
            if (!registry.isNoop()) {
                guarded.observeCalls(new LeaderOnlyObserver(registry, convention.getIfAvailable()));
            }
        };
    }

    @Bean
    @ConditionalOnBean(LeaseNode.class)
    SmartInitializingSingleton paxosLeaseAttemptObservations(
            LeaseNode node,
            ObservationRegistry registry,
            ObjectProvider<LeaseAttemptObservationConvention> convention) {
        return () -> {
            if (!registry.isNoop()) {
                node.addAttemptListener(new LeaseAttemptObserver(registry, convention.getIfAvailable()));
            }
        };
    }
}
