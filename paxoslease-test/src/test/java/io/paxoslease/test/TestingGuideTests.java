package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;

/** The examples of docs/guides/testing.md: run here, shown there exactly as they are. */
class TestingGuideTests {

    interface InvoiceService {
        void send();
    }

    static class InvoiceJob {

        private final InvoiceService service;

        InvoiceJob(InvoiceService service) {
            this.service = service;
        }

        @LeaderOnly("invoices")
        void sendInvoices() {
            service.send();
        }
    }

    // snippet stub
    static class StubInvoiceService implements InvoiceService {

        final List<Long> tokens = new ArrayList<>();

        @Override
        public void send() {
            tokens.add(LeaderOnlyAssert.assertGuarded("invoices").fencingToken());
        }
    }
    // end

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({InvoiceJob.class, StubInvoiceService.class})
    static class Application {}

    @Nested
    // snippet spring
    @SpringBootTest
    @AutoConfigureTestLeases
    class InvoiceJobTests {

        @Autowired
        TestLeases leases;

        @Autowired
        InvoiceJob job;

        @Autowired
        StubInvoiceService sent;

        @Test
        void theLeaderSendsInvoicesAndOthersDoNot() {
            job.sendInvoices();
            assertThat(sent.tokens).hasSize(1);

            leases.revoke("invoices");
            job.sendInvoices();
            assertThat(sent.tokens).hasSize(1);

            leases.grant("invoices");
            job.sendInvoices();
            assertThat(sent.tokens).hasSize(2).isSorted();
        }
    }
    // end

    static class ReportWriter {

        int written;
        private final LeaderElection election;

        ReportWriter(LeaseManager leases) {
            election = leases.election("reports");
            election.start();
        }

        void writeNext() {
            if (election.isLeader()) {
                written++;
            }
        }
    }

    @Nested
    // snippet plain
    @ExtendWith(TestLeasesExtension.class)
    class ReportWriterTests {

        @Test
        void stopsWritingWhenTheNetworkIsGoneForTooLong(TestLeases leases, LeaseManager manager) {
            ReportWriter writer = new ReportWriter(manager);
            leases.grant("reports");
            leases.partition();

            writer.writeNext();
            assertThat(writer.written).isEqualTo(1);

            leases.advance(leases.leaseTime());
            writer.writeNext();
            assertThat(writer.written).isEqualTo(1);

            leases.heal();
            leases.advance(Duration.ofSeconds(1));
            writer.writeNext();
            assertThat(writer.written).isEqualTo(2);
        }
    }
    // end
}
