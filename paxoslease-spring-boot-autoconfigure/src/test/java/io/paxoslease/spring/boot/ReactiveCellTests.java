package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.client.ReactorResourceFactory;

/** Three whole applications without servlets, beside Spring Security as Boot configures it. */
@Timeout(120)
class ReactiveCellTests {

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(OwnEventLoops.class)
    static class App {}

    /** Else the first application to close would end the event loops of all. */
    @Configuration(proxyBeanMethods = false)
    static class OwnEventLoops {

        @Bean
        ReactorResourceFactory reactorResources() {
            ReactorResourceFactory resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            return resources;
        }
    }

    @Test
    void electsAndOpensNothingElse() throws Exception {
        int[] ports = FreePorts.take(3);
        List<ConfigurableApplicationContext> applications = new ArrayList<>();
        try {
            for (int i = 0; i < ports.length; i++) {
                applications.add(start(i, ports));
            }
            Lease lease = applications
                    .get(0)
                    .getBean(LeaseManager.class)
                    .acquire("job", Duration.ofSeconds(2), Duration.ofSeconds(60));
            assertThat(lease.isHeld()).isTrue();
            lease.release();
            applications.remove(0).close();
            assertThat(applications
                            .get(1)
                            .getBean(LeaseManager.class)
                            .acquire("job", Duration.ofSeconds(2), Duration.ofSeconds(60))
                            .fencingToken())
                    .isGreaterThan(lease.fencingToken());

            assertThat(status(ports[1], "/paxoslease/messages")).isEqualTo(415);
            assertThat(status(ports[1], "/paxoslease")).isIn(401, 403);
            assertThat(status(ports[1], "/actuator/lease")).isIn(401, 403);
        } finally {
            applications.forEach(ConfigurableApplicationContext::close);
        }
    }

    private static ConfigurableApplicationContext start(int index, int[] ports) {
        return new SpringApplicationBuilder(App.class)
                .web(WebApplicationType.REACTIVE)
                .run(
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--management.endpoints.web.exposure.include=*",
                        "--server.port=" + ports[index],
                        "--paxoslease.lease-time=2s",
                        "--paxoslease.node-id=n" + index,
                        "--paxoslease.members.n0=http://localhost:" + ports[0],
                        "--paxoslease.members.n1=http://localhost:" + ports[1],
                        "--paxoslease.members.n2=http://localhost:" + ports[2]);
    }

    /** What a post to a path is answered with that is no frame. */
    static int status(int port, String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                                .POST(HttpRequest.BodyPublishers.ofString("x"))
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }
}
