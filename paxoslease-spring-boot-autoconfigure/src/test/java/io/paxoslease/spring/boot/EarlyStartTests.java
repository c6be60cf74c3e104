package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.spring.bounded.FreePorts;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.DependsOn;

/** A bean that starts before the web server and wants the node to have started before it. */
class EarlyStartTests {

    private static final String MANAGEMENT = "--paxoslease.endpoint.port=management";

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {
        @Bean
        @DependsOn("paxosLeaseLifecycle")
        Early early(@Value("${early.phase:0}") int phase) {
            return new Early(phase);
        }
    }

    static class Early implements SmartLifecycle {
        private final int phase;
        private boolean running;

        Early(int phase) {
            this.phase = phase;
        }

        @Override
        public int getPhase() {
            return phase;
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

    @ParameterizedTest
    @ValueSource(strings = {"--paxoslease.endpoint.port=application", MANAGEMENT})
    void aMemberDoesNotCountItsQuarantineBeforeItsPortIsBound(String server) {
        assertThatThrownBy(() -> start("n0", "--paxoslease.members.n0=http://localhost:18099", server)
                        .close())
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .hasStackTraceContaining("before the web server");
    }

    /** Its acceptor answers in the web server too, where a former process of this id may still answer. */
    @ParameterizedTest
    @ValueSource(strings = {"--paxoslease.endpoint.port=application", MANAGEMENT})
    void aMemberWithAPortOfItsOwnDoesNotEither(String server) throws Exception {
        int port = FreePorts.take(1)[0];
        assertThatThrownBy(() -> start(
                                "n0",
                                "--paxoslease.transport=tcp",
                                "--paxoslease.members.n0=tcp://localhost:" + port,
                                server)
                        .close())
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .hasStackTraceContaining("before the web server");
    }

    /** The web server of Actuator is bound after that of the application. */
    @Test
    void aMemberDoesNotCountItsQuarantineBeforeTheManagementPortIsBound() throws Exception {
        int[] ports = FreePorts.take(2);
        assertThatThrownBy(() -> start(
                                "n0",
                                MANAGEMENT,
                                "--management.server.port=" + ports[0],
                                "--early.phase=" + (WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE + 1),
                                "--paxoslease.transport=tcp",
                                "--paxoslease.members.n0=tcp://localhost:" + ports[1])
                        .close())
                .hasRootCauseInstanceOf(IllegalStateException.class)
                .hasStackTraceContaining("before the web server");
    }

    @Test
    void aNodeWithoutAcceptorMayStartEarly() {
        try (ConfigurableApplicationContext application =
                start("other", "--paxoslease.members.n0=http://localhost:18099")) {
            assertThat(application.getBean(LeaseNode.class).acceptorState()).isEqualTo(AcceptorState.NONE);
        }
    }

    private static ConfigurableApplicationContext start(String nodeId, String... more) {
        String[] settings = {
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--server.port=0",
            "--paxoslease.node-id=" + nodeId
        };
        return new SpringApplicationBuilder(App.class)
                .web(WebApplicationType.SERVLET)
                .run(Stream.concat(Stream.of(settings), Stream.of(more)).toArray(String[]::new));
    }
}
