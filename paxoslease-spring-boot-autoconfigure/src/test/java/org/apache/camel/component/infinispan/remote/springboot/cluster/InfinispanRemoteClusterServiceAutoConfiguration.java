package org.apache.camel.component.infinispan.remote.springboot.cluster;

import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.component.file.cluster.FileLockClusterService;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Stands in for the class of this name in {@code camel-infinispan-cluster-service-starter}. */
@AutoConfiguration
public class InfinispanRemoteClusterServiceAutoConfiguration {

    @Bean
    CamelClusterService clusterService() {
        return new FileLockClusterService();
    }
}
