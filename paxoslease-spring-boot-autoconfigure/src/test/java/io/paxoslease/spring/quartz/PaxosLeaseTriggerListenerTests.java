package io.paxoslease.spring.quartz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaderElection;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/** Two nodes with the same schedule in memory. */
class PaxosLeaseTriggerListenerTests {

    private static final Duration SOON = LocalCell.leaseTime().multipliedBy(5);

    private LocalCell cell;
    private Node first;
    private Node second;

    @BeforeEach
    void start() throws SchedulerException {
        cell = LocalCell.of(3);
        first = new Node(1);
        second = new Node(2);
    }

    @AfterEach
    void stop() throws SchedulerException {
        first.scheduler.shutdown();
        second.scheduler.shutdown();
        cell.close();
    }

    @Test
    void jobsRunOnTheLeaderOnly() {
        await().atMost(SOON).until(() -> first.election.isLeader() || second.election.isLeader());
        Node leader = first.election.isLeader() ? first : second;
        Node follower = leader == first ? second : first;
        int before = leader.runs.get();

        await().atMost(SOON).until(() -> leader.runs.get() > before + 5);
        assertThat(follower.runs).hasValue(0);

        // Again each time that the other node was too slow and this one got the lease back.
        await().atMost(SOON.multipliedBy(3)).pollInterval(LocalCell.leaseTime()).until(() -> {
            leader.election.resign();
            return follower.runs.get() > 0;
        });
    }

    @Test
    void knowsWhatHasEndedAlsoIfItIsNoJobListener() throws SchedulerException {
        await().atMost(SOON).until(() -> first.runs.get() + second.runs.get() > 5);

        for (Node node : List.of(first, second)) {
            node.scheduler.standby();
            assertThat(node.listener.drain()).succeedsWithin(SOON);
        }
    }

    private final class Node {

        final AtomicInteger runs = new AtomicInteger();
        final PaxosLeaseTriggerListener listener;
        final LeaderElection election;
        final Scheduler scheduler;

        Node(int number) throws SchedulerException {
            election = cell.node(number).election("quartz");
            listener = new PaxosLeaseTriggerListener(election);
            Properties settings = new Properties();
            settings.setProperty("org.quartz.scheduler.instanceName", "node " + number);
            settings.setProperty("org.quartz.threadPool.threadCount", "1");
            scheduler = new StdSchedulerFactory(settings).getScheduler();
            scheduler.getListenerManager().addTriggerListener(listener);
            scheduler.setJobFactory((bundle, ignored) -> new Count(runs));
            scheduler.scheduleJob(
                    JobBuilder.newJob(Count.class).build(),
                    TriggerBuilder.newTrigger()
                            .withSchedule(SimpleScheduleBuilder.simpleSchedule()
                                    .withIntervalInMilliseconds(20)
                                    .repeatForever())
                            .build());
            scheduler.start();
        }
    }

    record Count(AtomicInteger runs) implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            runs.incrementAndGet();
        }
    }
}
