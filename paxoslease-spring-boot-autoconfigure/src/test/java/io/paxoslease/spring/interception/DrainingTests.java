package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;

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
        public CompletableFuture<String> future(CompletableFuture<String> future) {
            return future;
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
            assertThat(guarded.awaitIdle(Duration.ofMillis(50))).isFalse();
            assertThat(idle).isNotDone();
            jobs.go().countDown();
            assertThat(call.get(5, TimeUnit.SECONDS)).isEqualTo("ran, inner ran");
            assertThat(guarded.awaitIdle(Duration.ofSeconds(5))).isTrue();
            assertThat(idle).isDone();
            guarded.resume();
            assertThat(jobs.inner()).isEqualTo("ran");
        });
    }

    @Test
    void isIdleAtOnceWithoutCalls() {
        run((jobs, guarded) -> {
            assertThat(guarded.whenIdle().toCompletableFuture()).isDone();
            assertThat(guarded.awaitIdle(Duration.ZERO)).isTrue();
        });
    }

    @Test
    void countsAStageUntilItCompletes() {
        run((jobs, guarded) -> {
            CompletableFuture<String> work = new CompletableFuture<>();
            jobs.future(work);
            guarded.beginDraining();
            assertThat(guarded.awaitIdle(Duration.ZERO)).isFalse();
            work.complete("done");
            await().until(() -> guarded.awaitIdle(Duration.ZERO));
        });
    }
}
