package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.FreePorts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The frames of the other nodes are not among the requests that the application observes. */
@Timeout(120)
class FrameObservationTests {

    /** Of Spring Security, which does not tell there whose request it is. */
    private static final String UNSECURED = "spring.security.http.unsecured.requests";

    @Configuration(proxyBeanMethods = false)
    static class Recorder {

        final Queue<String> names = new ConcurrentLinkedQueue<>();

        @Bean
        ObservationHandler<Observation.Context> recorder() {
            return new ObservationHandler<>() {
                @Override
                public void onStart(Observation.Context context) {
                    if (!context.getName().startsWith("paxoslease.")) {
                        names.add(context.getName());
                    }
                }

                @Override
                public boolean supportsContext(Observation.Context context) {
                    return true;
                }
            };
        }
    }

    @ParameterizedTest
    @CsvSource({"SERVLET, application", "SERVLET, management", "REACTIVE, application", "REACTIVE, management"})
    void aFrameIsNotObservedAndAnythingElseIs(WebApplicationType type, String port) throws Exception {
        int[] ports = FreePorts.take(4);
        int answering = port.equals("management") ? 2 : 0;
        boolean managementServlet = type == WebApplicationType.SERVLET && answering == 2;
        List<ConfigurableApplicationContext> applications = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                applications.add(new SpringApplicationBuilder(
                                type == WebApplicationType.SERVLET
                                        ? ManagementPortTests.App.class
                                        : ManagementPortTests.ReactiveApp.class,
                                Recorder.class)
                        .web(type)
                        .run(
                                "--spring.main.banner-mode=off",
                                "--logging.level.root=warn",
                                "--server.port=" + ports[i],
                                "--management.server.port=" + ports[2 + i],
                                "--paxoslease.lease-time=1s",
                                "--paxoslease.endpoint.port=" + port,
                                "--paxoslease.members.n0=http://localhost:" + ports[answering],
                                "--paxoslease.members.n1=http://localhost:" + ports[answering + 1]));
            }
            applications
                    .get(0)
                    .getBean(LeaseManager.class)
                    .acquire("job", Duration.ofSeconds(1), Duration.ofSeconds(30));

            Queue<String> observed = applications.get(1).getBean(Recorder.class).names;
            assertThat(observed).allMatch(name -> managementServlet && name.equals(UNSECURED));
            // No frame: it says nothing of its type.
            ReactiveCellTests.status(ports[1], "/paxoslease/messages");
            assertThat(observed).contains("http.server.requests");
        } finally {
            applications.forEach(ConfigurableApplicationContext::close);
        }
    }
}
