package io.paxoslease.spring.boot;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.interception.FirstLook;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.interception.LeaderOnlyBeanPostProcessor;
import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** Makes {@link io.paxoslease.spring.LeaderOnly} work. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnSwitch(value = "paxoslease.enabled", byDefault = true)
public final class PaxosLeaseInterceptionAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    LeaderOnlyRegistry paxosLeaseLeaderOnlyRegistry() {
        return new LeaderOnlyRegistry();
    }

    @Bean
    @Lazy(false)
    @ConditionalOnMissingBean
    GuardedLeases paxosLeaseGuardedLeases(
            ObjectProvider<LeaseManager> leaseManager, ObjectProvider<LeaseNode> node, LeaderOnlyRegistry registry) {
        return new GuardedLeases(leaseManager, node, registry);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static FirstLook paxosLeaseFirstLook() {
        return new FirstLook();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LeaderOnlyBeanPostProcessor paxosLeaseLeaderOnlyBeanPostProcessor(
            Environment environment,
            ObjectProvider<LeaderOnlyRegistry> registry,
            ObjectProvider<GuardedLeases> leases,
            FirstLook firstLook) {
        return new LeaderOnlyBeanPostProcessor(environment, registry, leases, firstLook);
    }
}
