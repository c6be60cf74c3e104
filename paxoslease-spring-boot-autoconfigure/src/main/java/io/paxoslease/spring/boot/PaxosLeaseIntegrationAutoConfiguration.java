package io.paxoslease.spring.boot;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.protocol.Names;
import io.paxoslease.spring.integration.PaxosLeaseLeaderInitiators;
import io.paxoslease.spring.integration.PaxosLeaseLockRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.LeaderEventPublisher;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Spring Integration on leases: a lock registry, and leader election for the application's candidates.
 *
 * <p>Evaluated after the auto-configuration of Spring Cloud Kubernetes that elects, and after the one that this needs but does not name: ahead of
 * it, it would elect nobody.
 */
@AutoConfiguration(
        afterName = {
            "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration",
            "org.springframework.cloud.kubernetes.fabric8.Fabric8AutoConfiguration",
            "org.springframework.cloud.kubernetes.fabric8.leader.Fabric8LeaderAutoConfiguration"
        })
@ConditionalOnClass(LockRegistry.class)
public final class PaxosLeaseIntegrationAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(LeaseManager.class)
    @EnableConfigurationProperties(PaxosLeaseProperties.class)
    static class LockConfiguration {

        @Bean
        @ConditionalOnMissingBean(LockRegistry.class)
        PaxosLeaseLockRegistry paxosLeaseLockRegistry(LeaseManager manager, PaxosLeaseProperties properties) {
            return new PaxosLeaseLockRegistry(manager, properties.leaseTime());
        }

        /**
         * Late, because listeners of messages and web requests work under locks and stop after the elections. Those of a parent go on when its
         * child closes.
         */
        @Bean
        AdapterDrain paxosLeaseLockDrain(ListableBeanFactory beans, PaxosLeaseProperties properties) {
            return new AdapterDrain(
                    AdapterDrain.LATE,
                    () -> CompletableFuture.allOf(
                            registries(beans).map(PaxosLeaseLockRegistry::drain).toArray(CompletableFuture<?>[]::new)),
                    () -> registries(beans).forEach(PaxosLeaseLockRegistry::resume),
                    properties.shutdown().drainTimeout(),
                    "threads that hold a lock of the registry");
        }

        private static Stream<PaxosLeaseLockRegistry> registries(ListableBeanFactory beans) {
            return beans.getBeansOfType(PaxosLeaseLockRegistry.class, false, true).values().stream();
        }
    }

    /** Unless something else elects already. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(LeaseNode.class)
    @ConditionalOnMissingBean(
            type = {
                "org.springframework.integration.support.leader.LockRegistryLeaderInitiator",
                "org.springframework.integration.zookeeper.leader.LeaderInitiator",
                "org.springframework.integration.hazelcast.leader.LeaderInitiator",
                "org.springframework.cloud.kubernetes.commons.leader.LeaderInitiator"
            })
    @EnableConfigurationProperties(PaxosLeaseIntegrationProperties.class)
    static class LeaderConfiguration {

        /** In each context of a hierarchy: what is elected there is told there. */
        @Bean
        @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
        PaxosLeaseLeaderInitiators paxosLeaseLeaderInitiators(
                LeaseNode node,
                ObjectProvider<Candidate> candidates,
                ObjectProvider<LeaderEventPublisher> publisher,
                ApplicationEventPublisher events,
                ConfigurableBeanFactory beans,
                PaxosLeaseIntegrationProperties properties) {
            properties.roles().forEach(LeaderConfiguration::requireLeaseName);
            BeanFactory parent = beans.getParentBeanFactory();
            PaxosLeaseLeaderInitiators above = parent == null
                    ? null
                    : parent.getBeanProvider(PaxosLeaseLeaderInitiators.class).getIfAvailable();
            List<String> roles = properties.roles().stream()
                    .filter(role -> above == null || above.initiator(role).isEmpty())
                    .toList();
            return new PaxosLeaseLeaderInitiators(
                    node,
                    () -> withRoles(candidates.orderedStream().toList(), roles, node),
                    publisher.getIfAvailable(() -> new DefaultLeaderEventPublisher(events)),
                    above);
        }

        private static void requireLeaseName(String role) {
            Settings.requireVisible("integration.roles", "the name of a role", role);
            try {
                Names.require("lease name", role, Names.MAX_RESOURCE_BYTES);
            } catch (IllegalArgumentException wrong) {
                throw new InvalidCellConfigurationException(
                        "paxoslease.integration.roles",
                        role,
                        String.valueOf(wrong.getMessage()),
                        "A role is called like its lease, in 1 to 255 bytes. Is there a comma too many?");
            }
        }

        private static List<Candidate> withRoles(List<Candidate> beans, List<String> roles, LeaseNode node) {
            Set<String> known = beans.stream().map(Candidate::getRole).collect(Collectors.toSet());
            List<Candidate> all = new ArrayList<>(beans);
            for (String role : roles) {
                if (known.add(role)) {
                    all.add(new DefaultCandidate(node.incarnation().nodeId(), role));
                }
            }
            return all;
        }
    }
}
