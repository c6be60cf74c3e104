package io.paxoslease.sample;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** A cell of separate processes, by default three on ports of this machine. */
final class RealCell implements AutoCloseable {

    static final Duration LEASE_TIME = Duration.ofSeconds(2);
    static final Duration SOON = Duration.ofSeconds(180);

    /** Whether a cell has the machine for itself, for long. */
    private static final boolean ALONE =
            Boolean.getBoolean("paxoslease.long") || Boolean.getBoolean("paxoslease.faults");

    /** How a node is told to run all jobs often, each on a thread of its own: as often as possible, or as leaves time for the other tests. */
    static final List<String> JOBS = List.of(
            "--sample.probe-rate=" + (ALONE ? "10ms" : "20ms"),
            "--sample.lock-rate=" + (ALONE ? "10ms" : "100ms"),
            "--sample.invoices.rate=200ms",
            "--sample.report.rate=300ms",
            "--sample.cleanup.rate=500ms",
            "--spring.task.scheduling.pool.size=5");

    private final List<NodeProcess> nodes;
    private @Nullable JournalChecker journals;

    RealCell(List<NodeProcess> nodes) {
        this.nodes = List.copyOf(nodes);
    }

    RealCell(Path directory) throws IOException {
        int size = 3;
        List<NodeProcess> processes = new ArrayList<>();
        int basePort = Ports.freeRow(size);
        List<String> common = new ArrayList<>(List.of(
                "--server.address=127.0.0.1",
                "--paxoslease.lease-time=" + LEASE_TIME.toMillis() + "ms",
                // One machine, one clock: without the allowance for clocks a lease ends nowhere too early, which could
                // hide a mistake.
                "--paxoslease.max-clock-drift=0"));
        common.addAll(JOBS);
        for (int i = 0; i < size; i++) {
            common.add("--paxoslease.members.node-" + (i + 1) + "=http://127.0.0.1:" + (basePort + i));
        }
        for (int i = 0; i < size; i++) {
            String id = "node-" + (i + 1);
            List<String> arguments = new ArrayList<>(common);
            arguments.add("--paxoslease.node-id=" + id);
            arguments.add("--server.port=" + (basePort + i));
            arguments.add("--sample.journal=" + directory.resolve(id + ".tsv"));
            processes.add(new NodeProcess(id, "http://127.0.0.1:" + (basePort + i), directory, arguments));
        }
        this.nodes = List.copyOf(processes);
    }

    static Set<String> leases() {
        Set<String> names = new TreeSet<>(Jobs.LEASES);
        names.add(Jobs.PROBE);
        return names;
    }

    List<NodeProcess> nodes() {
        return nodes;
    }

    List<NodeProcess> others(NodeProcess node) {
        return nodes.stream().filter(other -> other != node).toList();
    }

    /** Starts the nodes that do not run. */
    void startAll() throws IOException {
        for (NodeProcess node : nodes) {
            if (!node.isAlive()) {
                node.start();
            }
        }
    }

    /** All nodes that say that they lead. */
    List<NodeProcess> leaders(String lease) {
        return nodes.stream().filter(node -> node.leads(lease)).toList();
    }

    /** The one node that leads, waiting for it. */
    NodeProcess awaitLeader(String lease) {
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> leaders(lease).size() == 1);
        List<NodeProcess> leaders = leaders(lease);
        return leaders.size() == 1 ? leaders.get(0) : awaitLeader(lease);
    }

    /** Waits until all nodes vote and each lease has a leader. */
    void awaitSteady() {
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(50))
                .until(() ->
                        nodes.stream().allMatch(node -> node.acceptorState().equals("VOTING")));
        leases().forEach(this::awaitLeader);
    }

    /** What the nodes have journalled up to now. */
    JournalChecker journals() {
        try {
            if (journals == null) {
                journals = JournalChecker.read(
                        nodes.stream().map(NodeProcess::journal).toList());
            } else {
                journals.readOn();
            }
            return journals;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() {
        nodes.forEach(NodeProcess::close);
    }
}
