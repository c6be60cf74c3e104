package io.paxoslease.spring.interception;

import static io.micrometer.observation.tck.TestObservationRegistryAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.contextpropagation.ObservationThreadLocalAccessor;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.boot.PaxosLeaseObservationAutoConfiguration;
import io.paxoslease.spring.observation.LeaderOnlyObservationContext;
import io.paxoslease.spring.observation.LeaderOnlyObservationConvention;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

/** Guarded calls as Micrometer observes them. */
class LeaderOnlyObservationTests {

    private static final String NAME = "paxoslease.leaderonly";
    private static final String BEAN = "paxosLeaseCallObservations";

    private final TestObservationRegistry registry = TestObservationRegistry.create();
    private final FakeLeases leases = new FakeLeases();

    static class Service {
        private final ObservationRegistry registry;
        private final CompletableFuture<String> stage = new CompletableFuture<>();
        private @Nullable Observation current;

        Service(ObservationRegistry registry) {
            this.registry = registry;
        }

        @LeaderOnly("orders")
        public void run() {
            current = registry.getCurrentObservation();
        }

        public @Nullable Observation seen() {
            return current;
        }

        public CompletableFuture<String> work() {
            return stage;
        }

        @LeaderOnly("orders")
        @Scheduled(fixedDelay = 1, timeUnit = TimeUnit.DAYS)
        public void job() {
            current = registry.getCurrentObservation();
        }

        @LeaderOnly("orders")
        public void fail() {
            throw new IllegalStateException("no paper");
        }

        @LeaderOnly("orders")
        public CompletableFuture<String> later() {
            return stage;
        }

        @LeaderOnly("orders")
        public Mono<Observation> observed() {
            return Mono.deferContextual(view -> Mono.just(view.get(ObservationThreadLocalAccessor.KEY)));
        }

        @LeaderOnly("orders")
        public Mono<String> reactive() {
            return Mono.error(new IllegalStateException("no ink"));
        }
    }

    private ApplicationContextRunner context() {
        return Guarded.context(leases)
                .withConfiguration(AutoConfigurations.of(PaxosLeaseObservationAutoConfiguration.class))
                .withBean(Service.class, registry);
    }

    private ApplicationContextRunner observed() {
        return context().withBean(TestObservationRegistry.class, () -> registry);
    }

    @Test
    void aCallThatRunsIsObserved() {
        leases.lead("orders");
        observed().run(context -> {
            context.getBean(Service.class).run();

            assertThat(registry)
                    .hasSingleObservationThat()
                    .hasNameEqualTo(NAME)
                    .hasContextualNameEqualTo("leader only Service.run")
                    .hasLowCardinalityKeyValue("lease", "orders")
                    .hasLowCardinalityKeyValue("code.namespace", Service.class.getName())
                    .hasLowCardinalityKeyValue("code.function", "run")
                    .hasLowCardinalityKeyValue("outcome", "success")
                    .hasHighCardinalityKeyValue("fencing.token", "1")
                    .doesNotHaveError()
                    .hasBeenStarted()
                    .hasBeenStopped();
        });
    }

    @Test
    void theObservationIsCurrentWhileTheMethodRunsAndNotAfterwards() {
        leases.lead("orders");
        observed().run(context -> {
            Service service = context.getBean(Service.class);
            Observation outer = Observation.start("outer", registry);
            try (Observation.Scope scope = outer.openScope()) {
                assertThat(scope.isNoop()).isFalse();
                service.run();
                assertThat(registry.getCurrentObservation()).isSameAs(outer);
            } finally {
                outer.stop();
            }
            Observation seen = service.seen();
            assertThat(seen).isNotNull();
            assertThat(seen.getContextView().getName()).isEqualTo(NAME);
            assertThat(seen.getContextView().getParentObservation()).isSameAs(outer);
        });
    }

    @Test
    void aSkippedCallIsNot() {
        observed().run(context -> {
            context.getBean(Service.class).run();

            assertThat(registry).doesNotHaveAnyObservation();
        });
    }

    @Test
    void aCallThatThrowsFails() {
        leases.lead("orders");
        observed().run(context -> {
            assertThatThrownBy(context.getBean(Service.class)::fail).hasMessage("no paper");

            assertThat(registry)
                    .hasSingleObservationThat()
                    .hasLowCardinalityKeyValue("outcome", "error")
                    .hasBeenStopped()
                    .thenError()
                    .hasMessage("no paper");
        });
    }

