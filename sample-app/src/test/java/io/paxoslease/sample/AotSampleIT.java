package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The sample as ahead-of-time processing leaves it: three processes that start from the generated code elect, guard their jobs and hand over. */
@Timeout(600)
class AotSampleIT {

    @TempDir
    Path directory;

    @Test
    void theProcessedSampleElectsAndHandsOver() throws Exception {
        try (RealCell cell = new RealCell(nodes())) {
            cell.startAll();
            NodeProcess leader = cell.awaitLeader("invoices");
            await().atMost(RealCell.SOON).until(() -> log(leader).contains("ran invoices"));

            leader.process().terminate();
            assertThat(leader.process().awaitExit(RealCell.SOON)).isEqualTo(143);
            NodeProcess successor = cell.awaitLeader("invoices");
            await().atMost(RealCell.SOON).until(() -> log(successor).contains("ran invoices"));

            for (NodeProcess node : cell.nodes()) {
                assertThat(log(node))
                        .contains("Starting AOT-processed SampleApplication")
                        .doesNotContain(" ERROR ");
                assertThat(log(node).contains(" ran invoices"))
                        .as("only who leads runs the job: %s", log(node))
                        .isEqualTo(log(node).contains(node.id() + " leads 'invoices'"));
            }
        }
    }

    private List<NodeProcess> nodes() throws IOException {
        int size = 3;
        int basePort = Ports.freeRow(size);
        List<String> common = new ArrayList<>(List.of(
                "-Dspring.aot.enabled=true",
                "-jar",
                JavaProcess.SAMPLE_JAR.toString(),
                "--server.address=127.0.0.1",
                "--paxoslease.lease-time=5s",
                "--sample.invoices.rate=200ms"));
        for (int i = 1; i <= size; i++) {
            common.add("--paxoslease.members.node-" + i + "=http://127.0.0.1:" + (basePort + i - 1));
        }
        List<NodeProcess> nodes = new ArrayList<>();
        for (int i = 1; i <= size; i++) {
            String id = "node-" + i;
            List<String> command = new ArrayList<>(common);
            command.add("--paxoslease.node-id=" + id);
            command.add("--server.port=" + (basePort + i - 1));
            nodes.add(new NodeProcess(
                    id,
                    "http://127.0.0.1:" + (basePort + i - 1),
                    directory.resolve(id + ".tsv"),
                    () -> JavaProcess.start(directory.resolve(id + ".log"), command)));
        }
        return nodes;
    }

    private String log(NodeProcess node) throws IOException {
        return Files.readString(directory.resolve(node.id() + ".log"));
    }
}
