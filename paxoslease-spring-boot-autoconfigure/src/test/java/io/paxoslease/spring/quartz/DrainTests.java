package io.paxoslease.spring.quartz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.listeners.JobListenerSupport;
import org.quartz.listeners.TriggerListenerSupport;

/** Draining waits for what runs, however that ends, and for nothing else. */
class DrainTests {

    private final LeaseNode node = LocalCell.standalone();
    private final PaxosLeaseTriggerListener listener = new PaxosLeaseTriggerListener(node.election("jobs"));
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch mayEnd = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private Scheduler scheduler;

    @BeforeEach
    void start() throws SchedulerException {
        Properties settings = new Properties();
        settings.setProperty("org.quartz.scheduler.instanceName", "drain");
        settings.setProperty("org.quartz.threadPool.threadCount", "1");
        scheduler = new StdSchedulerFactory(settings).getScheduler();
        scheduler.getListenerManager().addTriggerListener(listener);
        scheduler.getListenerManager().addJobListener(listener);
        await().until(() -> node.election("jobs").isLeader());
        scheduler.start();
    }

    @AfterEach
    void stop() throws SchedulerException {
        mayEnd.countDown();
        scheduler.shutdown(true);
        node.close();
    }

    @Test
    void waitsForTheJobThatRunsAndVetoesTheNextOne() throws Exception {
        run(execution -> stay());
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

        CompletableFuture<Void> drained = listener.drain();

        assertThat(drained).isNotDone();
        mayEnd.countDown();
        assertThat(drained).succeedsWithin(10, TimeUnit.SECONDS);
        onVeto(over);
        run(execution -> {});
        assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** It would wait for its own end. */
    @Test
    void doesNotWaitForTheJobThatStopsTheApplication() throws Exception {
        CompletableFuture<Boolean> waited = new CompletableFuture<>();
        run(execution -> waited.complete(!listener.drain().isDone()));

        assertThat(waited).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(false);
    }

    @Test
    void jobsRunAgainAfterwards() throws Exception {
        assertThat(listener.drain()).isCompleted();
        listener.resume();

        run(execution -> over.countDown());

        assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aJobThatThrowsHasEnded() throws Exception {
        run(execution -> {
            stay();
            throw new IllegalStateException("on purpose");
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<Void> drained = listener.drain();

        mayEnd.countDown();

        assertThat(drained).succeedsWithin(10, TimeUnit.SECONDS);
    }

    @Test
    void aJobThatAnotherListenerVetoesDoesNotRun() throws Exception {
        scheduler.getListenerManager().addTriggerListener(new TriggerListenerSupport() {
            @Override
            public String getName() {
                return "another";
            }

            @Override
            public boolean vetoJobExecution(Trigger trigger, JobExecutionContext context) {
                return true;
            }
        });
        onVeto(over);
        run(execution -> {});
        assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();

        assertThat(listener.drain()).succeedsWithin(10, TimeUnit.SECONDS);
    }

    @Test
    void aListenerThatThrowsAfterwardsDoesNotKeepAJobRunning() throws Exception {
        scheduler.getListenerManager().addJobListener(new JobListenerSupport() {
            @Override
            public String getName() {
                return "another";
            }

            @Override
            public void jobWasExecuted(JobExecutionContext context, JobExecutionException failure) {
                over.countDown();
                throw new IllegalStateException("on purpose");
            }
        });
        run(execution -> {});
        assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();

        assertThat(listener.drain()).succeedsWithin(10, TimeUnit.SECONDS);
    }

    private void run(Job job) throws SchedulerException {
        scheduler.setJobFactory((bundle, ignored) -> job);
        scheduler.scheduleJob(
                JobBuilder.newJob(Job.class).build(),
                TriggerBuilder.newTrigger().startNow().build());
    }

    private void stay() {
        begun.countDown();
        try {
            mayEnd.await();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private void onVeto(CountDownLatch latch) throws SchedulerException {
        scheduler.getListenerManager().addJobListener(new JobListenerSupport() {
            @Override
            public String getName() {
                return "veto";
            }

            @Override
            public void jobExecutionVetoed(JobExecutionContext context) {
                latch.countDown();
            }
        });
    }
}
