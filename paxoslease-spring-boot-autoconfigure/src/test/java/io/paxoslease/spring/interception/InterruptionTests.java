package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.ForwardingLeaseManager;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaderOnly.OnLoss;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** {@code onLoss = INTERRUPT}: the call is interrupted, and nothing else ever. */
class InterruptionTests {

    private final FakeLeases leases = new FakeLeases();
    private final ExecutorService pool = Executors.newSingleThreadExecutor();

    @AfterEach
    void stop() {
        pool.shutdownNow();
    }

    static class Jobs {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final CompletableFuture<String> pending = new CompletableFuture<>();
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

        CompletableFuture<String> pending() {
            return pending;
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public String sleep() throws InterruptedException {
            begun.countDown();
            Thread.sleep(20_000);
            return "slept";
        }

        @LeaderOnly(name = "jobs", otherwise = LeaderOnly.Otherwise.THROW)
        public String refused() {
            return "ran";
        }

        @LeaderOnly("jobs")
        public String goOn() throws InterruptedException {
            begun.countDown();
            go.await();
            return Thread.currentThread().isInterrupted() ? "interrupted" : "quiet";
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public String ignore() {
            begun.countDown();
            while (Lease.current().orElseThrow().isHeld()
                    || !Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
            return "ignored";
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public String outer() throws InterruptedException {
            self.getObject().ignore();
            // The inner call has ended, but this one is still to be interrupted.
            Thread.sleep(20_000);
            return "slept";
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public CompletableFuture<String> future() {
            return pending;
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public CompletionStage<String> stage() {
            return pending.minimalCompletionStage();
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public Future<String> plainFuture(boolean done) {
            FutureTask<String> future = new FutureTask<>(() -> "done");
            if (done) {
                future.run();
            }
            return future;
        }

        @LeaderOnly(name = "jobs", onLoss = OnLoss.INTERRUPT)
        public void quick() {}
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
    void interruptsTheCallAndItsExceptionGoesToTheCaller() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            Future<String> call = pool.submit(jobs::sleep);
            jobs.begun().await();
            leases.lose("jobs");
            assertThatThrownBy(() -> call.get(15, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
            assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).get())
                    .isFalse();
            assertThat(guarded.inFlight()).isZero();
        });
    }

    @Test
    void leavesACallAloneUnlessAskedTo() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            Future<String> call = pool.submit(jobs::goOn);
            jobs.begun().await();
            leases.lose("jobs");
            jobs.go().countDown();
            assertThat(call.get(15, TimeUnit.SECONDS)).isEqualTo("quiet");
        });
    }

    @Test
    void leavesNoInterruptBehindWhenTheMethodIgnoredIt() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            Future<Boolean> call = pool.submit(() -> {
                assertThat(jobs.ignore()).isEqualTo("ignored");
                return Thread.currentThread().isInterrupted();
            });
            jobs.begun().await();
            leases.lose("jobs");
            assertThat(call.get(15, TimeUnit.SECONDS)).isFalse();
        });
    }

    @Test
    void keepsAnInterruptThatWasThereBefore() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            Future<Boolean> call = pool.submit(() -> {
                Thread.currentThread().interrupt();
                jobs.ignore();
                return Thread.currentThread().isInterrupted();
            });
            jobs.begun().await();
            leases.lose("jobs");
            assertThat(call.get(15, TimeUnit.SECONDS)).isTrue();
        });
    }

    @Test
    void interruptsTheOuterCallTooWhenAnInnerOneSwallowsIt() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            Future<String> call = pool.submit(jobs::outer);
            jobs.begun().await();
            leases.lose("jobs");
            assertThatThrownBy(() -> call.get(15, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
            assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).get())
                    .isFalse();
        });
    }

    @Test
    void cancelsAFutureThatIsStillRunning() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            CompletableFuture<String> future = jobs.future();
            assertThat(guarded.inFlight()).isEqualTo(1);
            leases.lose("jobs");
            await().untilAsserted(() -> assertThat(future).isCancelled());
            await().untilAsserted(() -> assertThat(guarded.inFlight()).isZero());
        });
    }

    /** One that is made as a stage only does not even say whether it is done. */
    @Test
    void letsAStageThatCannotBeCancelledGoOn() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            CompletionStage<String> stage = jobs.stage();
            leases.lose("jobs");
            assertThat(guarded.inFlight()).isEqualTo(1);
            jobs.pending().complete("done");
            assertThat(stage.toCompletableFuture()).isCompletedWithValue("done");
            assertThat(guarded.inFlight()).isZero();
        });
    }

    /** Its tasks may be the very ones that wait for the cancellation. */
    @Test
    void cancelsAFutureWhenTheCommonPoolIsFull() {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            CompletableFuture<String> future = jobs.future();
            Semaphore release = new Semaphore(0);
            int parallelism = ForkJoinPool.getCommonPoolParallelism();
            CountDownLatch full = new CountDownLatch(parallelism);
            try {
                for (int i = 0; i < parallelism; i++) {
                    ForkJoinPool.commonPool().execute(() -> {
                        full.countDown();
                        release.acquireUninterruptibly();
                    });
                }
                full.await();
                leases.lose("jobs");
                await().untilAsserted(() -> assertThat(future).isCancelled());
            } finally {
                release.release(parallelism);
            }
        });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void saysOnceThatWorkGoesOnOfWhichNobodyTellsTheEnd(CapturedOutput output) {
        leases.lead("jobs");
        run((jobs, guarded) -> {
            jobs.plainFuture(true);
            assertThat(output).doesNotContain("plainFuture");
            jobs.plainFuture(false);
            jobs.plainFuture(false);
            assertThat(output.getOut().split("Return a CompletableFuture")).hasSize(2);
            assertThat(output).contains("Jobs.plainFuture");
        });
    }

    @Test
    void givesTheLeaseOneActionHoweverManyCallsThereAre() {
        FakeLeases.FakeLease lease = leases.lead("jobs");
        run((jobs, guarded) -> {
            for (int i = 0; i < 1000; i++) {
                jobs.quick();
            }
            assertThat(lease.lossActions()).isEqualTo(1);
            FakeLeases.FakeLease next = leases.lead("jobs");
            jobs.quick();
            assertThat(next.lossActions()).isEqualTo(1);
        });
    }

    @Test
    void neverInterruptsAThreadAfterItsCall() {
        run((jobs, guarded) -> {
            Thread caller = new Thread(() -> {
                while (!Thread.currentThread().isInterrupted() && jobs.begun().getCount() > 0) {
                    jobs.quick();
                    if (Thread.currentThread().isInterrupted()) {
                        jobs.go().countDown();
                    }
                }
            });
            caller.start();
            for (int i = 0; i < 20_000; i++) {
                leases.lead("jobs").lose();
            }
            jobs.begun().countDown();
            caller.join();
            assertThat(jobs.go().getCount()).isEqualTo(1);
        });
    }

    @Test
    void interruptsAlsoWhenTheLeaseIsGivenUp() {
        LeaseNode node =
                new LeaseNode(NodeSettings.standalone("n1", Duration.ofSeconds(10)), new NoTransport(), new Random(1));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class))
                .withBean(LeaseManager.class, () -> node)
                .withBean(Jobs.class)
                .run(context -> {
                    node.openAcceptor();
                    node.start();
                    node.election("jobs").start();
                    await().until(() -> node.election("jobs").isLeader());
                    Jobs jobs = context.getBean(Jobs.class);
                    Future<String> call = pool.submit(jobs::sleep);
                    jobs.begun().await();
                    node.election("jobs").resign();
                    assertThatThrownBy(() -> call.get(15, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(InterruptedException.class);
                });
    }

    @Test
    void knowsTheNodeBehindAManagerOfTheApplication() {
        LeaseNode node =
                new LeaseNode(NodeSettings.standalone("n1", Duration.ofSeconds(10)), new NoTransport(), new Random(1));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class))
                .withBean(LeaseNode.class, () -> node)
                .withBean(
                        LeaseManager.class,
                        () -> new ForwardingLeaseManager(node),
                        definition -> definition.setPrimary(true))
                .withBean(Jobs.class)
                .run(context -> {
                    node.openAcceptor();
                    node.start();
                    Jobs jobs = context.getBean(Jobs.class);
                    assertThatThrownBy(jobs::refused).hasMessageContaining("n1");
                    node.election("jobs").start();
                    await().until(() -> node.election("jobs").isLeader());
                    Future<String> call = pool.submit(jobs::sleep);
                    jobs.begun().await();
                    node.election("jobs").resign();
                    assertThatThrownBy(() -> call.get(15, TimeUnit.SECONDS))
                            .hasCauseInstanceOf(InterruptedException.class);
                });
    }
}
