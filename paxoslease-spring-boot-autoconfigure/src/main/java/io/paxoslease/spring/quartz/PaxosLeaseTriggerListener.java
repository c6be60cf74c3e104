package io.paxoslease.spring.quartz;

import io.paxoslease.LeaderElection;
import io.paxoslease.spring.bounded.Drain;
import io.paxoslease.spring.bounded.SystemExit;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.JobListener;
import org.quartz.Trigger;
import org.quartz.TriggerListener;

/**
 * Vetoes the execution of jobs while this node does not lead, so that a schedule that every node has in memory runs on one of them. Add it with matchers to
 * guard some jobs only.
 *
 * <p>Not for schedulers that share a job store: there one node fires each trigger, and if that node does not lead, nobody runs the job.
 *
 * <p>Asks the clock at each firing, never the network; a job that runs when the lease is lost goes on. Who releases the lease on purpose can
 * {@link #drain()} first. For that add it as a job listener too: a trigger listener is not told that another one vetoed the job.
 */
public final class PaxosLeaseTriggerListener implements TriggerListener, JobListener {

    private final LeaderElection election;

    /** The threads of the jobs that were let run. All that Quartz tells of a firing it tells on one thread, which has no other meanwhile. */
    private final Set<Thread> running = ConcurrentHashMap.newKeySet();

    /** Who stops the application: a job that does it, or ends the process, would wait for its own end. */
    private volatile @Nullable Thread stopper;

    private final Drain drain =
            new Drain(() -> running.stream().allMatch(thread -> thread == stopper || SystemExit.isUnderWayOn(thread)));

    /**
     * Creates a listener and makes this node a candidate.
     *
     * @param election the election whose leader runs the jobs
     */
    public PaxosLeaseTriggerListener(LeaderElection election) {
        this.election = election;
        election.start();
    }

    @Override
    public String getName() {
        return "paxoslease:" + election.name();
    }

    /**
     * Lets no more jobs run until {@link #resume()}, because the application stops.
     *
     * @return a stage that completes when no job that was let run runs any more, but for one that calls this or
     *     {@code System.exit}; or with {@link #resume()}
     */
    public CompletableFuture<Void> drain() {
        stopper = Thread.currentThread();
        return drain.begin();
    }

    /** Ends {@link #drain()}. */
    public void resume() {
        drain.end();
    }

    @Override
    public boolean vetoJobExecution(Trigger trigger, JobExecutionContext context) {
        // First, so that either the drain sees the job or the job sees the drain.
        running.add(Thread.currentThread());
        boolean veto = drain.isUnderWay() || !election.isLeader();
        if (veto) {
            ended();
        }
        return veto;
    }

    private void ended() {
        running.remove(Thread.currentThread());
        drain.check();
    }

    @Override
    public void triggerComplete(
            Trigger trigger, JobExecutionContext context, Trigger.CompletedExecutionInstruction instruction) {
        ended();
    }

    @Override
    public void jobWasExecuted(JobExecutionContext context, @Nullable JobExecutionException failure) {
        ended();
    }

    /** By this listener or by another. */
    @Override
    public void jobExecutionVetoed(JobExecutionContext context) {
        ended();
    }

    @Override
    public void triggerFired(Trigger trigger, JobExecutionContext context) {}

    @Override
    public void triggerMisfired(Trigger trigger) {}

    @Override
    public void jobToBeExecuted(JobExecutionContext context) {}
}
