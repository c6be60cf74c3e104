package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.spring.boot.actuate.LeaseInfoContributor;
import io.paxoslease.spring.boot.actuate.MicrometerWireListener;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpoint;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpointWebExtension;
import io.paxoslease.spring.boot.actuate.PaxosLeaseHealthIndicator;
import io.paxoslease.spring.boot.actuate.PaxosLeaseMetrics;
import io.paxoslease.spring.boot.actuate.QuarantineHealthIndicator;
import io.paxoslease.spring.boot.actuate.QuarantineReadinessGroups;
import io.paxoslease.wire.FrameServer;
import io.paxoslease.wire.WireListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.context.properties.ConfigurationPropertiesReportEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.env.EnvironmentEndpointAutoConfiguration;
import org.springframework.boot.actuate.context.properties.ConfigurationPropertiesReportEndpoint;
import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.env.EnvironmentEndpoint;
import org.springframework.boot.actuate.env.EnvironmentEndpoint.PropertySummaryDescriptor;
import org.springframework.boot.actuate.env.EnvironmentEndpoint.PropertyValueDescriptor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

class PaxosLeaseActuateAutoConfigurationTests {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            PaxosLeaseEndpointAutoConfiguration.class,
            PaxosLeaseHealthAutoConfiguration.class,
            PaxosLeaseInfoAutoConfiguration.class,
            PaxosLeaseMetricsAutoConfiguration.class,
            PaxosLeaseSecurityAutoConfiguration.class);

    private static final AutoConfigurations METRICS = AutoConfigurations.of(
            MetricsAutoConfiguration.class,
            SimpleMetricsExportAutoConfiguration.class,
            CompositeMeterRegistryAutoConfiguration.class);

    private final ApplicationContextRunner withoutNode = new ApplicationContextRunner()
            .withConfiguration(OURS)
            .withConfiguration(METRICS)
            .withPropertyValues("management.endpoints.web.exposure.include=*");

    private final ApplicationContextRunner runner =
            withoutNode.withBean(LeaseNode.class, PaxosLeaseActuateAutoConfigurationTests::node);

    private static LeaseNode node() {
        return new LeaseNode(
                NodeSettings.standalone("node-1", Duration.ofSeconds(10)), new NoTransport(), new Random(1));
    }

    @Test
    void nothingIsThereWithoutANode() {
        withoutNode.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(PaxosLeaseEndpoint.class)
                .doesNotHaveBean(HealthIndicator.class)
                .doesNotHaveBean(QuarantineReadinessGroups.class)
                .doesNotHaveBean(LeaseInfoContributor.class)
                .doesNotHaveBean(PaxosLeaseMetrics.class)
                .doesNotHaveBean(MicrometerWireListener.class));
    }

    @Test
    void aViewOfTheCellIsNotNeeded() {
        runner.run(context -> assertThat(
                        context.getBean(PaxosLeaseEndpoint.class).cell().members())
                .isEmpty());
    }

    @Nested
    class Secrets {

        private static final String SECRET = "the secret of the cell";
        private static final String NEXT = "the one that comes next";

        private final ApplicationContextRunner showing = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class,
                        PaxosLeaseEndpointAutoConfiguration.class,
                        EnvironmentEndpointAutoConfiguration.class,
                        ConfigurationPropertiesReportEndpointAutoConfiguration.class))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=*",
                        "management.endpoint.env.show-values=always",
                        "management.endpoint.configprops.show-values=always",
                        "paxoslease.cell-name=billing");

        @Test
        void areHiddenInEndpointsThatShowValues() {
            showing.withPropertyValues(
                            "from.a.variable=" + SECRET,
                            "command.line=java --paxoslease.security.shared-secret=" + SECRET,
                            "paxoslease.security.shared-secret=${from.a.variable}",
                            "paxoslease.security.accepted-secrets=" + NEXT)
                    .run(context -> {
                        assertThat(values(context))
                                .contains("billing")
                                .noneMatch(value -> value.contains(SECRET) || value.contains(NEXT));
                        assertThat(context.getBean(EnvironmentEndpoint.class)
                                        .environmentEntry("paxoslease.security.shared-secret")
                                        .getProperty())
                                .extracting(PropertySummaryDescriptor::getValue)
                                .isEqualTo(SanitizableData.SANITIZED_VALUE);
                    });
        }

        @Test
        void areNotLookedForWhereThereAreNone() {
            showing.withPropertyValues("something.empty=")
                    .run(context -> assertThat(values(context))
                            .contains("billing")
                            .doesNotContain(SanitizableData.SANITIZED_VALUE));
        }

        /** As where a variable that may be missing has nothing as its default. */
        @Test
        void areNotLookedForWhereTheyAreEmpty() {
            showing.withPropertyValues("paxoslease.security.shared-secret=")
                    .run(context -> assertThat(values(context))
                            .contains("billing")
                            .doesNotContain(SanitizableData.SANITIZED_VALUE));
        }

        private static List<String> values(ApplicationContext context) {
            List<String> values = new ArrayList<>();
            collect(
                    context.getBean(EnvironmentEndpoint.class).environment(null).getPropertySources().stream()
                            .flatMap(source -> source.getProperties().values().stream())
                            .map(PropertyValueDescriptor::getValue)
                            .toList(),
                    values);
            context.getBean(ConfigurationPropertiesReportEndpoint.class)
                    .configurationProperties()
                    .getContexts()
                    .values()
                    .forEach(described -> described.getBeans().values().forEach(bean -> {
                        collect(bean.getProperties(), values);
                        collect(bean.getInputs(), values);
                    }));
            return values;
        }

        private static void collect(@Nullable Object value, List<String> values) {
            if (value instanceof Map<?, ?> map) {
                map.values().forEach(each -> collect(each, values));
            } else if (value instanceof Iterable<?> list) {
                list.forEach(each -> collect(each, values));
            } else {
                values.add(String.valueOf(value));
            }
        }
    }

    @Nested
    class TheEndpoint {

        @Test
        void isThere() {
            runner.run(context -> assertThat(context)
                    .hasSingleBean(PaxosLeaseEndpoint.class)
                    .hasSingleBean(PaxosLeaseEndpointWebExtension.class));
        }

        @Test
        void isNotThereUnlessItIsExposed() {
            runner.withPropertyValues("management.endpoints.web.exposure.include=health")
                    .run(context -> assertThat(context)
                            .doesNotHaveBean(PaxosLeaseEndpoint.class)
                            .doesNotHaveBean(PaxosLeaseEndpointWebExtension.class));
        }

        @Test
        void isThereWithoutItsExtensionForJmxAlone() {
            runner.withPropertyValues(
                            "management.endpoints.web.exposure.include=health",
                            "spring.jmx.enabled=true",
                            "management.endpoints.jmx.exposure.include=lease")
                    .run(context -> assertThat(context)
                            .hasSingleBean(PaxosLeaseEndpoint.class)
                            .doesNotHaveBean(PaxosLeaseEndpointWebExtension.class));
        }

        @Test
        void canBeDisabled() {
            runner.withPropertyValues("management.endpoint.lease.access=NONE")
                    .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseEndpoint.class));
        }

        @Test
        void refuseABoundThatIsNone() {
            runner.withPropertyValues("paxoslease.metrics.max-leases=-1")
                    .run(context -> assertThat(context)
                            .getFailure()
                            .hasRootCauseMessage("Property paxoslease.metrics.max-leases = '-1': it is negative"));
            runner.withPropertyValues("paxoslease.metrics.max-leases=many")
                    .run(context -> assertThat(context)
                            .getFailure()
                            .hasStackTraceContaining(
                                    "Failed to bind properties under 'paxoslease.metrics.max-leases' to int"));
        }

        @Test
        void doNotKeepTheApplicationFromListeningToo() {
            List<String> heard = new CopyOnWriteArrayList<>();
            WireListener own = new WireListener() {
                @Override
                public void onMessage(String type, String outcome) {
                    heard.add(type + " " + outcome);
                }
            };
            withoutNode
                    .withConfiguration(AutoConfigurations.of(PaxosLeaseAutoConfiguration.class))
                    .withBean("own", WireListener.class, () -> own)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        context.getBean(FrameServer.class).handle(new byte[1], null);
                        assertThat(heard).containsExactly("frame malformed");
                        assertThat(context.getBean(MeterRegistry.class)
                                        .get("paxoslease.messages")
                                        .tag("outcome", "malformed")
                                        .counter()
                                        .count())
                                .isOne();
                    });
        }

        @Test
        void canBeReplaced() {
            PaxosLeaseEndpoint own = new PaxosLeaseEndpoint(node(), CellView.NONE);
            runner.withBean("own", PaxosLeaseEndpoint.class, () -> own)
                    .run(context -> assertThat(context)
                            .getBean(PaxosLeaseEndpoint.class)
                            .isSameAs(own));
        }

        @Test
        void isNotThereWithoutTheActuator() {
            runner.withClassLoader(new FilteredClassLoader(
                            Endpoint.class.getPackageName(), "org.springframework.boot.actuate"))
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseEndpoint"));
        }
    }

    @Nested
    class Health {

        @Test
        void isThereUnderTheNamesThatMakeTheComponents() {
            runner.run(context -> assertThat(context)
                    .getBeans(HealthIndicator.class)
                    .containsOnlyKeys("paxosleaseHealthIndicator", "paxosleaseQuarantineHealthIndicator"));
        }

        @Test
        void canBeDisabledWhileReadinessKeepsTheQuarantine() {
            runner.withPropertyValues("management.health.paxoslease.enabled=false")
                    .run(context -> assertThat(context)
                            .doesNotHaveBean(PaxosLeaseHealthIndicator.class)
                            .hasSingleBean(QuarantineHealthIndicator.class));
        }

        @Test
        void followsTheDefaultOfAllIndicators() {
            runner.withPropertyValues("management.health.defaults.enabled=false")
                    .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseHealthIndicator.class));
        }

        @Test
        void canLeaveReadinessAlone() {
            runner.withPropertyValues("paxoslease.readiness.quarantine=false")
                    .run(context -> assertThat(context)
                            .hasSingleBean(PaxosLeaseHealthIndicator.class)
                            .doesNotHaveBean(QuarantineHealthIndicator.class)
                            .doesNotHaveBean(QuarantineReadinessGroups.class));
        }

        @Test
        void canBeReplaced() {
            HealthIndicator own = () ->
                    org.springframework.boot.health.contributor.Health.up().build();
            runner.withBean("paxosleaseHealthIndicator", HealthIndicator.class, () -> own)
                    .run(context -> assertThat(context)
                            .doesNotHaveBean(PaxosLeaseHealthIndicator.class)
                            .getBean("paxosleaseHealthIndicator")
                            .isSameAs(own));
        }

        @Test
        void isNotThereWithoutBootsHealthModule() {
            runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosleaseHealthIndicator"));
        }

        @Test
        void leavesReadinessAloneWithoutTheActuator() {
            runner.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .hasBean("paxosleaseHealthIndicator")
                            .doesNotHaveBean("paxosleaseQuarantineReadinessGroups"));
        }
    }

    @Nested
    class Info {

        @Test
        void isThereAndCanBeDisabled() {
            runner.run(context -> assertThat(context).hasSingleBean(LeaseInfoContributor.class));
            runner.withPropertyValues("management.info.lease.enabled=false")
                    .run(context -> assertThat(context).doesNotHaveBean(LeaseInfoContributor.class));
        }

        @Test
        void canBeReplaced() {
            LeaseInfoContributor own = new LeaseInfoContributor(node());
            runner.withBean("own", LeaseInfoContributor.class, () -> own)
                    .run(context -> assertThat(context)
                            .getBean(LeaseInfoContributor.class)
                            .isSameAs(own));
        }
    }

    @Nested
    class Metrics {

        @Test
        void areBoundToTheRegistry() {
            runner.run(context -> {
                assertThat(context)
                        .hasSingleBean(PaxosLeaseMetrics.class)
                        .getBean(WireListener.class)
                        .isInstanceOf(MicrometerWireListener.class);
                MeterRegistry registry = context.getBean(MeterRegistry.class);
                context.getBean(WireListener.class).onMessage("frame", "sent");

                assertThat(registry.get("paxoslease.acceptor.leases").gauge().value())
                        .isZero();
                assertThat(registry.get("paxoslease.messages")
                                .tag("outcome", "sent")
                                .counter()
                                .count())
                        .isOne();
            });
        }

        @Test
        void haveABoundOfLeases() {
            runner.withPropertyValues("paxoslease.metrics.max-leases=0").run(context -> {
                context.getBean(PaxosLeaseMetrics.class).leaderOnlyCall("leader", "executed");

                assertThat(context.getBean(MeterRegistry.class)
                                .get("paxoslease.leaderonly.calls")
                                .tag("lease", "(other)")
                                .counter()
                                .count())
                        .isOne();
            });
        }

        @Test
        void canBeReplaced() {
            MicrometerWireListener own = new MicrometerWireListener();
            runner.withBean("own", MicrometerWireListener.class, () -> own)
                    .run(context ->
                            assertThat(context).getBean(WireListener.class).isSameAs(own));
        }

        @Test
        void areNotThereWithoutMicrometerOrARegistry() {
            runner.withClassLoader(new FilteredClassLoader("io.micrometer"))
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(WireListener.class));
            new ApplicationContextRunner()
                    .withConfiguration(OURS)
                    .withBean(LeaseNode.class, PaxosLeaseActuateAutoConfigurationTests::node)
                    .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(WireListener.class));
        }
    }

    @Nested
    class Security {

        private final WebApplicationContextRunner web = new WebApplicationContextRunner()
                .withConfiguration(OURS)
                .withConfiguration(AutoConfigurations.of(ServletWebSecurityAutoConfiguration.class))
                .withBean(LeaseNode.class, PaxosLeaseActuateAutoConfigurationTests::node);

        @Test
        void leavesBootsOwnChainInPlace() {
            web.run(context -> assertThat(context.getBeanNamesForType(SecurityFilterChain.class))
                    .hasSize(2)
                    .contains("paxosLeaseSecurityFilterChain"));
        }

        @Test
        void canBeReplaced() {
            web.withBean(
                            "paxosLeaseSecurityFilterChain",
                            String.class,
                            () -> "something else that the application made")
                    .run(context -> assertThat(context).hasNotFailed().hasBean("paxosLeaseSecurityFilterChain"));
        }

        /** What the application has under that path stays as it was. */
        @Test
        void opensNothingWhereFramesComeOverTcpOnly() {
            WebApplicationContextRunner overTcp = new WebApplicationContextRunner()
                    .withConfiguration(OURS)
                    .withConfiguration(AutoConfigurations.of(
                            PaxosLeaseAutoConfiguration.class, ServletWebSecurityAutoConfiguration.class))
                    .withUserConfiguration(PaxosLeaseAutoConfigurationTests.OwnChannel.class)
                    .withBean(
                            SslBundles.class,
                            () -> new DefaultSslBundleRegistry("cell", SslBundle.of(SslStoreBundle.NONE)))
                    .withPropertyValues(
                            "paxoslease.transport=tcp",
                            "paxoslease.ssl.bundle=cell",
                            "paxoslease.node-id=a",
                            "paxoslease.members.a=tls://localhost:7411",
                            "paxoslease.members.b=tls://localhost:7412",
                            "paxoslease.members.c=tls://localhost:7413");
            overTcp.run(context -> assertThat(opensThePathOfFrames(context)).isFalse());
            overTcp.withPropertyValues("paxoslease.security.shared-secret=sixteen bytes and more")
                    .run(context -> assertThat(opensThePathOfFrames(context)).isTrue());
        }

        private static boolean opensThePathOfFrames(ApplicationContext context) {
            SecurityFilterChain chain =
                    context.getBeansOfType(SecurityFilterChain.class).get("paxosLeaseSecurityFilterChain");
            return chain != null && chain.matches(new MockHttpServletRequest("POST", "/paxoslease/messages"));
        }

        @Test
        void isNotThereOutsideTheWebOrWithoutSpringSecurity() {
            runner.run(context -> assertThat(context).doesNotHaveBean(SecurityFilterChain.class));
            web.withClassLoader(new FilteredClassLoader("org.springframework.security"))
                    .run(context ->
                            assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseSecurityFilterChain"));
        }

        @Test
        void isNotThereIfTheApplicationDoesNotUseSpringSecurity() {
            new WebApplicationContextRunner()
                    .withConfiguration(OURS)
                    .withBean(LeaseNode.class, PaxosLeaseActuateAutoConfigurationTests::node)
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .doesNotHaveBean(HttpSecurity.class)
                            .doesNotHaveBean(SecurityFilterChain.class));
        }
    }
}
