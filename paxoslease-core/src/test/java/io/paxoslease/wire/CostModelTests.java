package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.wire.CostModel.Cost;
import io.paxoslease.wire.CostSimulation.Counts;
import io.paxoslease.wire.CostSimulation.Peer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@link CostModel} against what production nodes with the production wire send. Messages and bytes must be equal. How many frames carry
 * them depends on what waits for an answer at the time, so there are bounds for those, and the bytes of the frames that were counted.
 */
class CostModelTests {

    private static final int NAME_BYTES = 16;
    private static final int BURST = 500;
    private static final long ROUND_TRIP_NANOS = 2 * CostSimulation.MOST_DELAY_NANOS;

    /** Bursts of 500, each given back before the next: a burst's first request goes alone, the others together behind it. */
    @ParameterizedTest
    @CsvSource({
        "1, true, 1",
        "1, true, 100",
        "3, true, 1",
        "3, true, 100",
        "3, true, 10000",
        "3, false, 1",
        "3, false, 100",
        "3, false, 10000",
        "5, true, 1",
        "5, true, 100",
        "5, false, 100",
        "7, true, 1",
        "7, true, 10000",
        "7, false, 100"
    })
    void anAcquisitionAndReleaseByAMember(int acceptors, boolean oneRoundTrip, int leases) {
        cycles(acceptors, oneRoundTrip, leases, true);
    }

    @ParameterizedTest
    @CsvSource({"1, true, 100", "3, true, 1", "3, true, 100", "3, false, 100", "7, true, 100"})
    void anAcquisitionAndReleaseByANodeThatIsNoMember(int acceptors, boolean oneRoundTrip, int leases) {
        cycles(acceptors, oneRoundTrip, leases, false);
    }

    private static void cycles(int acceptors, boolean oneRoundTrip, int leases, boolean member) {
        CostSimulation cell = CostSimulation.of(acceptors, acceptors + 1, oneRoundTrip);
        CostModel model = cell.model(NAME_BYTES);
        Peer peer = cell.peer(member ? 0 : acceptors);
        peer.learnWhomToAsk();
        Counts before = cell.counts();
        int bursts = 0;
        for (List<String> names : bursts(leases)) {
            peer.release(peer.acquire(names));
            bursts++;
        }
        Counts counts = cell.since(before);

        Cost predicted = model.acquisition(member, oneRoundTrip)
                .plus(model.release(member, oneRoundTrip))
                .times(leases);
        isExactly(predicted, counts, model);
        assertThat(counts.prepares())
                .as("prepares")
                .isEqualTo(oneRoundTrip ? 0 : (long) leases * model.asked(member, false));
        int rounds = oneRoundTrip ? 2 : 3;
        long links = model.asked(member, oneRoundTrip);
        long carrying = counts.frames() - counts.probes();
        if (leases == 1) {
            assertThat(carrying).as("frames").isEqualTo(rounds * links);
        } else {
            assertThat(carrying).as("frames").isBetween(rounds * links * bursts, 4 * rounds * links * bursts);
        }
    }

    /** A worker's release can travel with its next propose, but need not: the next one does not wait for all answers. */
    @ParameterizedTest
    @CsvSource({"3, true, 1", "3, true, 16", "3, true, 128", "3, false, 1", "3, false, 16", "5, true, 1", "5, true, 16"
    })
    void workersShareFrames(int acceptors, boolean oneRoundTrip, int workers) {
        int leases = 1_000;
        CostSimulation cell = CostSimulation.of(acceptors, acceptors, oneRoundTrip);
        CostModel model = cell.model(NAME_BYTES);
        cell.peer(0).learnWhomToAsk();
        Counts before = cell.counts();
        cell.peer(0).cycle(names(0, leases), workers);
        Counts counts = cell.since(before);

        isExactly(
                model.acquisition(true, oneRoundTrip)
                        .plus(model.release(true, oneRoundTrip))
                        .times(leases),
                counts,
                model);
        double perCycle = (double) (counts.frames() - counts.probes()) / leases;
        int rounds = oneRoundTrip ? 1 : 2;
        assertThat(perCycle)
                .as("frames per cycle")
                .isLessThanOrEqualTo(
                        (rounds + 1.0) * model.asked(true, oneRoundTrip) * (workers == 1 ? 1 : 4.0 / workers))
                .isGreaterThanOrEqualTo((double) rounds * model.asked(true, oneRoundTrip) / workers);
    }

