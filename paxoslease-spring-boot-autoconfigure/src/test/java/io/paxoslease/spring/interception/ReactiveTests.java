package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseLostException;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaderOnly.OnLoss;
import io.paxoslease.spring.LeaderOnly.Otherwise;
import io.paxoslease.spring.NotLeaderException;
import io.paxoslease.spring.interception.CallListener.Outcome;
import io.paxoslease.spring.interception.Guarded.Outcomes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Reactive return types: every subscription is a call. */
class ReactiveTests {

    private final FakeLeases leases = new FakeLeases();

    static class Service {
        final AtomicInteger bodies = new AtomicInteger();
        final Sinks.Many<String> source = Sinks.many().multicast().directBestEffort();

        AtomicInteger bodies() {
            return bodies;
        }

        Sinks.Many<String> source() {
            return source;
        }

        @LeaderOnly("jobs")
        public Mono<String> mono() {
            bodies.incrementAndGet();
            return Mono.just("ran");
        }

        @LeaderOnly("jobs")
        public Flux<String> flux() {
            return Flux.just("a", "b");
        }

        @LeaderOnly("jobs")
        public Publisher<String> publisher() {
            return Flux.just("a", "b");
        }

        @LeaderOnly("jobs")
        public Flow.Publisher<String> flow() {
            return JdkFlowAdapter.publisherToFlowPublisher(Flux.just("a", "b"));
        }

        @LeaderOnly(name = "jobs", otherwise = Otherwise.THROW)
        public Mono<String> strict() {
            return Mono.just("ran");
        }

