package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.sample.JournalChecker.Line;
import io.paxoslease.sample.Tenures.Tenure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * Three separate processes that are killed, stopped and paused while an observer asks all of them who leads, and while each guarded run is
 * journalled. After every test: at no moment did two nodes hold one lease, and fencing tokens only went up.
 *
 * <p>{@code -Dpaxoslease.seed=…} repeats the choices of the random test, {@code -Dpaxoslease.long=true} lets it run for a quarter of an hour.
 */
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "signals")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(900)
class RealCellIT {

    private static final long MILLISECOND = 1_000_000L;
    private static final boolean LONG = Boolean.getBoolean("paxoslease.long");
    private static final Path DIRECTORY = Path.of("target", "real-cell");

    private static RealCell cell;
    private static LeaderObserver observer;

    @BeforeAll
    static void startCell() throws IOException {
        for (String kind : List.of("log", "tsv")) {
            for (int i = 1; i <= 3; i++) {
                Files.deleteIfExists(DIRECTORY.resolve("node-" + i + "." + kind));
            }
        }
        cell = new RealCell(DIRECTORY);
        cell.startAll();
        observer = new LeaderObserver(cell.nodes(), Duration.ofMillis(LONG ? 15 : 50));
    }

    @AfterAll
    static void stopCell() {
        try {
            JournalChecker journals = cell.journals();
            figure(
                    "%d guarded runs, %d of them cut off, %d tenures, %d outside observations",
                    journals.runs(), journals.openRuns(), journals.tenures().size(), observer.answers());
        } finally {
            observer.close();
            cell.close();
        }
    }

    @BeforeEach
    void awaitSteady() throws IOException {
        cell.startAll();
        cell.awaitSteady();
    }

    @AfterEach
    void neverTwoLeaders() {
        assertThat(observer.contradictions()).isEmpty();
        assertThat(cell.journals().contradictions()).isEmpty();
    }

    @Test
    @Order(1)
    void everyLeaseHasExactlyOneLeader() throws InterruptedException {
        int looks = 0;
        int exactlyOne = 0;
        try (MachineLag lag = new MachineLag()) {
            for (int round = 0; round < 25; round++) {
                for (String lease : RealCell.leases()) {
                    looks++;
                    exactlyOne += cell.leaders(lease).size() == 1 ? 1 : 0;
                }
                Thread.sleep(20);
            }
            // Never two is what the observer proves. A look asks one node after the other, so it may miss a leader that
            // changes just then.
            figure(
                    "exactly one leader in %d of %d looks; machine lag %d ms",
                    exactlyOne, looks, lag.nanos() / MILLISECOND);
            assertThat(exactlyOne).isGreaterThanOrEqualTo(lag.isCalm() ? looks * 9 / 10 : 1);
        }
    }

    @Test
    @Order(2)
    void afterAKillAnotherLeadsWhenTheLeaseEnds() throws Exception {
        List<Long> delays = new ArrayList<>();
        for (int round = 0; round < 2; round++) {
            cell.awaitSteady();
            try (MachineLag lag = new MachineLag()) {
                QuietLease lease = awaitQuietLease();
                lease.leader.process().kill();
                long killedNanos = System.nanoTime();
                await().atMost(RealCell.SOON)
                        .until(() -> firstHeldAfter(lease.token).isPresent());
                long successorNanos = firstHeldAfter(lease.token).orElseThrow();
                figure(
                        "kill -9: %d ms were left of the lease, another leads after %d ms, %+d ms from its end; machine lag %d ms",
                        (lease.endNanos - killedNanos) / MILLISECOND,
                        (successorNanos - killedNanos) / MILLISECOND,
                        (successorNanos - lease.endNanos) / MILLISECOND,
                        lag.nanos() / MILLISECOND);
                if (lag.isCalm()) {
                    delays.add(successorNanos - lease.endNanos);
                }
                lease.leader.start();
                assertQuarantinedThenVoting(lease.leader);
            }
        }
        if (!delays.isEmpty()) {
            assertThat(median(delays)).isLessThan(250 * MILLISECOND);
        }
    }

    private record QuietLease(NodeProcess leader, long endNanos, long token) {}

