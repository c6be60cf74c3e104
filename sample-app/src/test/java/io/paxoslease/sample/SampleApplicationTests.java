package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.sample.JournalChecker.Line;
import io.paxoslease.sample.Members.View;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.mock.env.MockEnvironment;

/** The cell of three nodes in one process. */
class SampleApplicationTests {

    private static final Duration LEASE_TIME = Duration.ofSeconds(2);
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Set<String> LEASES = leases();

    @TempDir
    static Path directory;

    private static int basePort;
    private static DemoCell cell;

    private static Set<String> leases() {
        Set<String> names = new TreeSet<>(Jobs.LEASES);
        names.add(Jobs.PROBE);
        return names;
    }

    @BeforeAll
    static void startCell() throws IOException {
        basePort = Ports.freeRow(3);
        cell = DemoCell.start(
                outside(basePort),
                "--paxoslease.lease-time=" + LEASE_TIME.toMillis() + "ms",
                "--sample.journal=" + journal(),
                "--sample.probe-rate=10ms",
                "--sample.invoices.rate=50ms",
                "--sample.report.rate=100ms",
                "--sample.cleanup.rate=200ms");
    }

    @AfterAll
    static void stopCell() {
        if (cell != null) {
            cell.close();
        }
    }

    private static MockEnvironment outside(int basePort) {
        return new MockEnvironment().withProperty(DemoCell.BASE_PORT, String.valueOf(basePort));
    }

    private static Path journal() {
        return directory.resolve("journal.tsv");
    }

    @Test
    void everyLeaseHasExactlyOneLeader() {
        awaitLeaders();
        for (int look = 0; look < 200; look++) {
            for (String lease : LEASES) {
                List<Lease> held = heldLeases(lease);
                assertThat(held.stream().filter(Lease::isHeld)).as(lease).hasSizeLessThanOrEqualTo(1);
            }
        }
    }

    /** What each node holds, asked one after the other: the lease may move meanwhile, and what was seen first has ended then. */
    private static List<Lease> heldLeases(String name) {
        return cell.nodes().values().stream()
                .flatMap(node -> node.getBean(LeaseManager.class).election(name).lease().stream())
                .toList();
    }

    @Test
    void aBrowserAsksEachTimeWhetherThePageIsNew() throws Exception {
        HttpRequest page = HttpRequest.newBuilder(URI.create("http://localhost:" + basePort + "/cell.js"))
                .build();
        HttpResponse<Void> response = HttpClient.newHttpClient().send(page, HttpResponse.BodyHandlers.discarding());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Cache-Control")).contains("no-cache");
    }

    @Test
    void everyJobRunsOnTheLeaderOnlyAndWithGrowingTokens() throws IOException {
        awaitLeaders();
        long before = System.nanoTime();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(startsAfter(before).keySet()).containsAll(LEASES));

        assertThat(journals().contradictions()).isEmpty();
    }

    @Test
    void aResignationMovesTheLease() throws IOException {
        String old = awaitLeader(Jobs.PROBE);

        long resigned = System.nanoTime();
        await().atMost(SOON).untilAsserted(() -> {
            // If the others do not try within its rest, it leads again.
            election(old).resign();
            assertThat(startsAfter(resigned).get(Jobs.PROBE)).isNotNull().anyMatch(node -> !node.equals(old));
        });
        assertThat(journals().contradictions()).isEmpty();
    }

    private static LeaderElection election(String node) {
        return cell.nodes().get(node).getBean(LeaseManager.class).election(Jobs.PROBE);
    }

    @Test
    void everyNodeShowsTheWholeCell() {
        awaitLeaders();
        await().atMost(SOON)
                .untilAsserted(() -> cell.nodes().forEach((id, node) -> {
                    Map<String, View> views = node.getBean(Members.class).view();
                    assertThat(views).containsOnlyKeys("node-1", "node-2", "node-3");
                    views.forEach((member, view) -> {
                        assertThat(view.lease()).as("an answer of " + member).isNotNull();
                        assertThat(view.runs()).as("runs of " + member).isNotNull();
                        assertThat(view.lease().path("node").asString("")).isEqualTo(member);
                        assertThat(view.lease().path("acceptor").path("state").asString(""))
                                .isEqualTo("VOTING");
                        assertThat(view.runs().isArray()).isTrue();
                    });
                }));
    }

    @Test
    void thePageMovesALeaseThroughAnyNode() {
        String old = awaitLeader(Jobs.REPORT);
        Members anyNode = cell.nodes().get("node-3").getBean(Members.class);

        await().atMost(SOON).until(() -> anyNode.resign(old, Jobs.REPORT).isPresent());
        await().atMost(SOON).until(() -> {
            Optional<String> leader = cell.leader(Jobs.REPORT);
            if (leader.filter(old::equals).isPresent()) {
                // The others did not try within its rest.
                anyNode.resign(old, Jobs.REPORT);
            }
            return leader.filter(other -> !other.equals(old)).isPresent();
        });

        assertThat(anyNode.resign(old, "no-such-lease")).isEmpty();
        assertThat(anyNode.resign("no-such-node", Jobs.REPORT)).isEmpty();
    }

    @Test
    void tellsWhoLeadsWhat() {
        assertThat(cell.welcome()).contains("http://localhost:" + basePort + "/");
        assertThat(cell.awaitLeaders())
                .contains("leads invoices")
                .contains("leads report")
                .contains("leads cleanup");
    }

    @Test
    void aPortThatIsTakenIsToldBeforeAnythingStarts() throws IOException {
        int free = Ports.freeRow(3);
        try (ServerSocket other = new ServerSocket(free + 2, 1, InetAddress.getByName("127.0.0.1"))) {
            assertThatThrownBy(() -> DemoCell.start(outside(free)))
                    .isInstanceOf(DemoCell.PortTakenException.class)
                    .hasMessageContaining(String.valueOf(other.getLocalPort()))
                    .hasMessageContaining("--sample.base-port=");
        }
    }

    private static void awaitLeaders() {
        await().atMost(SOON)
                .until(() ->
                        LEASES.stream().allMatch(lease -> cell.leader(lease).isPresent()));
    }

    private static String awaitLeader(String lease) {
        return await().atMost(SOON)
                .until(() -> cell.leader(lease), Optional::isPresent)
                .orElseThrow();
    }

    /** The nodes on which jobs began after an instant, by lease. */
    private static Map<String, Set<String>> startsAfter(long nanos) throws IOException {
        return journals()
                .lines()
                .filter(line -> line.isStart() && line.nanos() - nanos > 0)
                .collect(Collectors.groupingBy(Line::lease, Collectors.mapping(Line::node, Collectors.toSet())));
    }

    private static JournalChecker journals() throws IOException {
        return JournalChecker.read(List.of(journal()));
    }
}
