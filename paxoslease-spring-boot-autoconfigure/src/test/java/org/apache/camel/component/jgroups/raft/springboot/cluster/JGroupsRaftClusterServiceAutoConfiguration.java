package org.apache.camel.component.jgroups.raft.springboot.cluster;

import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.component.file.cluster.FileLockClusterService;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Stands in for the class of this name in {@code camel-jgroups-raft-cluster-service-starter}. */
@AutoConfiguration
public class JGroupsRaftClusterServiceAutoConfiguration {

    @Bean
    CamelClusterService clusterService() {
        return new FileLockClusterService();
    }
}
