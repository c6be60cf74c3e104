package org.apache.camel.component.zookeeper.springboot.cluster;

import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.component.file.cluster.FileLockClusterService;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Stands in for the class of this name in {@code camel-zookeeper-cluster-service-starter}. */
@AutoConfiguration
public class ZooKeeperClusterServiceAutoConfiguration {

    @Bean
    CamelClusterService clusterService() {
        return new FileLockClusterService();
    }
}