    @Test
    void aCallLastsAsLongAsTheStageThatItReturns() {
        leases.lead("orders");
        observed().run(context -> {
            Service service = context.getBean(Service.class);
            service.later();
            assertThat(registry).hasSingleObservationThat().hasBeenStarted().isNotStopped();

            service.work().completeExceptionally(new IllegalStateException("no ink"));

            assertThat(registry)
                    .hasSingleObservationThat()
                    .hasBeenStopped()
                    .thenError()
                    .hasMessage("no ink");
        });
    }

    @Test
    void aReactiveCallLastsAsLongAsItsSubscription() {
        leases.lead("orders");
        observed().run(context -> {
            Mono<String> call = context.getBean(Service.class).reactive();
            assertThat(registry).doesNotHaveAnyObservation();

            assertThatThrownBy(call::block).hasMessage("no ink");

            assertThat(registry)
                    .hasSingleObservationThat()
                    .hasLowCardinalityKeyValue("outcome", "error")
                    .hasBeenStopped()
                    .thenError()
                    .hasMessage("no ink");
        });
    }

    @Test
    void aReactiveCallIsPartOfWhatItsSubscriberObservesAndItsStreamPartOfTheCall() {
        leases.lead("orders");
        observed().run(context -> {
            Observation outer = Observation.start("outer", registry);
            Observation inside = context.getBean(Service.class)
                    .observed()
                    .contextWrite(view -> view.put(ObservationThreadLocalAccessor.KEY, outer))
                    .block();
            outer.stop();
            assertThat(inside).isNotNull();
            assertThat(inside.getContextView().getName()).isEqualTo(NAME);
            assertThat(inside.getContextView().getParentObservation()).isSameAs(outer);
        });
    }

    @Test
    void aStreamKeepsWhatObservesItWhereCallsAreNotObserved() {
        leases.lead("orders");
        registry.observationConfig().observationPredicate((name, context) -> !name.startsWith("paxoslease"));
        observed().run(context -> {
            Observation outer = Observation.start("outer", registry);
            assertThat(context.getBean(Service.class)
                            .observed()
                            .contextWrite(view -> view.put(ObservationThreadLocalAccessor.KEY, outer))
                            .block())
                    .isSameAs(outer);
            outer.stop();
        });
    }

    @Test
    void aConventionOfTheApplicationReplacesTheNames() {
        leases.lead("orders");
        observed().withBean(Convention.class).run(context -> {
            context.getBean(Service.class).run();

            assertThat(registry).hasSingleObservationThat().hasNameEqualTo("my.jobs");
        });
    }

    @Test
    void aConventionThatFailsOnceFailsOneRunOfAJob() {
        leases.lead("orders");
        observed().withBean(FailingConvention.class).run(context -> {
            Service service = context.getBean(Service.class);
            assertThatThrownBy(service::job).hasMessage("no name");
            service.job();
            assertThat(service.seen()).isNotNull();
        });
    }

    static class FailingConvention extends Convention {
        private final AtomicBoolean failed = new AtomicBoolean();

        @Override
        public String getName() {
            if (failed.compareAndSet(false, true)) {
                throw new IllegalStateException("no name");
            }
            return super.getName();
        }
    }

    static class Convention implements LeaderOnlyObservationConvention {
        @Override
        public String getName() {
            return "my.jobs";
        }

        @Override
        public String getContextualName(LeaderOnlyObservationContext context) {
            return context.getLeaseName();
        }
    }

    @Test
    void theyAreSwitchedOffAsAllObservationsAre() {
        leases.lead("orders");
        observed()
                .withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class))
                .withPropertyValues("management.observations.enable.paxoslease=false")
                .run(context -> {
                    context.getBean(Service.class).run();

                    assertThat(context.containsBean(BEAN)).isTrue();
                    assertThat(registry).doesNotHaveAnyObservation();
                });
    }

    @Test
    void nothingIsObservedWithoutARegistry() {
        leases.lead("orders");
        context().run(context -> {
            context.getBean(Service.class).run();

            assertThat(context.containsBean(BEAN)).isFalse();
            assertThat(registry).doesNotHaveAnyObservation();
        });
    }

    @Test
    void nothingIsObservedWithoutMicrometerObservation() {
        leases.lead("orders");
        Guarded.context(leases)
                .withConfiguration(AutoConfigurations.of(PaxosLeaseObservationAutoConfiguration.class))
                .withClassLoader(new FilteredClassLoader(ObservationRegistry.class))
                .run(context -> assertThat(context.containsBean(BEAN)).isFalse());
    }
}
