package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class AcceptorTests {

    private static final long SECOND = 1_000_000_000L;
    private static final long MAX_LEASE = 10 * SECOND;
    private static final Incarnation P = new Incarnation("p", 1);
    private static final Incarnation Q = new Incarnation("q", 1);

    private final Acceptor acceptor = new Acceptor(new Timing(MAX_LEASE, 0.01), 3, at(0));

    AcceptorTests() {
        acceptor.openAtOnce(at(0));
    }

    /** Ten seconds before the monotonic clock overflows: every test runs across the overflow. */
    private static Now at(double seconds) {
        return new Now(Long.MAX_VALUE - 10 * SECOND + (long) (seconds * SECOND), 1 + (long) (seconds * 1_000));
    }

    private static Ballot ballot(long counter, Incarnation owner) {
        return new Ballot(1_000_000_000 + counter, owner);
    }

    private PrepareResponse prepare(long counter, Incarnation owner, double seconds) {
        return acceptor.onPrepareRequest(new PrepareRequest("r", ballot(counter, owner), 5 * SECOND), at(seconds));
    }

    private ProposeResponse propose(long counter, Incarnation owner, double seconds) {
        return propose("r", counter, owner, 5 * SECOND, seconds);
    }

    private ProposeResponse propose(String resource, long counter, Incarnation owner, long leaseNanos, double seconds) {
        return acceptor.onProposeRequest(new ProposeRequest(resource, ballot(counter, owner), leaseNanos), at(seconds));
    }

    private boolean release(long counter, Incarnation owner, double seconds) {
        return acceptor.onReleaseRequest(new ReleaseRequest("r", ballot(counter, owner)), at(seconds));
    }

    @Nested
    class A1Prepare {

        @Test
        void promisesABallotThatIsNotBelowThePromise() {
            assertThat(prepare(5, P, 0).promised()).isTrue();
            assertThat(prepare(5, P, 0).promised()).as("again").isTrue();
            assertThat(prepare(6, Q, 0).promised()).isTrue();
        }

        @Test
        void rejectsALowerBallotAndTellsThePromise() {
            prepare(5, P, 0);
            PrepareResponse response = prepare(4, Q, 0);
            assertThat(response.promised()).isFalse();
            assertThat(response.promisedCounter()).isEqualTo(ballot(5, P).counter());
        }

        @Test
        void reportsTheLiveLeaseWithTheTimeItHasLeft() {
            propose(5, P, 0);
            assertThat(prepare(6, Q, 2).lease()).isEqualTo(new AcceptedLease(ballot(5, P), 3 * SECOND));
        }

        @Test
        void reportsAnExpiredLeaseAsNone() {
            propose(5, P, 0);
            assertThat(prepare(6, Q, 5).lease()).isNull();
        }
    }

    @Nested
    class A2Propose {

        @Test
        void acceptsWithoutAPromiseAndExcludesOthersUntilTheEnd() {
            assertThat(propose(5, P, 0).accepted()).isTrue();
            assertThat(propose(6, Q, 4.999999999).accepted()).isFalse();
            assertThat(propose(7, Q, 5).accepted()).isTrue();
        }

        @Test
        void refusesToReplaceTheLiveLeaseOfAnotherIncarnationOfTheSameNode() {
            propose(5, P, 0);
            assertThat(propose(6, new Incarnation("p", 2), 1).accepted()).isFalse();
        }

        @Test
        void acceptsAHigherBallotOfTheOwner() {
            propose(5, P, 0);
            assertThat(propose(6, P, 1).accepted()).isTrue();
            assertThat(acceptor.lease("r", at(1))).isEqualTo(new AcceptedLease(ballot(6, P), 5 * SECOND));
        }

        @Test
        void tellsTheLiveLeaseOnlyIfItRejects() {
            assertThat(propose(5, P, 0).lease()).isNull();
            assertThat(propose(6, P, 1).lease()).isNull();
            assertThat(propose(7, Q, 2).lease()).isEqualTo(new AcceptedLease(ballot(6, P), 4 * SECOND));
        }

        @Test
        void rejectsABallotBelowThePromise() {
            prepare(6, Q, 0);
            assertThat(propose(5, P, 0).accepted()).isFalse();
        }

        @Test
        void raisesThePromise() {
            propose(5, P, 0);
            assertThat(prepare(4, P, 0).promised()).isFalse();
        }
    }

    @Nested
    class A3Release {

        @Test
        void clearsTheRecordOfThatBallot() {
            propose(5, P, 0);
            assertThat(release(5, P, 1)).isTrue();
            assertThat(propose(6, Q, 1).accepted()).isTrue();
        }

        @Test
        void tellsWhetherALiveLeaseEnded() {
            propose(1, P, 0);
            assertThat(acceptor.leases()).isEqualTo(1);
            assertThat(release(0, P, 1)).as("an older ballot").isFalse();
            assertThat(release(1, Q, 1)).as("another owner").isFalse();
            assertThat(release(1, P, 1)).isTrue();
            assertThat(acceptor.leases()).isZero();
            assertThat(release(1, P, 1)).as("once more").isFalse();
            propose(2, P, 1);
            assertThat(release(2, P, 6)).as("after its end").isFalse();
            assertThat(new Acceptor(new Timing(MAX_LEASE, 0.01), 3, at(0))
                            .onReleaseRequest(new ReleaseRequest("r", ballot(2, P)), at(1)))
                    .as("before it votes")
                    .isFalse();
        }

        @Test
        void aCopyHasTheSameMemory() {
            propose(1, P, 0);
            propose("r", 2, Q, 2 * MAX_LEASE, 0);
            Acceptor copy = new Acceptor(acceptor);
            assertThat(copy.lease("r", at(1))).isEqualTo(acceptor.lease("r", at(1)));
            assertThat(copy.refusals()).isEqualTo(acceptor.refusals()).isNotEmpty();
            release(1, P, 1);
            assertThat(copy.lease("r", at(1))).isNotNull();
        }

        /** X5. A release names the highest ballot that its sender has given up. */
        @Test
        void clearsTheRecordOfALowerBallot() {
            propose(5, P, 0);
            assertThat(release(7, P, 1)).isTrue();
            assertThat(acceptor.lease("r", at(1))).isNull();
        }

        @Test
        void keepsTheRecordOfAHigherBallot() {
            propose(5, P, 0);
            assertThat(release(4, P, 1)).isFalse();
            assertThat(acceptor.lease("r", at(1))).isNotNull();
        }

        @Test
        void keepsTheRecordOfAnotherIncarnation() {
            propose(5, P, 0);
            assertThat(release(9, new Incarnation("p", 2), 1)).isFalse();
            assertThat(acceptor.lease("r", at(1))).isNotNull();
        }

        @Test
        void keepsThePromise() {
            propose(5, P, 0);
            release(5, P, 0);
            assertThat(prepare(4, Q, 0).promised()).isFalse();
        }

        @Test
        void aProposalThatComesAfterItIsRefused() {
            release(5, P, 0);
            assertThat(propose(5, P, 0).accepted()).isFalse();
            assertThat(propose(4, P, 3).accepted())
                    .as("when its row may be forgotten")
                    .isFalse();
            acceptor.sweep(100, at(3));
            assertThat(acceptor.resources()).isZero();
            assertThat(propose(5, P, 3).accepted()).as("when its row is").isFalse();
            assertThat(propose(6, Q, 3).accepted()).isTrue();
        }

        @Test
        void anExtensionThatComesAfterItIsRefused() {
            propose(5, P, 0);
            release(7, P, 0);
            assertThat(propose(7, P, 0).accepted()).isFalse();
            assertThat(propose(8, P, 0).accepted()).isTrue();
        }

        @Test
        void aProposalThatComesAgainAfterItIsRefused() {
            propose(5, P, 0);
            release(5, P, 0);
            assertThat(propose(5, P, 0).accepted()).isFalse();
        }

        @Test
        void aPromiseThatWasGivenUpIsNobodys() {
            prepare(5, P, 0);
            release(5, P, 0);
            assertThat(propose(5, P, 0).accepted()).isFalse();
        }

        @Test
        void disturbsNobodyElse() {
            propose(5, Q, 0);
            release(7, P, 0);
            assertThat(propose(6, Q, 0).accepted()).isTrue();
            assertThat(release(6, Q, 0)).isTrue();
            prepare(9, Q, 0);
            release(8, P, 0);
            release(9, P, 0);
            assertThat(propose(9, Q, 0).accepted()).isTrue();
        }

        /** X2. It would keep out every other ballot. */
        @Test
        void ofABallotTooFarAheadIsNotRemembered() {
            long tooFar = Ballot.MAX_COUNTER - 1_000_000_000;
            release(tooFar, P, 0);
            assertThat(acceptor.resources()).isZero();
            propose(5, P, 0);
            assertThat(release(tooFar, P, 0)).isTrue();
            assertThat(propose(6, Q, 0).accepted()).isTrue();
        }

        /** X4. Whoever is not asked for a lease may get nothing but its release. */
        @Test
        void makesRoomForTheNext() {
            for (int i = 0; i < 20; i++) {
                acceptor.onReleaseRequest(new ReleaseRequest("r" + i, ballot(i, P)), at(i));
            }
            assertThat(acceptor.resources()).isLessThan(3);
        }

        /** X4. The promise floor stays behind the clocks, so that it refuses nobody whose clock is a little behind. */
        @Test
        void isRememberedForAWhileInARowWhoseTimeIsOver() {
            prepare(5, P, 0);
            release(4_999_000, P, 4.999);
            acceptor.sweep(100, at(5));
            assertThat(propose("s", 4_990_000, Q, 5 * SECOND, 5).accepted()).isTrue();
            acceptor.sweep(100, at(6));
            assertThat(propose("r", 4_999_000, P, 5 * SECOND, 6).accepted()).isFalse();
        }

        @Test
        void ofAnUnknownResourceTakesNoRoomThatIsNotThere() {
            for (String resource : List.of("a", "b", "c", "d")) {
                acceptor.onReleaseRequest(new ReleaseRequest(resource, ballot(5, P)), at(0));
            }
            assertThat(acceptor.resources()).isEqualTo(3);
        }
    }

    @Nested
    class A4Restart {

        private final Acceptor fresh = new Acceptor(new Timing(MAX_LEASE, 0.01), 3, at(0));

        @Test
        void takesPartInNothingBeforeItIsOpened() {
            for (Now now : new Now[] {at(0), at(100)}) {
                assertThat(fresh.onPrepareRequest(new PrepareRequest("r", ballot(5, P), SECOND), now))
                        .isNull();
            }
            assertThat(fresh.quarantineRemainingNanos(at(100))).isEqualTo(MAX_LEASE);
        }

        @Test
        void takesPartInNothingUntilTheQuarantineHasPassed() {
            fresh.open(at(1));
            fresh.open(at(5));
            assertThat(fresh.quarantineRemainingNanos(at(10.5))).isEqualTo(SECOND / 2);
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(10.999999999)))
                    .isNull();
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(11)))
                    .isNotNull();
            assertThat(fresh.refusals()).containsEntry(Acceptor.Refusal.QUARANTINED, 1L);
        }

        /** Before it was restarted it may have had that maximum, and have accepted such a lease. */
        @Test
        void takesPartInNothingUntilALongerMaximumOfAnotherNodeHasPassed() {
            assertThat(fresh.outlast(12 * SECOND, at(0))).isTrue();
            assertThat(fresh.quarantineRemainingNanos(at(0))).isEqualTo(12 * SECOND);
            fresh.open(at(1));
            assertThat(fresh.outlast(15 * SECOND, at(12.9))).isTrue();
            assertThat(fresh.outlast(15 * SECOND, at(12.9))).as("again").isFalse();
            assertThat(fresh.outlast(11 * SECOND, at(12.9))).as("a shorter one").isFalse();
            assertThat(fresh.quarantineRemainingNanos(at(15.5))).isEqualTo(SECOND / 2);
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(15.999999999)))
                    .isNull();
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(16)))
                    .isNotNull();
        }

        /** Whoever raises the maximum begins with one node. */
        @Test
        void goesOnWhereItVotesWhenItHearsOfALongerMaximum() {
            fresh.open(at(0));
            assertThat(fresh.outlast(1_000 * SECOND, at(10))).isFalse();
            assertThat(fresh.isVoting(at(10))).isTrue();
        }

        @Test
        void outlastsNothingThatNoLeaseMayLast() {
            fresh.outlast(Long.MAX_VALUE, at(0));
            assertThat(fresh.quarantineRemainingNanos(at(0))).isEqualTo(Timing.MAX_LEASE_NANOS);
        }

        /** X9. With both voting, each list of members could have a majority. The leases of the other one are over before this one votes. */
        @Test
        void standsAsideForAsLongAsItHearsOfAnotherThatVotesForOtherMembersAndThenForAnotherQuarantine() {
            fresh.standAside(at(1));
            assertThat(fresh.quarantineRemainingNanos(at(1))).isEqualTo(MAX_LEASE + Acceptor.ASIDE_NANOS);
            fresh.open(at(2));
            assertThat(fresh.quarantineRemainingNanos(at(2))).isEqualTo(MAX_LEASE + Acceptor.ASIDE_NANOS - SECOND);
            fresh.standAside(at(70.5));
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(140.4)))
                    .isNull();
            assertThat(fresh.quarantineRemainingNanos(at(140.5))).isZero();
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(140.5)))
                    .isNotNull();
        }

        /** What it hears just before its quarantine is over, and a longer maximum, count as well. */
        @Test
        void standsAsideForTheLongestMaximumItHeardOf() {
            fresh.open(at(0));
            fresh.outlast(20 * SECOND, at(1));
            fresh.standAside(at(19.999));
            assertThat(fresh.quarantineRemainingNanos(at(19.999))).isEqualTo(20 * SECOND + Acceptor.ASIDE_NANOS);
        }

        /** The cell that is there goes on. */
        @Test
        void doesNotStandAsideWhereItVotes() {
            fresh.open(at(0));
            fresh.standAside(at(10));
            assertThat(fresh.isVoting(at(10))).isTrue();
        }

        /** Else the next process of its node could vote for another while this one still does. */
        @Test
        void takesPartInNothingWhenItWasClosedUntilAnotherQuarantineHasPassed() {
            fresh.open(at(0));
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(5, P), SECOND), at(10)))
                    .isNotNull();

            fresh.close();

            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(6, P), SECOND), at(10.5)))
                    .isNull();
            fresh.open(at(11));
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(6, P), SECOND), at(20.999999999)))
                    .isNull();
            assertThat(fresh.onProposeRequest(new ProposeRequest("r", ballot(6, P), SECOND), at(21)))
                    .isNotNull();
        }
    }

    @Nested
    class X1LeaseTimeBound {

        @Test
        void takesNoPartAboveItsOwnMaximum() {
            assertThat(propose("r", 5, P, MAX_LEASE, 0)).isNotNull();
            assertThat(propose("r", 6, P, MAX_LEASE + 1, 0)).isNull();
            assertThat(acceptor.onPrepareRequest(new PrepareRequest("r", ballot(7, P), MAX_LEASE + 1), at(0)))
                    .isNull();
            assertThat(propose("r", 6, P, 0, 0)).isNull();
            assertThat(acceptor.refusals()).containsEntry(Acceptor.Refusal.LEASE_TIME_ABOVE_MAXIMUM, 3L);
        }
    }

    @Nested
    class RoomForNames {

        /** Slabs are longer the more there is, up to a length that depends on the heap. The names of leases that ended make room again. */
        @Test
        void takesNoPartInNewLeasesWhereThereIsNone() {
            ResourceIndex index = new ResourceIndex(0, 17);
            Acceptor small = new Acceptor(new Timing(MAX_LEASE, 0), Integer.MAX_VALUE, at(0), index);
            small.open(at(0));
            double later = MAX_LEASE / (double) SECOND + 1;
            int taken = 0;
            while (small.onProposeRequest(new ProposeRequest(longName(taken), ballot(5, P), SECOND), at(later))
                    != null) {
                taken++;
            }
            assertThat(taken).isGreaterThan(1_000);
            assertThat(small.refusals()).containsOnlyKeys(Acceptor.Refusal.TABLE_FULL);
            assertThat(small.onProposeRequest(new ProposeRequest(longName(7), ballot(6, P), SECOND), at(later)))
                    .as("a lease that is known")
                    .isNotNull();
            // The first names are in the shortest slabs, and stay.
            for (int i = 0; i < taken; i = i < 16 ? i + 1 : i + 10) {
                ProposeRequest extension = new ProposeRequest(longName(i), ballot(7, P), MAX_LEASE);
                assertThat(small.onProposeRequest(extension, at(later + 0.5))).isNotNull();
            }
            ProposeRequest another = new ProposeRequest(longName(taken), ballot(9, P), SECOND);
            int tries = 0;
            while (small.onProposeRequest(another, at(later + 5)) == null) {
                assertThat(tries++).isLessThan(taken);
            }
        }

        private static String longName(int i) {
            return String.format("%0255d", i);
        }
    }

    @Nested
    class X2PlausibleCounters {

        @Test
        void takesNoPartMoreThanADayAheadOfItsWallClock() {
            long wall = at(0).counterFloor();
            assertThat(acceptor.onPrepareRequest(
                            new PrepareRequest("r", new Ballot(wall + 86_400_000_001L, P), SECOND), at(0)))
                    .isNull();
            assertThat(acceptor.onPrepareRequest(
                            new PrepareRequest("r", new Ballot(wall + 86_400_000_000L, P), SECOND), at(0)))
                    .isNotNull();
        }
    }

    @Nested
    class X3FencingTokens {

        @Test
        void rejectsAnEqualCounterOfAnotherIncarnation() {
            prepare(5, P, 0);
            assertThat(prepare(5, Q, 0).promised()).isFalse();
            assertThat(propose(5, Q, 0).accepted()).isFalse();
        }

        @Test
        void startsWithItsWallClockAsThePromise() {
            Acceptor fresh = new Acceptor(new Timing(MAX_LEASE, 0), 3, new Now(0, 7_000));
            fresh.openAtOnce(new Now(0, 7_000));
            assertThat(fresh.onPrepareRequest(
                                    new PrepareRequest("r", new Ballot(7_000_000, P), SECOND), new Now(0, 7_000))
                            .promised())
                    .isFalse();
            assertThat(fresh.onPrepareRequest(
                                    new PrepareRequest("r", new Ballot(7_000_001, P), SECOND), new Now(0, 7_000))
                            .promised())
                    .isTrue();
        }
    }

    @Nested
    class T4CountersOfClocks {

        @Test
        void tellsItsWallClockWhereNobodyIsPromised() {
            Ballot tooLow = new Ballot(at(0).counterFloor() - 1, P);
            ProposeResponse response = acceptor.onProposeRequest(new ProposeRequest("r", tooLow, SECOND), at(9));
            assertThat(response.accepted()).isFalse();
            assertThat(response.promisedCounter()).isEqualTo(at(9).counterFloor());
        }

        @Test
        void tellsThePromiseWhereSomebodyIsPromised() {
            Ballot promised = new Ballot(at(1).counterFloor(), P);
            Ballot lower = new Ballot(promised.counter() - 1, Q);
            acceptor.onPrepareRequest(new PrepareRequest("r", promised, 5 * SECOND), at(8));
            assertThat(acceptor.onPrepareRequest(new PrepareRequest("r", lower, 5 * SECOND), at(9))
                            .promisedCounter())
                    .isEqualTo(promised.counter());
        }
    }

    @Nested
    class X4BoundedMemory {

        @Test
        void dropsWhatIsOverAndKeepsThePromiseAsAFloor() {
            propose(5, P, 0);
            acceptor.sweep(10, at(5));
            assertThat(acceptor.resources()).isZero();
            assertThat(acceptor.leases()).isZero();
            assertThat(prepare(4, Q, 5).promised()).isFalse();
            assertThat(prepare(5, P, 5).promised())
                    .as("who was promised is forgotten")
                    .isFalse();
            assertThat(prepare(6, Q, 5).promised()).isTrue();
        }

        /** More rows than a request sweeps: most of the leases that are over are still there when their rows are promised. */
        @Test
        void keepsPromisesInRowsWhoseLeasesAreOver() {
            Acceptor many = new Acceptor(new Timing(MAX_LEASE, 0), 20, at(0));
            many.openAtOnce(at(0));
            List<String> names = IntStream.range(0, 20).mapToObj(i -> "r" + i).toList();
            names.forEach(name -> many.onProposeRequest(new ProposeRequest(name, ballot(5, P), SECOND), at(0)));
            names.forEach(name -> many.onPrepareRequest(new PrepareRequest(name, ballot(6, Q), SECOND), at(1)));
            assertThat(many.leases()).isZero();
            many.sweep(20, at(1.5));
            assertThat(many.resources()).isEqualTo(20);
        }

        @Test
        void keepsALiveLease() {
            propose(5, P, 0);
            acceptor.sweep(10, at(4.999));
            assertThat(acceptor.resources()).isEqualTo(1);
        }

        @Test
        void takesNoPartInOneResourceTooMany() {
            for (int i = 0; i < 3; i++) {
                propose("r" + i, 5, P, 5 * SECOND, 0);
            }
            assertThat(propose("r3", 5, P, 5 * SECOND, 0)).isNull();
            assertThat(propose("r2", 6, P, 5 * SECOND, 0)).isNotNull();
            assertThat(propose("r3", 7, P, 5 * SECOND, 6))
                    .as("after the others expired")
                    .isNotNull();
        }

        @Test
        void neverLowersThePromiseOfAnyResource() {
            Random random = new Random(4);
            Acceptor any = new Acceptor(new Timing(MAX_LEASE, 0), 20, at(0));
            any.openAtOnce(at(0));
            long[] promised = new long[40];
            double seconds = 0;
            for (int i = 0; i < 100_000; i++) {
                seconds += random.nextDouble() / 10;
                int name = random.nextInt(promised.length);
                Ballot ballot = ballot(random.nextInt(i + 1), random.nextBoolean() ? P : Q);
                long lease = 1 + random.nextInt((int) (2 * SECOND / 1_000)) * 1_000L;
                Response response = random.nextBoolean()
                        ? any.onPrepareRequest(new PrepareRequest("r" + name, ballot, lease), at(seconds))
                        : any.onProposeRequest(new ProposeRequest("r" + name, ballot, lease), at(seconds));
                long now = any.table().promised(any.table().find("r" + name));
                assertThat(now).isGreaterThanOrEqualTo(promised[name]);
                promised[name] = now;
                if (response != null) {
                    assertThat(response.promisedCounter()).isGreaterThanOrEqualTo(now);
                }
                assertThat(any.resources()).isLessThanOrEqualTo(20);
            }
        }
    }

    @Nested
    class X10NeverShortened {

        @Test
        void keepsTheLaterEndWhenTheOwnerAsksForLess() {
            propose("r", 5, P, 5 * SECOND, 0);
            propose("r", 6, P, SECOND, 1);
            assertThat(acceptor.lease("r", at(1))).isEqualTo(new AcceptedLease(ballot(6, P), 4 * SECOND));
        }

        @Test
        void takesTheLaterEndThatIsBehindTheOverflow() {
            propose("r", 5, P, 5 * SECOND, 0);
            propose("r", 6, P, 9 * SECOND, 4);
            assertThat(acceptor.lease("r", at(4))).isEqualTo(new AcceptedLease(ballot(6, P), 9 * SECOND));
        }

        @Test
        void takesTheNewEndWhenTheOldLeaseIsOver() {
            propose("r", 5, P, 5 * SECOND, 0);
            propose("r", 6, P, SECOND, 5);
            assertThat(acceptor.lease("r", at(5)).remainingNanos()).isEqualTo(SECOND);
        }
    }
}
