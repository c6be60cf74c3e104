package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.camel.PaxosLeaseClusterService;
import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.support.cluster.AbstractCamelClusterService;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The cluster service of Apache Camel on leases, where the application has no other. Camel finds it, starts it and stops it. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnClass({CamelClusterService.class, AbstractCamelClusterService.class})
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseCamelAutoConfiguration {

    @Bean(destroyMethod = "")
    @ConditionalOnMissingBean(CamelClusterService.class)
    PaxosLeaseClusterService paxosLeaseClusterService(LeaseNode node) {
        return new PaxosLeaseClusterService(node);
    }
}
