package io.paxoslease.sample;

import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/** The resource that the lease {@code invoices} protects: a table that refuses lower fencing tokens. */
@Repository
class InvoiceBook {

    private final JdbcClient database;

    InvoiceBook(JdbcClient database) {
        this.database = database;
    }

    /**
     * Writes the next invoice.
     *
     * @param node who writes
     * @param token the fencing token of its tenure
     * @return its number, or empty if a higher token has written before: then nothing was changed
     */
    @Transactional
    public Optional<Long> write(String node, long token) {
        int updated = database.sql(
                        "update invoice_book set last_number = last_number + 1, token = ? where id = 1 and token <= ?")
                .params(token, token)
                .update();
        if (updated == 0) {
            return Optional.empty();
        }
        long number = database.sql("select last_number from invoice_book where id = 1")
                .query(Long.class)
                .single();
        database.sql("insert into invoice (number, node, token, written_at) values (?, ?, ?, current_timestamp)")
                .params(number, node, token)
                .update();
        return Optional.of(number);
    }

    /** How many invoices there are. */
    public long count() {
        return database.sql("select count(*) from invoice").query(Long.class).single();
    }

    /** How many different tenures wrote them. */
    public long tenures() {
        return database.sql("select count(distinct token) from invoice")
                .query(Long.class)
                .single();
    }

    /**
     * Deletes some of the oldest invoices.
     *
     * @param keep how many of the newest stay
     * @param atMost how many to delete at most
     * @return how many were deleted
     */
    @Transactional
    public int deleteOldest(int keep, int atMost) {
        return database.sql("""
                        delete from invoice where number in (
                            select number from invoice
                            where number <= (select last_number from invoice_book where id = 1) - ?
                            order by number fetch first ? rows only)
                        """).params(keep, atMost).update();
    }
}
