package org.springframework.cloud.kubernetes.fabric8.leader;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.cloud.kubernetes.commons.leader.LeaderInitiator;
import org.springframework.cloud.kubernetes.fabric8.Fabric8AutoConfiguration.KubernetesClient;
import org.springframework.context.annotation.Bean;

/**
 * Stands in for the class of this name in {@code spring-cloud-kubernetes-fabric8-leader}, which does not say either after which other it has to
 * be evaluated.
 */
@AutoConfiguration
@ConditionalOnBean(KubernetesClient.class)
public class Fabric8LeaderAutoConfiguration {

    @Bean
    LeaderInitiator leaderInitiator() {
        return new LeaderInitiator();
    }
}
