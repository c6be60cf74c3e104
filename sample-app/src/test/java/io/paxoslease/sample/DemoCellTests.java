package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

/** What the page may do to the nodes of the cell in one process. */
class DemoCellTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private DemoCell cell;

    @BeforeEach
    void start() throws IOException {
        cell = DemoCell.start(
                new MockEnvironment().withProperty(DemoCell.BASE_PORT, String.valueOf(Ports.freeRow(3))),
                "--paxoslease.lease-time=1s");
    }

    @AfterEach
    void stop() {
        cell.close();
    }

    @Test
    void aNodeThatStopsIsNotPausedAndIsDownSoonAndCanBeRestarted() {
        assertThat(cell.kill("node-2")).isTrue();
        assertThat(cell.pause("node-2")).isFalse();
        await().atMost(SOON).until(() -> cell.state("node-2").equals("DOWN"));
        assertThat(cell.pause("node-2")).isFalse();

        assertThat(cell.restart("node-2")).isTrue();
        assertThat(cell.pause("node-2")).isFalse();
        await().atMost(SOON).until(() -> cell.state("node-2").equals("RUNNING"));
        assertThat(cell.pause("node-2")).isTrue();
        assertThat(cell.state("node-2")).isEqualTo("PAUSED");
    }
}
