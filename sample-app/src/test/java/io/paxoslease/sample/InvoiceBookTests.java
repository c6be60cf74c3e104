package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

class InvoiceBookTests {

    private static final String URL = "jdbc:h2:mem:invoice-book;DB_CLOSE_DELAY=-1";

    private final DriverManagerDataSource dataSource = new DriverManagerDataSource(URL);
    private final InvoiceBook book = new InvoiceBook(JdbcClient.create(dataSource));

    @BeforeEach
    void emptyDatabase() {
        JdbcClient.create(dataSource).sql("drop all objects").update();
        createTables();
    }

    private void createTables() {
        createTables(dataSource);
    }

    private static void createTables(DataSource database) {
        new ResourceDatabasePopulator(new ClassPathResource("schema.sql")).execute(database);
    }

    @Test
    void allNodesMayCreateTheTablesAtOnce() {
        Executor threads = work -> new Thread(work).start();
        for (int round = 0; round < 100; round++) {
            DriverManagerDataSource fresh =
                    new DriverManagerDataSource("jdbc:h2:mem:fresh-" + round + ";DB_CLOSE_DELAY=-1");
            CompletableFuture<?>[] nodes = Stream.generate(
                            () -> CompletableFuture.runAsync(() -> createTables(fresh), threads))
                    .limit(3)
                    .toArray(CompletableFuture[]::new);
            CompletableFuture.allOf(nodes).join();

            JdbcClient client = JdbcClient.create(fresh);
            assertThat(new InvoiceBook(client).write("node-1", 7)).contains(1L);
            client.sql("shutdown").update();
        }
    }

    @Test
    void numbersTheInvoicesOfOneTenure() {
        assertThat(book.write("node-1", 7)).contains(1L);
        assertThat(book.write("node-1", 7)).contains(2L);
    }

    @Test
    void refusesALowerTokenAndChangesNothing() {
        book.write("node-1", 7);
        book.write("node-2", 8);

        assertThat(book.write("node-1", 7)).isEmpty();
        assertThat(book.count()).isEqualTo(2);
        assertThat(book.write("node-2", 8)).contains(3L);
        assertThat(book.tenures()).isEqualTo(2);
    }

    @Test
    void keepsItsRowsWhenAnotherNodeCreatesTheTables() {
        book.write("node-1", 7);

        createTables();

        assertThat(book.write("node-1", 6)).isEmpty();
        assertThat(book.write("node-1", 7)).contains(2L);
    }

    @Test
    void deletesTheOldestInvoices() {
        for (int i = 0; i < 10; i++) {
            book.write("node-1", 7);
        }

        assertThat(book.deleteOldest(4, 5)).isEqualTo(5);
        assertThat(book.deleteOldest(4, 5)).isEqualTo(1);
        assertThat(book.deleteOldest(4, 5)).isZero();
        assertThat(book.count()).isEqualTo(4);
    }
}
