package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.camel.PaxosLeaseClusterService;
import org.apache.camel.cluster.CamelClusterService;
import org.apache.camel.component.file.cluster.FileLockClusterService;
import org.junit.jupiter.api.Test;
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
