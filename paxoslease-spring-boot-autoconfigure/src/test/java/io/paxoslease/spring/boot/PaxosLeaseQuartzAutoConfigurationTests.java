package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.quartz.PaxosLeaseTriggerListener;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.listeners.JobListenerSupport;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class PaxosLeaseQuartzAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseQuartzAutoConfiguration.class))
            .withUserConfiguration(QuartzApplication.class)
            .withBean(LeaseNode.class, LocalCell::standalone);

    @Test
    void guardsEverySchedulerOnRequest() {
        runner.withPropertyValues("paxoslease.quartz.lease=jobs").run(context -> {
            assertThat(context.getBean(Scheduler.class).getListenerManager().getTriggerListeners())
                    .containsExactly(context.getBean(PaxosLeaseTriggerListener.class));
            assertThat(context.getBean(LeaseManager.class).election("jobs").isLeader())
                    .isTrue();
        });
    }

    @Test
    void refusesALeaseWithoutName() {
        runner.withPropertyValues("paxoslease.quartz.lease=")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                "Property paxoslease.quartz.lease = '': The lease name must not be empty"));
    }

    /** Else its jobs run beside those of nodes that were given the name as it was meant. */
    @Test
    void refusesALeaseWhoseNameHasWhatNobodySees() {
        runner.withPropertyValues("paxoslease.quartz.lease=jobs\u00a0")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining(
                                "paxoslease.quartz.lease = 'jobs\u00a0': it begins or ends with white"));
    }

    /** Two worker threads: one runs the job that stays, the other goes on firing until that is vetoed, which lets the job end. */
    @Test
    void theLeaseIsHeldUntilTheJobThatRunsHasEnded() {
        JobThatStays job = new JobThatStays();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseQuartzAutoConfiguration.class))
                .withUserConfiguration(QuartzApplication.class)
                .withBean(AfterTheDrain.class, () -> new AfterTheDrain(job))
                .withPropertyValues("paxoslease.quartz.lease=jobs")
                .run(context -> {
                    job.election = context.getBean(LeaseManager.class).election("jobs");
                    await().until(job.election::isLeader);
                    Scheduler scheduler = context.getBean(Scheduler.class);
                    scheduler.setJobFactory((bundle, ignored) -> job);
                    scheduler.getListenerManager().addJobListener(job);
                    scheduler.scheduleJob(
                            JobBuilder.newJob(JobThatStays.class).build(),
                            TriggerBuilder.newTrigger()
                                    .withSchedule(SimpleScheduleBuilder.simpleSchedule()
                                            .withIntervalInMilliseconds(20)
                                            .repeatForever())
                                    .build());
                    scheduler.start();
                    assertThat(job.begun.await(10, TimeUnit.SECONDS)).isTrue();

                    context.getSourceApplicationContext().close();

                    assertThat(job.stillRanAfterTheDrain).hasValue(false);
                    assertThat(job.ledAtItsEnd).hasValue(true);
                });
    }

    @Test
    void aContextThatWasStoppedAndStartedLeadsAgain() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        PaxosLeaseAutoConfiguration.class, PaxosLeaseQuartzAutoConfiguration.class))
                .withUserConfiguration(QuartzApplication.class)
                .withPropertyValues("paxoslease.quartz.lease=jobs")
                .run(context -> {
                    LeaderElection election =
                            context.getBean(LeaseManager.class).election("jobs");
                    await().until(election::isLeader);
                    context.getSourceApplicationContext().stop();
                    assertThat(election.isLeader()).isFalse();

                    context.getSourceApplicationContext().start();

                    await().until(election::isLeader);
                });
    }

    @Test
    void doesNothingUnlessAsked() {
        runner.run(context -> {
            assertThat(context).doesNotHaveBean(PaxosLeaseTriggerListener.class);
            assertThat(context.getBean(Scheduler.class).getListenerManager().getTriggerListeners())
                    .isEmpty();
        });
    }

    @Test
    void doesNothingWithoutQuartz() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseQuartzAutoConfiguration.class))
                .withBean(LeaseNode.class, LocalCell::standalone)
                .withPropertyValues("paxoslease.quartz.lease=jobs")
                .withClassLoader(new FilteredClassLoader("org.quartz"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseTriggerListener"));
    }

    @Configuration
    static class QuartzApplication {

        @Bean(destroyMethod = "shutdown")
        Scheduler scheduler() throws SchedulerException {
            Properties settings = new Properties();
            settings.setProperty("org.quartz.threadPool.threadCount", "2");
            return new StdSchedulerFactory(settings).getScheduler();
        }
    }

    /** Its first run lasts until another one is vetoed. */
    static final class JobThatStays extends JobListenerSupport implements Job {

        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch vetoed = new CountDownLatch(1);
        final AtomicBoolean first = new AtomicBoolean(true);
        final AtomicReference<Boolean> ledAtItsEnd = new AtomicReference<>();
        final AtomicReference<Boolean> stillRanAfterTheDrain = new AtomicReference<>();
        volatile LeaderElection election;

        @Override
        public void execute(JobExecutionContext context) {
            if (first.compareAndSet(true, false)) {
                begun.countDown();
                awaitVeto();
                ledAtItsEnd.set(election.isLeader());
            }
        }

        private void awaitVeto() {
            try {
                vetoed.await();
            } catch (InterruptedException unexpected) {
                throw new IllegalStateException(unexpected);
            }
        }

        @Override
        public String getName() {
            return "veto";
        }

        @Override
        public void jobExecutionVetoed(JobExecutionContext context) {
            vetoed.countDown();
        }
    }

    /** Stopped after whatever drains, and before the node. */
    record AfterTheDrain(JobThatStays job) implements SmartLifecycle {

        @Override
        public int getPhase() {
            return PaxosLeaseLifecycle.PHASE + 1;
        }

        @Override
        public void start() {}

        @Override
        public void stop() {
            job.stillRanAfterTheDrain.set(job.ledAtItsEnd.get() == null);
        }

        @Override
        public boolean isRunning() {
            return job.stillRanAfterTheDrain.get() == null;
        }
    }
}