    /** A lease that is not extended in the next moment. */
    private static QuietLease awaitQuietLease() {
        while (true) {
            NodeProcess leader = cell.awaitLeader(Jobs.PROBE);
            JsonNode lease = leader.lease()
                    .orElseGet(MissingNode::getInstance)
                    .path("leases")
                    .path(Jobs.PROBE);
            long nowNanos = System.nanoTime();
            if (nanos(lease.path("nextExtensionIn")) > 300 * MILLISECOND) {
                return new QuietLease(
                        leader,
                        nowNanos + nanos(lease.path("remaining")),
                        lease.path("fencingToken").asLong());
            }
        }
    }

    private static long nanos(JsonNode duration) {
        return Duration.parse(duration.asString("PT0S")).toNanos();
    }

    private static long tokenOf(NodeProcess leader) {
        return await().atMost(RealCell.SOON)
                .until(leader::lease, Optional::isPresent)
                .orElseThrow()
                .path("leases")
                .path(Jobs.PROBE)
                .path("fencingToken")
                .asLong();
    }

    private static OptionalLong firstHeldAfter(long token) {
        return cell.journals()
                .lines()
                .filter(line -> line.isStart() && line.lease().equals(Jobs.PROBE) && line.token() > token)
                .mapToLong(Line::nanos)
                .min();
    }

    private static void assertQuarantinedThenVoting(NodeProcess node) {
        List<String> states = new ArrayList<>();
        List<String> health = new ArrayList<>();
        long startNanos = System.nanoTime();
        await().atMost(RealCell.SOON).pollInterval(Duration.ofMillis(50)).until(() -> {
            String state = node.acceptorState();
            JsonNode component = paxosLeaseHealth(node);
            if (!state.equals("NONE")) {
                states.add(state);
            }
            // That the other members have not answered it yet counts for more.
            boolean alone =
                    component.path("details").path("reason").asString("").startsWith("no majority is reachable");
            if (state.equals("QUARANTINED") && !alone && node.acceptorState().equals("QUARANTINED")) {
                health.add(component.path("status").asString(""));
            }
            return state.equals("VOTING");
        });
        assertThat(System.nanoTime() - startNanos).isGreaterThan(RealCell.LEASE_TIME.toNanos());
        assertThat(states.stream().distinct())
                .isSubsetOf("QUARANTINED", "VOTING")
                .endsWith("VOTING");
        // A busy machine may answer its first request after the quarantine.
        if (states.size() > 1) {
            assertThat(states.get(0)).isEqualTo("QUARANTINED");
            assertThat(health).isSubsetOf("OUT_OF_SERVICE", "");
        }
        figure("restart: %d looks while quarantined, then voting", states.size() - 1);
        await().atMost(RealCell.SOON)
                .until(() -> paxosLeaseHealth(node).path("status").asString("").equals("UP"));
    }

    /** What a node says about its health; empty JSON if it did not answer in time. */
    private static JsonNode paxosLeaseHealth(NodeProcess node) {
        return node.health()
                .orElseGet(MissingNode::getInstance)
                .path("components")
                .path("paxoslease");
    }

    @Test
    @Order(3)
    void afterATerminationAnotherLeadsAtOnce() throws Exception {
        List<Long> mediansOfCalmRounds = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            cell.awaitSteady();
            NodeProcess leader = cell.awaitLeader(Jobs.PROBE);
            try (MachineLag lag = new MachineLag()) {
                long startNanos = System.nanoTime();
                leader.process().terminate();
                assertThat(leader.process().awaitExit(RealCell.SOON)).isEqualTo(143);
                RealCell.leases().forEach(cell::awaitLeader);
                List<Long> ofRound = RealCell.leases().stream()
                        .flatMap(lease -> releaseToAcquisition(lease, startNanos))
                        .toList();
                figure(
                        "SIGTERM: from a release to the next tenure, ms: %s; machine lag %d ms",
                        millis(ofRound), lag.nanos() / MILLISECOND);
                if (lag.isCalm()) {
                    assertThat(ofRound).isNotEmpty();
                    mediansOfCalmRounds.add(median(ofRound));
                }
            }
            leader.start();
        }
        // A node that leads for the first time runs code that is not compiled yet, on a slow machine for 100 ms: the
        // best round counts.
        assertThat(mediansOfCalmRounds).allMatch(each -> each < 250 * MILLISECOND);
        mediansOfCalmRounds.stream()
                .min(Comparator.naturalOrder())
                .ifPresent(best -> assertThat(best).isLessThan(100 * MILLISECOND));
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    private static String millis(List<Long> nanos) {
        return nanos.stream().map(value -> String.format("%.1f", value / 1e6)).collect(Collectors.joining(" "));
    }

