package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.FreePorts;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The node of an application with a web server is made while that one starts, on a thread that has Tomcat's class loader then. */
class ListenerThreadTests {

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    @Test
    void listenersHaveTheClassLoaderOfTheApplication() throws Exception {
        int port = FreePorts.take(1)[0];
        CompletableFuture<ClassLoader> seen = new CompletableFuture<>();
        try (ConfigurableApplicationContext application = new SpringApplicationBuilder(App.class)
                .run(
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--server.port=" + port,
                        "--paxoslease.lease-time=1s",
                        "--paxoslease.members.n0=http://localhost:" + port)) {
            application
                    .getBean(LeaseNode.class)
                    .addListener(
                            transition -> seen.complete(Thread.currentThread().getContextClassLoader()));
            application
                    .getBean(LeaseManager.class)
                    .acquire("job", Duration.ofSeconds(1), Duration.ofSeconds(60))
                    .release();
            assertThat(seen.get(60, TimeUnit.SECONDS))
                    .isSameAs(application.getBeanFactory().getBeanClassLoader());
        }
    }
}
