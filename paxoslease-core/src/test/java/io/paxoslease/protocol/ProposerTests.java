package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class ProposerTests {

    private static final long SECOND = 1_000_000_000L;
    private static final Incarnation SELF = new Incarnation("p", 1);
    private static final Incarnation OTHER = new Incarnation("q", 1);
    private static final Incarnation THIRD = new Incarnation("c", 5);

    private final BallotSequence ballots = new BallotSequence(at(0));
    private final Proposer proposer =
            new Proposer(SELF, new Cell("cell", List.of("a", "b", "c")), new Timing(10 * SECOND, 0.1), ballots);
    private final List<Effect> effects = new ArrayList<>();
    private Ballot ballot;

    /** The monotonic clock overflows after five seconds. */
    private static Now at(double seconds) {
        return new Now(Long.MAX_VALUE - 5 * SECOND + (long) (seconds * SECOND), 1_000_000 + (long) (seconds * 1_000));
    }

    private void start(double seconds) {
        start(10 * SECOND, seconds);
    }

    private void start(long leaseNanos, double seconds) {
        effects.clear();
        proposer.start("r", leaseNanos, at(seconds), effects);
        ballot = proposer.attempt("r").ballot;
    }

    private void prepared(int acceptor, AcceptedLease lease, double seconds) {
        answered(acceptor, new PrepareResponse("r", ballot, true, ballot.counter(), lease), seconds);
    }

    private void proposed(int acceptor, boolean accepted, double seconds) {
        answered(
                acceptor,
                new ProposeResponse("r", ballot, accepted, ballot.counter() + (accepted ? 0 : 1), null),
                seconds);
    }

    private void answered(int acceptor, Response response, double seconds) {
        effects.clear();
        proposer.onResponse(acceptor, response, at(seconds), effects);
    }

    private void startProposing(double seconds) {
        start(seconds);
        prepared(0, null, seconds);
        prepared(1, null, seconds);
    }

    private void win(double seconds) {
        startProposing(seconds);
        proposed(0, true, seconds);
        proposed(1, true, seconds);
    }

    private boolean isActive(double seconds) {
        return proposer.tenure("r", at(seconds)) != null;
    }

    @Nested
    class P1Start {

        @Test
        void asksEveryAcceptorUnderAFreshBallot() {
            start(0);
            assertThat(effects).containsExactly(new Effect.Broadcast(new PrepareRequest("r", ballot, 10 * SECOND)));
            Ballot first = ballot;
            start(0);
            assertThat(ballot.counter()).isGreaterThan(first.counter());
        }

        @Test
        void countsTheAuthorityFromTheFirstMessage() {
            start(0);
            prepared(0, null, 3);
            prepared(1, null, 3);
            proposed(0, true, 4);
            proposed(1, true, 4);
            // T2: D = (1 - 0.1) / (1 + 0.1) * 10 s, the wall clock ends it a millisecond early.
            assertThat(isActive(8.179)).isTrue();
            assertThat(isActive(8.182)).isFalse();
        }

        @Test
        void refusesALeaseTimeOutOfRange() {
            assertThatThrownBy(() -> start(11 * SECOND, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> start(9_999_999, 0)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Nested
    class P2Collect {

        @Test
        void proposesOnlyWithAMajorityOfDistinctAcceptors() {
            start(0);
            prepared(0, null, 0);
            prepared(0, null, 0);
            assertThat(effects).isEmpty();
            prepared(2, null, 0);
            assertThat(effects).containsExactly(new Effect.Broadcast(new ProposeRequest("r", ballot, 10 * SECOND)));
        }

        @Test
        void isBlockedByTheLiveLeasesOfAMajority() {
            start(0);
            AcceptedLease lease = new AcceptedLease(new Ballot(1, OTHER), 3 * SECOND);
            prepared(0, lease, 0);
            prepared(1, lease, 0);
            assertThat(effects)
                    .containsExactly(new Effect.Abandoned("r", ballot, new Outcome.Blocked(OTHER, 3 * SECOND)));
        }

        @Test
        void isBlockedByTheLeaseOfAMinorityIfItMissesAnswers() {
            start(0);
            prepared(0, new AcceptedLease(new Ballot(1, OTHER), 3 * SECOND), 0);
            effects.clear();
            proposer.onUnanswered(1, new PrepareRequest("r", ballot, 10 * SECOND), at(0), effects);
            assertThat(effects)
                    .containsExactly(new Effect.Abandoned("r", ballot, new Outcome.Blocked(OTHER, 3 * SECOND)));
        }

        /** Who has it may be about to release it, and nobody hears of that but members. */
        @Test
        void doesNotWaitForTheLeaseOfAMinorityWhenARivalWasQuicker() {
            start(0);
            answered(0, new PrepareResponse("r", ballot, false, ballot.counter() + 1, null), 0);
            prepared(1, new AcceptedLease(new Ballot(1, OTHER), 3 * SECOND), 0);
            assertThat(effects).containsExactly(new Effect.Abandoned("r", ballot, new Outcome.Split()));
        }

        @Test
        void isBlockedByALeaseOfItsOwnThatIsNotTheRenewalBase() {
            start(0);
            AcceptedLease stale = new AcceptedLease(new Ballot(1, SELF), 3 * SECOND);
            prepared(0, stale, 0);
            prepared(1, stale, 0);
            assertThat(proposer.isTrying("r")).isFalse();
        }

        @Test
        void takesTheRenewalBaseAsOpenWhileItIsHeld() {
            win(0);
            AcceptedLease base = new AcceptedLease(ballot, 3 * SECOND);
            start(1);
            prepared(0, base, 2);
            prepared(1, base, 2);
            assertThat(effects).hasSize(1);
        }

        @Test
        void doesNotTakeTheRenewalBaseAsOpenWhenItIsLost() {
            win(0);
            AcceptedLease base = new AcceptedLease(ballot, 3 * SECOND);
            start(7);
            prepared(0, base, 9);
            prepared(1, base, 9);
            assertThat(proposer.isTrying("r")).isFalse();
        }

        @Test
        void ignoresAnswersToAnOlderBallot() {
            start(0);
            Ballot older = ballot;
            start(0);
            for (int acceptor = 0; acceptor < 3; acceptor++) {
                answered(acceptor, new PrepareResponse("r", older, true, older.counter(), null), 0);
            }
            assertThat(effects).isEmpty();
        }

        @Test
        void liftsItsCounterAboveWhatItSees() {
            start(0);
            answered(0, new PrepareResponse("r", ballot, false, ballot.counter() + 77, null), 0);
            long seen = ballot.counter() + 77;
            start(0);
            assertThat(ballot.counter()).as("T4").isGreaterThan(seen);
        }
    }

    @Nested
    class P4Win {

        @Test
        void isActiveWithAMajorityOfAccepts() {
            win(0);
            assertThat(effects).singleElement().isInstanceOf(Effect.Acquired.class);
            assertThat(isActive(0)).isTrue();
        }

        @Test
        void ignoresAcceptsOfAProposalThatItHasNotSent() {
            start(0);
            proposed(0, true, 0);
            proposed(1, true, 0);
            assertThat(effects).isEmpty();
            assertThat(isActive(0)).isFalse();
        }

        @Test
        void doesNotWinPastTheStoredDeadline() {
            startProposing(0);
            proposed(0, true, 0);
            proposed(1, true, 8.2);
            assertThat(effects)
                    .containsExactly(
                            new Effect.Abandoned("r", ballot, new Outcome.Overdue()),
                            new Effect.Broadcast(new ReleaseRequest("r", ballot)));
            assertThat(isActive(8.2)).isFalse();
        }

        @Test
        void keepsTheTokenOfTheTenureWhenExtended() {
            win(0);
            long token = proposer.tenure("r", at(0)).token();
            win(4);
            assertThat(effects).singleElement().isInstanceOf(Effect.Extended.class);
            assertThat(proposer.tenure("r", at(4)).token()).as("X3").isEqualTo(token);
            assertThat(isActive(12)).isTrue();
        }

        @Test
        void beginsANewTenureWhenTheExtensionComesAfterTheBaseEnded() {
            win(0);
            long token = proposer.tenure("r", at(0)).token();
            startProposing(7);
            proposed(0, true, 9);
            assertThat(effects).singleElement().isInstanceOf(Effect.Lost.class);
            proposed(1, true, 9);
            assertThat(effects).singleElement().isInstanceOf(Effect.Acquired.class);
            assertThat(proposer.tenure("r", at(9)).token()).isGreaterThan(token);
        }

        @Test
        void anExtensionOfALostLeaseDoesNotTouchTheLeaseThatIsInItsPlace() {
            win(0);
            startProposing(5);
            proposer.settle("r", at(8.5), effects);
            proposer.startInOneRoundTrip("in its place", 10 * SECOND, at(8.5), effects);
            Ballot other = proposer.attempt("in its place").ballot;
            for (int acceptor = 0; acceptor < 2; acceptor++) {
                answered(acceptor, new ProposeResponse("in its place", other, true, other.counter(), null), 8.5);
            }
            Tenure untouched = proposer.tenure("in its place", at(8.5));
            proposed(0, true, 9);
            proposed(1, true, 9);
            assertThat(proposer.tenure("r", at(9)).token()).isEqualTo(ballot.counter());
            assertThat(proposer.tenure("in its place", at(9)))
                    .isEqualTo(untouched)
                    .isNotNull();
        }

        @Test
        void neverEndsEarlierBecauseOfAShorterExtension() {
            win(0);
            start(SECOND, 1);
            prepared(0, null, 1);
            prepared(1, null, 1);
            proposed(0, true, 1);
            proposed(1, true, 1);
            assertThat(isActive(8)).isTrue();
        }
    }

    @Nested
    class P5Abandon {

        @Test
        void keepsTheHeldLeaseWhenAnExtensionFails() {
            win(0);
            start(1);
            effects.clear();
            proposer.giveUp("r", at(2), effects);
            assertThat(isActive(2)).isTrue();
        }

        @Test
        void isNotAbandonedForRequestsOfAnotherBallotOrPhase() {
            start(0);
            Ballot older = ballot;
            startProposing(0);
            effects.clear();
            for (int acceptor = 0; acceptor < 3; acceptor++) {
                proposer.onUnanswered(acceptor, new PrepareRequest("r", ballot, 10 * SECOND), at(0), effects);
                proposer.onUnanswered(acceptor, new ProposeRequest("r", older, 10 * SECOND), at(0), effects);
            }
            assertThat(effects).isEmpty();
            assertThat(proposer.isTrying("r")).isTrue();
        }

        @Test
        void abandonsWhenAMajorityIsOutOfReach() {
            startProposing(0);
            Request proposal = new ProposeRequest("r", ballot, 10 * SECOND);
            effects.clear();
            proposer.onUnanswered(0, proposal, at(0), effects);
            assertThat(effects).isEmpty();
            proposer.onUnanswered(1, proposal, at(0), effects);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Unanswered()));
        }
    }

    @Nested
    class P6Release {

        @Test
        void stopsFirstAndThenTellsTheCell() {
            win(0);
            Tenure tenure = proposer.tenure("r", at(0));
            effects.clear();
            proposer.release("r", at(1), effects);
            assertThat(effects)
                    .containsExactly(
                            new Effect.Released(tenure), new Effect.Broadcast(new ReleaseRequest("r", ballot)));
            assertThat(isActive(1)).isFalse();
        }

        /** X5. */
        @Test
        void namesTheBallotOfAnExtensionThatFailedBefore() {
            win(0);
            startProposing(1);
            proposer.giveUp("r", at(1), effects);
            effects.clear();
            proposer.release("r", at(1), effects);
            assertThat(effects).contains(new Effect.Broadcast(new ReleaseRequest("r", ballot)));
        }

        @Test
        void abandonsAnExtensionInFlightAndNamesItsBallot() {
            win(0);
            startProposing(1);
            effects.clear();
            proposer.release("r", at(1), effects);
            assertThat(effects).contains(new Effect.Broadcast(new ReleaseRequest("r", ballot)));
            proposed(0, true, 1);
            proposed(1, true, 1);
            assertThat(isActive(1)).isFalse();
        }
    }

    @Nested
    class X5CleanUp {

        private Ballot startAfterOneThatWasGivenUp() {
            startProposing(0);
            proposer.giveUp("r", at(0), effects);
            Ballot former = ballot;
            start(1);
            return former;
        }

        @Test
        void releasesAFreshAttemptThatSentProposals() {
            startProposing(0);
            effects.clear();
            proposer.giveUp("r", at(0), effects);
            assertThat(effects).contains(new Effect.Broadcast(new ReleaseRequest("r", ballot)));
        }

        /** The release that was sent then did not arrive everywhere. */
        @Test
        void releasesARecordOfItsOwnThatItMeets() {
            Ballot former = startAfterOneThatWasGivenUp();
            prepared(0, new AcceptedLease(former, 9 * SECOND), 1);
            assertThat(effects).noneMatch(effect -> effect.equals(release(former)));
            prepared(1, new AcceptedLease(new Ballot(former.counter() - 1, former.owner()), 9 * SECOND), 1);
            assertThat(effects).last().isEqualTo(release(former));
        }

        /** What another owner left at the other acceptor, which may be dead, is no majority. */
        @Test
        void doesNotWaitForAnotherOwnerWhenARecordOfItsOwnWasInTheWayAsWell() {
            Ballot former = startAfterOneThatWasGivenUp();
            prepared(0, new AcceptedLease(former, 9 * SECOND), 1);
            prepared(1, new AcceptedLease(new Ballot(1, OTHER), 9 * SECOND), 1);
            assertThat(effects)
                    .containsExactly(new Effect.Abandoned("r", ballot, new Outcome.Split()), release(former));
        }

        /** Nobody comes back to it otherwise: the call gave up, the election was stopped, the node closed. */
        @Test
        void releasesARecordOfItsOwnThatItMetWhenItIsWithdrawn() {
            Ballot former = startAfterOneThatWasGivenUp();
            prepared(0, new AcceptedLease(former, 9 * SECOND), 1);
            effects.clear();
            proposer.release("r", at(1), effects);
            assertThat(effects).last().isEqualTo(release(former));
        }

        @Test
        void keepsARecordOfItsOwnWhileItHoldsTheLease() {
            win(0);
            Ballot base = ballot;
            start(1);
            proposer.giveUp("r", at(1), effects);
            start(2);
            prepared(0, new AcceptedLease(new Ballot(base.counter() + 1, base.owner()), 9 * SECOND), 2);
            prepared(1, new AcceptedLease(new Ballot(base.counter() + 1, base.owner()), 9 * SECOND), 2);
            assertThat(effects).last().isInstanceOf(Effect.Abandoned.class);
        }

        private Effect release(Ballot released) {
            return new Effect.Broadcast(new ReleaseRequest("r", released));
        }

        @Test
        void sendsNothingForAnAttemptThatNeverProposed() {
            start(0);
            effects.clear();
            proposer.giveUp("r", at(0), effects);
            assertThat(effects).singleElement().isInstanceOf(Effect.Abandoned.class);
        }

        @Test
        void clearsTheBallotsOfFailedExtensionsOnlyWhenTheLeaseEnds() {
            win(0);
            startProposing(1);
            effects.clear();
            proposer.giveUp("r", at(1), effects);
            assertThat(effects).noneMatch(Effect.Broadcast.class::isInstance);
            effects.clear();
            proposer.settle("r", at(9), effects);
            assertThat(effects).contains(new Effect.Broadcast(new ReleaseRequest("r", ballot)));
        }
    }

    @Nested
    class Settling {

        private Tenure won() {
            win(0);
            return proposer.unsettledTenure("r");
        }

        @Test
        void anAttemptAfterTheEndOfALeaseIsAFreshOne() {
            Tenure tenure = won();
            start(9);
            assertThat(effects).startsWith(new Effect.Lost(tenure));
            prepared(0, null, 9);
            prepared(1, null, 9);
            proposed(0, true, 9);
            proposed(1, true, 9);
            assertThat(effects).hasOnlyElementsOfType(Effect.Acquired.class).hasSize(1);
        }

        @Test
        void aNewAttemptWithdrawsTheOneInFlight() {
            start(0);
            Ballot first = ballot;
            start(0);
            assertThat(effects).startsWith(new Effect.Abandoned("r", first, new Outcome.Withdrawn()));
            assertThat(proposer.attempts()).isEqualTo(1);
        }

        @Test
        void whateverIsToldNoticesTheEnd() {
            Tenure tenure = won();
            effects.clear();
            proposer.onUnanswered(0, new PrepareRequest("r", ballot, 10 * SECOND), at(9), effects);
            assertThat(effects).containsExactly(new Effect.Lost(tenure));
        }

        @Test
        void givingUpNoticesTheEnd() {
            Tenure tenure = won();
            effects.clear();
            proposer.giveUp("r", at(9), effects);
            assertThat(effects).containsExactly(new Effect.Lost(tenure));
        }

        @Test
        void aLeaseThatHasEndedIsLostNotReleased() {
            Tenure tenure = won();
            effects.clear();
            proposer.release("r", at(9), effects);
            assertThat(effects).containsExactly(new Effect.Lost(tenure));
            assertThat(proposer.heldLeases()).isZero();
        }

        @Test
        void aFailedExtensionIsCleanedUpWhenTheLeaseEnds() {
            Tenure tenure = won();
            startProposing(1);
            proposed(0, true, 1);
            Ballot failed = ballot;
            proposer.giveUp("r", at(1), effects);
            effects.clear();
            proposer.settle("r", at(9), effects);
            assertThat(effects)
                    .containsExactly(new Effect.Lost(tenure), new Effect.Broadcast(new ReleaseRequest("r", failed)));
        }

        @Test
        void aLeaseWithoutAFailedExtensionEndsSilently() {
            Tenure tenure = won();
            effects.clear();
            proposer.settle("r", at(9), effects);
            assertThat(effects).containsExactly(new Effect.Lost(tenure));
        }

        @Test
        void aCopyHasTheSameAttemptsAndLeases() {
            won();
            assertThat(proposer.heldLeases()).isEqualTo(1);
            start(1);
            Proposer copy = new Proposer(proposer);
            assertThat(copy.unsettledTenure("r")).isEqualTo(proposer.unsettledTenure("r"));
            assertThat(copy.attempt("r").ballot).isEqualTo(ballot);
            copy.release("r", at(1), new ArrayList<>());
            assertThat(proposer.heldLeases()).isEqualTo(1);
            assertThat(proposer.isTrying("r")).isTrue();
        }
    }

    @Nested
    class X8OneRoundTrip {

        private void startAtOnce() {
            effects.clear();
            proposer.startInOneRoundTrip("r", 10 * SECOND, at(0), effects);
            ballot = proposer.attempt("r").ballot;
        }

        private void rejected(int acceptor, Incarnation owner) {
            answered(
                    acceptor,
                    new ProposeResponse(
                            "r",
                            ballot,
                            false,
                            ballot.counter() + 1,
                            new AcceptedLease(new Ballot(1, owner), 2 * SECOND)),
                    0);
        }

        @Test
        void takesAMajorityOfOneOwnerForItsLease() {
            startAtOnce();
            rejected(0, OTHER);
            rejected(1, OTHER);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Blocked(OTHER, 2 * SECOND)));
        }

        @Test
        void doesNotTakeRivalsThatSplitTheAcceptorsForOwners() {
            startAtOnce();
            rejected(0, OTHER);
            rejected(1, THIRD);
            assertThat(effects)
                    .containsExactly(
                            new Effect.Abandoned("r", ballot, new Outcome.Split()),
                            new Effect.Broadcast(new ReleaseRequest("r", ballot)));
        }

        @Test
        void doesNotTakeARivalAtAMinorityForAnOwner() {
            startAtOnce();
            rejected(0, OTHER);
            effects.clear();
            proposer.onUnanswered(1, new ProposeRequest("r", ballot, 10 * SECOND), at(0), effects);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Split()));
        }

        @Test
        void takesTheWordOfAMinorityAfterBothPhases() {
            startProposing(0);
            rejected(0, OTHER);
            rejected(1, THIRD);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Blocked(THIRD, 2 * SECOND)));
        }
    }

    @Nested
    class X6Hints {

        @Test
        void tellsWhenEnoughAcceptorsCanBeFree() {
            start(0);
            prepared(0, null, 0);
            prepared(1, new AcceptedLease(new Ballot(1, OTHER), 2 * SECOND), 0);
            prepared(2, new AcceptedLease(new Ballot(1, OTHER), 3 * SECOND), 0);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Blocked(OTHER, 2 * SECOND)));
        }

        @Test
        void namesTheOwnerWhoseTimeItTells() {
            start(0);
            prepared(0, null, 0);
            prepared(1, new AcceptedLease(new Ballot(1, OTHER), 2 * SECOND), 0);
            prepared(2, new AcceptedLease(new Ballot(2, THIRD), 3 * SECOND), 0);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Blocked(OTHER, 2 * SECOND)));
        }

        @Test
        void believesNobodyThatALeaseLastsForLongerThanTheLongest() {
            start(0);
            prepared(1, new AcceptedLease(new Ballot(1, OTHER), 11 * SECOND), 0);
            prepared(2, new AcceptedLease(new Ballot(1, OTHER), Long.MAX_VALUE), 0);
            assertThat(effects).contains(new Effect.Abandoned("r", ballot, new Outcome.Blocked(OTHER, 10 * SECOND)));
        }
    }

    @Nested
    class X7Pauses {

        @Test
        void endsWhenTheWallClockSaysSoAlthoughTheMonotonicClockStoodStill() {
            win(0);
            Now suspended = new Now(at(1).nanos(), at(9).wallMillis());
            assertThat(proposer.tenure("r", suspended)).isNull();
        }

        @Test
        void isNotProlongedByAWallClockThatStepsBack() {
            win(0);
            Now steppedBack = new Now(at(9).nanos(), at(0).wallMillis() - 100_000);
            assertThat(proposer.tenure("r", steppedBack)).isNull();
        }
    }

    @Nested
    class WhatIsAsked {

        @Test
        void tellsHowMuchOfALeaseIsLeft() {
            win(0);
            int slot = proposer.index().find("r", ResourceIndex.PROPOSER);
            // 8.18 of ten seconds count.
            assertThat(proposer.sixtyFourthsLeft(slot, at(0))).isEqualTo(52);
            assertThat(proposer.sixtyFourthsLeft(slot, at(4))).isEqualTo(26);
            assertThat(proposer.sixtyFourthsLeft(slot, at(8.2))).isZero();
        }

        @Test
        void tellsWhetherALeaseIsHeldNow() {
            assertThat(proposer.isHeld(ResourceIndex.NONE, at(0))).isFalse();
            win(0);
            int slot = proposer.index().find("r", ResourceIndex.PROPOSER);
            assertThat(proposer.isHeld(slot, at(8.179))).isTrue();
            assertThat(proposer.isHeld(slot, at(8.182))).isFalse();
            start(4);
            assertThat(proposer.isHeld(slot, at(4))).as("during an extension").isTrue();
            proposer.release("r", at(4), effects);
            assertThat(proposer.isHeld(slot, at(4))).as("after a release").isFalse();
            assertThat(proposer.cell().size()).isEqualTo(3);
        }

        @Test
        void aLateAnswerLiftsTheNextBallot() {
            start(0);
            effects.clear();
            proposer.giveUp("r", at(0), effects);
            long seen = ballot.counter() + 1_000_000;
            proposer.onLateResponse(new ProposeResponse("r", ballot, false, seen, null), at(0));
            start(0);
            assertThat(ballot.counter()).as("T4").isGreaterThan(seen);
        }
    }
}
