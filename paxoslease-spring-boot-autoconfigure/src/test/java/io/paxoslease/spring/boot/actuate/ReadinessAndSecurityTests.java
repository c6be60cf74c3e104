package io.paxoslease.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.RequestHandler.AcceptorState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.test.web.servlet.client.RestTestClient;

class ReadinessAndSecurityTests {

    private final TestNode test = TestNode.ofThree();

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void theQuarantineHoldsBackReadinessAndNothingElse() {
        test.view.reachable("node-2", AcceptorState.VOTING);

        TestServer.around(test)
                .with("management.endpoint.health.show-details=always")
                .run(client -> {
                    status(client, "/actuator/health/readiness", 503);
                    status(client, "/actuator/health/liveness", 200);
                    status(client, "/actuator/health", 503);
                    status(client, "/actuator/health/paxoslease", 503);

                    test.voting();

                    status(client, "/actuator/health/readiness", 200);
                    status(client, "/actuator/health", 200);
                    client.get()
                            .uri("/actuator/health")
                            .exchange()
                            .expectBody()
                            .jsonPath("$.components.paxoslease.status")
                            .isEqualTo("UP")
                            .jsonPath("$.components.paxosleaseQuarantine")
                            .doesNotExist();
                });
    }

    @Test
    void aLostMajorityIsDownButReady() {
        test.voting();

        TestServer.around(test).run(client -> {
            status(client, "/actuator/health", 503);
            status(client, "/actuator/health/readiness", 200);
        });
    }

    @Test
    void theQuarantineJoinsAReadinessGroupOfTheApplicationAndItsAdditionalPath() {
        TestServer.around(test)
                .with(
                        "management.endpoint.health.group.readiness.include=ping",
                        "management.endpoint.health.group.readiness.show-details=always",
                        "management.endpoint.health.probes.add-additional-paths=true")
                .run(client -> {
                    client.get()
                            .uri("/actuator/health/readiness")
                            .exchange()
                            .expectStatus()
                            .isEqualTo(503)
                            .expectBody()
                            .jsonPath("$.components.paxosleaseQuarantine.details.quarantineRemaining")
                            .isEqualTo("PT10S");
                    status(client, "/readyz", 503);
                    status(client, "/livez", 200);

                    test.voting();

                    status(client, "/readyz", 200);
                });
    }

    @Test
    void readinessCanBeLeftAlone() {
        TestServer.around(test)
                .with("paxoslease.readiness.quarantine=false")
                .run(client -> status(client, "/actuator/health/readiness", 200));
    }

    @Test
    void readinessIsHeldBackWithoutTheHealthComponentToo() {
        TestServer.around(test)
                .with("management.health.paxoslease.enabled=false")
                .run(client -> {
                    status(client, "/actuator/health", 200);
                    status(client, "/actuator/health/paxoslease", 404);
                    status(client, "/actuator/health/readiness", 503);
                });
    }

    @Test
    void readinessWorksBehindSpringSecurity() {
        TestServer.securedAround(test).run(client -> {
            authorized(client, "/actuator/health/readiness", 503);

            test.voting();

            authorized(client, "/actuator/health/readiness", 200);
            authorized(client, "/actuator/lease", 200);
            authorized(client, "/orders", 200);
        });
    }

    /** Probes have no password, and Spring Security asks the groups for which paths that does not matter. */
    @Test
    void theAdditionalPathsOfProbesStayOpenBehindSpringSecurity() {
        TestServer.securedAround(test)
                .with("management.endpoint.health.probes.add-additional-paths=true")
                .run(client -> {
                    status(client, "/readyz", 503);
                    status(client, "/livez", 200);
                    status(client, "/orders", 401);
                });
    }

    @Test
    void theOtherNodesAreLetInAndNobodyElse() {
        TestServer.securedAround(test).run(client -> {
            client.post().uri("/paxoslease/messages").exchange().expectStatus().isOk();
            status(client, "/orders", 401);
            status(client, "/paxoslease/ui", 401);
            status(client, "/paxoslease/messages/more", 401);
            status(client, "/my/cell/messages", 401);
            status(client, "/actuator/lease", 401);
            status(client, "/actuator", 401);
            client.post()
                    .uri("/actuator/lease/leader")
                    .exchange()
                    .expectStatus()
                    .value(code -> assertThat(code).isIn(401, 403));
        });
    }

    @Test
    void theBasePathIsTheConfiguredOne() {
        TestServer.securedAround(test)
                .with("paxoslease.endpoint.base-path=/my/cell")
                .run(client -> {
                    status(client, "/my/cell/messages", 200);
                    status(client, "/paxoslease/messages", 401);
                });
    }

    @Test
    void theDispatcherServletsPathDoesNotMatter() {
        TestServer.securedAround(test)
                .with("spring.mvc.servlet.path=/api")
                .run(client -> client.post()
                        .uri("/paxoslease/messages")
                        .exchange()
                        .expectStatus()
                        .isOk());
    }

    @Test
    void aStandaloneCellOpensNothing() {
        try (TestNode standalone = TestNode.standalone()) {
            TestServer.securedAround(standalone).run(client -> status(client, "/paxoslease/messages", 401));
        }
    }

    @Test
    void aNodeWithoutAcceptorOpensNothing() {
        try (TestNode proposerOnly = TestNode.proposerOnly()) {
            TestServer.securedAround(proposerOnly).run(client -> status(client, "/paxoslease/messages", 401));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FirstOfAll {
        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        SecurityFilterChain everything(HttpSecurity http) {
            return http.authorizeHttpRequests(any -> any.anyRequest().authenticated())
                    .httpBasic(Customizer.withDefaults())
                    .build();
        }
    }

    /** Spring Security refuses a chain that comes after one for any request. */
    @Test
    void aStandaloneCellAddsNoChainThatWouldComeTooLate() {
        try (TestNode standalone = TestNode.standalone()) {
            TestServer.securedAround(standalone)
                    .with(FirstOfAll.class)
                    .run(client -> authorized(client, "/orders", 200));
        }
    }

    @EnableWebSecurity
    static class WithoutChain {}

    @Test
    void theChainThatSpringSecurityMakesWhereThereIsNoneStays() {
        withoutChain(test).run(client -> {
            status(client, "/paxoslease/messages", 200);
            status(client, "/orders", 401);
            status(client, "/actuator/lease", 401);
            authorized(client, "/orders", 200);
        });
    }

    @Test
    void whereThereIsNoChainAStandaloneCellOpensNothing() {
        try (TestNode standalone = TestNode.standalone()) {
            withoutChain(standalone).run(client -> {
                status(client, "/paxoslease/messages", 401);
                status(client, "/orders", 401);
            });
        }
    }

    private static TestServer withoutChain(TestNode test) {
        return TestServer.securedAround(test)
                .with("spring.autoconfigure.exclude=" + ServletWebSecurityAutoConfiguration.class.getName() + ","
                        + ManagementWebSecurityAutoConfiguration.class.getName())
                .with(WithoutChain.class);
    }

    private static void status(RestTestClient client, String path, int expected) {
        client.get().uri(path).exchange().expectStatus().isEqualTo(expected);
    }

    private static void authorized(RestTestClient client, String path, int expected) {
        client.get()
                .uri(path)
                .headers(headers -> headers.setBasicAuth("user", "secret"))
                .exchange()
                .expectStatus()
                .isEqualTo(expected);
    }
}
