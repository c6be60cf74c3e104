package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Writes an invoice now and then, on one node at a time.
 *
 * <p>The lease alone cannot stop a write that is already on its way to the database when the leader is paused and loses its lease.
 * The fencing token can: it goes with the write, and the database refuses one that is lower than what it has seen.
 */
@Component
class InvoiceJob {

    private final InvoiceBook book;
    private final GuardedRuns runs;

    InvoiceJob(InvoiceBook book, GuardedRuns runs) {
        this.book = book;
        this.runs = runs;
    }

    @LeaderOnly(Jobs.INVOICES)
    @Scheduled(fixedRateString = "${sample.invoices.rate:2s}")
    public void writeInvoice() {
        Lease lease = Lease.current().orElseThrow();
        runs.record(
                lease,
                run -> book.write(lease.owner(), lease.fencingToken())
                        .map(number -> "wrote invoice " + number)
                        .orElseGet(() -> "REFUSED by the database: token " + lease.fencingToken() + " is too low"));
    }
}
