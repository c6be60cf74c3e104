package io.paxoslease.spring.quartz;

import io.paxoslease.LeaderElection;
import org.quartz.JobExecutionContext;
import org.quartz.Trigger;
import org.quartz.TriggerListener;

/**
 * Vetoes the execution of jobs while this node does not lead, so that a schedule that every node has in memory runs on one of them. Add it with matchers to
 * guard some jobs only.
 *
 * <p>Not for schedulers that share a job store: there one node fires each trigger, and if that node does not lead, nobody runs the job.
 *
 * <p>Asks the clock at each firing, never the network; a job that runs when the lease is lost goes on.
 */
public final class PaxosLeaseTriggerListener implements TriggerListener {

    private final LeaderElection election;

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

    @Override
    public boolean vetoJobExecution(Trigger trigger, JobExecutionContext context) {
        return !election.isLeader();
    }

    @Override
    public void triggerFired(Trigger trigger, JobExecutionContext context) {}

    @Override
    public void triggerMisfired(Trigger trigger) {}

    @Override
    public void triggerComplete(
            Trigger trigger, JobExecutionContext context, Trigger.CompletedExecutionInstruction instruction) {}
}
