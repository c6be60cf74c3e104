package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.paxoslease.protocol.Mistake;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Whole cells under trouble. {@code -Dpaxoslease.seed=7} replays one seed with its transcript; {@code -Dpaxoslease.events} sets how many
 * events the suite runs; with {@code -Dpaxoslease.long=true} it runs for {@code -Dpaxoslease.minutes} instead.
 */
class SimulationTests {

    private static final long DEFAULT_EVENTS = 20_000_000;
    private static final int SHRINKING_RUNS = 300;

    @Test
    void keepsEveryInvariantInEveryCell() {
        Long replayed = Long.getLong("paxoslease.seed");
        if (replayed != null) {
            Simulation.Result result = new Simulation(replayed, Set.of(), new BitSet(), System.out::println).run();
            assertThat(result.violation()).as(report(result)).isNull();
            return;
        }
        boolean lengthy = Boolean.getBoolean("paxoslease.long");
        long minutes = Long.getLong("paxoslease.minutes", 10);
        long wanted = Long.getLong("paxoslease.events", lengthy ? Long.MAX_VALUE : DEFAULT_EVENTS);
        StopWatch watch = new StopWatch();
        long events = 0;
        long simulatedNanos = 0;
        long transcripts = 0;
        long[] happened = new long[Happening.values().length];
        long seed = Long.getLong("paxoslease.firstSeed", 1) - 1;
        long first = seed;
        while (events < wanted && !(lengthy && watch.minutes() >= minutes)) {
            Simulation.Result result = new Simulation(++seed).run();
            if (result.violation() != null) {
                fail(report(result) + shrunk(result));
            }
            events += result.events();
            simulatedNanos += result.trueNanos() / 1_000;
            transcripts = transcripts * 31 + result.transcript();
            for (int i = 0; i < happened.length; i++) {
                happened[i] += result.happened()[i];
            }
        }
        TreeMap<String, Long> counts = new TreeMap<>();
        for (Happening happening : Happening.values()) {
            counts.put(happening.name(), happened[happening.ordinal()]);
        }
        System.out.printf(
                "Simulated %,d events over %,d seeds, %,d s of simulated time, in %d s; transcript %016x%n%s%n",
                events, seed - first, simulatedNanos / 1_000_000, watch.seconds(), transcripts, counts);
        assertThat(counts)
                .allSatisfy((what, count) -> assertThat(count).as(what).isPositive());
    }

    @Test
    void theSameSeedGivesTheSameTranscript() {
        for (long seed = 1; seed <= 5; seed++) {
            List<String> once = new ArrayList<>();
            List<String> again = new ArrayList<>();
            Simulation.Result first = new Simulation(seed, Set.of(), new BitSet(), once::add).run();
            Simulation.Result second = new Simulation(seed, Set.of(), new BitSet(), again::add).run();
            assertThat(second.transcript()).isEqualTo(first.transcript());
            assertThat(again).isEqualTo(once);
        }
    }

    /** These show themselves within a few seeds; KnownMistakesTests has a schedule for each of the others. */
    @Test
    void findsTheMistakesThatTroubleBringsToLight() {
        List<Set<Mistake>> weakened = List.of(Set.of(Mistake.RELEASE_BY_OWNER), Set.of(Mistake.LOWER_BALLOT_SERVED));
        for (Set<Mistake> mistakes : weakened) {
            long seed = 0;
            String violation = null;
            while (violation == null && seed < 200) {
                violation = new Simulation(++seed, mistakes, new BitSet(), null)
                        .run()
                        .violation();
            }
            System.out.println("Simulation found " + mistakes + " after " + seed + " seeds: " + violation);
            assertThat(violation).as("%s", mistakes).isNotNull();
        }
    }

    private static String report(Simulation.Result result) {
        return "Seed " + result.seed() + ": " + result.violation()
                + "\nReplay: ./mvnw -pl paxoslease-core test -Dtest=SimulationTests -Dpaxoslease.seed="
                + result.seed() + "\n";
    }

    /** Leaves out planned faults and deeds, in ever smaller portions, for as long as something is violated. */
    private static String shrunk(Simulation.Result result) {
        BitSet omitted = new BitSet();
        int runs = 0;
        for (int portion = result.planned() / 2; portion >= 1; portion /= 2) {
            for (int from = 0; from < result.planned() && runs < SHRINKING_RUNS; from += portion) {
                BitSet more = (BitSet) omitted.clone();
                more.set(from, Math.min(result.planned(), from + portion));
                runs++;
                if (new Simulation(result.seed(), Set.of(), more, null).run().violation() != null) {
                    omitted = more;
                }
            }
        }
        StringBuilder schedule = new StringBuilder("What it takes:\n");
        Simulation simulation = new Simulation(result.seed(), Set.of(), omitted, null);
        for (int i = omitted.nextClearBit(0); i < result.planned(); i = omitted.nextClearBit(i + 1)) {
            schedule.append("  ").append(simulation.planned(i)).append('\n');
        }
        return schedule.toString();
    }

    /** For reports and the time box only; nothing that is tested sees it. */
    private static final class StopWatch {
        private final long beganNanos = System.nanoTime();

        long seconds() {
            return (System.nanoTime() - beganNanos) / 1_000_000_000L;
        }

        long minutes() {
            return seconds() / 60;
        }
    }
}
