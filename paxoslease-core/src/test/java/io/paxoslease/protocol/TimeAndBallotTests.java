package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeAndBallotTests {

    @Nested
    class T1Deadlines {

        @ParameterizedTest
        @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE - 4, Long.MAX_VALUE})
        void areReachedAtTheirInstantWhereverTheClockStarted(long origin) {
            Now start = new Now(origin, 1_000);
            Deadline deadline = Deadline.after(start, 10_000_000);
            assertThat(start.hasReached(deadline.nanos())).isFalse();
            assertThat(new Now(origin + 9_999_999, 1_000).hasReached(deadline.nanos()))
                    .isFalse();
            assertThat(new Now(origin + 10_000_000, 1_000).hasReached(deadline.nanos()))
                    .isTrue();
            assertThat(deadline.isPast(new Now(origin + 9_999_999, 1_008))).isFalse();
            assertThat(deadline.remainingNanos(new Now(origin + 4, 1_000))).isEqualTo(9_000_000);
            assertThat(deadline.isPast(new Now(origin + 5, 1_009)))
                    .as("a millisecond early, because the wall clock is read rounded down")
                    .isTrue();
            assertThat(deadline.remainingNanos(new Now(origin + 5, 1_009))).isZero();
        }

        @Test
        void theLaterOfTwoIsTakenAsAWhole() {
            Deadline one = new Deadline(Long.MAX_VALUE - 5, 100);
            Deadline other = new Deadline(Long.MIN_VALUE + 5, 50);
            assertThat(one.later(other)).isSameAs(other);
            assertThat(other.later(one)).isSameAs(other);
        }
    }

    @Nested
    class T2OwnerStopsFirst {

        @ParameterizedTest
        @ValueSource(doubles = {0, 1e-9, 0.001, 0.01, 0.1, 0.3, 0.49})
        void atEveryAllowedPairOfClockRates(double drift) {
            Timing timing = new Timing(Timing.MAX_LEASE_NANOS, drift);
            for (long lease = Timing.MIN_LEASE_NANOS; lease < Timing.MAX_LEASE_NANOS; lease = lease * 3 + 7) {
                double slowOwner = timing.ownerNanos(lease) / (1 - drift);
                double fastAcceptor = lease / (1 + drift);
                assertThat(slowOwner).isLessThanOrEqualTo(fastAcceptor * (1 + 1e-12));
            }
        }

        @Test
        void theQuarantineCoversEveryLease() {
            assertThat(new Timing(Timing.MAX_LEASE_NANOS, 0.1).quarantineNanos())
                    .isEqualTo(Timing.MAX_LEASE_NANOS);
        }
    }

    @Nested
    class X2Ballots {

        private final Now now = new Now(Long.MAX_VALUE - 1, 1_000);
        private final BallotSequence ballots = new BallotSequence(now);

        private Now after(long millis, long wallAheadMillis) {
            return new Now(now.nanos() + millis * 1_000_000, now.wallMillis() + millis + wallAheadMillis);
        }

        @Test
        void growAndAreNotBelowTheWallClock() {
            assertThat(ballots.next(now)).isEqualTo(1_000_000);
            assertThat(ballots.next(now)).isEqualTo(1_000_001);
            assertThat(ballots.next(after(1_000, 0))).isEqualTo(2_000_000);
            assertThat(ballots.next(now)).isEqualTo(2_000_001);
        }

        @Test
        void riseAboveWhatWasSeen() {
            ballots.observe(5_000_000, now);
            assertThat(ballots.next(now)).as("T4").isEqualTo(5_000_001);
        }

        @Test
        void areNotSpoiltByOnePoisonedBallot() {
            ballots.observe(now.counterFloor() + BallotSequence.MAX_AHEAD + 1, now);
            assertThat(ballots.next(now)).isEqualTo(1_000_000);
        }

        /** Found by simulation: in a busy cell the promise floor (X4) rises with the fastest wall clock, faster than retries follow. */
        @Test
        void keepUpWithNodesWhoseWallClocksAreAhead() {
            long ahead = 600_000_000;
            ballots.observe(now.counterFloor() + ahead, now);
            assertThat(ballots.next(after(8, 0))).isEqualTo(now.counterFloor() + ahead + 7_000);
            ballots.observe(after(9, 0).counterFloor() + ahead, after(9, 0));
            assertThat(ballots.next(after(10, 0))).isEqualTo(now.counterFloor() + ahead + 9_875);
        }

        @Test
        void doNotFollowClocksThatAgree() {
            ballots.observe(now.counterFloor() + BallotSequence.MIN_LEAD, now);
            assertThat(ballots.next(after(1, 0))).isEqualTo(now.counterFloor() + BallotSequence.MIN_LEAD + 1);
            ballots.observe(now.counterFloor() + BallotSequence.MIN_LEAD + 9, now);
            assertThat(ballots.next(after(8, 0))).isEqualTo(now.counterFloor() + BallotSequence.MIN_LEAD + 7_009);
        }

        @Test
        void comeBackToTheWallClockOnceNobodyIsAhead() {
            ballots.observe(now.counterFloor() + 300_000_000, now);
            Now muchLater = after(8 * 300_000 + 1, 0);
            assertThat(ballots.next(muchLater)).as("X3").isEqualTo(muchLater.counterFloor());
        }

        /** A clock that was behind and is set right does not take the lead of the others with it. */
        @Test
        void doNotJumpAheadWithTheOwnWallClock() {
            ballots.observe(now.counterFloor() + 300_000_000, now);
            Now setRight = after(8, 300_000);
            assertThat(ballots.next(setRight)).isEqualTo(setRight.counterFloor());
        }

        /** X2. It cannot tell others from poisoned ones until its clock is set right. */
        @Test
        void ignoreOthersWhileTheOwnWallClockIsMoreThanADayBehind() {
            long before = ballots.next(after(200_000_000, 0));
            Now behind = after(200_000_001, -200_000_000);
            ballots.observe(after(200_000_001, 0).counterFloor(), behind);
            assertThat(ballots.next(behind)).isEqualTo(before + 1);
            Now setRight = after(200_000_002, 0);
            assertThat(ballots.next(setRight)).isEqualTo(setRight.counterFloor());
        }

        @Test
        void followOthersForAnHourAtMost() {
            ballots.observe(now.counterFloor() + 2 * BallotSequence.MAX_LEAD, now);
            Now muchLater = after(6 * 3_600_000, 0);
            assertThat(ballots.next(muchLater)).isEqualTo(now.counterFloor() + BallotSequence.MAX_LEAD * 25 / 4);
        }

        @Test
        void stayBelowTwoToThePowerOf53() {
            assertThat(new Now(0, Long.MAX_VALUE / 1_000).counterFloor()).isEqualTo(Ballot.MAX_COUNTER);
            assertThat(new Now(0, -5).counterFloor()).isZero();
        }
    }

    @Nested
    class P2Quorum {

        @Test
        void countsAnAcceptorOnceAndRemembersWhatIsInFavour() {
            Cell cell = new Cell("cell", List.of("a", "b", "c", "d"));
            Quorum votes = new Quorum();
            votes.favour(0);
            votes.favour(0);
            votes.oppose(0);
            votes.favour(3);
            assertThat(votes.isReached(cell)).isFalse();
            votes.oppose(1);
            assertThat(votes.isOutOfReach(cell)).isFalse();
            votes.oppose(2);
            assertThat(votes.isOutOfReach(cell)).isTrue();
            votes.favour(2);
            assertThat(votes.isReached(cell)).isTrue();
        }
    }

    @Nested
    class X9OneCell {

        @Test
        void majoritiesMeetExactlyIfNoTwoOfThemAreDisjoint() {
            List<String> names = List.of("a", "b", "c", "d", "e", "f");
            int sets = 1 << names.size();
            for (int one = 1; one < sets; one++) {
                for (int other = 1; other < sets; other++) {
                    assertThat(cell(names, one).majoritiesMeet(cell(names, other)))
                            .as("%s and %s", one, other)
                            .isEqualTo(everyMajorityMeets(one, other));
                }
            }
        }

        private static boolean everyMajorityMeets(int one, int other) {
            for (int majority = one; majority > 0; majority = (majority - 1) & one) {
                if (2 * Integer.bitCount(majority) > Integer.bitCount(one)
                        && 2 * Integer.bitCount(other & ~majority) > Integer.bitCount(other)) {
                    return false;
                }
            }
            return true;
        }

        private static Cell cell(List<String> names, int set) {
            List<String> acceptors = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                if ((set & 1 << i) != 0) {
                    acceptors.add(names.get(i));
                }
            }
            return new Cell("cell", acceptors);
        }
    }
}
