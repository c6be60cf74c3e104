package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.spring.boot.PaxosLeaseProperties.EndpointProperties.Port;
import io.paxoslease.spring.bounded.FreePorts;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.util.StringUtils;

/** A4. The next process of a node may have its port while this one still stops, and holds what code acquired. */
@ExtendWith(OutputCaptureExtension.class)
class GivenUpPortTests {

    private static final Duration TIME = Duration.ofSeconds(6);

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    /** Sees what the acceptor does when it is stopped. */
    static class Watch implements SmartLifecycle {
        private final LeaseNode node;
        private final int phase;
        private volatile boolean running;
        private volatile AcceptorState seen = AcceptorState.NONE;

        Watch(LeaseNode node, int phase) {
            this.node = node;
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
            seen = node.acceptorState();
        }

        @Override
        public boolean isRunning() {
            return running;
        }
    }

    private static ConfigurableApplicationContext start(int stopPhase, String... more) {
        return start(
                context ->
                        context.registerBean(Watch.class, () -> new Watch(context.getBean(LeaseNode.class), stopPhase)),
                more);
    }

    private static ConfigurableApplicationContext start(Consumer<GenericApplicationContext> beans, String... more) {
        return new SpringApplicationBuilder(App.class)
                .initializers(context -> beans.accept((GenericApplicationContext) context))
                .web(WebApplicationType.SERVLET)
                .properties("spring.main.banner-mode=off", "paxoslease.node-id=n0", "paxoslease.lease-time=500ms")
                .run(more);
    }

    private static String[] memberIn(Port server) throws IOException {
        int[] ports = FreePorts.take(2);
        int own = server == Port.APPLICATION ? ports[0] : ports[1];
        return new String[] {
            "--server.port=" + ports[0],
            "--management.server.port=" + ports[1],
            "--paxoslease.endpoint.port=" + server,
            "--paxoslease.members.n0=http://localhost:" + own
        };
    }

    private static void awaitVote(ApplicationContext application) {
        LeaseNode node = application.getBean(LeaseNode.class);
        await().until(() -> node.acceptorState() == AcceptorState.VOTING);
    }

    private static AcceptorState whenStopping(int phase, String... settings) {
        Watch watch;
        try (ConfigurableApplicationContext application = start(phase, settings)) {
            watch = application.getBean(Watch.class);
            awaitVote(application);
        }
        assertThat(watch.node.acceptorState()).isEqualTo(AcceptorState.QUARANTINED);
        return watch.seen;
    }

    @ParameterizedTest
    @EnumSource(Port.class)
    void theAcceptorIsSilentWhenAWebServerGivesUpItsPort(Port server) throws Exception {
        String[] settings = memberIn(server);

        assertThat(whenStopping(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE, settings))
                .isEqualTo(AcceptorState.QUARANTINED);
        assertThat(whenStopping(PaxosLeaseLifecycle.PHASE, settings)).isEqualTo(AcceptorState.VOTING);
    }

    /** Where an application fails that has started already, Actuator's server is closed before anything else begins to stop. */
    @Test
    void theAcceptorIsSilentWhenTheApplicationFails() throws Exception {
        AtomicReference<Watch> watch = new AtomicReference<>();
        assertThatThrownBy(() -> start(
                        context -> {
                            context.registerBean(Watch.class, () -> {
                                watch.set(new Watch(context.getBean(LeaseNode.class), SmartLifecycle.DEFAULT_PHASE));
                                return watch.get();
                            });
                            context.registerBean(CommandLineRunner.class, () -> arguments -> {
                                awaitVote(context);
                                throw new IllegalStateException("the runner fails");
                            });
                        },
                        memberIn(Port.MANAGEMENT)))
                .hasMessage("the runner fails");
        assertThat(watch.get().seen).isEqualTo(AcceptorState.QUARANTINED);
    }

    /** Unlike the server of the application, Actuator's gives up its port then. */
    @Test
    void theAcceptorIsSilentWhileActuatorsServerIsPaused() throws Exception {
        try (ConfigurableApplicationContext application = start(0, memberIn(Port.MANAGEMENT))) {
            awaitVote(application);
            application.pause();
            new ServerSocket(application.getEnvironment().getRequiredProperty("management.server.port", Integer.class))
                    .close();
            assertThat(application.getBean(LeaseNode.class).acceptorState()).isEqualTo(AcceptorState.QUARANTINED);
            application.restart();
            awaitVote(application);
        }
    }

    /** Nobody else has that port before all leases are released. */
    @Test
    void theAcceptorVotesToTheEndOnAPortOfItsOwn() throws Exception {
        int[] ports = FreePorts.take(2);
        assertThat(whenStopping(
                        Integer.MIN_VALUE,
                        "--server.port=" + ports[0],
                        "--paxoslease.transport=tcp",
                        "--paxoslease.members.n0=tcp://localhost:" + ports[1]))
                .isEqualTo(AcceptorState.VOTING);
    }

    @Test
    void thereIsAnotherQuarantineWhenTheContextIsStartedAgain(CapturedOutput output) throws Exception {
        String line = "the quarantine of node 'n0' is over, its acceptor votes";
        int port = FreePorts.take(1)[0];
        try (ConfigurableApplicationContext application = start(
                0,
                "--paxoslease.lease-time=" + TIME,
                "--server.port=" + port,
                "--paxoslease.members.n0=http://localhost:" + port)) {
            await().until(() -> StringUtils.countOccurrencesOf(output.getOut(), line) == 1);

            for (int i = 0; i < 2; i++) {
                application.stop();
                application.start();
            }

            LeaseNode node = application.getBean(LeaseNode.class);
            assertThat(node.quarantineRemainingNanos()).isPositive();
            awaitVote(application);
            await().during(Duration.ofMillis(600))
                    .until(() -> StringUtils.countOccurrencesOf(output.getOut(), line) == 2);
            Lease lease = application.getBean(LeaseManager.class).acquire("job", TIME, Duration.ofSeconds(60));
            assertThat(lease.isHeld()).isTrue();
        }
    }
}
