package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.spring.ForwardingLeaseManager;
import io.paxoslease.spring.boot.transport.PaxosLeaseServlet;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.endpoint.web.WebEndpointAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.web.server.ManagementContextAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatServletManagementContextAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.util.ReflectionTestUtils;

class PaxosLeaseAutoConfigurationTests {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            PaxosLeaseAutoConfiguration.class,
            PaxosLeaseHttpAutoConfiguration.class,
            PaxosLeaseInterceptionAutoConfiguration.class,
            PaxosLeaseEventsAutoConfiguration.class);

    private static final String[] MEMBER = {
        "server.port=18081",
        "paxoslease.members.a=http://localhost:18081",
        "paxoslease.members.b=http://localhost:18082",
        "paxoslease.members.c=http://localhost:18083"
    };

    /** A quarantine that a test can wait for. */
    private static final String[] SHORT = {"paxoslease.max-lease-time=100ms", "paxoslease.lease-time=100ms"};

    private final ApplicationContextRunner plain = new ApplicationContextRunner().withConfiguration(OURS);
    private final WebApplicationContextRunner web = new WebApplicationContextRunner().withConfiguration(OURS);

    @Configuration(proxyBeanMethods = false)
    static class OwnNode {
        @Bean
        LeaseNode ownNode() {
            return new LeaseNode(
                    NodeSettings.standalone("own", Duration.ofSeconds(1)), new NoTransport(), new SplittableRandom(1));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnChannel {
        @Bean
        FrameChannel ownChannel() {
            return new FrameChannel() {
                @Override
                public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
                    return CompletableFuture.failedFuture(new IOException("nobody is there"));
                }

                @Override
                public void close() {}
            };
        }
    }

    /** An application may have leases of its own, of flats for example, and name its beans after them. */
    @Test
    void theNamesOfBeansCarryThatOfTheProject() {
        plain.withConfiguration(AutoConfigurations.of(PaxosLeaseInfoAutoConfiguration.class))
                .run(context -> assertThat(Stream.of(context.getBeanDefinitionNames())
                                .filter(name -> !name.contains("."))
                                .filter(name ->
                                        String.valueOf(context.getType(name)).contains("io.paxoslease")))
                        .contains("paxosLeaseNode", "paxosLeaseInfoContributor")
                        .allMatch(name -> name.startsWith("paxosLease")));
    }

    /** Spring Cloud Stream binds the only function of an application, or none if there are several, and polls a supplier. */
    @Test
    void noBeanIsTakenForAFunctionOfTheApplication() {
        plain.run(context -> {
            assertThat(context).doesNotHaveBean(Supplier.class);
            assertThat(context).doesNotHaveBean(Function.class);
            assertThat(context).doesNotHaveBean(Consumer.class);
        });
    }

    @Test
    void withoutSettingsThereIsAStandaloneNodeThatLeadsAtOnce() {
        plain.run(context -> {
            assertThat(context).hasSingleBean(LeaseManager.class);
            LeaseManager leases = context.getBean(LeaseManager.class);
            assertThat(leases.tryAcquire("job", Duration.ofSeconds(1))).isPresent();
        });
    }

    /** Spring Boot binds nothing then, and says nothing. */
    @Test
    void aTextInPlaceOfAllSettingsFailsTheStart() {
        plain.withPropertyValues("paxoslease=node-1")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith("Property paxoslease: PaxosLease does not read it"));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(PaxosLeaseAutoConfiguration.class)
    static class Application {}

    /** As {@code @MockitoBean LeaseManager} puts one there. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void aMockInThePlaceOfTheNodeStopsTheStartWithAdvice(CapturedOutput output) {
        try (LeaseNode node = new OwnNode().ownNode()) {
            SpringApplication application = new SpringApplication(Application.class);
            application.setWebApplicationType(WebApplicationType.NONE);
            application.addInitializers(context -> context.addBeanFactoryPostProcessor(
                    beans -> beans.registerSingleton("paxosLeaseNode", new ForwardingLeaseManager(node))));
            assertThatThrownBy(() -> application.run().close())
                    .hasRootCauseInstanceOf(BeanNotOfRequiredTypeException.class);
        }
        assertThat(output)
                .contains("APPLICATION FAILED TO START", "as with @MockitoBean LeaseManager")
                .contains("use @AutoConfigureTestLeases");
    }

    /** As {@code @Resource(name = "jobs") LeaseNode} asks for it. */
    @Test
    void nothingIsSaidOfABeanThatIsNoLeaseManagerEither() {
        assertThat(new ReplacedNodeFailureAnalyzer()
                        .analyze(new BeanNotOfRequiredTypeException("jobs", LeaseNode.class, String.class)))
                .isNull();
    }

    /** The incarnation is in every frame, and who knows the seed chooses names of leases that all lie in one place. */
    @Test
    void theIncarnationDoesNotTellTheSeedOfTheTables() {
        plain.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            Object proposer = Objects.requireNonNull(ReflectionTestUtils.getField(
                    Objects.requireNonNull(ReflectionTestUtils.getField(node, "engine")), "proposer"));
            Object seed = ReflectionTestUtils.getField(((Proposer) proposer).index(), "seed");
            long before = stateThatGave(node.incarnation().nonce());
            assertThat(new SplittableRandom(before).nextLong()).isNotEqualTo(seed);
        });
    }

    /** A {@link SplittableRandom} draws a mixture of its state, which can be undone. */
    private static long stateThatGave(long drawn) {
        long state = drawn ^ drawn >>> 31 ^ drawn >>> 62;
        state *= 0x319642b2d24d8ec3L;
        state ^= state >>> 27 ^ state >>> 54;
        state *= 0x96de1b173f119089L;
        return state ^ state >>> 30 ^ state >>> 60;
    }

    @Test
    void aPlaceholderWithoutAValueInTheDefaultLeaseFailsTheStartInWords() {
        plain.withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class))
                .withPropertyValues("paxoslease.default-lease=${PAXOSLEASE_TESTS_NO_SUCH_VARIABLE}")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidCellConfigurationException.class)
                        .hasMessageStartingWith("Property paxoslease.default-lease = '${"));
    }

    @Test
    void aStandaloneNodeExposesNothing() {
        web.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ServletRegistrationBean.class));
    }

    @Test
    void aMemberAnswersUnderTheBasePath() {
        web.withPropertyValues(MEMBER)
                .withPropertyValues("paxoslease.endpoint.base-path=/cell")
                .run(context -> {
                    ServletRegistrationBean<?> servlet = servlet(context.getBean(ServletRegistrationBean.class));
                    assertThat(servlet.isEnabled()).isTrue();
                    assertThat(servlet.getUrlMappings()).containsExactly("/cell/messages");
                    assertThat(servlet.getServlet()).isInstanceOf(PaxosLeaseServlet.class);
                });
    }

    /** The process that does may have its name, and both would vote. */
    @Test
    void aMemberThatListensNowhereDoesNotVote() {
        web.withPropertyValues(MEMBER)
                .withPropertyValues(SHORT)
                .run(PaxosLeaseAutoConfigurationTests::assertDoesNotVote);
    }

    @Test
    void noMoreDoesAReactiveOne() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseReactiveHttpAutoConfiguration.class))
                .withPropertyValues(MEMBER)
                .withPropertyValues(SHORT)
                .run(PaxosLeaseAutoConfigurationTests::assertDoesNotVote);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "8081", "0"})
    void noMoreDoesOneThatWouldAnswerInTheManagementServer(String managementPort) {
        web.withConfiguration(AutoConfigurations.of(
                        ManagementContextAutoConfiguration.class,
                        TomcatServletManagementContextAutoConfiguration.class,
                        EndpointAutoConfiguration.class,
                        WebEndpointAutoConfiguration.class))
                .withPropertyValues(MEMBER)
                .withPropertyValues(SHORT)
                .withPropertyValues("paxoslease.endpoint.port=management")
                .withPropertyValues("paxoslease.node-id=a", "management.server.port=" + managementPort)
                .run(PaxosLeaseAutoConfigurationTests::assertDoesNotVote);
    }

    private static void assertDoesNotVote(ApplicationContext context) {
        LeaseNode node = context.getBean(LeaseNode.class);
        Duration quarantine = Duration.ofNanos(node.quarantineRemainingNanos());
        await().during(quarantine.multipliedBy(3)).until(() -> node.acceptorState() == AcceptorState.QUARANTINED);
    }

    @Test
    void aProposerOnlyNodeExposesNothing() {
        web.withPropertyValues(MEMBER)
                .withPropertyValues("paxoslease.node-id=d")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(ServletRegistrationBean.class));
    }

    @Test
    void aMemberWithoutAWebServerIsRefusedButAProposerIsNot() {
        plain.withPropertyValues(MEMBER)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidCellConfigurationException.class)
                        .hasMessageContainingAll("paxoslease.members.a", "no web server"));
        plain.withPropertyValues(MEMBER)
                .withPropertyValues("paxoslease.node-id=d")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aMemberWhoseFramesTravelInAnotherWayNeedsNoWebServer() {
        plain.withUserConfiguration(OwnChannel.class)
                .withPropertyValues(MEMBER)
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(FrameChannel.class));
    }

    @Test
    void nothingIsThereWhenDisabled() {
        web.withPropertyValues("paxoslease.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(LeaseManager.class)
                        .doesNotHaveBean(FrameChannel.class)
                        .doesNotHaveBean(ServletRegistrationBean.class));
    }

    @Test
    void anOwnNodeReplacesTheAutoConfiguredOne() {
        plain.withUserConfiguration(OwnNode.class)
                .run(context -> assertThat(context.getBean(LeaseManager.class)).isSameAs(context.getBean("ownNode")));
    }

    @Test
    void anUnknownSslBundleIsRefusedByName() {
        plain.withPropertyValues("paxoslease.ssl.bundle=nowhere")
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidCellConfigurationException.class)
                        .hasMessageContainingAll("paxoslease.ssl.bundle", "nowhere"));
    }

    @Test
    void aLeaseSetToBeSoughtIsSoughtOnceTheApplicationIsReadyAndReleasedWhenItStops() {
        plain.withPropertyValues("paxoslease.leases.billing.candidate=true").run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            assertThat(node.election("billing").isLeader()).isTrue();
            context.close();
            assertThat(node.election("billing").isLeader()).isFalse();
        });
    }

    private static ServletRegistrationBean<?> servlet(ServletRegistrationBean<?> registration) {
        return registration;
    }
}
