package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Now;
import org.junit.jupiter.api.Test;

class RoundTripsTests {

    private static final long MILLI = 1_000_000L;

    private final RoundTrips roundTrips = new RoundTrips(1_000 * MILLI);

    private void timeOut() {
        roundTrips.noteTimeOut(roundTrips.meanNanos(), roundTrips.roundNanos());
    }

    @Test
    void aTimeOutDoublesThem() {
        long before = roundTrips.meanNanos();
        timeOut();
        assertThat(roundTrips.meanNanos()).isEqualTo(2 * before);
    }

    @Test
    void doNotGrowBeyondTheLongestRound() {
        for (int i = 0; i < 20; i++) {
            timeOut();
        }
        assertThat(roundTrips.meanNanos()).isEqualTo(1_000 * MILLI);
        assertThat(roundTrips.roundNanos()).isEqualTo(1_000 * MILLI);
    }

    /** A round that the end of a lease cut short made every later one longer, though nobody had time to answer. */
    @Test
    void aRoundThatWasCutShortShowsNoMoreThanItLasted() {
        for (int i = 0; i < 6; i++) {
            timeOut();
        }
        long before = roundTrips.meanNanos();
        roundTrips.noteTimeOut(before, before / 2);
        assertThat(roundTrips.meanNanos()).isEqualTo(before);
        roundTrips.noteTimeOut(before, before + MILLI);
        assertThat(roundTrips.meanNanos()).isEqualTo(before + MILLI);
    }

    @Test
    void anAnswerMovesTheMeanByAnEighth() {
        answer(9 * MILLI);
        assertThat(roundTrips.meanNanos()).isEqualTo(2 * MILLI);
    }

    /** So it is what they take when nothing gets in their way. */
    @Test
    void aQuickAnswerCountsForMuchAndASlowOneForLittle() {
        answer(MILLI / 2);
        assertThat(roundTrips.quickNanos()).isEqualTo(MILLI - MILLI / 4);
        answer(MILLI - MILLI / 4 + 16_000);
        assertThat(roundTrips.quickNanos()).isEqualTo(MILLI - MILLI / 4 + 1_000);
    }

    /** A process that was stopped for an hour would wait for many minutes after a release. */
    @Test
    void aPauseOfThisNodeCountsAsTheLongestRound() {
        answer(3_600_000 * MILLI);
        assertThat(roundTrips.meanNanos()).isEqualTo(MILLI + 999 * MILLI / 8);
        assertThat(roundTrips.quickNanos()).isEqualTo(MILLI + 999 * MILLI / 16);
    }

    private void answer(long tookNanos) {
        roundTrips.note(-tookNanos, new Now(0, 0));
    }
}
