package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Every interleaving in small worlds. {@code -Dpaxoslease.proof=true} goes on to {@code -Dpaxoslease.states} states (a hundred million) in the
 * larger ones.
 */
class ExplorerTests {

    private static Universe.Bounds bounds(int acceptors, int ballots, int crashes) {
        return new Universe.Bounds(acceptors, 2, ballots, crashes, 2, false, Set.of());
    }

    /** X8. Every attempt may take the short path or both phases. */
    private static Universe.Bounds withShortPath(int acceptors, int ballots, int crashes) {
        return new Universe.Bounds(acceptors, 2, ballots, crashes, 2, true, Set.of());
    }

    private static Explorer.Report explore(Universe.Bounds bounds, long maxStates) {
        Explorer.Report report = new Explorer(0).explore(bounds, maxStates);
        System.out.printf(
                "Explored %s: %,d states, %,d steps, %s%n",
                bounds, report.states(), report.steps(), report.complete() ? "complete" : "cut off");
        if (report.violation() != null) {
            fail(report.violation() + ":\n" + String.join("\n", Explorer.shrink(bounds, report.schedule())));
        }
        return report;
    }

    @Test
    void smallWorldsAreSafeInEveryState() {
        assertThat(explore(bounds(2, 1, 1), Long.MAX_VALUE).complete()).isTrue();
        assertThat(explore(bounds(3, 1, 0), Long.MAX_VALUE).complete()).isTrue();
    }

    /** Where an attempt can meet what one before it left behind (X5). */
    @Test
    void aProposerThatComesBackIsSafeInEveryState() {
        for (boolean shortPath : new boolean[] {false, true}) {
            Universe.Bounds alone = new Universe.Bounds(2, 1, 2, 1, 2, shortPath, Set.of());
            assertThat(explore(alone, Long.MAX_VALUE).complete()).isTrue();
        }
    }

    @Test
    void largerWorldsAreSafeAsFarAsTheyAreExplored() {
        explore(bounds(2, 3, 1), asFar());
        explore(bounds(3, 2, 1), asFar());
    }

    @Test
    void wanderingFindsNothingWithOurRules() {
        assertThat(Explorer.wander(bounds(3, 3, 1), 1_000_000, 1).violation()).isNull();
    }

    @Test
    void theShortPathIsSafeInEveryStateOfSmallWorlds() {
        assertThat(explore(withShortPath(2, 1, 1), Long.MAX_VALUE).complete()).isTrue();
        assertThat(explore(withShortPath(3, 1, 0), Long.MAX_VALUE).complete()).isTrue();
    }

    @Test
    void theShortPathIsSafeWithTwoAcceptorsAsFarAsTheyAreExplored() {
        explore(withShortPath(2, 3, 1), asFar());
    }

    @Test
    void theShortPathIsSafeWithThreeAcceptorsAsFarAsTheyAreExplored() {
        explore(withShortPath(3, 2, 1), asFar());
    }

    @Test
    void wanderingOnTheShortPathFindsNothingWithOurRules() {
        assertThat(Explorer.wander(withShortPath(3, 3, 1), 1_000_000, 1).violation())
                .isNull();
    }

    private static long asFar() {
        return Boolean.getBoolean("paxoslease.proof") ? Long.getLong("paxoslease.states", 100_000_000) : 150_000;
    }
}
