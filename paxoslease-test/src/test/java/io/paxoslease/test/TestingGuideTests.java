package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
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

    @Nested
    // snippet cell
    class InvoiceCellTests {

        private final Map<String, ApplicationContext> nodes = new TreeMap<>();

        @Test
        void anotherNodeTakesOverFromOneThatIsCutOff() {
            try (TestCell cell = TestCell.of("node-1", "node-2", "node-3")) {
                start(cell, "node-1", "node-2", "node-3");
                cell.grant("invoices", "node-1");
                assertThat(callJobOnAll()).containsExactly("node-1");

                cell.partition("node-1");
                cell.advance(Duration.ofMinutes(1));
                assertThat(callJobOnAll()).hasSize(1).doesNotContain("node-1");

                cell.heal("node-1");
                cell.grant("invoices", "node-1");
                assertThat(callJobOnAll()).containsExactly("node-1");
            }
        }

        private void start(TestCell cell, String... ids) {
            for (String id : ids) {
                nodes.put(
                        id,
                        new SpringApplicationBuilder(Application.class)
                                .web(WebApplicationType.NONE)
                                .initializers(cell.node(id))
                                .run());
            }
        }

        /** The nodes whose call was let through. */
        private List<String> callJobOnAll() {
            List<String> sent = new ArrayList<>();
            nodes.forEach((id, context) -> {
                StubInvoiceService service = context.getBean(StubInvoiceService.class);
                service.tokens.clear();
                context.getBean(InvoiceJob.class).sendInvoices();
                service.tokens.forEach(token -> sent.add(id));
            });
            return sent;
        }
    }
    // end
}
