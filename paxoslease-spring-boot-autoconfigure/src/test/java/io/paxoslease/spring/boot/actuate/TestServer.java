package io.paxoslease.spring.boot.actuate;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.PaxosLeaseEndpointAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseHealthAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseInfoAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseMetricsAutoConfiguration;
import io.paxoslease.spring.boot.PaxosLeaseSecurityAutoConfiguration;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationImportSelector;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.annotation.AnnotationAttributes;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.test.web.servlet.client.RestTestClient;

/** A whole application on a port of its own, with everything that Boot configures by itself, around a {@link TestNode}. */
final class TestServer {

    private final TestNode test;
    private final List<String> properties = new ArrayList<>(List.of(
            // The node and its view are made here.
            "paxoslease.enabled=false",
            "server.port=0",
            "spring.main.banner-mode=off",
            "logging.level.root=warn",
            "management.endpoints.web.exposure.include=*"));

    private final List<Class<?>> configurations = new ArrayList<>(List.of(App.class));

    private TestServer(TestNode test) {
        this.test = test;
    }

    static TestServer around(TestNode test) {
        String security = candidates()
                .filter(name -> name.startsWith("org.springframework.boot.security."))
                .collect(Collectors.joining(","));
        return new TestServer(test).with("spring.autoconfigure.exclude=" + security);
    }

    static TestServer securedAround(TestNode test) {
        return new TestServer(test).with("spring.security.user.name=user", "spring.security.user.password=secret");
    }

    TestServer with(String... more) {
        properties.addAll(List.of(more));
        return this;
    }

    TestServer with(Class<?> configuration) {
        configurations.add(configuration);
        return this;
    }

    void run(Consumer<RestTestClient> calls) {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(
                        configurations.toArray(Class<?>[]::new))
                .properties(properties.toArray(String[]::new))
                .initializers(new NodeBeans(test))
                .run()) {
            int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
            calls.accept(RestTestClient.bindToServer()
                    .baseUrl("http://localhost:" + port)
                    .build());
        }
    }

    private static Stream<String> candidates() {
        return ImportCandidates.load(AutoConfiguration.class, TestServer.class.getClassLoader())
                .getCandidates()
                .stream();
    }

    private record NodeBeans(TestNode test) implements ApplicationContextInitializer<GenericApplicationContext> {
        @Override
        public void initialize(GenericApplicationContext context) {
            // The test closes it.
            context.registerBean(LeaseNode.class, () -> test.node, bean -> bean.setDestroyMethodName(""));
            context.registerBean(CellView.class, () -> test.view);
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Ours.class)
    static class App {

        @Bean
        ServletRegistrationBean<HttpServlet> frames() {
            return servlet("/paxoslease/messages");
        }

        @Bean
        ServletRegistrationBean<HttpServlet> framesElsewhere() {
            return servlet("/my/cell/messages");
        }

        @Bean
        ServletRegistrationBean<HttpServlet> besideTheFrames() {
            return servlet("/paxoslease/ui");
        }

        @Bean
        ServletRegistrationBean<HttpServlet> orders() {
            return servlet("/orders");
        }

        private static ServletRegistrationBean<HttpServlet> servlet(String path) {
            ServletRegistrationBean<HttpServlet> registration = new ServletRegistrationBean<>(new Ok(), path);
            registration.setName(path);
            return registration;
        }
    }

    /** What this package adds to Boot's own auto-configurations, in one order with them. */
    static class Ours extends AutoConfigurationImportSelector {
        @Override
        protected List<String> getCandidateConfigurations(
                AnnotationMetadata metadata, AnnotationAttributes attributes) {
            return Stream.of(
                            PaxosLeaseEndpointAutoConfiguration.class,
                            PaxosLeaseHealthAutoConfiguration.class,
                            PaxosLeaseInfoAutoConfiguration.class,
                            PaxosLeaseMetricsAutoConfiguration.class,
                            PaxosLeaseSecurityAutoConfiguration.class)
                    .map(Class::getName)
                    .collect(Collectors.toCollection(ArrayList::new));
        }

        @Override
        protected Set<String> getExclusions(AnnotationMetadata metadata, AnnotationAttributes attributes) {
            return Set.of();
        }
    }

    @SuppressWarnings("serial")
    private static final class Ok extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) {
            response.setStatus(200);
        }
    }
}
