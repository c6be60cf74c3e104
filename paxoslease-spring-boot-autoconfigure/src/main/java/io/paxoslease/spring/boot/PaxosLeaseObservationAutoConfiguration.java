package io.paxoslease.spring.boot;

import io.micrometer.observation.ObservationRegistry;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.observation.LeaderOnlyObservationConvention;
import io.paxoslease.spring.observation.LeaderOnlyObserver;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/** Auto-configuration of the observations of guarded calls. */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean({GuardedLeases.class, ObservationRegistry.class})
public final class PaxosLeaseObservationAutoConfiguration {

    @Bean
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
}
