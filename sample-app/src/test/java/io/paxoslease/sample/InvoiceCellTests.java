package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.test.TestCell;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContext;

/** The job on three nodes with one database, in a cell in memory. Nothing is scheduled here: the test calls the job. */
class InvoiceCellTests {

    private final TestCell cell = TestCell.of("node-1", "node-2", "node-3");
    private final Map<String, ApplicationContext> nodes = new TreeMap<>();
    private InvoiceBook book;

    @BeforeEach
    void start() {
        for (String id : new String[] {"node-1", "node-2", "node-3"}) {
            nodes.put(
                    id,
                    new SpringApplicationBuilder(InvoiceJobTests.JobOnly.class)
                            .web(WebApplicationType.NONE)
                            .initializers(cell.node(id))
                            .run("--spring.datasource.url=jdbc:h2:mem:invoice-cell;DB_CLOSE_DELAY=-1"));
        }
        book = nodes.get("node-3").getBean(InvoiceBook.class);
        cell.grant(Jobs.INVOICES, "node-1");
    }

    @AfterEach
    void end() {
        cell.close();
    }

    @Test
    void oneNodeWritesEachInvoiceAndAnotherGoesOnWhenItIsCutOff() {
        long before = book.count();
        callJobOnAll();
        assertThat(book.count()).isEqualTo(before + 1);

        cell.partition("node-1");
        cell.advance(Duration.ofMinutes(1));
        callJobOnAll();
        assertThat(book.count()).isEqualTo(before + 2);
        assertThat(cell.leader(Jobs.INVOICES)).isPresent().get().isNotEqualTo("node-1");
    }

    @Test
    void aWriteOfALeaderThatStoodStillForTooLongIsRefused() {
        long before = book.count();
        Lease former = nodes.get("node-1")
                .getBean(LeaseManager.class)
                .election(Jobs.INVOICES)
                .lease()
                .orElseThrow();
        cell.pause("node-1");
        cell.advance(Duration.ofMinutes(1));
        callJobOnAll();
        assertThat(book.count()).isEqualTo(before + 1);

        assertThat(book.write(former.owner(), former.fencingToken())).isEmpty();
    }

    private void callJobOnAll() {
        nodes.values().forEach(node -> node.getBean(InvoiceJob.class).writeInvoice());
    }
}
