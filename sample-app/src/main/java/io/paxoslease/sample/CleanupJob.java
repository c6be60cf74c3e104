package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Works in small steps and asks before each one whether the lease is still held: what a long job has to do. With {@code minRemaining} it
 * does not even begin when the lease is about to end.
 */
@Component
class CleanupJob {

    private static final int KEEP = 50;
    private static final int STEP = 5;

    private final InvoiceBook book;
    private final GuardedRuns runs;

    CleanupJob(InvoiceBook book, GuardedRuns runs) {
        this.book = book;
        this.runs = runs;
    }

    @LeaderOnly(value = Jobs.CLEANUP, minRemaining = "100ms")
    @Scheduled(fixedDelayString = "${sample.cleanup.rate:7s}")
    public void deleteOldInvoices() {
        runs.record(Lease.current().orElseThrow(), run -> {
            int deleted = 0;
            int step = STEP;
            while (step == STEP && run.stillHeld()) {
                step = book.deleteOldest(KEEP, STEP);
                deleted += step;
            }
            return "deleted " + deleted + " old invoices";
        });
    }
}
