package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** The bounds and texts of the small values, each at its edge. */
class ValueTests {

    private static final Incarnation OWNER = new Incarnation("n1", 0xabcL);

    @Nested
    class NamesOfThings {

        @Test
        void mayFillTheirBytes() {
            assertThat(Names.require("name", "a".repeat(255), 255)).hasSize(255);
            assertThat(Names.require("name", "€".repeat(85), 255)).hasSize(85);
            assertThat(Names.require("name", "€".repeat(86), 258)).hasSize(86);
        }

        @Test
        void mayNotBeLongerInUtf8() {
            refused("a".repeat(256), "longer than 255");
            refused("€".repeat(86), "longer than 255");
            refused("", "empty");
        }

        @Test
        void mayHaveWholeSurrogatePairsOnly() {
            assertThat(Names.require("name", "a\uD83D\uDE00\uD83D\uDE00b", 255)).hasSize(6);
            refused("ab\uD83D", "index 2");
            refused("\uDE00ab", "index 0");
            refused("\uD83Dab", "index 0");
            refused("\uD83D\uDE00\uDE00", "index 2");
        }

        private void refused(String text, String reason) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Names.require("name", text, 255))
                    .withMessageContaining(reason);
        }
    }

    @Nested
    class Cells {

        @Test
        void haveUpTo63Acceptors() {
            assertThat(new Cell("c", acceptors(63)).size()).isEqualTo(63);
            assertThatIllegalArgumentException().isThrownBy(() -> new Cell("c", acceptors(64)));
        }

        private List<String> acceptors(int count) {
            return IntStream.range(0, count).mapToObj(i -> "n" + i).toList();
        }

        @Test
        void haveTheFingerprintOfTheSpecification() {
            // FNV-1a of "c\na\nb", computed by another program.
            assertThat(new Cell("c", List.of("b", "a")).fingerprint()).isEqualTo(0x10209d837f7603e3L);
        }
    }

    @Nested
    class Timings {

        @Test
        void allowTheShortestAndTheLongestLeaseTime() {
            assertThatCode(() -> new Timing(Timing.MIN_LEASE_NANOS, 0)).doesNotThrowAnyException();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Timing(Timing.MIN_LEASE_NANOS - 1, 0))
                    .withMessageContaining("not 9999999 ns");
            assertThatCode(() -> new Timing(Timing.MAX_LEASE_NANOS, 0)).doesNotThrowAnyException();
            assertThatIllegalArgumentException().isThrownBy(() -> new Timing(Timing.MAX_LEASE_NANOS + 1, 0));
        }

        @Test
        void boundTheLeaseTimesOfTheCell() {
            Timing timing = new Timing(50_000_000, 0);
            assertThat(timing.requireLeaseTime(Timing.MIN_LEASE_NANOS)).isEqualTo(Timing.MIN_LEASE_NANOS);
            assertThat(timing.requireLeaseTime(50_000_000)).isEqualTo(50_000_000);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> timing.requireLeaseTime(60_000_000))
                    .withMessageContaining("of 50 ms, not 60 ms");
        }
    }

    @Nested
    class Deadlines {

        @Test
        void haveTheSmallerRemainderOfBothClocks() {
            Deadline deadline = new Deadline(10_000_000_000L, 5_000);
            assertThat(deadline.remainingNanos(new Now(4_000_000_000L, 1_000))).isEqualTo(4_000_000_000L);
            assertThat(deadline.remainingNanos(new Now(9_000_000_000L, 1_000))).isEqualTo(1_000_000_000L);
            assertThat(deadline.remainingNanos(new Now(6_000_000_500L, 1_001))).isEqualTo(3_999_000_000L);
        }

        @Test
        void areNotChangedByAWallClockThatWentBackByCenturies() {
            Deadline deadline = new Deadline(10_000_000_000L, 20_000_000_000_000L);
            assertThat(deadline.remainingNanos(new Now(4_000_000_000L, 1_000))).isEqualTo(6_000_000_000L);
        }

        @Test
        void areTheirOwnLaterOneIfEqual() {
            Deadline one = new Deadline(10, 1);
            assertThat(one.later(new Deadline(10, 2))).isSameAs(one);
        }
    }

    @Nested
    class Edges {

        @Test
        void areAllowed() {
            assertThat(new Ballot(1, OWNER).counter()).isEqualTo(1);
            assertThat(new Ballot(Ballot.MAX_COUNTER, OWNER).counter()).isEqualTo(Ballot.MAX_COUNTER);
            assertThat(new AcceptedLease(new Ballot(1, OWNER), 0).remainingNanos())
                    .isZero();
        }

        @Test
        void areNotPassed() {
            assertThatIllegalArgumentException().isThrownBy(() -> new Ballot(0, OWNER));
            assertThatIllegalArgumentException().isThrownBy(() -> new Ballot(Ballot.MAX_COUNTER + 1, OWNER));
            assertThatIllegalArgumentException().isThrownBy(() -> new AcceptedLease(new Ballot(1, OWNER), -1));
        }

        @Test
        void incarnationsHaveDifferentHashCodes() {
            assertThat(IntStream.range(0, 100)
                            .map(nonce -> new Incarnation("n", nonce).hashCode())
                            .distinct())
                    .hasSize(100);
        }
    }

    @Nested
    class Texts {

        @Test
        void nameTheLifeOfANode() {
            assertThat(OWNER).hasToString("n1/0000000000000abc");
            assertThat(new Ballot(7, OWNER).toString()).contains("7").contains("n1");
        }
    }

    @Nested
    class Quorums {

        @Test
        void knowWhoIsForAndWhoIsAgainst() {
            Quorum quorum = new Quorum();
            quorum.favour(0);
            quorum.oppose(2);

            assertThat(IntStream.range(0, 3).filter(quorum::isInFavour)).containsExactly(0);
            assertThat(IntStream.range(0, 3).filter(quorum::isAgainst)).containsExactly(2);
        }

        @Test
        void letAnAcceptorComeRoundWithoutForgettingOthersThatAreAgainst() {
            Quorum quorum = new Quorum();
            quorum.oppose(1);
            quorum.oppose(2);

            quorum.favour(2);

            assertThat(quorum.isAgainst(1)).isTrue();
            assertThat(quorum.isAgainst(2)).isFalse();
        }
    }

    @Nested
    class Sizes {

        @Test
        void countWhatAProposerDoesAndHolds() {
            Now now = new Now(0, 1_800_000_000_000L);
            BallotSequence ballots = new BallotSequence(now);
            assertThat(ballots.highest()).isZero();
            Cell cell = new Cell("c", List.of("n1"));
            Timing timing = new Timing(1_000_000_000, 0);
            Proposer proposer = new Proposer(OWNER, cell, timing, ballots);
            assertThat(proposer.attempts()).isZero();
            assertThat(proposer.isTrying("job")).isFalse();

            List<Effect> effects = new ArrayList<>();
            proposer.start("job", 1_000_000_000, now, effects);

            assertThat(effects).singleElement().isInstanceOf(Effect.Broadcast.class);

            assertThat(proposer.attempts()).isEqualTo(1);
            assertThat(proposer.isTrying("job")).isTrue();
            assertThat(proposer.heldLeases()).isZero();
            assertThat(proposer.ballots()).isSameAs(ballots);
            assertThat(proposer.held()).isNotNull();
            assertThat(ballots.highest()).isEqualTo(now.counterFloor());
        }
    }
}