    /** Three lease times, in which every lease is extended six times: at a half of the owner's time D, which is 0.98 T, or a little later. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, true, 100",
        "3, 3, true, 1",
        "3, 3, true, 100",
        "3, 3, true, 10000",
        "3, 3, false, 100",
        "5, 5, true, 100",
        "5, 5, false, 100",
        "7, 7, true, 100",
        "3, 10, true, 1000",
        "3, 100, true, 1000",
        "5, 100, true, 1000",
    })
    void extensions(int acceptors, int nodes, boolean oneRoundTrip, int leases) {
        holds(acceptors, nodes, oneRoundTrip, leases, 3);
    }

    /** Fifty times, so that one more or less hardly counts. */
    @Test
    void theRateOfExtensions() {
        int leaseTimes = 25;
        double seconds = leaseTimes * CostSimulation.LEASE_TIME.toSeconds();
        double predicted =
                new CostModel(3, 7, 6, NAME_BYTES).extensionsPerSecond(1, CostSimulation.LEASE_TIME.toSeconds(), 0.01);
        assertThat(holds(3, 3, true, 100, leaseTimes) / seconds).isCloseTo(predicted, withinPercentage(1));
    }

    @Test
    @EnabledIfSystemProperty(named = "paxoslease.long", matches = "true")
    void extensionsOfAHundredThousandLeases() {
        holds(3, 3, true, 100_000, 5);
        holds(5, 100, true, 100_000, 5);
    }

    private static double holds(int acceptors, int nodes, boolean oneRoundTrip, int leases, int leaseTimes) {
        CostSimulation cell = CostSimulation.of(acceptors, nodes, oneRoundTrip);
        CostModel model = cell.model(NAME_BYTES);
        long remote = hold(cell, model, nodes, leases);
        Counts before = cell.counts();
        Duration time = CostSimulation.LEASE_TIME.multipliedBy(leaseTimes);
        cell.advance(time);
        cell.settle();
        Counts counts = cell.since(before);

        long leaseNanos = CostSimulation.LEASE_TIME.toNanos();
        long ownerNanos = CostSimulation.TIMING.ownerNanos(leaseNanos);
        Cost atOneAcceptor =
                oneRoundTrip ? model.propose() : model.prepare(true).plus(model.propose());
        long extensions = counts.requests() / atOneAcceptor.requests();
        isExactly(atOneAcceptor.times(extensions), counts, model);
        assertThat(extensions)
                .as("extensions, once for each acceptor elsewhere")
                .isGreaterThanOrEqualTo(remote
                        * (time.toNanos() / model.longestExtensionNanos(leaseNanos, ownerNanos, ROUND_TRIP_NANOS)))
                .isLessThanOrEqualTo(remote * (time.toNanos() / model.shortestExtensionNanos(ownerNanos) + 1));
        long steps = time.toNanos() / model.coalescingNanos(leaseNanos) + 1;
        assertThat(counts.frames() - counts.probes())
                .as("frames")
                .isLessThanOrEqualTo(Math.min(counts.requests(), 4 * steps * model.links(nodes)));
        assertThat(IntStream.range(0, nodes)
                        .mapToObj(cell::peer)
                        .flatMap(peer -> peer.node.leases().values().stream())
                        .filter(LeaseStatus::heldHere))
                .as("leases that are still held")
                .hasSize(leases);
        return remote == 0 ? 0 : (double) extensions / remote;
    }

