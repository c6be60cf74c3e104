package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.mock.env.MockEnvironment;

/** Where the nodes of the cell in one process are, and what the page may do to them. */
class DemoCellTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private DemoCell cell;

    private void start(String address) throws IOException {
        cell = DemoCell.start(
                new MockEnvironment()
                        .withProperty(DemoCell.BASE_PORT, String.valueOf(Ports.freeRow(3)))
                        .withProperty("server.address", address),
                "--paxoslease.lease-time=1s");
    }

    @AfterEach
    void stop() {
        if (cell != null) {
            cell.close();
        }
    }

    @Test
    void aNodeThatStopsIsNotPausedAndIsDownSoonAndCanBeRestarted() throws IOException {
        start("127.0.0.1");
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

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "only there 127.0.0.2 is an address of every machine")
    void theNodesReachEachOtherWhereverTheyListen() throws IOException {
        start("127.0.0.2");
        assertThat(cell.awaitLeaders()).contains("leads invoices");
        assertThat(cell.welcome()).contains("http://127.0.0.2:").doesNotContain("localhost");
    }

    @Test
    void onAllAddressesTheyAreReachedOnThisMachine() throws IOException {
        start("0.0.0.0");
        assertThat(cell.awaitLeaders()).contains("leads invoices");
        assertThat(cell.welcome()).contains("http://localhost:");
    }
}