    /** From each release of a lease after an instant to the acquisition that followed it. */
    private static Stream<Long> releaseToAcquisition(String lease, long afterNanos) {
        List<Line> events = cell.journals()
                .lines()
                .filter(line -> line.lease().equals(lease) && (line.isReleased() || line.isAcquired()))
                .sorted(Comparator.comparingLong(Line::token).thenComparing(Line::nanos))
                .toList();
        List<Long> gaps = new ArrayList<>();
        for (int i = 1; i < events.size(); i++) {
            Line release = events.get(i - 1);
            if (release.isReleased()
                    && release.nanos() > afterNanos
                    && events.get(i).isAcquired()) {
                gaps.add(events.get(i).nanos() - events.get(i - 1).nanos());
            }
        }
        return gaps.stream();
    }

    @Test
    @Order(4)
    void aPausedLeaderDoesNothingAfterItsLeaseHasEnded() throws Exception {
        NodeProcess leader = cell.awaitLeader(Jobs.PROBE);
        long token = tokenOf(leader);
        leader.process().pause();
        Thread.sleep(RealCell.LEASE_TIME.multipliedBy(3).toMillis());
        assertThat(firstHeldAfter(token)).as("another led meanwhile").isPresent();

        long resumedNanos = System.nanoTime();
        leader.process().resume();

        await().atMost(RealCell.SOON).until(() -> linesOfProbe(token).anyMatch(Line::isLost));
        long learntNanos = linesOfProbe(token)
                .filter(Line::isLost)
                .findFirst()
                .orElseThrow()
                .nanos();
        figure("SIGSTOP: after SIGCONT it took %.1f ms to learn of the loss", (learntNanos - resumedNanos) / 1e6);
        await().atMost(RealCell.SOON).until(() -> leader.lease().isPresent());
        assertThat(linesOfProbe(token).filter(line -> line.isStart() && line.nanos() > resumedNanos))
                .isEmpty();
    }

    /** What was journalled of one tenure. The token alone does not name it: another lease may have the same one. */
    private static Stream<Line> linesOfProbe(long token) {
        return cell.journals().lines().filter(line -> line.lease().equals(Jobs.PROBE) && line.token() == token);
    }

    @Test
    @Order(5)
    void withoutAMajorityNobodyLeadsUntilOneReturns() throws Exception {
        NodeProcess survivor = cell.awaitLeader(Jobs.PROBE);
        List<NodeProcess> gone = cell.others(survivor);
        for (NodeProcess node : gone) {
            node.process().kill();
        }

        await().atMost(RealCell.SOON)
                .until(() -> survivor.lease()
                        .filter(view -> RealCell.leases().stream().noneMatch(lease -> NodeProcess.leads(view, lease)))
                        .isPresent());
        await().atMost(RealCell.SOON).untilAsserted(() -> {
            JsonNode component = paxosLeaseHealth(survivor);
            assertThat(component.path("status").asString("")).isEqualTo("DOWN");
            assertThat(component.path("details").toString()).contains("majority");
        });
        figure("two of three gone: %s", paxosLeaseHealth(survivor));
        long nobodyLeadsNanos = System.nanoTime();
        Thread.sleep(1_000);
        assertThat(cell.journals().lines().filter(line -> line.isStart() && line.nanos() > nobodyLeadsNanos))
                .as("jobs are skipped")
                .isEmpty();

        gone.get(0).start();
        await().atMost(RealCell.SOON).until(() -> gone.get(0).acceptorState().equals("VOTING"));
        long votingNanos = System.nanoTime();
        RealCell.leases().forEach(cell::awaitLeader);
        figure("recovery: leaders %d ms after the second node votes", (System.nanoTime() - votingNanos) / MILLISECOND);
        await().atMost(RealCell.SOON)
                .until(() ->
                        paxosLeaseHealth(survivor).path("status").asString("").equals("UP"));
        gone.get(1).start();
    }

