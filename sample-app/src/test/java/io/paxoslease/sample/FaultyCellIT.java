package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.paxoslease.sample.PacketHub.Link;
import io.paxoslease.sample.Tenures.Tenure;
import io.paxoslease.sample.Timeline.Mark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * A cell of separate processes on a network and with clocks that fail in every way, while all guarded runs are journalled. In the end the
 * journals and an outside observer are asked whether two nodes ever held one lease, or a fencing token fell.
 *
 * <p>Half a minute by default. {@code -Pfaults} runs it alone, {@code -Dpaxoslease.minutes=…} for longer, {@code -Dpaxoslease.nodes=5} with more nodes,
 * {@code -Dpaxoslease.seed=…} with the same choices again; over TCP if the seed is even, else over HTTP. Writes {@code target/faulty-cell/report.txt} and {@code timeline.svg}.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "network namespaces and one monotonic clock for all processes")
class FaultyCellIT {

    private static final Path DIRECTORY = Path.of("target", "faulty-cell");
    private static final boolean ALONE = Boolean.getBoolean("paxoslease.faults");
    private static final Duration DURATION = Duration.ofSeconds(
            Math.round(60 * Double.parseDouble(System.getProperty("paxoslease.minutes", ALONE ? "4" : "0.5"))));
    private static final int NODES = Integer.getInteger("paxoslease.nodes", 3);
    private static final long SEED = Long.getLong("paxoslease.seed", System.nanoTime());
    /** Both ways in turn: the seed is the time, unless it is told. */
    private static final boolean TCP = SEED % 2 == 0;

    private static final long LEASE_MILLIS = RealCell.LEASE_TIME.toMillis();

    private final Random random = new Random(SEED);
    private final Random clockRandom = new Random(SEED + 1);
    private final List<Mark> marks = new ArrayList<>();
    private final Map<Fault, Integer> struck = new TreeMap<>();
    private final StringBuilder report = new StringBuilder();
    private Optional<FaultyNetwork> network = Optional.empty();
    private FaultyCell faulty;

    private enum Fault {
        KILL,
        KILL_AND_START_AT_ONCE,
        TERMINATE,
        TERMINATE_AND_START_AT_ONCE,
        PAUSE,
        RESIGN,
        ISOLATE,
        DEAFEN,
        MUTE,
        PART_TWO,
        PART_ONE_WAY,
        SPLIT,
        SCATTER,
        LOSE,
        DELAY,
        REORDER,
        DUPLICATE,
        RESET,
        SET_CLOCK;

        static final List<Fault> OF_PROCESSES = List.of(
                KILL, KILL_AND_START_AT_ONCE, TERMINATE, TERMINATE_AND_START_AT_ONCE, PAUSE, PAUSE, PAUSE, RESIGN);
        static final List<Fault> OF_THE_NETWORK = List.of(
                ISOLATE,
                ISOLATE,
                DEAFEN,
                MUTE,
                PART_TWO,
                PART_ONE_WAY,
                SPLIT,
                SCATTER,
                LOSE,
                DELAY,
                REORDER,
                DUPLICATE,
                RESET);

        /** Whether it ends processes. */
        boolean ends() {
            return this == KILL
                    || this == KILL_AND_START_AT_ONCE
                    || this == TERMINATE
                    || this == TERMINATE_AND_START_AT_ONCE;
        }
    }

    /** Ends a fault. */
    private interface Remedy {

        void apply() throws Exception;
    }

    @Test
    @Timeout(4 * 60 * 60)
    void neverTwoLeadersWhateverFails() throws Exception {
        Optional<String> obstacle = FaultyNetwork.obstacle();
        if (obstacle.isPresent()) {
            figure("no faults of the network, because %s", obstacle.get());
        }
        assumeTrue(
                obstacle.isEmpty() || ALONE, () -> "faults of the network need root, ip and socat: " + obstacle.get());
        if (!SkewedClock.isAvailable()) {
            figure("no faults of the clocks, because libfaketime is not installed");
        }
        emptyDirectory();
        network = obstacle.isEmpty() ? Optional.of(new FaultyNetwork(NODES, SEED)) : Optional.empty();
        try (FaultyNetwork closedLast = network.orElse(null);
                FaultyCell cell = new FaultyCell(DIRECTORY, NODES, network, TCP, clockRandom)) {
            faulty = cell;
            cell.cell().startAll();
            try (LeaderObserver observer = new LeaderObserver(cell.nodes(), Duration.ofMillis(40))) {
                cell.cell().awaitSteady();
                long startNanos = System.nanoTime();
                figure(
                        "%d nodes over %s, %s of faults, -Dpaxoslease.nodes=%d -Dpaxoslease.seed=%d",
                        NODES, TCP ? "TCP" : "HTTP", DURATION, NODES, SEED);
                // Wall clocks that are far off end what is promised about tokens when nodes restart, so that comes
                // last, without restarts.
                long lastPartNanos =
                        DURATION.toMinutes() >= 3 && SkewedClock.isAvailable() ? DURATION.toNanos() / 8 : 0;
                killLeaderOfProbe();
                passOnAPort();
                long faultsEndNanos = System.nanoTime() + DURATION.toNanos();
                disturb(faultsEndNanos - lastPartNanos, true);
                if (lastPartNanos > 0) {
                    giveAllSettableClocks();
                    disturb(faultsEndNanos, false);
                }
                long endNanos = System.nanoTime();
                try {
                    cell.cell().awaitSteady();
                } finally {
                    judge(observer, startNanos, endNanos);
                }
            }
        } finally {
            Files.writeString(DIRECTORY.resolve("report.txt"), report);
        }
    }

