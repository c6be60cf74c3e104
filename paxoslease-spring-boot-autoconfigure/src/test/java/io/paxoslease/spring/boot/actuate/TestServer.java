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
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.server.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.util.ClassUtils;

/** A whole application on a port of its own, with everything that Boot configures by itself, around a {@link TestNode}. */
final class TestServer {

    private static final String SECURITY = "org.springframework.boot.security.";

    private final WebApplicationContextRunner runner;

    private TestServer(WebApplicationContextRunner runner) {
        this.runner = runner;
    }

    static TestServer around(TestNode test) {
        return new TestServer(of(test, name -> !name.startsWith(SECURITY)));
    }

    static TestServer securedAround(TestNode test) {
        return new TestServer(of(test, name -> true)
                .withPropertyValues("spring.security.user.name=user", "spring.security.user.password=secret"));
    }

    TestServer with(String... properties) {
        return new TestServer(runner.withPropertyValues(properties));
    }

    void run(Consumer<RestTestClient> calls) {
        runner.run(context -> {
            if (context.getStartupFailure() != null) {
                throw new IllegalStateException(context.getStartupFailure());
            }
            int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
            calls.accept(RestTestClient.bindToServer()
                    .baseUrl("http://localhost:" + port)
                    .build());
        });
    }

    private static WebApplicationContextRunner of(TestNode test, java.util.function.Predicate<String> wanted) {
        ClassLoader loader = TestServer.class.getClassLoader();
        Stream<Class<?>> boots = ImportCandidates.load(AutoConfiguration.class, loader).getCandidates().stream()
                .filter(wanted)
                .filter(name -> !name.startsWith("io.paxoslease."))
                .map(name -> ClassUtils.resolveClassName(name, loader));
        Class<?>[] all = Stream.concat(boots, OURS.stream()).toArray(Class<?>[]::new);
        return new WebApplicationContextRunner(AnnotationConfigServletWebServerApplicationContext::new)
                .withConfiguration(AutoConfigurations.of(all))
                .withBean(LeaseNode.class, () -> test.node)
                .withBean(CellView.class, () -> test.view)
                .withBean("peers", ServletRegistrationBean.class, () -> servlet("/paxoslease/messages"))
                .withBean("orders", ServletRegistrationBean.class, () -> servlet("/orders"))
                .withBean("ui", ServletRegistrationBean.class, () -> servlet("/paxoslease/ui"))
                .withPropertyValues("server.port=0", "management.endpoints.web.exposure.include=*");
    }

    static final List<Class<?>> OURS = Arrays.asList(
            PaxosLeaseEndpointAutoConfiguration.class,
            PaxosLeaseHealthAutoConfiguration.class,
            PaxosLeaseInfoAutoConfiguration.class,
            PaxosLeaseMetricsAutoConfiguration.class,
            PaxosLeaseSecurityAutoConfiguration.class);

    private static ServletRegistrationBean<HttpServlet> servlet(String path) {
        ServletRegistrationBean<HttpServlet> registration = new ServletRegistrationBean<>(new Hello(), path);
        registration.setName(path);
        return registration;
    }

    @SuppressWarnings("serial")
    private static final class Hello extends HttpServlet {
        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) {
            response.setStatus(200);
        }
    }
}