    /** The pace of {@code docs/operations.md}: one member at a time, the next one when the last one votes. */
    @Test
    @Order(6)
    void aRollingRestartLeavesALeaderButForTheHandOvers() throws Exception {
        long startNanos = System.nanoTime();
        try (MachineLag lag = new MachineLag()) {
            for (NodeProcess node : cell.nodes()) {
                node.process().terminate();
                assertThat(node.process().awaitExit(RealCell.SOON)).isEqualTo(143);
                node.start();
                await().atMost(RealCell.SOON).until(() -> node.acceptorState().equals("VOTING"));
            }
            RealCell.leases().forEach(cell::awaitLeader);
            long tookNanos = System.nanoTime() - startNanos;
            List<Long> gaps = RealCell.leases().stream()
                    .flatMap(lease -> releaseToAcquisition(lease, startNanos))
                    .toList();
            List<Line> lost = cell.journals()
                    .lines()
                    .filter(line -> line.isLost() && line.nanos() > startNanos)
                    .toList();
            long withoutLeaderNanos = gaps.stream().mapToLong(Long::longValue).sum();
            double share = 1
                    - withoutLeaderNanos
                            / (double) (tookNanos * RealCell.leases().size());
            figure(
                    "rolling restart: %d ms, hand-overs in ms: %s, a leader for %.3f %% of the time, lost: %s; machine lag %d ms",
                    tookNanos / MILLISECOND, millis(gaps), 100 * share, lost, lag.nanos() / MILLISECOND);
            assertThat(gaps.isEmpty() && lost.isEmpty()).as("nothing happened").isFalse();
            if (lag.isCalm()) {
                assertThat(lost).isEmpty();
                assertThat(gaps)
                        .as("each lease was led by a node that was restarted")
                        .hasSizeGreaterThanOrEqualTo(RealCell.leases().size());
                assertThat(share).isGreaterThan(0.99);
            }
        }
    }

    @Test
    @Order(7)
    @Timeout(1_800)
    void survivesRandomKillsPausesAndRestarts() throws Exception {
        long seed = Long.getLong("paxoslease.seed", System.nanoTime());
        Duration duration = LONG ? Duration.ofMinutes(15) : Duration.ofSeconds(20);
        figure("random faults for %s, -Dpaxoslease.seed=%d", duration, seed);
        Random random = new Random(seed);
        long endNanos = System.nanoTime() + duration.toNanos();
        int faults = 0;
        while (System.nanoTime() - endNanos < 0) {
            List<NodeProcess> victims = new ArrayList<>(cell.nodes());
            Collections.shuffle(victims, random);
            int count = random.nextInt(3) == 0 ? 2 : 1;
            for (NodeProcess victim : victims.subList(0, count)) {
                strike(victim, random.nextInt(4));
                faults++;
            }
            Thread.sleep(random.nextLong(2 * RealCell.LEASE_TIME.toMillis()));
            for (NodeProcess victim : victims.subList(0, count)) {
                if (victim.isAlive()) {
                    victim.process().resume();
                } else {
                    victim.start();
                }
            }
            Thread.sleep(random.nextLong(3 * RealCell.LEASE_TIME.toMillis()));
        }
        cell.awaitSteady();

        long runs = cell.journals().runs();
        figure("%d faults, %d tenures", faults, cell.journals().tenures().size());
        assertThat(runs).as("a test in which little happened proves little").isGreaterThan(2_000);
        assertThat(holdersOf(Jobs.PROBE)).as("lives that led").hasSizeGreaterThan(5);
    }

    private static void strike(NodeProcess victim, int kind) throws Exception {
        switch (kind) {
            case 0 -> victim.process().kill();
            case 1 -> {
                victim.process().terminate();
                victim.process().awaitExit(RealCell.SOON);
            }
            case 2 -> victim.process().pause();
            default -> RealCell.leases().forEach(victim::resign);
        }
    }

    private static List<String> holdersOf(String lease) {
        return cell.journals().tenures().stream()
                .filter(tenure -> tenure.lease().equals(lease))
                .map(Tenure::holder)
                .distinct()
                .toList();
    }

    private static void figure(String format, Object... values) {
        System.out.println("[RealCellIT] " + String.format(format, values));
    }
}
