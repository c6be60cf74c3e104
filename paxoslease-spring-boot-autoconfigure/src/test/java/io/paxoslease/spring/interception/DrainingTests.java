package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** At shutdown running calls end, and no others begin. */
class DrainingTests {

    private final FakeLeases leases = new FakeLeases().leading("jobs");

    static class Jobs {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        private final ObjectProvider<Jobs> self;

        Jobs(ObjectProvider<Jobs> self) {
            this.self = self;
        }

        CountDownLatch begun() {
            return begun;
        }

        CountDownLatch go() {
            return go;
        }

        @LeaderOnly("jobs")
        public String run() throws InterruptedException {
            begun.countDown();
            go.await(20, TimeUnit.SECONDS);
            return "ran, inner " + self.getObject().inner();
        }

        @LeaderOnly("jobs")
        public String inner() {
            return "ran";
        }

        @LeaderOnly("jobs")
        public CompletableFuture<Void> within(Supplier<CompletableFuture<Void>> work) {
            return work.get();
        }

        @LeaderOnly("jobs")
        public CompletableFuture<String> future(CompletableFuture<String> future) {
            return future;
        }

        @LeaderOnly("jobs")
        public Flux<String> all(Flux<String> items) {
            return items.flatMap(item -> self.getObject().save(item));
        }

        @LeaderOnly("jobs")
        public Mono<String> save(String item) {
            return Mono.just("saved " + item);
        }
    }

    private void run(Scenario scenario) {
        Guarded.context(leases)
                .withBean(Jobs.class)
                .run(context -> scenario.run(context.getBean(Jobs.class), context.getBean(GuardedLeases.class)));
    }

    private interface Scenario {
        void run(Jobs jobs, GuardedLeases guarded) throws Exception;
    }

    private static boolean isIdle(GuardedLeases guarded) {
        return guarded.whenIdle().toCompletableFuture().isDone();
    }

    @Test
    void waitsForRunningCallsAndRefusesNewOnes() {
        run((jobs, guarded) -> {
            CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> {
                try {
                    return jobs.run();
                } catch (InterruptedException interrupt) {
                    throw new IllegalStateException(interrupt);
                }
            });
            jobs.begun().await();
            guarded.beginDraining();
            assertThat(jobs.inner()).isNull();
            CompletableFuture<Void> idle = guarded.whenIdle().toCompletableFuture();
            assertThat(idle).isNotDone();
            jobs.go().countDown();
            assertThat(call.get(15, TimeUnit.SECONDS)).isEqualTo("ran, inner ran");
            assertThat(idle).isDone();
            guarded.resume();
            assertThat(jobs.inner()).isEqualTo("ran");
        });
    }

    @Test
    void whatARunningPublisherSubscribesToRunsToo() {
        run((jobs, guarded) -> {
            Sinks.Many<String> items = Sinks.many().unicast().onBackpressureBuffer();
            CompletableFuture<List<String>> saved =
                    jobs.all(items.asFlux()).collectList().toFuture();
            items.tryEmitNext("a");
            guarded.beginDraining();
            items.tryEmitNext("b");
            items.tryEmitComplete();

            assertThat(saved).succeedsWithin(Duration.ofSeconds(15)).isEqualTo(List.of("saved a", "saved b"));
            assertThat(jobs.save("c").blockOptional()).isEmpty();
            assertThat(isIdle(guarded)).isTrue();
        });
    }

    @Test
    void isIdleAtOnceWithoutCalls() {
        run((jobs, guarded) -> {
            assertThat(isIdle(guarded)).isTrue();
        });
    }

    @Test
    void countsAStageUntilItCompletes() {
        run((jobs, guarded) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            jobs.future(work);
            guarded.beginDraining();
            assertThat(isIdle(guarded)).isFalse();
            work.complete("done");
            await().until(() -> isIdle(guarded));
        });
    }

    /** Such as one that closes the context and would wait for itself. */
    @Test
    void doesNotWaitForTheCallsOfTheThreadThatAsks() {
        run((jobs, guarded) -> {
            CompletableFuture<Void> inside = jobs.within(() -> {
                guarded.beginDraining();
                return jobs.within(() -> guarded.whenIdle().toCompletableFuture());
            });
            assertThat(inside).isDone();
            assertThat(isIdle(guarded)).isTrue();
        });
    }

    @Test
    void knowsWhichOfThemHaveEnded() {
        run((jobs, guarded) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            jobs.within(() -> {
                jobs.inner();
                assertThat(isIdle(guarded)).isTrue();
                jobs.future(work);
                assertThat(isIdle(guarded)).isFalse();
                return null;
            });
            assertThat(isIdle(guarded)).isFalse();
            work.complete("done");
            assertThat(isIdle(guarded)).isTrue();
        });
    }

    @Test
    void butForThoseOfOthers() {
        run((jobs, guarded) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            jobs.future(work);
            CompletableFuture<Void> idle = new CompletableFuture<>();
            jobs.within(() -> {
                guarded.whenIdle().thenAccept(idle::complete);
                assertThat(idle).isNotDone();
                work.complete("done");
                assertThat(idle).isDone();
                return idle;
            });
            assertThat(guarded.inFlight()).isZero();
        });
    }
}
