package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.actuate.LeaseInfoContributor;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Auto-configuration of the info contributor {@code lease}. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnClass({InfoContributor.class, ConditionalOnEnabledInfoContributor.class})
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseInfoAutoConfiguration {

    // Nested, because the condition class itself is missing where the actuator is.
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnEnabledInfoContributor("lease")
    static class InfoConfiguration {

        @Bean
        @ConditionalOnMissingBean
        LeaseInfoContributor paxosLeaseInfoContributor(LeaseNode node) {
            return new LeaseInfoContributor(node);
        }
    }
}
