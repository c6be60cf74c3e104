package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.BlockedLog;
import io.paxoslease.wire.Lines;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The clock is the test's; another thread writes the lines. */
class ComplaintTests {

    private long nowNanos = Long.MAX_VALUE - 3;

    private final BlockedLog log = new BlockedLog(ComplaintTests.class);
    private final BlockingQueue<String> written = log.flow();
    private final Lines lines = new Lines(System.getLogger(ComplaintTests.class.getName()), "n1");
    private final Complaint complaint = new Complaint(lines, "It fails", () -> nowNanos);

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void isWrittenAtOnceAndThenOnceAMinuteWithItsNumber() throws Exception {
        complaint.tell(": one", new IllegalStateException("as the test wants it"));
        assertThat(next()).isEqualTo("It fails: one");
        complaint.tell(": two", null);
        nowNanos += Complaint.PAUSE_NANOS - 1;
        complaint.tell(": three", null);
        nowNanos++;
        complaint.tell(": four", null);
        assertThat(next()).isEqualTo("It fails: four (and 2 times more since this was said last)");
        nowNanos += Complaint.PAUSE_NANOS;
        complaint.tell(": five", null);
        assertThat(next()).isEqualTo("It fails: five");
    }

    private String next() throws InterruptedException {
        return written.poll(20, TimeUnit.SECONDS);
    }
}
