package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.test.AutoConfigureTestLeases;
import io.paxoslease.test.TestLeases;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

/** The job with its database, in a cell whose leases the test moves. Nothing is scheduled here: the test calls the job. */
@SpringBootTest(
        classes = InvoiceJobTests.JobOnly.class,
        properties = "spring.datasource.url=jdbc:h2:mem:invoice-job;DB_CLOSE_DELAY=-1")
@AutoConfigureTestLeases
class InvoiceJobTests {

    @Autowired
    private TestLeases leases;

    @Autowired
    private LeaseManager manager;

    @Autowired
    private InvoiceJob job;

    @Autowired
    private InvoiceBook book;

    @Test
    void onlyTheLeaderWritesInvoices() {
        long before = book.count();
        job.writeInvoice();
        assertThat(book.count()).isEqualTo(before + 1);

        leases.revoke(Jobs.INVOICES);
        job.writeInvoice();
        assertThat(book.count()).isEqualTo(before + 1);

        leases.grant(Jobs.INVOICES);
        job.writeInvoice();
        assertThat(book.count()).isEqualTo(before + 2);
    }

    @Test
    void aWriteThatWasOnItsWayWhenTheLeaseEndedIsRefused() {
        Lease former = manager.election(Jobs.INVOICES).lease().orElseThrow();
        leases.expire(Jobs.INVOICES);
        leases.grant(Jobs.INVOICES);
        job.writeInvoice();

        assertThat(book.write(former.owner(), former.fencingToken())).isEmpty();
    }

    /** Not a component, or the whole application, which other tests start, would find it. */
    @EnableAutoConfiguration
    @Import({InvoiceJob.class, InvoiceBook.class, GuardedRuns.class, Journal.class})
    static class JobOnly {}
}