        @LeaderOnly("jobs")
        public Mono<String> tokens(Lease lease) {
            String assembled = Lease.current().map(Lease::fencingToken) + " " + lease.fencingToken();
            return Mono.deferContextual(context ->
                    Mono.just(assembled + " " + context.<Lease>get(Lease.class).fencingToken()));
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public Flux<String> interruptible() {
            return source.asFlux();
        }

        @LeaderOnly("jobs")
        public Flux<String> patient() {
            return source.asFlux();
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public Mono<String> interruptibleMono() {
            return source.asFlux().next();
        }

        @LeaderOnly("jobs")
        public Mono<String> failing() {
            throw new IllegalArgumentException("mine");
        }
    }

    private void run(Scenario scenario) {
        Guarded.context(leases)
                .withBean(Service.class)
                .run(context -> scenario.run(
                        context.getBean(Service.class), context.getBean(GuardedLeases.class), Outcomes.of(context)));
    }

    private interface Scenario {
        void run(Service service, GuardedLeases guarded, Outcomes outcomes) throws Exception;
    }

    @Test
    void asksAtEachSubscriptionAndCallsTheMethodOnlyThen() {
        run((service, guarded, outcomes) -> {
            Mono<String> mono = service.mono();
            assertThat(mono.blockOptional()).isEmpty();
            assertThat(service.bodies().get()).isZero();
            leases.lead("jobs");
            assertThat(mono.block()).isEqualTo("ran");
            assertThat(mono.block()).isEqualTo("ran");
            assertThat(service.bodies().get()).isEqualTo(2);
            leases.lose("jobs");
            assertThat(mono.blockOptional()).isEmpty();
            assertThat(service.bodies().get()).isEqualTo(2);
            assertThat(guarded.inFlight()).isZero();
            assertThat(outcomes.count("jobs", Outcome.RUN)).isEqualTo(2);
            assertThat(outcomes.count("jobs", Outcome.SKIPPED)).isEqualTo(2);
        });
    }

    @Test
    void isEmptyForEveryKindOfPublisherWhenSkipped() {
        run((service, guarded, outcomes) -> {
            assertThat(service.flux().collectList().block()).isEmpty();
            assertThat(Flux.from(service.publisher()).collectList().block()).isEmpty();
            assertThat(JdkFlowAdapter.flowPublisherToFlux(service.flow())
                            .collectList()
                            .block())
                    .isEmpty();
            leases.lead("jobs");
            assertThat(service.flux().collectList().block()).containsExactly("a", "b");
            assertThat(Flux.from(service.publisher()).collectList().block()).containsExactly("a", "b");
            assertThat(JdkFlowAdapter.flowPublisherToFlux(service.flow())
                            .collectList()
                            .block())
                    .containsExactly("a", "b");
        });
    }

    @Test
    void signalsThatThisNodeDoesNotLead() {
        run((service, guarded, outcomes) -> {
            Mono<String> mono = service.strict();
            assertThatThrownBy(mono::block).isInstanceOf(NotLeaderException.class);
            leases.lead("jobs");
            assertThat(mono.block()).isEqualTo("ran");
        });
    }

    @Test
    void givesTheLeaseToTheMethodAndToItsStream() {
        long token = leases.lead("jobs").fencingToken();
        run((service, guarded, outcomes) ->
                assertThat(service.tokens(null).block()).isEqualTo("Optional[" + token + "] " + token + " " + token));
    }

    @Test
    void runsForAsLongAsTheStreamLasts() {
        leases.lead("jobs");
        run((service, guarded, outcomes) -> {
            List<String> seen = new CopyOnWriteArrayList<>();
            Disposable subscription = service.patient().subscribe(seen::add);
            assertThat(guarded.inFlight()).isEqualTo(1);
            service.source().tryEmitNext("a");
            leases.lose("jobs");
            service.source().tryEmitNext("b");
            assertThat(seen).containsExactly("a", "b");
            assertThat(guarded.inFlight()).isEqualTo(1);
            subscription.dispose();
            assertThat(guarded.inFlight()).isZero();
        });
    }

    @Test
    void endsAStreamWithTheLeaseWhenAskedTo() {
        leases.lead("jobs");
        run((service, guarded, outcomes) -> {
            AtomicReference<Throwable> fluxEnd = new AtomicReference<>();
            AtomicReference<Throwable> monoEnd = new AtomicReference<>();
            List<Thread> threads = new CopyOnWriteArrayList<>();
            service.interruptible()
                    .doOnError(lost -> threads.add(Thread.currentThread()))
                    .subscribe(text -> {}, fluxEnd::set);
            service.interruptibleMono()
                    .doOnError(lost -> threads.add(Thread.currentThread()))
                    .subscribe(text -> {}, monoEnd::set);
            assertThat(guarded.inFlight()).isEqualTo(2);
            leases.lose("jobs");
            await().untilAsserted(() -> assertThat(fluxEnd.get()).isInstanceOf(LeaseLostException.class));
            await().untilAsserted(() -> assertThat(monoEnd.get()).isInstanceOf(LeaseLostException.class));
            // The thread that tells of the loss is not theirs to keep.
            assertThat(threads).hasSize(2).doesNotContain(Thread.currentThread());
            await().untilAsserted(() -> assertThat(guarded.inFlight()).isZero());
            await().untilAsserted(() ->
                    assertThat(service.source().currentSubscriberCount()).isZero());
        });
    }

    @Test
    void completesNormallyWhileTheLeaseIsHeld() {
        FakeLeases.FakeLease lease = leases.lead("jobs");
        run((service, guarded, outcomes) -> {
            AtomicReference<String> got = new AtomicReference<>();
            service.interruptibleMono().subscribe(got::set);
            service.source().tryEmitNext("a");
            assertThat(got).hasValue("a");
            assertThat(guarded.inFlight()).isZero();
            lease.lose();
        });
    }

    @Test
    void signalsWhatTheMethodThrows() {
        leases.lead("jobs");
        run((service, guarded, outcomes) -> {
            assertThatThrownBy(() -> service.failing().block()).hasMessage("mine");
            assertThat(guarded.inFlight()).isZero();
            assertThat(outcomes.count("jobs", Outcome.FAILED)).isEqualTo(1);
        });
    }

    @EnableScheduling
    static class ScheduledService {
        final AtomicInteger bodies = new AtomicInteger();

        AtomicInteger bodies() {
            return bodies;
        }

        @Scheduled(fixedDelay = 20)
        @LeaderOnly("jobs")
        public Mono<Void> tick() {
            return Mono.fromRunnable(bodies::incrementAndGet);
        }

        @Scheduled(fixedRate = 20)
        @LeaderOnly("slow")
        public Mono<Long> slow() {
            return Mono.delay(Duration.ofSeconds(30));
        }
    }

    @Test
    void guardsEveryTickOfAReactiveScheduledMethod() {
        leases.lead("slow");
        Guarded.context(leases).withUserConfiguration(ScheduledService.class).run(context -> {
            ScheduledService service = context.getBean(ScheduledService.class);
            Outcomes outcomes = Outcomes.of(context);
            await().until(() -> outcomes.count("jobs", Outcome.SKIPPED) >= 3);
            assertThat(service.bodies().get()).isZero();
            leases.lead("jobs");
            await().until(() -> service.bodies().get() >= 3);
            leases.lose("jobs");
            int after = service.bodies().get();
            await().until(() -> outcomes.count("jobs", Outcome.SKIPPED) >= 6);
            assertThat(service.bodies().get()).isLessThanOrEqualTo(after + 1);
            await().until(() -> outcomes.count("slow", Outcome.OVERLAPPING) >= 2);
        });
    }
}
