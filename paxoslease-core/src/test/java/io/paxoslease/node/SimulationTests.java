package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.paxoslease.protocol.Mistake;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whole cells under trouble. {@code -Dpaxoslease.seed=7} replays one seed with its transcript; {@code -Dpaxoslease.events} sets how many
 * events the suite runs; with {@code -Dpaxoslease.long=true} it runs for {@code -Dpaxoslease.minutes} instead.
 */
class SimulationTests {

    private static final long DEFAULT_EVENTS = 12_000_000;
    private static final long EVENTS_WITH_LOCKS = 3_000_000;
    private static final long EVENTS_WITH_HANDOVERS = 5_000_000;
    private static final int SHRINKING_RUNS = 300;
    private static final int SEEDS_FOR_A_MISTAKE = 500;

    @Test
    void keepsEveryInvariantInEveryCell() {
        Counterexample asked = Counterexample.asked(System::getProperty);
        if (asked != null) {
            Simulation.Result result = asked.run(System.out::println);
            assertThat(result.violation()).as("seed %s", asked.seed()).isNull();
            return;
        }
        boolean lengthy = Boolean.getBoolean("paxoslease.long");
        long minutes = Long.getLong("paxoslease.minutes", 10);
        long wanted = Long.getLong("paxoslease.events", lengthy ? Long.MAX_VALUE : DEFAULT_EVENTS);
        Map<Happening, Long> happened =
                simulate(Long.getLong("paxoslease.firstSeed", 1), wanted, lengthy ? minutes : Long.MAX_VALUE);
        happened.keySet().removeAll(Happening.OF_STOPS);
        happened.remove(Happening.HANDOVER);
        assertThat(happened)
                .allSatisfy((what, count) -> assertThat(count).as("%s", what).isPositive());
    }

    /** Where leases are given back before long, so that many acquisitions ask a majority (X11). */
    @Test
    void keepsEveryInvariantWhereLeasesAreLocks() {
        Map<Happening, Long> happened = simulate(Simulation.FIRST_SEED_OF_LOCKS, EVENTS_WITH_LOCKS, Long.MAX_VALUE);
        assertThat(happened.get(Happening.MAJORITY_ASKED)).isGreaterThan(happened.get(Happening.TENURE) / 4);
    }

    /** Where many leases are held for long by whoever waits for nothing about them, so that they are parked and extended in their place. */
    @Test
    void keepsEveryInvariantWhereLocksLast() {
        Map<Happening, Long> happened =
                simulate(Simulation.FIRST_SEED_OF_LASTING_LOCKS, EVENTS_WITH_LOCKS, Long.MAX_VALUE);
        assertThat(happened.get(Happening.EXTENSION_IN_ITS_PLACE))
                .isGreaterThan(happened.get(Happening.EXTENSION) / 10);
    }

    /** Where processes stop in good order and the next ones have their ports before they have ended (A4). */
    @Test
    void keepsEveryInvariantWherePortsArePassedOn() {
        Map<Happening, Long> happened = simulate(Simulation.FIRST_SEED_OF_STOPS, EVENTS_WITH_LOCKS, Long.MAX_VALUE);
        assertThat(Happening.OF_STOPS)
                .allSatisfy(
                        what -> assertThat(happened.get(what)).as("%s", what).isPositive());
    }

    /** Where nothing is in the way, and it matters how long a lease takes to change hands. */
    @Test
    void keepsNobodyFromALeaseForLong() {
        Map<Happening, Long> happened =
                simulate(Simulation.FIRST_SEED_OF_HANDOVERS, EVENTS_WITH_HANDOVERS, Long.MAX_VALUE);
        assertThat(happened.get(Happening.HANDOVER)).isGreaterThan(1_000);
    }

