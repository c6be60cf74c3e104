package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.FreePorts;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Whole applications, beside Spring Security as Boot configures it, whose acceptors answer in the web server of Actuator. */
@Timeout(180)
@ExtendWith(OutputCaptureExtension.class)
class ManagementPortTests {

    private static final int NOT_A_FRAME = 415;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(AnythingElse.class)
    static class App {}

    @RestController
    static class AnythingElse {

        @RequestMapping("/**")
        String answer() {
            return "something of the application";
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            // Tests have two web servers on their class path, of which Boot wants one.
            excludeName = {
                "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration"
            })
    @Import(ReactiveCellTests.OwnEventLoops.class)
    static class ReactiveApp {}

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void aCellElectsOnItsManagementPorts(WebApplicationType type) throws Exception {
        int[] ports = FreePorts.take(4);
        List<ConfigurableApplicationContext> applications = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                applications.add(start(
                        type,
                        "--paxoslease.endpoint.port=management",
                        "--server.port=" + ports[i],
                        "--management.server.port=" + ports[2 + i],
                        "--paxoslease.members.n0=http://localhost:" + ports[2],
                        "--paxoslease.members.n1=http://localhost:" + ports[3]));
            }
            assertThat(applications
                            .get(0)
                            .getBean(LeaseManager.class)
                            .acquire("job", Duration.ofSeconds(2), Duration.ofSeconds(60))
                            .isHeld())
                    .isTrue();
            assertThat(ReactiveCellTests.status(ports[2], "/paxoslease/messages"))
                    .isEqualTo(NOT_A_FRAME);
            assertThat(ReactiveCellTests.status(ports[0], "/paxoslease/messages"))
                    .isIn(401, 403);
            assertThat(ReactiveCellTests.status(ports[2], "/actuator/lease")).isIn(401, 403);
            assertThat(ReactiveCellTests.status(ports[2], "/paxoslease")).isIn(401, 403);
        } finally {
            applications.forEach(ConfigurableApplicationContext::close);
        }
    }

    /** Holds each request for {@code /slow} to the application until the test lets it go. */
    @Import(App.class)
    static class SlowApp {

        static final CountDownLatch BEGUN = new CountDownLatch(1);
        static final CountDownLatch END = new CountDownLatch(1);

        @Bean
        FilterRegistrationBean<Filter> slow() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                BEGUN.countDown();
                try {
                    END.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
            });
            registration.addUrlPatterns("/slow");
            registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return registration;
        }
    }

    @Test
    void framesDoNotWaitForRequestsThatHoldAllThreadsOfTheApplication() throws Exception {
        int[] ports = FreePorts.take(2);
        try (ConfigurableApplicationContext application = start(
                SlowApp.class,
                WebApplicationType.SERVLET,
                "--paxoslease.endpoint.port=management",
                "--server.tomcat.threads.max=1",
                "--server.port=" + ports[0],
                "--management.server.port=" + ports[1],
                "--paxoslease.members.n0=http://localhost:" + ports[1])) {
            CompletableFuture<Integer> slow = CompletableFuture.supplyAsync(() -> statusOf(ports[0], "/slow"));
            SlowApp.BEGUN.await();
            CompletableFuture<Integer> waiting = CompletableFuture.supplyAsync(() -> statusOf(ports[0], "/other"));

            assertThat(ReactiveCellTests.status(ports[1], "/paxoslease/messages"))
                    .isEqualTo(NOT_A_FRAME);

            assertThat(application.isRunning()).isTrue();
            assertThat(slow).isNotDone();
            assertThat(waiting).isNotDone();
            SlowApp.END.countDown();
            assertThat(waiting.join()).isIn(401, 403);
            slow.join();
        } finally {
            SlowApp.END.countDown();
        }
    }

    private static int statusOf(int port, String path) {
        try {
            return ReactiveCellTests.status(port, path);
        } catch (IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void theManagementServerMayBeThatOfTheApplication(WebApplicationType type) throws Exception {
        int port = FreePorts.take(1)[0];
        try (ConfigurableApplicationContext application = start(
                type,
                "--paxoslease.endpoint.port=management",
                "--server.port=" + port,
                "--paxoslease.members.n0=http://localhost:" + port)) {
            assertThat(application.isRunning()).isTrue();
            assertThat(ReactiveCellTests.status(port, "/paxoslease/messages")).isEqualTo(NOT_A_FRAME);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void byDefaultTheManagementPortDoesNotAnswer(WebApplicationType type, CapturedOutput output) throws Exception {
        int[] ports = FreePorts.take(2);
        try (ConfigurableApplicationContext application = start(
                type,
                "--logging.level.org.springframework.boot.web.servlet=info",
                "--server.port=" + ports[0],
                "--management.server.port=" + ports[1],
                "--paxoslease.members.n0=http://localhost:" + ports[0])) {
            assertThat(application.isRunning()).isTrue();
            assertThat(ReactiveCellTests.status(ports[0], "/paxoslease/messages"))
                    .isEqualTo(NOT_A_FRAME);
            assertThat(ReactiveCellTests.status(ports[1], "/paxoslease/messages"))
                    .isNotEqualTo(NOT_A_FRAME);
            assertThat(output).doesNotContain("was not registered");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void alsoThatOfAnApplicationWithLazyBeansAnswers(WebApplicationType type) throws Exception {
        int[] ports = FreePorts.take(2);
        try (ConfigurableApplicationContext application = start(
                type,
                "--spring.main.lazy-initialization=true",
                "--paxoslease.endpoint.port=management",
                "--server.port=" + ports[0],
                "--management.server.port=" + ports[1],
                "--paxoslease.members.n0=http://localhost:" + ports[1])) {
            assertThat(application.isRunning()).isTrue();
            assertThat(ReactiveCellTests.status(ports[1], "/paxoslease/messages"))
                    .isEqualTo(NOT_A_FRAME);
        }
    }

    @Test
    void withoutAManagementServerTheStartFails() throws Exception {
        int port = FreePorts.take(1)[0];
        assertThatThrownBy(() -> start(
                                WebApplicationType.SERVLET,
                                "--paxoslease.endpoint.port=management",
                                "--server.port=" + port,
                                "--management.server.port=-1",
                                "--paxoslease.node-id=n0",
                                "--paxoslease.members.n0=http://localhost:" + port)
                        .close())
                .hasRootCauseInstanceOf(InvalidCellConfigurationException.class)
                .hasStackTraceContaining("no management server");
    }

    private static ConfigurableApplicationContext start(WebApplicationType type, String... settings) {
        return start(type == WebApplicationType.SERVLET ? App.class : ReactiveApp.class, type, settings);
    }

    private static ConfigurableApplicationContext start(
            Class<?> application, WebApplicationType type, String... settings) {
        String[] common = {
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--management.endpoints.web.exposure.include=*",
            "--paxoslease.lease-time=2s"
        };
        return new SpringApplicationBuilder(application)
                .web(type)
                .run(Stream.concat(Arrays.stream(common), Arrays.stream(settings))
                        .toArray(String[]::new));
    }
}
