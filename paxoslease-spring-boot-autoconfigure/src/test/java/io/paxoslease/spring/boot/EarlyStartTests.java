package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;

/** A bean that starts before the web server and wants the node to have started before it. */
class EarlyStartTests {

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        @DependsOn("paxosLeaseLifecycle")
        Early early() {
            return new Early();
        }
    }

    static class Early implements SmartLifecycle {
        private boolean running;

        @Override
        public int getPhase() {
            return 0;
        }

        @Override
        public void start() {
            running = true;
        }

        @Override
        public void stop() {
            running = false;
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    @Test
    void aMemberDoesNotCountItsQuarantineBeforeItsPortIsBound() {
        assertThatThrownBy(() -> start("n0").close())
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .hasStackTraceContaining("before the web server");
    }

    @Test
    void aNodeWithoutAcceptorMayStartEarly() {
        try (ConfigurableApplicationContext application = start("other")) {
            assertThat(application.getBean(LeaseNode.class).acceptorState()).isEqualTo(AcceptorState.NONE);
        }
    }

    private static ConfigurableApplicationContext start(String nodeId) {
        return new SpringApplicationBuilder(App.class)
                .web(WebApplicationType.SERVLET)
                .run(
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--server.port=0",
                        "--paxoslease.node-id=" + nodeId,
                        "--paxoslease.members.n0=http://localhost:18099");
    }
}