    private static Map<Happening, Long> simulate(long firstSeed, long wanted, long minutes) {
        StopWatch watch = new StopWatch();
        long events = 0;
        long simulatedNanos = 0;
        long transcripts = 0;
        long[] happened = new long[Happening.values().length];
        long seed = firstSeed - 1;
        while (events < wanted && watch.minutes() < minutes) {
            Simulation.Result result = new Simulation(++seed).run();
            if (result.violation() != null) {
                fail(new Counterexample(seed, Set.of(), new BitSet())
                        .shrunk(SHRINKING_RUNS)
                        .report());
            }
            events += result.events();
            simulatedNanos += result.trueNanos() / 1_000;
            transcripts = transcripts * 31 + result.transcript();
            for (int i = 0; i < happened.length; i++) {
                happened[i] += result.happened()[i];
            }
        }
        Map<Happening, Long> counts = new EnumMap<>(Happening.class);
        for (Happening happening : Happening.values()) {
            counts.put(happening, happened[happening.ordinal()]);
        }
        System.out.printf(
                "Simulated %,d events over %,d seeds, %,d s of simulated time, in %d s; transcript %016x%n%s%n",
                events, seed - firstSeed + 1, simulatedNanos / 1_000_000, watch.seconds(), transcripts, counts);
        return counts;
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

    /** Row by row what TeethTests finds by walks, where whole cells show it, too; and what only they show. */
    @ParameterizedTest
    @EnumSource(
            names = {
                "OVERWRITING",
                "OWNER_COMPARED_BY_NODE_ID",
                "PROMISE_NOT_RAISED_BY_ACCEPT",
                "RELEASE_BY_OWNER",
                "VOTES_COUNTED_BY_MESSAGE",
                "ANSWERS_TO_OLDER_BALLOT_COUNTED",
                "BALLOT_REUSED",
                "QUARANTINE_TOO_SHORT",
                "NO_QUARANTINE_FOR_LOCAL_PROPOSER",
                "VOTES_AFTER_PORT_WAS_GIVEN_UP",
                "EXCLUSION_TOO_SHORT",
                "RENEWAL_WITHOUT_MAJORITY",
                "FAILED_EXTENSION_RELEASES",
                "RELEASE_FOR_REFUSED_RIVAL",
                "LOWER_BALLOT_SERVED",
                "PROMISE_FORGOTTEN_WITH_IDLE_ENTRY",
                "OVERFLOWING_COMPARISON",
                "OTHER_MEMBERS_SERVED",
                "EXTENSION_SURVIVES_RELEASE",
                "EVERY_ACCEPTOR_AWAITED"
            })
    void findsTheMistake(Mistake mistake) {
        boolean takesStops =
                mistake == Mistake.VOTES_AFTER_PORT_WAS_GIVEN_UP || mistake == Mistake.NO_QUARANTINE_FOR_LOCAL_PROPOSER;
        long firstSeed = takesStops ? Simulation.FIRST_SEED_OF_STOPS : 1;
        long seed = firstSeed - 1;
        String violation = null;
        while (violation == null && seed < firstSeed - 1 + SEEDS_FOR_A_MISTAKE) {
            Simulation life = new Simulation(++seed, Set.of(mistake), new BitSet(), null);
            if ((mistake != Mistake.OTHER_MEMBERS_SERVED || life.hasForeigner())
                    && (mistake != Mistake.EVERY_ACCEPTOR_AWAITED || life.losesMembers())) {
                violation = life.run().violation();
            }
        }
        System.out.printf("Simulation found %s after %d seeds: %s%n", mistake, seed - firstSeed + 1, violation);
        assertThat(violation).as("%s", mistake).isNotNull();
    }

    @Test
    void aFailingLifeIsMadeShortAndReplayedByOneCommand() {
        Set<Mistake> mistakes = Set.of(Mistake.RELEASE_BY_OWNER);
        long seed = 1;
        while (new Simulation(seed, mistakes, new BitSet(), null).run().violation() == null) {
            seed++;
        }
        Counterexample whole = new Counterexample(seed, mistakes, new BitSet());
        Counterexample shrunk = whole.shrunk(SHRINKING_RUNS);
        System.out.println(shrunk.report());
        assertThat(shrunk.schedule().size()).isLessThan(whole.schedule().size() / 4);
        assertThat(shrunk.command()).doesNotContain("\n");

        Properties given = new Properties();
        for (String word : shrunk.command().split(" ")) {
            if (word.startsWith("-Dpaxoslease.")) {
                given.setProperty(word.substring(2, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
            }
        }
        Counterexample replayed = Counterexample.asked(given::getProperty);
        assertThat(replayed.run(null).violation())
                .isNotNull()
                .isEqualTo(shrunk.run(null).violation());
        // It is the mistake that is found, not the schedule.
        assertThat(new Counterexample(seed, Set.of(), replayed.omitted())
                        .run(null)
                        .violation())
                .isNull();
    }

    /**
     * SHA-256 of transcripts, recorded with JDK 17; every JDK that runs the tests must write the same. If a change of what nodes do is
     * meant, take the new values from the message of the failure.
     */
    @ParameterizedTest
    @CsvSource({
        "1, a41bde4441f5bd0219b752cf2e427d664a12b4c98766dd3a56adeb1aeb03c5c2",
        "2, d4f7dd9bce99b9b84aced9ec2971312716a10706f0898b7abe72708fa575cfa0",
        "5, 352a5a6feb91ac7e8ce9d7f01dc0f9aafb088cdcbd9f1f6068591fbd59a2b0e6",
        "8, 38faa802d40a728efbf1b5dc91fcafcbfd02e95cfb3a57ed9a5a99b823d1d41e",
        "13, 402979633c121393aac621fed6dd95902a8a8bd6e93ae1ebe8dc45586ce86323",
        "200000000, 1c053fd81450f4093ef6567b7d0bc94c03a80a7d8dcda696412fc0890c9ee6ad",
        "200000001, 420f261518d3b378fdf4a5243bfaee5e51fef82383e20ea6c91e6b0b4a07eb2d"
    })
    void everyJdkWritesTheRecordedTranscript(long seed, String recorded) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        Simulation.Result result = new Simulation(seed, Set.of(), new BitSet(), line -> {
                    digest.update(line.getBytes(StandardCharsets.UTF_8));
                    digest.update((byte) '\n');
                })
                .run();
        digest.update(Long.toHexString(result.transcript()).getBytes(StandardCharsets.UTF_8));
        assertThat(HexFormat.of().formatHex(digest.digest()))
                .as("seed %d", seed)
                .isEqualTo(recorded);
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
