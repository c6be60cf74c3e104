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

/**
 * The cluster service of Apache Camel on leases, where the application has no other. Camel finds it, starts it and stops it. Evaluated after
 * those of Camel's own {@code cluster-service-starter}s: with two services Camel takes none.
 */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "org.apache.camel.component.consul.springboot.cluster.ConsulClusterServiceAutoConfiguration",
            "org.apache.camel.component.file.springboot.cluster.FileLockClusterServiceAutoConfiguration",
            "org.apache.camel.component.infinispan.remote.springboot.cluster.InfinispanRemoteClusterServiceAutoConfiguration",
            "org.apache.camel.component.jgroups.raft.springboot.cluster.JGroupsRaftClusterServiceAutoConfiguration",
            "org.apache.camel.component.kubernetes.springboot.cluster.KubernetesClusterServiceAutoConfiguration",
            "org.apache.camel.component.zookeeper.springboot.cluster.ZooKeeperClusterServiceAutoConfiguration"
        })
@ConditionalOnClass({CamelClusterService.class, AbstractCamelClusterService.class})
@ConditionalOnBean(LeaseNode.class)
public final class PaxosLeaseCamelAutoConfiguration {

    @Bean(destroyMethod = "")
    @ConditionalOnMissingBean(CamelClusterService.class)
    PaxosLeaseClusterService paxosLeaseClusterService(LeaseNode node) {
        return new PaxosLeaseClusterService(node);
    }
}
