package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** A fast job for tests: many short runs, each of a few steps that are confirmed one by one, see {@link GuardedRun}. */
@Component
@ConditionalOnProperty("sample.probe-rate")
class ProbeJob {

    private static final int STEPS = 3;

    private final GuardedRuns runs;

    ProbeJob(GuardedRuns runs) {
        this.runs = runs;
    }

    @LeaderOnly(Jobs.PROBE)
    @Scheduled(fixedDelayString = "${sample.probe-rate}")
    public void probe() {
        runs.record(Lease.current().orElseThrow(), run -> {
            int steps = 0;
            while (steps < STEPS && run.stillHeld()) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                steps++;
            }
            return steps + " steps";
        });
    }
}
