package io.paxoslease.sample;

import io.paxoslease.Lease;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.stereotype.Component;

/** Runs the bodies of the guarded jobs and keeps what an observer wants to know: the last runs for the status page, all runs in the journal. */
@Component
class GuardedRuns {

    private static final Log LOG = LogFactory.getLog(GuardedRuns.class);
    private static final int KEPT = 30;

    private final Journal journal;
    private final Deque<Summary> last = new ArrayDeque<>();

    GuardedRuns(Journal journal) {
        this.journal = journal;
    }

    /**
     * One finished run.
     *
     * @param lease the name of its lease
     * @param node where it ran
     * @param token the fencing token
     * @param startedAt when, by the wall clock
     * @param took how long it took
     * @param result what it did
     * @param heldThroughout whether the lease was held until the end
     */
    record Summary(
            String lease,
            String node,
            long token,
            Instant startedAt,
            Duration took,
            String result,
            boolean heldThroughout) {}

    /** Does the work if the lease is held now, and answers nothing: a scheduled job has nobody to tell but the log. */
    void record(Lease lease, Function<GuardedRun, String> work) {
        Instant startedAt = Instant.now();
        GuardedRun run = new GuardedRun(lease);
        if (!run.startedHeld()) {
            LOG.info(lease.owner() + " skips " + lease.name() + ": the lease ended just before the run began");
            return;
        }
        journal.started(run);
        String result = "failed";
        try {
            result = work.apply(run);
        } finally {
            boolean held = run.stillHeld();
            journal.ended(run);
            keep(new Summary(
                    lease.name(),
                    lease.owner(),
                    lease.fencingToken(),
                    startedAt,
                    Duration.ofNanos(System.nanoTime() - run.startNanos()),
                    result,
                    held));
        }
    }

    private void keep(Summary summary) {
        if (!Jobs.isForTests(summary.lease())) {
            String line = summary.node() + " ran " + summary.lease() + ": " + summary.result();
            if (summary.result().startsWith("REFUSED") || !summary.heldThroughout()) {
                LOG.warn(line + (summary.heldThroughout() ? "" : "; the lease ended meanwhile"));
            } else {
                LOG.info(line);
            }
        }
        synchronized (last) {
            last.addFirst(summary);
            if (last.size() > KEPT) {
                last.removeLast();
            }
        }
    }

    /** The last runs on this node, the newest first. */
    List<Summary> last() {
        synchronized (last) {
            return Collections.unmodifiableList(new ArrayList<>(last));
        }
    }
}
