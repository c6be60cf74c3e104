package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.interception.CallListener.Outcome;
import io.paxoslease.spring.interception.Guarded.Outcomes;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Guarded jobs that ShedLock locks too: a lock for a call that is then skipped would keep the node that leads from running. */
class ShedLockTests {

    private final FakeLeases leases = new FakeLeases();
    private final AtomicInteger locked = new AtomicInteger();
    private final ApplicationContextRunner runner = Guarded.context(leases)
            .withBean(LockProvider.class, () -> configuration -> {
                locked.incrementAndGet();
                return Optional.of(() -> {});
            });

    static class Job {
        private final AtomicInteger runs = new AtomicInteger();

        int runs() {
            return runs.get();
        }

        @Scheduled(fixedRate = 10)
        @SchedulerLock(name = "job")
        @LeaderOnly("jobs")
        public void tick() {
            runs.incrementAndGet();
        }
    }

    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "PT30S")
    static class LockedMethods {}

    @Test
    void areLockedWhereThisNodeLeadsOnly() {
        runner.withUserConfiguration(LockedMethods.class, Job.class).run(context -> {
            Outcomes outcomes = Outcomes.of(context);
            await().until(() -> outcomes.count("jobs", Outcome.SKIPPED) >= 3);
            assertThat(locked.get()).isZero();
            leases.lead("jobs");
            Job job = context.getBean(Job.class);
            await().until(() -> job.runs() >= 3);
            assertThat(locked.get()).isGreaterThanOrEqualTo(3);
        });
    }

    @EnableScheduling
    @EnableSchedulerLock(
            defaultLockAtMostFor = "PT30S",
            interceptMode = EnableSchedulerLock.InterceptMode.PROXY_SCHEDULER)
    @SuppressWarnings("removal")
    static class LockedScheduler {}

    @Test
    void areRefusedWhereTheSchedulerLocksBeforeTheGuardIsAsked() {
        runner.withUserConfiguration(LockedScheduler.class, Job.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(UnguardableMethodException.class)
                        .hasMessageContaining("Job.tick()")
                        .hasMessageContaining("interceptMode = PROXY_SCHEDULER"));
    }

    static class JobWithoutLock {
        @Scheduled(fixedRate = 10)
        @LeaderOnly("jobs")
        public void tick() {}
    }

    @Test
    void startWithoutALockWhereTheSchedulerLocks() {
        runner.withUserConfiguration(LockedScheduler.class, JobWithoutLock.class)
                .run(context -> assertThat(context).hasNotFailed());
    }
}