    private static void emptyDirectory() throws IOException {
        Files.createDirectories(DIRECTORY);
        try (Stream<Path> files = Files.list(DIRECTORY)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    /** Half a minute of random faults may spare the leader, so there is one takeover by plan. */
    private void killLeaderOfProbe() throws Exception {
        List<Mark> open = new ArrayList<>();
        long fromNanos = System.nanoTime();
        Remedy remedy = strike(Fault.KILL, faulty.cell().awaitLeader(Jobs.PROBE), open);
        faulty.cell().awaitLeader(Jobs.PROBE);
        remedy.apply();
        close(open, fromNanos);
        faulty.cell().awaitSteady();
    }

    /**
     * A process stops while locks are kept in it, and the next one has its port before it has ended; another member is started again, too. By plan, as
     * the two must have their quarantine behind them while the locks are still kept (A4).
     */
    private void passOnAPort() throws Exception {
        List<Mark> open = new ArrayList<>();
        long fromNanos = System.nanoTime();
        Remedy remedy = strike(Fault.TERMINATE_AND_START_AT_ONCE, oneOf(faulty.nodes()), open);
        remedy.apply();
        close(open, fromNanos);
        faulty.cell().awaitSteady();
    }

    private void disturb(long endNanos, boolean restarts) throws Exception {
        while (System.nanoTime() - endNanos < 0) {
            List<Remedy> remedies = new ArrayList<>();
            long fromNanos = System.nanoTime();
            List<Mark> open = new ArrayList<>();
            if (random.nextInt(2) == 0) {
                Fault fault = oneOf(Fault.OF_PROCESSES);
                if (!fault.ends() || restarts && (random.nextInt(4) == 0 || allVote())) {
                    int victims = random.nextInt(3) == 0 ? 2 : 1;
                    for (NodeProcess victim : shuffled(faulty.nodes()).subList(0, victims)) {
                        remedies.add(strike(fault, victim, open));
                    }
                }
            }
            if (network.isPresent() && random.nextInt(3) != 0) {
                strike(oneOf(Fault.OF_THE_NETWORK), network.get(), open);
                remedies.add(network.get().hub()::clear);
            }
            if (random.nextInt(3) == 0) {
                setClocks(restarts ? FaultyCell.MAX_SKEW : Duration.ofHours(1), open);
            }
            Thread.sleep(random.nextLong(random.nextInt(3) == 0 ? LEASE_MILLIS / 2 : 3 * LEASE_MILLIS));
            for (Remedy remedy : remedies) {
                remedy.apply();
            }
            close(open, fromNanos);
            for (NodeProcess node : faulty.nodes()) {
                if (restarts && faulty.isTooFarOff(node)) {
                    restart(node);
                }
            }
            Thread.sleep(random.nextLong(2 * LEASE_MILLIS));
        }
    }

    private void close(List<Mark> open, long fromNanos) {
        long toNanos = System.nanoTime();
        for (Mark mark : open) {
            long untilNanos = mark.kind() == Timeline.Kind.CLOCK ? fromNanos : toNanos;
            marks.add(new Mark(mark.row(), mark.kind(), mark.text(), fromNanos, untilNanos));
        }
    }

    /** On a busy machine a start takes long, and a cell that is down all the time cannot do wrong. */
    private boolean allVote() {
        return faulty.nodes().stream().allMatch(node -> node.acceptorState().equals("VOTING"));
    }

    private Remedy strike(Fault fault, NodeProcess victim, List<Mark> open) throws Exception {
        count(fault);
        switch (fault) {
            case KILL -> {
                open.add(mark(victim.id(), Timeline.Kind.DOWN, fault));
                victim.process().kill();
                return victim::start;
            }
            case KILL_AND_START_AT_ONCE -> {
                open.add(mark(victim.id(), Timeline.Kind.DOWN, fault));
                victim.process().kill();
                victim.start();
                return () -> {};
            }
            case TERMINATE -> {
                open.add(mark(victim.id(), Timeline.Kind.DOWN, fault));
                victim.process().terminate();
                return () -> {
                    victim.process().awaitExit(RealCell.SOON);
                    victim.start();
                };
            }
            case TERMINATE_AND_START_AT_ONCE -> {
                open.add(mark(victim.id(), Timeline.Kind.DOWN, fault));
                JavaProcess former = victim.process();
                former.terminate();
                victim.startNext();
                NodeProcess other = oneOf(faulty.cell().others(victim));
                strike(Fault.KILL_AND_START_AT_ONCE, other, open);
                return () -> {
                    former.awaitExit(RealCell.SOON);
                    // It may have come too early for the port, and end only now.
                    await().atMost(RealCell.SOON)
                            .until(() ->
                                    !victim.isAlive() || victim.acceptorState().equals("VOTING"));
                    if (!victim.isAlive()) {
                        victim.start();
                    }
                };
            }
            case PAUSE -> {
                open.add(mark(victim.id(), Timeline.Kind.PAUSED, fault));
                victim.process().pause();
                return victim.process()::resume;
            }
            default -> {
                // A resignation is over at once.
                RealCell.leases().forEach(victim::resign);
                return () -> {};
            }
        }
    }

    private void strike(Fault fault, FaultyNetwork net, List<Mark> open) {
        count(fault);
        List<Integer> all = shuffled(IntStream.range(0, NODES).boxed().toList());
        List<Integer> first = all.subList(0, 1);
        List<Integer> second = all.subList(1, 2);
        List<Integer> rest = all.subList(1, NODES);
        switch (fault) {
            case ISOLATE -> cut(net, first, rest, open, fault);
            case DEAFEN -> {
                net.set(rest, first, Link.CUT);
                open.add(mark(id(first), Timeline.Kind.CUT, fault));
            }
            case MUTE -> {
                net.set(first, rest, Link.CUT);
                open.add(mark(id(first), Timeline.Kind.CUT, fault));
            }
            case PART_TWO -> cut(net, first, second, open, fault);
            case PART_ONE_WAY -> {
                net.set(first, second, Link.CUT);
                open.add(mark(Timeline.NETWORK, Timeline.Kind.CUT, fault));
            }
            case SPLIT -> {
                int half = NODES / 2;
                cut(net, all.subList(0, half), all.subList(half, NODES), open, fault);
            }
            case SCATTER -> {
                net.set(all, all, Link.CUT);
                open.add(mark(Timeline.NETWORK, Timeline.Kind.CUT, fault));
            }
            default -> {
                List<Integer> from = random.nextBoolean() ? all : first;
                net.set(from, all, weakLink(fault));
                open.add(mark(from == all ? Timeline.NETWORK : id(first), Timeline.Kind.WEAK, fault));
            }
        }
    }

    private void cut(FaultyNetwork net, List<Integer> some, List<Integer> others, List<Mark> open, Fault fault) {
        net.set(some, others, Link.CUT);
        net.set(others, some, Link.CUT);
        for (int node : some) {
            open.add(mark(id(List.of(node)), Timeline.Kind.CUT, fault));
        }
    }

    private Link weakLink(Fault fault) {
        return switch (fault) {
            case LOSE -> new Link(0.05 + random.nextDouble(0.5), 0, 0, 0, 0);
            case DELAY -> new Link(0, 0, 0, random.nextInt(1_500), random.nextInt(500));
            case REORDER -> new Link(0.02, 0.1, 0, 0, 1 + random.nextInt(100));
            case DUPLICATE -> new Link(0, 0.2 + random.nextDouble(0.8), 0, 0, 10);
            case RESET -> new Link(0, 0, 0.05 + random.nextDouble(0.2), 0, 0);
            default -> throw new IllegalArgumentException(fault.name());
        };
    }

    private void setClocks(Duration atMost, List<Mark> open) throws IOException {
        for (NodeProcess node : faulty.nodes()) {
            long range = atMost.toMillis();
            if (random.nextBoolean() && faulty.setClock(node, Duration.ofMillis(random.nextLong(-range, range)))) {
                count(Fault.SET_CLOCK);
                open.add(mark(node.id(), Timeline.Kind.CLOCK, Fault.SET_CLOCK));
            }
        }
    }

    private void giveAllSettableClocks() throws Exception {
        faulty.makeNextClocksSettable();
        for (NodeProcess node : faulty.nodes()) {
            faulty.cell().awaitSteady();
            restart(node);
        }
        faulty.cell().awaitSteady();
    }

    private void restart(NodeProcess node) throws Exception {
        long fromNanos = System.nanoTime();
        node.process().terminate();
        node.process().awaitExit(RealCell.SOON);
        marks.add(new Mark(node.id(), Timeline.Kind.DOWN, "RESTART", fromNanos, System.nanoTime()));
        node.start();
    }

    private void judge(LeaderObserver observer, long startNanos, long endNanos) throws IOException {
        JournalChecker journals = faulty.journals();
        List<Tenure> tenures = List.copyOf(journals.tenures());
        Timeline timeline = new Timeline(
                startNanos,
                endNanos,
                faulty.nodes().stream().map(NodeProcess::id).toList(),
                tenures.stream()
                        .filter(tenure -> tenure.lease().equals(Jobs.PROBE))
                        .toList(),
                marks);
        Files.writeString(DIRECTORY.resolve("timeline.svg"), timeline.svg());
        Takeovers takeovers = new Takeovers(Jobs.PROBE, journals, token -> observer.leaseEndNanos(Jobs.PROBE, token));

        figure("%.1f minutes, faults: %s", (endNanos - startNanos) / 60e9, struck);
        network.ifPresent(net -> figure("packets: %s", net.hub().counts()));
        figure(
                "%d processes, %d of them with a wrong clock rate, all within %s; %d answers to the observer",
                faulty.lives(), faulty.livesWithWrongRate(), FaultyCell.MAX_CLOCK_DRIFT, observer.answers());
        long locks = tenures.stream()
                .filter(tenure -> tenure.lease().startsWith(Jobs.LOCK))
                .count();
        figure(
                "%d guarded runs, %d of them cut off, %d tenures, %d of them locks",
                journals.runs(), journals.openRuns(), tenures.size(), locks);
        figure(
                "the probe lease was held %.1f %% of the time, nobody held it for %.1f s at most",
                100 * timeline.availability(), timeline.longestGapNanos() / 1e9);
        figure("takeovers of the probe lease:%n%s", takeovers.histogram());
        List<String> contradictions = journals.contradictions();
        contradictions.addAll(observer.contradictions());
        contradictions.addAll(contradictionsOfBoth(tenures, observer));
        figure("contradictions: %s", contradictions.isEmpty() ? "none" : contradictions);
        assertThat(contradictions).isEmpty();
        assertThat(journals.runs())
                .as("a test in which little happened proves little")
                .isGreaterThan(DURATION.toSeconds() * 5);
        assertThat(locks).as("locks that were taken").isGreaterThan(DURATION.toSeconds());
        assertThat(takeovers.count()).as("takeovers").isPositive();
        if (DURATION.toMinutes() >= 10) {
            assertThat(struck.keySet())
                    .containsAll(Stream.of(Fault.values())
                            .filter(fault -> network.isPresent() || !Fault.OF_THE_NETWORK.contains(fault))
                            .filter(fault -> SkewedClock.isAvailable() || fault != Fault.SET_CLOCK)
                            .toList());
        }
    }

    /** The observer's clock is the machine's: agreement also shows that the times of wrong clocks were translated well. */
    private static List<String> contradictionsOfBoth(List<Tenure> journalled, LeaderObserver observer) {
        Map<List<Object>, Tenure> both = Stream.concat(journalled.stream(), observer.tenures().stream())
                .collect(Collectors.toMap(
                        tenure -> List.of(tenure.lease(), tenure.token(), tenure.holder()),
                        tenure -> tenure,
                        Tenure::merge));
        return Tenures.contradictions(both.values());
    }

    private void count(Fault fault) {
        struck.merge(fault, 1, Integer::sum);
    }

    private String id(List<Integer> node) {
        return faulty.nodes().get(node.get(0)).id();
    }

    private static Mark mark(String row, Timeline.Kind kind, Fault fault) {
        return new Mark(row, kind, fault.name(), 0, 0);
    }

    private <T> T oneOf(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private <T> List<T> shuffled(List<T> list) {
        List<T> shuffled = new ArrayList<>(list);
        Collections.shuffle(shuffled, random);
        return shuffled;
    }

    private void figure(String format, Object... values) {
        String text = "[FaultyCellIT] " + String.format(format, values);
        System.out.println(text);
        report.append(text).append('\n');
    }
}
