package io.paxoslease.sample;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Reads and tells: harmless to repeat, so that the guard alone is enough and no token is needed. */
@Component
class ReportJob {

    private final InvoiceBook book;
    private final GuardedRuns runs;

    ReportJob(InvoiceBook book, GuardedRuns runs) {
        this.book = book;
        this.runs = runs;
    }

    @LeaderOnly(Jobs.REPORT)
    @Scheduled(fixedRateString = "${sample.report.rate:5s}")
    public void report() {
        runs.record(
                Lease.current().orElseThrow(),
                run -> book.count() + " invoices, written in " + book.tenures() + " tenures");
    }
}