    /** Spreads leases over the nodes and some time. Returns to how many acceptors elsewhere all of them are extended, together. */
    private static long hold(CostSimulation cell, CostModel model, int nodes, int leases) {
        long remote = 0;
        for (int i = 0; i < nodes; i++) {
            int own = leases / nodes + (i < leases % nodes ? 1 : 0);
            for (List<String> names : bursts(own)) {
                String prefix = String.format(Locale.ROOT, "%03d", i);
                cell.peer(i)
                        .acquire(names.stream()
                                .map(name -> prefix + name.substring(3))
                                .toList())
                        .forEach(Lease::autoExtend);
                cell.advance(Duration.ofMillis(7));
            }
            remote += (long) own * model.remote(i < model.acceptors());
        }
        cell.advance(CostSimulation.LEASE_TIME);
        cell.settle();
        return remote;
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 10", "3, 3", "3, 10", "3, 100", "5, 100", "7, 100", "9, 100"})
    void aCellThatHoldsNothing(int acceptors, int nodes) {
        CostSimulation cell = CostSimulation.of(acceptors, nodes, true);
        CostModel model = cell.model(NAME_BYTES);
        Counts before = cell.counts();
        long periods = 20;
        cell.advance(Duration.ofNanos(periods * model.probeNanos(ROUND_TRIP_NANOS)));
        Counts counts = cell.since(before);

        assertThat(counts.frames()).isEqualTo(periods * model.links(nodes)).isEqualTo(counts.probes());
        assertThat(counts.bytes()).isEqualTo(counts.frames() * model.frameBytes());
        assertThat(counts.hellos()).isZero();
    }

    /** Each node says hello to each acceptor once. */
    @ParameterizedTest
    @CsvSource({"3, 100", "5, 10"})
    void theMeetingOfACell(int acceptors, int nodes) {
        CostSimulation cell = CostSimulation.of(acceptors, nodes, true);
        CostModel model = cell.model(NAME_BYTES);
        Counts counts = cell.counts();

        assertThat(counts.hellos()).isEqualTo(model.links(nodes));
        assertThat(counts.bytes() - counts.frames() * model.frameBytes())
                .isEqualTo(counts.hellos() * model.helloBytes());
    }

    /**
     * One leader and candidates that wait. A member learns of each extension from its own acceptor and asks nothing. Another node knows only
     * what it was told when it asked, and asks again when that is over.
     */
    @ParameterizedTest
    @CsvSource({"3, 3", "3, 10", "3, 50", "5, 30"})
    void candidates(int acceptors, int nodes) {
        CostSimulation cell = CostSimulation.of(acceptors, nodes, true);
        CostModel model = cell.model(NAME_BYTES);
        for (int i = 0; i < nodes; i++) {
            cell.peer(i).stand("lease-of-sixteen");
            cell.settle();
        }
        cell.advance(CostSimulation.LEASE_TIME.multipliedBy(2));
        Counts before = cell.counts();
        Duration time = CostSimulation.LEASE_TIME.multipliedBy(10);
        cell.advance(time);
        cell.settle();
        Counts counts = cell.since(before);

        long attempts = (counts.answers() - counts.granted()) / acceptors;
        long extensions = counts.granted() / (acceptors - 1);
        Cost predicted = model.extension(true, true)
                .times(extensions)
                .plus(model.vainAttempt(false).times(attempts));
        assertThat(counts.requests()).as("requests").isEqualTo(predicted.requests());
        assertThat(counts.bytes()).as("bytes").isEqualTo(predicted.bytes() + counts.frames() * model.frameBytes());
        long ownerNanos = CostSimulation.TIMING.ownerNanos(CostSimulation.LEASE_TIME.toNanos());
        long each = time.toNanos() / model.vainAttemptNanos(ownerNanos);
        assertThat(attempts)
                .as("attempts in vain")
                .isBetween((nodes - acceptors) * each, (nodes - acceptors) * (each + 1));
    }

    /**
     * With more nodes than an acceptor keeps sessions of, the session that was idle longest is often the next one that is wanted. Its probe is
     * refused and followed by a hello; a request goes out, is refused, and goes out again after a hello. Nothing is lost by it.
     */
    @ParameterizedTest
    @CsvSource({"1025, 0", "1026, 0.25", "1100, 1"})
    void moreNodesThanSessions(int nodes, double refused) {
        CostSimulation cell = CostSimulation.of(1, nodes, true);
        CostModel model = cell.model(NAME_BYTES);
        Counts before = cell.counts();
        long periods = 4;
        cell.advance(Duration.ofNanos(periods * model.probeNanos(ROUND_TRIP_NANOS)));
        cell.settle();
        Counts idle = cell.since(before);

        assertThat(idle.probes() + idle.unknownSessions()).isEqualTo(periods * model.links(nodes));
        assertThat((double) idle.unknownSessions() / (periods * model.links(nodes)))
                .as("part of the probes that is refused")
                .isCloseTo(refused, within(refused % 1 == 0 ? 0 : 0.1));
        assertThat(idle.bytes())
                .isEqualTo(idle.probes() * model.frameBytes()
                        + idle.hellos() * (model.unknownSessionBytes() + model.helloBytes()));

        before = cell.counts();
        Peer peer = cell.peer(nodes - 1);
        peer.acquire(names(0, 1));
        assertThat(cell.since(before).granted()).isEqualTo(1);
    }

    /** What {@code CellBenchmark} counted on three processes that talk HTTP, as docs/performance.md has it: bytes for the frames of a cycle. */
    @ParameterizedTest
    @CsvSource({
        "false, 5.27, 852", "false, 0.41, 248", "false, 0.05, 204",
        "true, 2.0, 311", "true, 0.15, 81", "true, 0.02, 66"
    })
    void theModelFitsWhatProcessesSent(boolean oneRoundTrip, double frames, double bytes) {
        CostModel model = new CostModel(3, "bench".length(), "n1".length(), NAME_BYTES);
        long messages = model.acquisition(true, oneRoundTrip)
                .plus(model.release(true, oneRoundTrip))
                .bytes();
        assertThat(messages + frames * model.frameBytes()).isCloseTo(bytes, withinPercentage(1));
    }

    // Helpers.

    private static void isExactly(Cost predicted, Counts counts, CostModel model) {
        assertThat(counts.requests()).as("requests").isEqualTo(predicted.requests());
        assertThat(counts.answers()).as("answers").isEqualTo(predicted.answers());
        assertThat(counts.granted()).as("granted").isEqualTo(predicted.answers());
        assertThat(counts.bytes())
                .as("bytes, with those of the frames that were counted")
                .isEqualTo(predicted.bytes() + counts.frames() * model.frameBytes());
    }

    private static List<List<String>> bursts(int leases) {
        List<List<String>> bursts = new ArrayList<>();
        for (int from = 0; from < leases; from += BURST) {
            bursts.add(names(from, Math.min(leases, from + BURST)));
        }
        return bursts;
    }

    private static List<String> names(int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(number -> String.format(Locale.ROOT, "lease-%010d", number))
                .toList();
    }
}
