package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.camel.PaxosLeaseClusterService;
import java.lang.ref.WeakReference;
import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.component.consul.springboot.cluster.ConsulClusterServiceAutoConfiguration;
import org.apache.camel.component.file.cluster.FileLockClusterService;
import org.apache.camel.component.file.springboot.cluster.FileLockClusterServiceAutoConfiguration;
import org.apache.camel.component.infinispan.remote.springboot.cluster.InfinispanRemoteClusterServiceAutoConfiguration;
import org.apache.camel.component.jgroups.raft.springboot.cluster.JGroupsRaftClusterServiceAutoConfiguration;
import org.apache.camel.component.kubernetes.springboot.cluster.KubernetesClusterServiceAutoConfiguration;
import org.apache.camel.component.zookeeper.springboot.cluster.ZooKeeperClusterServiceAutoConfiguration;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class PaxosLeaseCamelAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseCamelAutoConfiguration.class));

    private final ApplicationContextRunner withNode = runner.withBean(LeaseNode.class, LocalCell::standalone);

    @Test
    void providesTheClusterService() {
        withNode.run(context -> assertThat(context).hasSingleBean(PaxosLeaseClusterService.class));
    }

    @Test
    void backsOffFromTheApplicationsOwnClusterService() {
        withNode.withBean(CamelClusterService.class, FileLockClusterService::new)
                .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseClusterService.class));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                ConsulClusterServiceAutoConfiguration.class,
                FileLockClusterServiceAutoConfiguration.class,
                InfinispanRemoteClusterServiceAutoConfiguration.class,
                JGroupsRaftClusterServiceAutoConfiguration.class,
                KubernetesClusterServiceAutoConfiguration.class,
                ZooKeeperClusterServiceAutoConfiguration.class
            })
    void backsOffFromTheClusterServiceOfAStarterOfCamel(Class<?> starter) {
        withNode.withConfiguration(AutoConfigurations.of(starter))
                .run(context -> assertThat(context)
                        .hasSingleBean(CamelClusterService.class)
                        .doesNotHaveBean(PaxosLeaseClusterService.class));
    }

    /** At shutdown Camel stops before guarded calls have ended. */
    @Test
    void aServiceThatStopsDoesNotGiveUpALeaseThatOthersNeed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseCamelAutoConfiguration.class))
                .withPropertyValues("paxoslease.leases.shared.candidate=true")
                .run(context -> {
                    LeaseManager leases = context.getBean(LeaseManager.class);
                    PaxosLeaseClusterService service = context.getBean(PaxosLeaseClusterService.class);
                    service.setCamelContext(new DefaultCamelContext());
                    service.start();
                    service.getView("alone");
                    service.getView("shared");
                    await().until(() -> leases.election("alone").isLeader()
                            && leases.election("shared").isLeader());

                    service.stop();

                    assertThat(leases.election("alone").isLeader()).isFalse();
                    assertThat(leases.election("shared").isLeader()).isTrue();
                });
    }

    @Test
    void aServiceMadeByHandDoesNotGiveUpALeaseThatOthersNeed() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseAutoConfiguration.class))
                .withPropertyValues("paxoslease.leases.shared.candidate=true")
                .run(context -> {
                    LeaseNode node = context.getBean(LeaseNode.class);
                    PaxosLeaseClusterService service = new PaxosLeaseClusterService(node);
                    service.setCamelContext(new DefaultCamelContext());
                    service.start();
                    service.getView("alone");
                    service.getView("shared");
                    await().until(() -> node.election("alone").isLeader()
                            && node.election("shared").isLeader());

                    service.stop();

                    assertThat(node.election("alone").isLeader()).isFalse();
                    assertThat(node.election("shared").isLeader()).isTrue();
                });
    }

    /** The node may be a parent context's and go on. */
    @Test
    void nothingIsKeptOfAServiceThatWasStopped() {
        try (LeaseNode node = LocalCell.standalone()) {
            WeakReference<PaxosLeaseClusterService> stopped = startAndStop(node);
            await().until(() -> {
                System.gc();
                return stopped.get() == null;
            });
        }
    }

    private static WeakReference<PaxosLeaseClusterService> startAndStop(LeaseNode node) {
        PaxosLeaseClusterService service = new PaxosLeaseClusterService(node);
        service.start();
        service.stop();
        return new WeakReference<>(service);
    }

    @Test
    void doesNothingWithoutCamel() {
        withNode.withClassLoader(new FilteredClassLoader("org.apache.camel"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseClusterService"));
    }

    @Test
    void doesNothingWithoutLeases() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(CamelClusterService.class));
    }
}
