package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.interception.CallListener.Outcome;
import io.paxoslease.spring.interception.Guarded.Outcomes;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskSchedulingAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Guarded jobs of Spring's scheduler. */
class ScheduledTests {

    private final FakeLeases leases = new FakeLeases();

    @EnableScheduling
    static class Jobs {
        final AtomicInteger runs = new AtomicInteger();
        final AtomicInteger unleased = new AtomicInteger();

        AtomicInteger runs() {
            return runs;
        }

        AtomicInteger unleased() {
            return unleased;
        }

        @Scheduled(fixedRate = 10)
        @LeaderOnly("jobs")
        void tick() {
            runs.incrementAndGet();
            if (Lease.current().isEmpty()) {
                unleased.incrementAndGet();
            }
        }
    }

    @Test
    void runOnlyWhileTheLeaseIsHeld() {
        Guarded.context(leases).withUserConfiguration(Jobs.class).run(context -> {
            Jobs jobs = context.getBean(Jobs.class);
            Outcomes outcomes = Outcomes.of(context);
            await().until(() -> outcomes.count("jobs", Outcome.SKIPPED) >= 3);
            assertThat(jobs.runs().get()).isZero();
            leases.lead("jobs");
            await().until(() -> jobs.runs().get() >= 3);
            assertThat(jobs.unleased().get()).isZero();
        });
    }

    /** Jobs that are due long before they end. */
    abstract static class LongJobs {
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private final CountDownLatch go = new CountDownLatch(1);

        AtomicInteger most() {
            return most;
        }

        CountDownLatch go() {
            return go;
        }

        void run() throws InterruptedException {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            go.await(20, TimeUnit.SECONDS);
            running.decrementAndGet();
        }
    }

    @EnableAsync
    @EnableScheduling
    static class AsynchronousJobs extends LongJobs {
        @Scheduled(fixedRate = 5)
        @Async
        @LeaderOnly("jobs")
        public void tick() throws InterruptedException {
            run();
        }
    }

    @Test
    void doNotOverlapThemselvesWhenTheyAreAsynchronousToo() {
        leases.lead("jobs");
        Guarded.context(leases)
                .withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class))
                .withUserConfiguration(AsynchronousJobs.class)
                .run(this::doesNotOverlap);
    }

    @EnableScheduling
    static class VirtualJobs extends LongJobs {
        @Scheduled(fixedRate = 5)
        @LeaderOnly("jobs")
        public void tick() throws InterruptedException {
            run();
        }
    }

    @Test
    void doNotOverlapThemselvesOnVirtualThreads() {
        assumeTrue(Runtime.version().feature() >= 21);
        leases.lead("jobs");
        Guarded.context(leases)
                .withConfiguration(AutoConfigurations.of(TaskSchedulingAutoConfiguration.class))
                .withPropertyValues("spring.threads.virtual.enabled=true")
                .withUserConfiguration(VirtualJobs.class)
                .run(this::doesNotOverlap);
    }

    private void doesNotOverlap(ApplicationContext context) {
        LongJobs jobs = context.getBean(LongJobs.class);
        Outcomes outcomes = Outcomes.of(context);
        await().until(() -> outcomes.count("jobs", Outcome.OVERLAPPING) >= 5);
        assertThat(jobs.most().get()).isEqualTo(1);
        jobs.go().countDown();
        await().until(() -> outcomes.count("jobs", Outcome.RUN) >= 3);
        assertThat(jobs.most().get()).isEqualTo(1);
    }

    static class Counting {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);

        CountDownLatch begun() {
            return begun;
        }

        CountDownLatch go() {
            return go;
        }

        @Scheduled(cron = Scheduled.CRON_DISABLED)
        @LeaderOnly(name = "jobs", otherwise = LeaderOnly.Otherwise.THROW)
        public int count() throws InterruptedException {
            begun.countDown();
            go.await(20, TimeUnit.SECONDS);
            return 7;
        }
    }

    @Test
    void returnZeroWhereTheyWouldOverlapThemselvesAndHaveNoOtherNothing() {
        leases.lead("jobs");
        Guarded.context(leases).withBean(Counting.class).run(context -> {
            Counting counting = context.getBean(Counting.class);
            ExecutorService pool = Executors.newSingleThreadExecutor();
            Future<Integer> first = pool.submit(counting::count);
            pool.shutdown();
            counting.begun().await();
            assertThat(counting.count()).isZero();
            counting.go().countDown();
            assertThat(first.get(15, TimeUnit.SECONDS)).isEqualTo(7);
            assertThat(counting.count()).isEqualTo(7);
        });
    }

    static class Direct {
        final CountDownLatch go = new CountDownLatch(1);

        CountDownLatch go() {
            return go;
        }

        @LeaderOnly("jobs")
        public void work(CountDownLatch arrived) throws InterruptedException {
            arrived.countDown();
            go.await(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void directCallsMayOverlap() {
        leases.lead("jobs");
        Guarded.context(leases).withBean(Direct.class).run(context -> {
            Direct direct = context.getBean(Direct.class);
            CountDownLatch arrived = new CountDownLatch(2);
            ExecutorService pool = Executors.newFixedThreadPool(2);
            for (int i = 0; i < 2; i++) {
                pool.submit(() -> {
                    direct.work(arrived);
                    return null;
                });
            }
            assertThat(arrived.await(15, TimeUnit.SECONDS)).isTrue();
            direct.go().countDown();
            pool.shutdown();
        });
    }
}
