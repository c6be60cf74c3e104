package org.springframework.cloud.kubernetes.fabric8;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;

/** Stands in for the class of this name in {@code spring-cloud-kubernetes-fabric8-autoconfig}. */
@AutoConfiguration
public class Fabric8AutoConfiguration {

    public static final class KubernetesClient {}

    @Bean
    KubernetesClient kubernetesClient() {
        return new KubernetesClient();
    }
}
