package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseEngineTests {

    private static final Incarnation SELF = new Incarnation("n", 1);
    private static final Incarnation RIVAL = new Incarnation("n2", 2);
    private static final long MILLI = 1_000_000L;
    private static final long LEASE = 10_000 * MILLI;

    private final Timing timing = new Timing(LEASE, 0.01);
    private final BallotSequence ballots = new BallotSequence(at(0));
    private final Proposer proposer = new Proposer(SELF, new Cell("cell", List.of("n")), timing, ballots);
    private final LeaseEngine engine = engine(SELF, proposer, false);
    private final LocalAcceptor acceptor = new LocalAcceptor(new Acceptor(timing, 10, at(0)), ballots, Runnable::run);
    private final Output out = new Output();

    LeaseEngineTests() {
        acceptor.open(true, at(0));
    }

    private LeaseEngine engine(Incarnation self, Cell cell, boolean oneRoundTrip) {
        return engine(self, new Proposer(self, cell, timing, ballots), oneRoundTrip);
    }

    private static LeaseEngine engine(Incarnation self, Proposer proposer, boolean oneRoundTrip) {
        return new LeaseEngine(self, proposer, oneRoundTrip, 1_000 * MILLI, new Dice(1));
    }

    private static Now at(long millis) {
        return new Now(millis * MILLI, 1_000_000 + millis);
    }

    private void deliver(Now now) {
        for (int i = 0; i < out.requests.size(); i++) {
            Response response = acceptor.handle(out.requests.get(i), now);
            if (response != null) {
                engine.onResponse(0, response, now, out);
            }
        }
        out.requests.clear();
    }

    /** Takes the lease of a cell that has nobody else in it. */
    private void take(Claim claim) {
        engine.submit(claim, at(1), out);
        deliver(at(1));
        assertThat(claim.tenure).isNotNull();
    }

    @Nested
    class X7Pauses {

        /** The timer was left at the next extension, seconds away, and the round that began was not watched. */
        @Test
        void aClaimThatIsTurnedAwayAfterASuspendLeavesTheTimerOfTheNewAttemptSet() {
            Claim standing = Claim.standing("r", LEASE, 0);
            take(standing);

            Now resumed = new Now(at(2).nanos(), at(60_000).wallMillis());
            engine.submit(Claim.once("r", LEASE, resumed.nanos() + LEASE), resumed, out);
            assertThat(standing.tenure).isNull();
            assertThat(engine.nextWakeNanos().getAsLong() - resumed.nanos()).isLessThanOrEqualTo(1_000 * MILLI);
        }
    }

    /** What a suspend has used up of a lease is known by the wall clock only. */
    @Nested
    class X7ALeaseThatHasTimeLeft {

        private static final long SUSPENDED = 5_500;

        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void isExtendedAfterASuspend(boolean standing) {
            Claim claim = standing ? Claim.standing("r", LEASE, 0) : Claim.patient("r", LEASE, 10 * LEASE);
            claim.autoExtend = true;
            take(claim);
            engine.settleAll(after(2_000), out);
            deliver(after(2_000));
            assertThat(claim.tenure.deadline().remainingNanos(after(2_000))).isGreaterThan(2_000 * MILLI);
            for (long millis = 2_000; millis < 8_000; millis++) {
                engine.onTime(after(millis), out);
                deliver(after(millis));
            }
            assertThat(out.notices)
                    .noneMatch(Notice.Lost.class::isInstance)
                    .anyMatch(Notice.Extended.class::isInstance);
        }

        /** Where answers take long a round lasts a second, and what was sent before the suspend may be lost. */
        @Test
        void isExtendedAgainAfterASuspendBeforeTheRoundUnderWayHasEnded() {
            Claim claim = Claim.standing("r", LEASE, 0);
            engine.submit(claim, at(1), out);
            deliver(at(600));
            assertThat(claim.tenure).isNotNull();
            long millis = engine.nextWakeNanos().getAsLong() / MILLI + 1;
            engine.onTime(at(millis), out);
            assertThat(out.requests).isNotEmpty();
            out.requests.clear();
            long suspended = claim.tenure.deadline().remainingNanos(at(millis)) / MILLI - 800;
            engine.settleAll(after(millis, suspended), out);
            while (out.requests.isEmpty() && claim.tenure != null) {
                engine.onTime(after(++millis, suspended), out);
            }
            deliver(after(millis, suspended));
            assertThat(claim.tenure).isNotNull();
            assertThat(claim.tenure.deadline().remainingNanos(after(millis, suspended)))
                    .isGreaterThan(8_000 * MILLI);
        }

        private Now after(long millis) {
            return after(millis, SUSPENDED);
        }

        private static Now after(long millis, long suspended) {
            return new Now(at(millis).nanos(), at(millis + suspended).wallMillis());
        }
    }

    /** A release of what is held, or may still be won, would let two have it. */
    @Nested
    class P6ARivalThatWasRefused {

        private final Claim claim = Claim.once("r", LEASE, 10 * LEASE);

        private Ballot submitted() {
            engine.submit(claim, at(1), out);
            return out.requests.get(0).ballot();
        }

        private List<Request> sentToWhomWasRefusedFor(Ballot ballot) {
            Output event = new Output();
            engine.onRivalRefused("r", ballot, at(1), event);
            return event.requests;
        }

        @Test
        void isToldNothingWhileTheLeaseIsSought() {
            assertThat(sentToWhomWasRefusedFor(submitted())).isEmpty();
        }

        @Test
        void isToldNothingWhileTheLeaseIsHeld() {
            Ballot ballot = submitted();
            deliver(at(1));
            assertThat(claim.tenure.isActive(at(4))).isTrue();
            assertThat(sentToWhomWasRefusedFor(ballot)).isEmpty();
        }

        @Test
        void isToldWhenNothingOfItIsLeft() {
            Ballot ballot = submitted();
            deliver(at(1));
            engine.withdraw(claim, at(2), out);
            assertThat(sentToWhomWasRefusedFor(ballot)).containsExactly(new ReleaseRequest("r", ballot));
        }

        @Test
        void isToldNothingOfALeaseOfAnother() {
            assertThat(sentToWhomWasRefusedFor(new Ballot(1, new Incarnation("other", 1))))
                    .isEmpty();
        }
    }

    /**
     * What one claim gives up goes to the next in the same step, so that other nodes hear of the end and of the new owner at once. Two threads of a
     * node took a lease 7,124 times in ten seconds; who waited at another had it twice, and not within three seconds three times.
     */
    @Nested
    class X6AHandOverWithinTheNode {

        /** Longer than the node keeps the lease where others want it, too. */
        private static final long KEPT = 100;

        /** When the others have had their turn. */
        private static final long TURN = 10;

        private final Claim first = Claim.patient("r", LEASE, 10 * LEASE);
        private final Claim second = Claim.patient("r", LEASE, 10 * LEASE);

        private void takeForTheFirst() {
            take(first);
            engine.submit(second, at(1), out);
        }

        private boolean isAtOnce(Claim from, Claim to, long millis) {
            engine.withdraw(from, at(millis), out);
            deliver(at(millis));
            return to.tenure != null;
        }

        private void isTakenAfterTheTurn(Claim to, long millis) {
            assertThat(engine.nextWakeNanos().getAsLong())
                    .isBetween(at(millis + 1).nanos(), at(millis + TURN).nanos());
            engine.onTime(at(millis + TURN), out);
            deliver(at(millis + TURN));
            assertThat(to.tenure).isNotNull();
        }

        @Test
        void letsNobodyElseFirstWhereNobodyAsked() {
            takeForTheFirst();
            assertThat(isAtOnce(first, second, KEPT)).isTrue();
        }

        @Test
        void letsNobodyElseFirstBeforeThisNodeHadItsShare() {
            takeForTheFirst();
            engine.onRival("r", at(1));
            assertThat(isAtOnce(first, second, 20)).isTrue();
        }

        @Test
        void letsOthersHaveTheirTurnAfterwards() {
            takeForTheFirst();
            engine.onRival("r", at(1));
            engine.onRival("r", at(KEPT - 1));
            assertThat(isAtOnce(first, second, KEPT)).isFalse();
            isTakenAfterTheTurn(second, KEPT);
        }

        /** So many turns that nobody takes, and then whether the next claim has the lease at once. */
        private boolean isAtOnceAfterTurnsInVain(int turns, Runnable beforeTheLast) {
            takeForTheFirst();
            engine.onRival("r", at(1));
            Claim from = first;
            Claim to = second;
            for (int turn = 1; turn <= turns; turn++) {
                if (turn == turns) {
                    beforeTheLast.run();
                }
                assertThat(isAtOnce(from, to, turn * KEPT)).isFalse();
                isTakenAfterTheTurn(to, turn * KEPT);
                from = to;
                to = Claim.patient("r", LEASE, 10 * LEASE);
                engine.submit(to, at(turn * KEPT + TURN), out);
            }
            return isAtOnce(from, to, (turns + 1) * KEPT);
        }

        /** A turn is missed by whoever hears of the release late, and who waits does not ask again. */
        @Test
        void letsOthersHaveTheirTurnAgainWhereTheyMissedOne() {
            assertThat(isAtOnceAfterTurnsInVain(2, () -> {})).isFalse();
        }

        @Test
        void letsNobodyFirstAgainWhereNobodyTookThreeTurns() {
            assertThat(isAtOnceAfterTurnsInVain(3, () -> {})).isTrue();
        }

        @Test
        void letsOthersHaveFurtherTurnsWhereOneOfThemAskedAgain() {
            assertThat(isAtOnceAfterTurnsInVain(3, () -> engine.onRival("r", at(3 * KEPT - 1))))
                    .isFalse();
        }

        /** Others may wait who asked before that and will not ask again. */
        @Test
        void letsOthersHaveTheirTurnAgainWhereOneOfThemHadTheLease() {
            takeForTheFirst();
            engine.onRival("r", at(1));
            assertThat(isAtOnce(first, second, KEPT)).isFalse();
            engine.onOwnerSeen("r", RIVAL, LEASE, at(KEPT + 1), out);
            engine.onOwnerGone("r", new Ballot(1, RIVAL), at(KEPT + 2), out);
            engine.onTime(at(KEPT + TURN), out);
            deliver(at(KEPT + TURN));
            Claim third = Claim.patient("r", LEASE, 10 * LEASE);
            engine.submit(third, at(KEPT + TURN), out);
            assertThat(isAtOnce(second, third, 2 * KEPT + TURN)).isFalse();
        }

        /** Of a lease that is parked nothing is kept but the tenure. */
        @Test
        void letsOthersHaveTheirTurnWhoAskedWhileTheLeaseWasParked() {
            first.autoExtend = true;
            take(first);
            engine.onOwnerGone("else", new Ballot(1, RIVAL), at(2), new Output());
            assertThat(engine.cares("r")).isFalse();
            engine.onRivalRefused("r", first.tenure.ballot(), at(2), out);
            engine.submit(second, at(3), out);
            assertThat(isAtOnce(first, second, KEPT)).isFalse();
        }

        @Test
        void letsOthersHaveTheirTurnWhereAnElectionResigns() {
            Claim standing = Claim.standing("r", LEASE, 0);
            take(standing);
            engine.submit(second, at(1), out);
            engine.onRivalRefused("r", standing.tenure.ballot(), at(1), out);
            engine.resign(standing, at(KEPT), out);
            deliver(at(KEPT));
            assertThat(second.tenure).isNull();
            isTakenAfterTheTurn(second, KEPT);
        }

        /** One thread that took a lease again as soon as it had given it back kept it from all others for as long as it went on. */
        @Test
        void letsOthersHaveTheirTurnWhereTheNextClaimComesAfterTheRelease() {
            take(first);
            engine.onRival("r", at(1));
            engine.withdraw(first, at(KEPT), out);
            engine.submit(second, at(KEPT), out);
            deliver(at(KEPT));
            assertThat(second.tenure).isNull();
            isTakenAfterTheTurn(second, KEPT);
        }

        @Test
        void letsNobodyFirstWhereTheNextClaimComesAfterTheTurnOfOthers() {
            take(first);
            engine.onRival("r", at(1));
            engine.withdraw(first, at(KEPT), out);
            engine.submit(second, at(KEPT + TURN), out);
            deliver(at(KEPT + TURN));
            assertThat(second.tenure).isNotNull();
        }

        @Test
        void letsNobodyFirstWhereTheNextClaimWaitsForNobody() {
            Claim once = Claim.once("r", LEASE, 10 * LEASE);
            take(first);
            engine.onRival("r", at(1));
            engine.withdraw(first, at(KEPT), out);
            engine.submit(once, at(KEPT), out);
            deliver(at(KEPT));
            assertThat(once.tenure).isNotNull();
        }

        private Claim givesUp(long millis) {
            Claim brief = Claim.patient("r", LEASE, at(millis).nanos());
            take(first);
            engine.onRival("r", at(1));
            engine.withdraw(first, at(KEPT), out);
            engine.submit(brief, at(KEPT), out);
            deliver(at(KEPT));
            return brief;
        }

        /** It got nothing then, though nobody had the lease, where one that waits for nobody had it. */
        @Test
        void letsNobodyFirstWhereTheNextClaimHasNoTimeForThat() {
            assertThat(givesUp(KEPT + TURN / 2).tenure).isNotNull();
        }

        @Test
        void letsOthersHaveTheirTurnWhereThereIsAsMuchTimeAfterwards() {
            Claim brief = givesUp(KEPT + 2 * TURN);
            assertThat(brief.tenure).isNull();
            isTakenAfterTheTurn(brief, KEPT);
        }

        /** There was no release that others wait for. */
        @Test
        void letsNobodyFirstWhereAClaimEndsWithoutTheLease() {
            engine.submit(first, at(1), out);
            engine.submit(second, at(1), out);
            engine.onRival("r", at(1));
            out.requests.clear();
            assertThat(isAtOnce(first, second, KEPT)).isTrue();
        }

        private void waitsForTheTurnOfOthers(Claim claim) {
            take(first);
            engine.submit(claim, at(1), out);
            engine.onRival("r", at(1));
            assertThat(isAtOnce(first, claim, KEPT)).isFalse();
        }

        @Test
        void saysThatThisNodeHadTheLeaseUntilThen() {
            Claim brief = Claim.patient("r", LEASE, at(KEPT + 1).nanos());
            waitsForTheTurnOfOthers(brief);
            engine.onTime(at(KEPT + 1), out);
            assertThat(out.notices)
                    .contains(new Notice.Unavailable(brief, "this node itself seeks or holds the lease already"));
        }

        @Test
        void saysWhoHasTheLeaseWhereSomebodyTookItInItsTurn() {
            Claim brief = Claim.patient("r", LEASE, at(KEPT + 50).nanos());
            waitsForTheTurnOfOthers(brief);
            engine.onOwnerSeen("r", RIVAL, LEASE, at(KEPT + 1), out);
            engine.onTime(at(KEPT + 50), out);
            assertThat(out.notices).contains(new Notice.Unavailable(brief, "held by " + RIVAL.nodeId()));
        }
    }

    @Nested
    class ASeenEnd {

        private Claim extended(Claim claim) {
            take(claim);
            engine.extend(claim, at(9_000), out);
            deliver(at(9_000));
            assertThat(claim.tenure).isNotNull();
            return claim;
        }

        /** It went on seeking, for a lease that nobody could refer to. */
        @Test
        void endsAClaimForOneTenureAlthoughTheTenureWasExtendedMeanwhile() {
            Claim claim = extended(Claim.patient("r", LEASE, 10 * LEASE));

            engine.endTenure(claim, at(9_990), at(9_991), out);

            assertThat(claim.tenure).isNull();
            assertThat(out.notices)
                    .noneMatch(Notice.Released.class::isInstance)
                    .filteredOn(Notice.Lost.class::isInstance)
                    .hasSize(1);
            assertThat(engine.candidacies()).isEmpty();
            assertThat(engine.nextWakeNanos()).isEmpty();
        }

        @Test
        void hasACandidateRestBeforeItSeeksAgain() {
            Claim claim = extended(Claim.standing("r", LEASE, 0));

            engine.endTenure(claim, at(9_990), at(9_991), out);
            deliver(at(9_991));
            assertThat(claim.tenure).isNull();
            assertThat(out.notices)
                    .noneMatch(Notice.Released.class::isInstance)
                    .anyMatch(Notice.Lost.class::isInstance);

            engine.onTime(at(10_990), out);
            assertThat(out.requests).isEmpty();
            engine.onTime(at(10_991), out);
            deliver(at(10_991));
            assertThat(claim.tenure).isNotNull();
        }
    }

    /** The lease ended before its user's wish came, and no timer has told it yet. */
    @Nested
    class T1ALeaseThatEndedUnnoticed {

        private final Now end = at(20_000);

        private Claim ended(Claim claim) {
            take(claim);
            out.clear();
            return claim;
        }

        private void isLost() {
            assertThat(out.notices)
                    .noneMatch(Notice.Released.class::isInstance)
                    .filteredOn(Notice.Lost.class::isInstance)
                    .hasSize(1);
        }

        @Test
        void isLostThoughItsCandidacyIsWithdrawnAndNothingIsLeftInFlight() {
            engine.withdraw(ended(Claim.standing("r", LEASE, 0)), end, out);
            isLost();
            assertThat(engine.candidacies()).isEmpty();
            assertThat(proposer.attempts()).isZero();
        }

        @Test
        void isLostThoughAllAreWithdrawnAndNothingIsLeftInFlight() {
            ended(Claim.standing("r", LEASE, 0));
            engine.withdrawAll(10, end, out);
            isLost();
            assertThat(engine.candidacies()).isEmpty();
            assertThat(proposer.attempts()).isZero();
        }

        @Test
        void cannotBeResigned() {
            Claim claim = ended(Claim.standing("r", LEASE, 0));
            engine.resign(claim, end, out);
            isLost();
            assertThat(claim.resigned).isFalse();
            assertThat(out.requests).singleElement().isInstanceOf(PrepareRequest.class);
        }

        @Test
        void isNotExtended() {
            engine.extend(ended(Claim.patient("r", LEASE, LEASE)), end, out);
            isLost();
            assertThat(out.requests).isEmpty();
        }

        @Test
        void doesNotBeginToExtendItself() {
            engine.autoExtend(ended(Claim.patient("r", LEASE, LEASE)), end, out);
            isLost();
            assertThat(engine.nextWakeNanos()).isEmpty();
        }

        @Test
        void leavesTheResourceWithoutALeader() {
            ended(Claim.patient("r", LEASE, LEASE));
            engine.onTime(end, out);
            isLost();
            assertThat(out.notices).contains(new Notice.LeaderChanged("r", null));
        }
    }

    /** What was proposed as an extension is an acquisition if the lease ended meanwhile. */
    @Nested
    class AnExtensionUnderWay {

        @Test
        void makesACandidateTheOwnerAnewWithAnotherToken() {
            LeaseEngine owner = engine(SELF, new Cell("cell", List.of("n")), true);
            Claim claim = Claim.standing("r", LEASE, 0);
            owner.submit(claim, at(1), out);
            owner.onResponse(0, acceptor.handle(out.requests.get(0), at(1)), at(1), out);
            long token = claim.tenure.token();
            Now end = new Now(claim.tenure.deadline().nanos(), at(0).wallMillis());

            out.clear();
            owner.extend(claim, new Now(end.nanos() - 2 * MILLI, end.wallMillis()), out);
            Response response = acceptor.handle(out.requests.get(0), end);
            owner.onResponse(0, response, end, out);

            assertThat(out.requests).hasSize(1);
            assertThat(out.notices).anyMatch(Notice.Lost.class::isInstance).anyMatch(Notice.Acquired.class::isInstance);
            assertThat(claim.tenure.token()).isGreaterThan(token);
        }
    }

    @Nested
    class ARound {

        @Test
        void ofProposalsHasAsMuchTimeAsThatOfPreparing() {
            engine.submit(Claim.patient("r", LEASE, LEASE), at(1), out);
            Request prepare = out.requests.get(0);
            engine.onResponse(0, acceptor.handle(prepare, at(40)), at(40), out);
            assertThat(out.requests).last().isInstanceOf(ProposeRequest.class);
            assertThat(engine.nextWakeNanos().getAsLong()).isGreaterThanOrEqualTo(at(90).nanos());
        }

        @Test
        void thatNobodyAnswersIsFollowedByTheNextWithoutWaitingForItsEnd() {
            engine.submit(Claim.patient("r", LEASE, LEASE), at(1), out);
            engine.onUnanswered(0, out.requests.get(0), at(2), out);
            assertThat(engine.nextWakeNanos().getAsLong()).isBetween(at(2).nanos(), at(12).nanos());
        }

        /** Where two of five were silent, each collision of two candidates had the next round last twice as long, up to a second. */
        @Test
        void thatAMajorityAnsweredIsNoReasonToGiveTheNextMoreTime() {
            LeaseEngine five = engine(SELF, new Cell("cell", List.of("n", "n2", "n3", "n4", "n5")), true);
            Now now = at(1);
            five.submit(Claim.standing("r", LEASE, 0), now, out);
            for (int attempts = 1; attempts <= 5; attempts++) {
                Ballot ballot = out.requests.get(0).ballot();
                long higher = ballot.counter() + 1;
                five.onResponse(
                        1,
                        attempts == 1
                                ? new ProposeResponse("r", ballot, true, ballot.counter(), null)
                                : new PrepareResponse("r", ballot, true, ballot.counter(), null),
                        now,
                        out);
                for (int acceptor = 2; acceptor < 4; acceptor++) {
                    five.onResponse(
                            acceptor,
                            attempts == 1
                                    ? new ProposeResponse("r", ballot, false, higher, null)
                                    : new PrepareResponse("r", ballot, false, higher, null),
                            now,
                            out);
                }
                Now end = new Now(five.nextWakeNanos().getAsLong(), now.wallMillis());
                assertThat(end.nanos() - now.nanos()).isEqualTo(RoundTrips.SHORTEST_ROUND_NANOS);
                five.onTime(end, out);
                out.requests.clear();
                now = new Now(five.nextWakeNanos().getAsLong(), now.wallMillis());
                five.onTime(now, out);
            }
        }

        /** Where all that far members answered were refusals, rounds and back-offs stayed as short as among neighbours. */
        @Test
        void whatAMajorityTakesToRefuseTellsHowMuchTimeTheNextNeeds() {
            LeaseEngine five = engine(SELF, new Cell("cell", List.of("n", "n2", "n3", "n4", "n5")), false);
            five.submit(Claim.standing("r", LEASE, 0), at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            for (int acceptor = 1; acceptor <= 3; acceptor++) {
                five.onResponse(
                        acceptor, new PrepareResponse("r", ballot, false, ballot.counter() + 1, null), at(41), out);
            }
            Now next = new Now(five.nextWakeNanos().getAsLong(), at(41).wallMillis());
            five.onTime(next, out);
            assertThat(five.nextWakeNanos().getAsLong() - next.nanos()).isGreaterThan(80 * MILLI);
        }

        @Test
        void thatIsLongerThanItsUserWaitsIsTheReason() {
            Claim claim = Claim.patient("r", LEASE, at(20).nanos());
            engine.submit(claim, at(1), out);
            engine.onTime(at(20), out);
            assertThat(out.notices).containsExactly(new Notice.Unavailable(claim, "no majority of the cell answered"));
        }

        /** The one before it rests: nobody is asked. */
        @Test
        void thatNobodyBeganIsNotTheReasonOfAClaimThatWaitedForAnother() {
            Claim standing = Claim.standing("r", LEASE, 0);
            take(standing);
            engine.resign(standing, at(2), out);
            Claim next = Claim.patient("r", LEASE, at(20).nanos());
            engine.submit(next, at(3), out);
            engine.onTime(at(20), out);
            assertThat(out.notices)
                    .endsWith(new Notice.Unavailable(next, "this node itself seeks or holds the lease already"));
        }

        @Test
        void thatIsWonTellsHowLongTheAttemptTook() {
            engine.submit(Claim.patient("r", LEASE, LEASE), at(5_000), out);
            deliver(at(5_030));
            assertThat(out.notices)
                    .filteredOn(Notice.Acquired.class::isInstance)
                    .singleElement()
                    .extracting(notice -> ((Notice.Acquired) notice).tookNanos())
                    .isEqualTo(30 * MILLI);
        }
    }

    /** Who looks for the reason reads it in the history of the endpoint. */
    @Nested
    class WhyAnAttemptFailed {

        private final LeaseEngine three = engine(SELF, new Cell("cell", List.of("n", "n2", "n3")), false);

        private Ballot prepares(long leaseNanos) {
            three.submit(Claim.standing("r", leaseNanos, 0), at(1), out);
            return out.requests.get(0).ballot();
        }

        private void isAnswered(int acceptor, Response response, long millis) {
            three.onResponse(acceptor, response, at(millis), out);
        }

        private void isPromised(int acceptor, Ballot ballot, Incarnation owner) {
            AcceptedLease lease = owner == null ? null : new AcceptedLease(new Ballot(1, owner), LEASE);
            isAnswered(acceptor, new PrepareResponse("r", ballot, true, ballot.counter(), lease), 2);
        }

        private void isSaid(String reason, long rejectedBy) {
            if (out.failedAttempts.isEmpty()) {
                three.onTime(new Now(three.nextWakeNanos().getAsLong(), at(2).wallMillis()), out);
            }
            assertThat(out.failedAttempts).containsExactly(new Output.FailedAttempt("r", reason, rejectedBy));
        }

        @Test
        void isAHigherBallotThatTheseHadPromised() {
            Ballot ballot = prepares(LEASE);
            for (int acceptor = 1; acceptor <= 2; acceptor++) {
                isAnswered(acceptor, new PrepareResponse("r", ballot, false, ballot.counter() + 1, null), 2);
            }
            isSaid("another candidate was quicker", 0b110);
        }

        @Test
        void isTheOwnerWhoseLeaseTheseHadAccepted() {
            Ballot ballot = prepares(LEASE);
            isPromised(0, ballot, RIVAL);
            isPromised(1, ballot, RIVAL);
            isSaid("held by n2", 0b011);
        }

        @Test
        void isNotWhatOneHasStillOfThisNode() {
            Ballot ballot = prepares(LEASE);
            isPromised(0, ballot, null);
            isPromised(1, ballot, SELF);
            for (int acceptor = 0; acceptor <= 2; acceptor += 2) {
                isAnswered(acceptor, new ProposeResponse("r", ballot, false, ballot.counter() + 1, null), 2);
            }
            isSaid("another candidate was quicker", 0b101);
        }

        @Test
        void isThatTheLeaseWouldBeOverBeforeItBegan() {
            Ballot ballot = prepares(10 * MILLI);
            isPromised(0, ballot, null);
            isPromised(1, ballot, null);
            for (int acceptor = 0; acceptor <= 1; acceptor++) {
                isAnswered(acceptor, new ProposeResponse("r", ballot, true, ballot.counter(), null), 20);
            }
            isSaid("the majority answered too late", 0);
        }
    }

    @Nested
    class ALeaseOfSomebodyElse {

        @Test
        void endsAClaimThatDoesNotWaitAndIsTheReason() {
            acceptor.handle(new ProposeRequest("r", new Ballot(at(0).counterFloor() + 1, RIVAL), LEASE), at(0));
            Claim claim = Claim.once("r", LEASE, LEASE);
            engine.submit(claim, at(1), out);
            deliver(at(1));
            assertThat(out.notices).last().isEqualTo(new Notice.Unavailable(claim, "held by n2"));
            assertThat(engine.candidacies()).isEmpty();
        }

        @Test
        void isWaitedForUntilItEndsAsItIsExtended() {
            engine.watch("r");
            engine.onOwnerSeen("r", RIVAL, 1_000 * MILLI, at(500), out);
            assertThat(engine.nextWakeNanos())
                    .as("for who only watches")
                    .hasValue(at(1_500).nanos());
            engine.submit(Claim.patient("r", LEASE, at(60_000).nanos()), at(600), out);
            assertThat(engine.nextWakeNanos().getAsLong())
                    .isBetween(at(1_500).nanos(), at(1_600).nanos());

            engine.onOwnerSeen("r", RIVAL, 5_000 * MILLI, at(1_000), out);
            assertThat(engine.nextWakeNanos().getAsLong())
                    .isBetween(at(6_000).nanos(), at(6_100).nanos());
        }

        /** Who had kept an earlier claim from it, perhaps long ago. */
        @Test
        void isNotNamedToAClaimWhoseFirstAttemptIsNotAnswered() {
            engine.watch("r");
            engine.onOwnerSeen("r", RIVAL, 1_000 * MILLI, at(1), out);
            engine.submit(Claim.patient("r", LEASE, at(2).nanos()), at(1), out);
            engine.onTime(at(2), out);
            engine.onOwnerGone("r", new Ballot(1, RIVAL), at(3), out);
            Claim claim = Claim.patient("r", LEASE, at(5).nanos());
            engine.submit(claim, at(4), out);
            engine.onTime(at(5), out);
            assertThat(out.notices).contains(new Notice.Unavailable(claim, "no majority of the cell answered"));
        }

        @Test
        void isNotWaitedForByAClaimThatDoesNotWait() {
            engine.submit(Claim.once("r", LEASE, LEASE), at(1), out);
            engine.onUnanswered(0, out.requests.get(0), at(2), out);
            engine.onOwnerSeen("r", RIVAL, 5_000 * MILLI, at(3), out);
            assertThat(engine.nextWakeNanos().getAsLong()).isLessThan(at(20).nanos());
        }

        @Test
        void thatIsGivenUpLeavesTheResourceWithoutALeaderAndNothingToWaitFor() {
            engine.watch("r");
            engine.onOwnerSeen("r", RIVAL, 1_000 * MILLI, at(1), out);
            engine.onOwnerGone("r", new Ballot(1, RIVAL), at(2), out);
            assertThat(out.notices).last().isEqualTo(new Notice.LeaderChanged("r", null));
            assertThat(engine.nextWakeNanos()).isEmpty();
        }

        private final LeaseEngine waiting = engine(SELF, new Cell("cell", List.of("n", "n2", "n3", "n4", "n5")), true);

        /** What it sends when it is woken next, which is before long. */
        private Request nextRequest() {
            out.requests.clear();
            Now due = new Now(waiting.nextWakeNanos().getAsLong(), at(0).wallMillis());
            assertThat(due.nanos()).isLessThan(at(100).nanos());
            waiting.onTime(due, out);
            return out.requests.get(0);
        }

        private Claim isMet(Incarnation owner) {
            Claim claim = Claim.standing("r", LEASE, 0);
            waiting.submit(claim, at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            AcceptedLease lease = new AcceptedLease(new Ballot(ballot.counter() - 1, owner), LEASE);
            for (int acceptor = 2; acceptor < 5; acceptor++) {
                waiting.onResponse(
                        acceptor, new ProposeResponse("r", ballot, false, ballot.counter() - 1, lease), at(2), out);
            }
            assertThat(waiting.nextWakeNanos().getAsLong()).isGreaterThanOrEqualTo(at(2).nanos() + LEASE);
            return claim;
        }

        /**
         * Two nodes of five that had been cut off tried in turn, hundreds of times, each as soon as the other gave up: their own acceptors did not
         * know the leader, and the rival's attempt had displaced what the last answers had told. Preparing has nobody try in turn. Nor is the
         * leader waited for: the rival may have been the leader after it, and then the lease was free until the first leader's time was over.
         */
        @Test
        void isPreparedForWhenARivalGivesUpMeanwhile() {
            Incarnation owner = new Incarnation("n3", 3);
            isMet(owner);
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(10), out);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(12), out);
            assertThat(out.notices).last().isEqualTo(new Notice.LeaderChanged("r", owner));
            assertThat(nextRequest()).isInstanceOf(PrepareRequest.class);
        }

        @Test
        void isProposedForWhenBothHaveGivenUpWhomItMet() {
            isMet(new Incarnation("n3", 3));
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(20), out);
            waiting.onOwnerGone("r", new Ballot(1, new Incarnation("n3", 3)), at(21), out);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(22), out);
            assertThat(nextRequest()).isInstanceOf(ProposeRequest.class);
        }

        /** Whom it had met was said to lead again when somebody else gave up, though this node had led meanwhile. */
        @Test
        void isNotThatOfWhomItMetBeforeItHadTheLeaseItself() {
            Claim claim = isMet(new Incarnation("n3", 3));
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(10), out);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(12), out);
            Ballot ballot = nextRequest().ballot();
            for (int acceptor = 0; acceptor < 3; acceptor++) {
                waiting.onResponse(
                        acceptor, new PrepareResponse("r", ballot, true, ballot.counter(), null), at(20), out);
            }
            for (int acceptor = 0; acceptor < 3; acceptor++) {
                waiting.onResponse(
                        acceptor, new ProposeResponse("r", ballot, true, ballot.counter(), null), at(21), out);
            }
            assertThat(claim.tenure).isNotNull();

            waiting.resign(claim, at(22), out);
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(23), out);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(24), out);
            assertThat(out.notices).last().isEqualTo(new Notice.LeaderChanged("r", null));
        }

        private void isAloneWhenItSees(Incarnation owner) {
            waiting.submit(Claim.standing("r", LEASE, 0), at(1), out);
            Request proposal = out.requests.get(0);
            for (int acceptor = 2; acceptor < 5; acceptor++) {
                waiting.onUnanswered(acceptor, proposal, at(2), out);
            }
            waiting.onOwnerSeen("r", owner, LEASE, at(3), out);
        }

        /**
         * Two nodes of five without a majority tried in turn for as long as that lasted, hundreds of times a second: each took the other for the
         * leader, and proposed at once when it gave up.
         */
        @Test
        void isPreparedForWhenARivalGivesUpThatIsAsAloneAsThisNode() {
            isAloneWhenItSees(RIVAL);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(4), out);
            assertThat(nextRequest()).isInstanceOf(PrepareRequest.class);
        }

        @Test
        void isProposedForWhenItsOwnerGivesUpThatWasSeenToExtendIt() {
            isAloneWhenItSees(RIVAL);
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(20), out);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(21), out);
            assertThat(nextRequest()).isInstanceOf(ProposeRequest.class);
        }

        /**
         * Three candidates of a majority that was only just there, two of five members in quarantine, tried in vain 1,011 times: each gave up what
         * kept the next one from the lease, and had it try again in the same moment of the same turn.
         */
        @Test
        void isTriedForAtRandomWhenManyHaveTriedInVain() {
            waiting.submit(Claim.standing("r", LEASE, 0), at(1), out);
            List<Long> pauses = new ArrayList<>();
            Now now = at(1);
            for (int attempts = 1; attempts <= 20; attempts++) {
                waiting.onOwnerSeen("r", RIVAL, LEASE, now, out);
                refuse(out.requests.get(0).ballot(), now);
                waiting.onOwnerGone("r", new Ballot(1, RIVAL), now, out);
                out.requests.clear();
                Now due = new Now(waiting.nextWakeNanos().getAsLong(), now.wallMillis());
                pauses.add(due.nanos() - now.nanos());
                waiting.onTime(due, out);
                now = due;
            }
            assertThat(pauses.subList(0, 2)).containsOnly(pauses.get(0));
            assertThat(new HashSet<>(pauses.subList(2, 20))).hasSizeGreaterThan(6);
            // Not for long, nor always: a lease that others take again and again was taken by nobody else for 16 s.
            assertThat(pauses.subList(2, 20))
                    .allMatch(pause -> pause < 20 * MILLI)
                    .contains(pauses.get(0));
        }

        /** Who is in its quarantine hears of no extension: it meets its owner again and again, and was half a second late when that gave up. */
        @Test
        void isTriedForAtOnceWhenItsOwnerWasMetManyTimes() {
            waiting.submit(Claim.standing("r", LEASE, 0), at(1), out);
            Now now = at(1);
            for (int attempts = 1; attempts <= 20; attempts++) {
                refuse(out.requests.get(0).ballot(), now);
                out.requests.clear();
                now = new Now(waiting.nextWakeNanos().getAsLong(), now.wallMillis());
                waiting.onTime(now, out);
            }
            refuse(out.requests.get(0).ballot(), now);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), now, out);
            // Its turn, and nothing at random.
            assertThat((waiting.nextWakeNanos().getAsLong() - now.nanos()) % (2 * MILLI))
                    .isZero();
        }

        private void refuse(Ballot ballot, Now now) {
            AcceptedLease lease = new AcceptedLease(new Ballot(ballot.counter() - 1, RIVAL), LEASE);
            for (int acceptor = 2; acceptor < 5; acceptor++) {
                waiting.onResponse(
                        acceptor, new ProposeResponse("r", ballot, false, ballot.counter() - 1, lease), now, out);
            }
        }

        @Test
        void isNotAskedForAgainBeforeAllCanHaveHeardThatItWasGivenUp() {
            waiting.submit(Claim.standing("r", LEASE, 0), at(1), out);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(2), out);
            refuse(out.requests.get(0).ballot(), at(3));
            assertThat(waiting.nextWakeNanos().getAsLong()).isBetween(at(3).nanos() + 1, at(4).nanos());
        }

        /** So long an owner keeps a lease that others want, too, in a cell of five. */
        private static final long SHARE = 8 * 12;

        /** The owner gives it up and takes it again before this node's turn; when this node asks then, or -1 if it does not within two seconds. */
        private long asksWhenItIsTakenAgain(long fromMillis) {
            for (long millis = fromMillis; millis < fromMillis + 2_000; millis++) {
                waiting.onOwnerGone("r", new Ballot(millis, RIVAL), at(millis), out);
                waiting.onOwnerSeen("r", RIVAL, LEASE, at(millis), out);
                if (!out.requests.isEmpty()) {
                    return millis;
                }
            }
            return -1;
        }

        /**
         * A node that waited already when another took the lock for the first time was not known to that one, nor was one that it had forgotten, and
         * waited until the other stopped: it took the lock again before the turn of any node.
         */
        @Test
        void isAskedForWhenItsOwnerTakesItAgainAndAgainAndMayNotKnowThatThisNodeWaits() {
            waiting.submit(Claim.patient("r", LEASE, 10 * LEASE), at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            refuse(ballot, at(1));
            out.requests.clear();
            long asks = asksWhenItIsTakenAgain(2);
            assertThat(asks).isBetween(SHARE - 5, SHARE + 1);
            ballot = out.requests.get(0).ballot();
            for (int acceptor = 2; acceptor < 5; acceptor++) {
                AcceptedLease lease = new AcceptedLease(new Ballot(ballot.counter() - 1, RIVAL), LEASE);
                waiting.onResponse(
                        acceptor, new PrepareResponse("r", ballot, true, ballot.counter(), lease), at(asks), out);
            }
            out.requests.clear();
            assertThat(asksWhenItIsTakenAgain(asks + 1) - asks).isBetween(SHARE - 5, SHARE + 1);
        }

        /** Where each claim of a queue waited for less than a share, the one after it waited for a whole one anew, and none asked. */
        @Test
        void isAskedForAlsoWhereOneClaimAfterTheOtherStopsWaitingForIt() {
            waiting.submit(Claim.patient("r", LEASE, at(60).nanos()), at(1), out);
            refuse(out.requests.get(0).ballot(), at(1));
            out.requests.clear();
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(1), out);
            long millis = 1;
            while (out.requests.isEmpty() && millis < 2_000) {
                millis++;
                if (millis % 30 == 0) {
                    waiting.submit(Claim.patient("r", LEASE, at(millis + 60).nanos()), at(millis), out);
                }
                waiting.onTime(at(millis), out);
                waiting.onOwnerGone("r", new Ballot(millis, RIVAL), at(millis), out);
                waiting.onOwnerSeen("r", RIVAL, LEASE, at(millis), out);
            }
            assertThat(millis).isBetween(SHARE - 5, SHARE + 1);
        }

        /** The frame that tells of the release has the next proposal, too, so that nobody sees the lease free. */
        @Test
        void isAskedForAlsoWhenItIsTakenAgainInTheFrameThatGivesItUp() {
            long[] millis = {1};
            PeerRequests peers = new PeerRequests(
                    acceptor, waiting, () -> at(millis[0]), step -> step.run(at(millis[0]), out), defect -> {});
            waiting.submit(Claim.patient("r", LEASE, 10 * LEASE), at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            Ballot taken = new Ballot(ballot.counter() + 1, RIVAL);
            peers.answer(List.of(new ProposeRequest("r", taken, LEASE)));
            refuse(ballot, at(1));
            out.requests.clear();
            while (out.requests.isEmpty() && millis[0] < 2_000) {
                millis[0]++;
                Ballot next = new Ballot(taken.counter() + 1, RIVAL);
                peers.answer(List.of(new ReleaseRequest("r", taken), new ProposeRequest("r", next, LEASE)));
                taken = next;
            }
            assertThat(millis[0]).isBetween(SHARE - 5, SHARE + 1);
            assertThat(out.requests.get(0)).isInstanceOf(PrepareRequest.class);
        }

        @Test
        void isNotAskedForWhileItsOwnerExtendsItNorWhenAnotherTakesIt() {
            waiting.submit(Claim.patient("r", LEASE, 10 * LEASE), at(1), out);
            refuse(out.requests.get(0).ballot(), at(1));
            out.requests.clear();
            for (long millis = 2; millis < 1_000; millis++) {
                waiting.onOwnerSeen("r", RIVAL, LEASE, at(millis), out);
            }
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(1_000), out);
            waiting.onOwnerSeen("r", new Incarnation("n3", 3), LEASE, at(1_000), out);
            assertThat(out.requests).isEmpty();
        }

        @Test
        void isNotAskedForByWhoResignedAndLetsTheOthersTry() {
            Claim claim = Claim.standing("r", LEASE, 0);
            waiting.submit(claim, at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            for (int acceptor = 0; acceptor < 3; acceptor++) {
                waiting.onResponse(
                        acceptor, new ProposeResponse("r", ballot, true, ballot.counter(), null), at(1), out);
            }
            waiting.resign(claim, at(2), out);
            out.requests.clear();
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(3), out);
            assertThat(asksWhenItIsTakenAgain(4)).isEqualTo(1_002);
        }

        /** The owner gives it up when it has refused an attempt that no other member has answered. */
        private Ballot isRefusedAndGivenUp(long millis) {
            waiting.submit(Claim.patient("r", LEASE, 10 * LEASE), at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            AcceptedLease lease = new AcceptedLease(new Ballot(ballot.counter() - 1, RIVAL), LEASE);
            waiting.onOwnerSeen("r", RIVAL, LEASE, at(1), out);
            waiting.onResponse(
                    1, new ProposeResponse("r", ballot, false, ballot.counter() - 1, lease), at(millis), out);
            waiting.onOwnerGone("r", lease.ballot(), at(millis), out);
            return ballot;
        }

        /** Where two of five members were silent an attempt that the owner had refused lasted for fifty milliseconds, and turns passed meanwhile. */
        @Test
        void isTriedForInItsTurnThoughAnAttemptThatWasRefusedIsStillUnderWay() {
            Ballot ballot = isRefusedAndGivenUp(3);
            out.requests.clear();
            for (long millis = 3; millis < 13; millis++) {
                waiting.onTime(at(millis), out);
            }
            assertThat(out.requests)
                    .last()
                    .isInstanceOfSatisfying(
                            PrepareRequest.class,
                            next -> assertThat(next.ballot()).isNotEqualTo(ballot));
        }

        @Test
        void isNotTriedForAnewWhileTheAnswersOfTheOthersMayBeOnTheirWay() {
            isRefusedAndGivenUp(1);
            // Some of the releases give this node the first turn.
            for (long counter = 1; counter <= 20; counter++) {
                waiting.onOwnerSeen("r", RIVAL, LEASE, at(1), out);
                waiting.onOwnerGone("r", new Ballot(counter, RIVAL), at(1), out);
            }
            assertThat(waiting.nextWakeNanos().getAsLong()).isGreaterThanOrEqualTo(at(3).nanos());
        }
    }

    @Nested
    class WaitingClaims {

        @Test
        void endEachAtItsOwnTimeWhileAnotherHolds() {
            Claim holder = Claim.standing("r", LEASE, 0);
            take(holder);
            Claim patient = waiting(5_000);
            Claim impatient = waiting(3_000);
            Claim withdrawn = waiting(2_000);
            Claim standing = Claim.standing("r", LEASE, 0);
            engine.submit(standing, at(10), out);
            engine.withdraw(withdrawn, at(20), out);

            assertThat(engine.nextWakeNanos()).hasValue(3_000 * MILLI);
            engine.onTime(at(3_000), out);
            assertThat(unavailable()).containsExactly(impatient);
            assertThat(engine.nextWakeNanos().getAsLong())
                    .as("the extension")
                    .isBetween(at(4_900).nanos(), at(4_999).nanos());
            engine.onTime(at(5_000), out);
            assertThat(unavailable()).containsExactly(impatient, patient);
        }

        @Test
        void areToldThatThisNodeHadTheLeaseAndNotWhatTheLastAttemptMet() {
            Claim holder = Claim.standing("r", LEASE, 0);
            engine.submit(holder, at(0), out);
            engine.onUnanswered(0, out.requests.get(0), at(1), out);
            engine.onTime(at(1_000), out);
            deliver(at(1_000));
            assertThat(holder.tenure).isNotNull();
            Claim claim = waiting(3_000);

            engine.onTime(at(3_000), out);
            assertThat(out.notices)
                    .contains(new Notice.Unavailable(claim, "this node itself seeks or holds the lease already"));
        }

        @Test
        void becomeTheCandidateInTheirOrderAndEndAtTheirTimeAllTheSame() {
            Claim holder = Claim.standing("r", LEASE, 0);
            take(holder);
            Claim second = waiting(5_000);
            Claim third = waiting(4_000);
            engine.resign(holder, at(100), out);
            assertThat(second.tenure).isNull();
            out.requests.clear();

            assertThat(engine.nextWakeNanos()).as("the round in flight").isPresent();
            engine.onTime(at(4_000), out);
            assertThat(unavailable()).containsExactly(third);
            engine.onTime(at(5_000), out);
            assertThat(unavailable()).containsExactly(third, second);
        }

        @Test
        void keepTheLeaseThatTheyGotWhenTheTimeHasComeThatTheyWouldHaveGivenUp() {
            Claim holder = Claim.standing("r", LEASE, 0);
            take(holder);
            Claim second = waiting(3_000);
            engine.withdraw(holder, at(100), out);
            deliver(at(100));
            assertThat(second.tenure).isNotNull();

            engine.onTime(at(3_000), out);
            assertThat(second.tenure).isNotNull();
            assertThat(unavailable()).isEmpty();
        }

        /** Else an object for each such lease stays until it is extended. */
        @Test
        void letTheLeaseBeParkedWhenTheLastHasEnded() {
            Claim holder = Claim.once("r", LEASE, LEASE);
            take(holder);
            engine.autoExtend(holder, at(2), out);
            waiting(3_000);
            engine.onTime(at(3_000), new Output());
            engine.onTime(at(3_001), new Output());
            assertThat(engine.parked()).isEqualTo(1);
        }

        private Claim waiting(long giveUpMillis) {
            Claim claim = Claim.patient("r", LEASE, giveUpMillis * MILLI);
            engine.submit(claim, at(10), out);
            return claim;
        }

        private List<Claim> unavailable() {
            return out.notices.stream()
                    .filter(Notice.Unavailable.class::isInstance)
                    .map(notice -> ((Notice.Unavailable) notice).claim())
                    .toList();
        }
    }

    @Nested
    class X8OneRoundTrip {

        private final LeaseEngine owner = engine(SELF, new Cell("cell", List.of("n")), true);

        private Request extend(Claim claim, Now now) {
            out.requests.clear();
            owner.extend(claim, now, out);
            return out.requests.get(0);
        }

        private Claim acquired() {
            Claim claim = Claim.patient("r", LEASE, LEASE);
            owner.submit(claim, at(1), out);
            Request request = out.requests.get(0);
            owner.onResponse(0, acceptor.handle(request, at(1)), at(1), out);
            assertThat(claim.tenure).isNotNull();
            return claim;
        }

        @Test
        void anExtensionThatNobodyAnsweredIsTriedAgainInOneRoundTrip() {
            Claim claim = acquired();
            Request request = extend(claim, at(10));
            owner.onUnanswered(0, request, at(20), out);
            assertThat(out.notices).last().isInstanceOf(Notice.ExtensionFailed.class);
            assertThat(extend(claim, at(30))).isInstanceOf(ProposeRequest.class);
        }

        /**
         * Its own acceptor has what it proposed in vain, which is not the lease that it holds: with both phases that was against it until the lease
         * ended, though everybody was there and the rival was gone.
         */
        @Test
        void anExtensionThatARivalOutbidIsProposedAgain() {
            LeaseEngine engine = engine(SELF, new Cell("cell", List.of("n", "n2")), true);
            LocalAcceptor other =
                    new LocalAcceptor(new Acceptor(timing, 10, at(0)), new BallotSequence(at(0)), Runnable::run);
            other.open(true, at(0));
            Claim claim = Claim.patient("r", LEASE, LEASE);
            engine.submit(claim, at(1), out);
            deliver(engine, other, at(1));
            assertThat(claim.tenure).isNotNull();

            engine.extend(claim, at(10), out);
            Ballot higher = new Ballot(out.requests.get(0).ballot().counter() + 1, RIVAL);
            other.handle(new PrepareRequest("r", higher, LEASE), at(10));
            deliver(engine, other, at(11));
            assertThat(out.notices).last().isInstanceOf(Notice.ExtensionFailed.class);

            engine.extend(claim, at(20), out);
            deliver(engine, other, at(21));
            assertThat(out.notices).last().isInstanceOf(Notice.Extended.class);
        }

        /** P2. What the acceptor recorded is not the renewal base, and nothing clears it before the lease ends (X5). */
        @Test
        void whereItIsSwitchedOffAnExtensionWhoseAcceptanceIsLostCostsTheLease() {
            Claim claim = Claim.patient("r", LEASE, LEASE);
            take(claim);
            engine.extend(claim, at(10), out);
            Request prepare = out.requests.remove(0);
            engine.onResponse(0, acceptor.handle(prepare, at(10)), at(10), out);
            Request proposal = out.requests.remove(0);
            acceptor.handle(proposal, at(10));
            engine.onUnanswered(0, proposal, at(10), out);

            for (int again = 20; again < 9_000; again += 1_000) {
                engine.extend(claim, at(again), out);
                LeaseEngineTests.this.deliver(at(again));
                assertThat(out.notices).last().isInstanceOf(Notice.ExtensionFailed.class);
            }
        }

        private void deliver(LeaseEngine engine, LocalAcceptor other, Now now) {
            for (int i = 0; i < out.requests.size(); i++) {
                Request request = out.requests.get(i);
                engine.onResponse(0, acceptor.handle(request, now), now, out);
                engine.onResponse(1, other.handle(request, now), now, out);
            }
            out.requests.clear();
        }
    }

    /** The others recorded a proposal, and neither their answers nor the release that followed arrived. */
    @Nested
    class X5ARecordOfOnesOwn {

        private final LocalAcceptor[] acceptors = new LocalAcceptor[3];
        private final LeaseEngine engine = engine(SELF, new Cell("cell", List.of("n", "n2", "n3")), true);

        X5ARecordOfOnesOwn() {
            for (int i = 0; i < acceptors.length; i++) {
                acceptors[i] =
                        new LocalAcceptor(new Acceptor(timing, 10, at(0)), new BallotSequence(at(0)), Runnable::run);
                acceptors[i].open(true, at(0));
            }
        }

        private void deliver(boolean connected, Now now) {
            for (int r = 0; r < out.requests.size(); r++) {
                for (int i = 0; i < (connected ? acceptors.length : 1); i++) {
                    Response response = out.isFor(i, r) ? acceptors[i].handle(out.requests.get(r), now) : null;
                    if (response != null) {
                        engine.onResponse(i, response, now, out);
                    }
                }
            }
            out.requests.clear();
        }

        @Test
        void doesNotKeepTheLeaseFromItsOwnNodeUntilItEnds() {
            Claim claim = Claim.standing("r", LEASE, 0);
            engine.submit(claim, at(1), out);
            Request proposal = out.requests.get(0);
            for (LocalAcceptor each : acceptors) {
                each.handle(proposal, at(1));
            }
            out.requests.clear();
            for (long millis = 2; millis < 4_000 && claim.tenure == null; millis++) {
                engine.onTime(at(millis), out);
                deliver(millis > 1_500, at(millis));
            }
            assertThat(claim.tenure).isNotNull();
        }
    }

    @Nested
    class AWithdrawal {

        /** Whoever was interrupted was gone when the claim that it had posted was submitted, and nobody could release the lease. */
        @Test
        void holdsAlsoForAClaimThatComesAfterIt() {
            Claim claim = Claim.once("r", LEASE, LEASE);
            engine.withdraw(claim, at(1), out);
            engine.submit(claim, at(1), out);
            deliver(at(1));
            assertThat(claim.tenure).isNull();
            assertThat(engine.candidacies()).isEmpty();
            assertThat(out.notices).singleElement().isInstanceOf(Notice.Unavailable.class);
        }

        @Test
        void ofAllBeginsNoneOfThoseThatWaited() {
            take(Claim.patient("r", LEASE, LEASE));
            engine.submit(Claim.patient("r", LEASE, LEASE), at(2), out);
            engine.withdrawAll(10, at(3), out);
            assertThat(out.requests).singleElement().isInstanceOf(ReleaseRequest.class);
            assertThat(engine.candidacies()).isEmpty();
        }

        /** What the application dropped was parked anew in between, under a claim that nobody knew, and was not released. */
        @Test
        void ofAllEndsWhatHasJustBeenExtended() {
            Claim claim = Claim.once("r", LEASE, LEASE);
            take(claim);
            Output next = new Output();
            engine.autoExtend(claim, at(2), next);
            next = new Output();
            engine.onTime(at(3), next);
            assertThat(engine.parked()).isEqualTo(1);
            next = new Output();
            engine.extend(claim, at(4), next);
            engine.onResponse(0, acceptor.handle(next.requests.get(0), at(4)), at(4), next);
            engine.onResponse(0, acceptor.handle(next.requests.get(1), at(4)), at(4), next);
            assertThat(next.notices).last().isInstanceOf(Notice.Extended.class);

            next = new Output();
            engine.withdrawAll(10, at(5), next);
            assertThat(next.requests).singleElement().isInstanceOf(ReleaseRequest.class);
            assertThat(engine.parked()).isZero();
        }
    }

    @Nested
    class AHintThatIsOver {

        private List<Notice> toldWithin20Seconds(boolean candidate) {
            LeaseEngine follower = engine(SELF, new Cell("cell", List.of("n", "n2", "n3")), true);
            follower.watch("r");
            follower.onOwnerSeen("r", RIVAL, 1_000 * MILLI, at(1), out);
            assertThat(out.notices).containsExactly(new Notice.LeaderChanged("r", RIVAL));
            List<Notice> told = new ArrayList<>();
            Output next = new Output();
            if (candidate) {
                follower.submit(Claim.standing("r", LEASE, 0), at(2), next);
            }
            long wake = follower.nextWakeNanos().orElse(Long.MAX_VALUE);
            while (wake < at(20_000).nanos()) {
                next = new Output();
                follower.onTime(new Now(wake, at(0).wallMillis() + wake / MILLI), next);
                told.addAll(next.notices);
                wake = follower.nextWakeNanos().orElse(Long.MAX_VALUE);
            }
            return told;
        }

        @Test
        void isToldToWhoOnlyWatches() {
            assertThat(toldWithin20Seconds(false)).containsExactly(new Notice.LeaderChanged("r", null));
        }

        /** The dead leader stayed the leader of whoever listens, for as long as no majority answered. */
        @Test
        void isToldToACandidateThatCannotWin() {
            assertThat(toldWithin20Seconds(true)).containsExactly(new Notice.LeaderChanged("r", null));
        }
    }

    @Nested
    class ASlowCell {

        /**
         * The promise was dropped, and its own ballot was below the floor that it became: with both phases nobody ever acquired anything
         * where an answer takes longer than a promise was kept.
         */
        @Test
        void acquiresWithBothPhasesAlsoIfAnAnswerTakesLongerThanASecond() {
            long roundTrip = 1_200;
            LeaseEngine slow = new LeaseEngine(
                    SELF,
                    new Proposer(SELF, new Cell("cell", List.of("n")), timing, ballots),
                    false,
                    5_000 * MILLI,
                    new Dice(1));
            Claim claim = Claim.standing("r", LEASE, 0);
            List<Request> underWay = new ArrayList<>();
            List<Long> arrives = new ArrayList<>();
            Output next = new Output();
            slow.submit(claim, at(0), next);
            for (long millis = 0; millis < 60_000 && claim.tenure == null; millis += 10) {
                for (Request request : next.requests) {
                    underWay.add(request);
                    arrives.add(millis + roundTrip / 2);
                }
                next = new Output();
                while (!arrives.isEmpty() && arrives.get(0) + roundTrip / 2 <= millis) {
                    long arrived = arrives.remove(0);
                    Request request = underWay.remove(0);
                    // Somebody else asks for something, as in any cell that is used.
                    acceptor.handle(new ReleaseRequest("other", new Ballot(1, RIVAL)), at(arrived));
                    Response response = acceptor.handle(request, at(arrived));
                    acceptor.sweep(10, at(arrived + roundTrip - 1));
                    if (response != null) {
                        slow.onResponse(0, response, at(millis), next);
                    }
                }
                slow.onTime(at(millis), next);
            }
            assertThat(claim.tenure).as("after a minute").isNotNull();
        }
    }

    @Nested
    class ASlowClock {

        private static final int LEASES_PER_MILLI = 10;
        private static final int ROUND_TRIP_MILLIS = 40;

        /**
         * A node that is no member sees but the promise floor, which rises with the clocks of the others: it was told how high that was, began
         * there, and the floor was higher when its next ballot came one round trip later: it was outbid for ever.
         */
        @ParameterizedTest
        @ValueSource(longs = {900, 1_200, 3_000, 60_000})
        void catchesUpWithThePromiseFloorOfABusyCell(long behindMillis) {
            LocalAcceptor busy =
                    new LocalAcceptor(new Acceptor(timing, 100_000, at(0)), new BallotSequence(at(0)), Runnable::run);
            busy.open(true, at(0));
            BallotSequence others = new BallotSequence(at(0));
            Now start = behind(0, behindMillis);
            LeaseEngine slow = new LeaseEngine(
                    SELF,
                    new Proposer(SELF, new Cell("cell", List.of("n2")), timing, new BallotSequence(start)),
                    true,
                    1_000 * MILLI,
                    new Dice(1));
            Claim claim = Claim.standing("r", LEASE, 0);
            Deque<Request> releases = new ArrayDeque<>();
            Deque<Output> underWay = new ArrayDeque<>();
            for (long millis = 0; millis < 30_000 && claim.tenure == null; millis++) {
                for (int i = 0; i < LEASES_PER_MILLI; i++) {
                    if (releases.size() >= LEASES_PER_MILLI) {
                        busy.handle(releases.remove(), at(millis));
                    }
                    Ballot ballot = new Ballot(others.next(at(millis)), RIVAL);
                    String resource = "other" + (LEASES_PER_MILLI * millis + i);
                    busy.handle(new ProposeRequest(resource, ballot, LEASE), at(millis));
                    releases.add(new ReleaseRequest(resource, ballot));
                }
                // What was sent some milliseconds ago arrives, and its answer comes at once.
                Now now = behind(millis, behindMillis);
                Output next = new Output();
                if (underWay.size() == ROUND_TRIP_MILLIS) {
                    for (Request request : underWay.remove().requests) {
                        Response response = busy.handle(request, at(millis));
                        if (response != null) {
                            slow.onResponse(0, response, now, next);
                        }
                    }
                }
                slow.onTime(now, next);
                if (millis == 5_000) {
                    slow.submit(claim, now, next);
                }
                underWay.add(next);
            }
            assertThat(claim.tenure).as("after 25 seconds").isNotNull();
        }

        private static Now behind(long millis, long behindMillis) {
            return new Now(at(millis).nanos(), at(millis).wallMillis() - behindMillis);
        }
    }

    @Nested
    class T4Counters {

        @Test
        void anAnswerThatNobodyWaitsForRaisesTheNextBallot() {
            long promised = at(1).counterFloor() + 1_000_000;
            engine.onResponse(0, new ProposeResponse("gone", new Ballot(1, SELF), false, promised, null), at(1), out);
            assertThat(engine.candidacies()).isEmpty();

            engine.submit(Claim.patient("r", LEASE, LEASE), at(1), out);
            assertThat(out.requests.get(0).ballot().counter()).isGreaterThan(promised);
        }
    }

    @Nested
    class AResignation {

        private static final long REST = 1_000;

        /** A rival whose acceptor still kept silent tried, failed and cleaned up, and who had resigned led again at once. */
        @Test
        void letsTheOthersTryFirstEvenIfTheFirstOfThemFails() {
            Claim claim = Claim.standing("r", LEASE, 0);
            take(claim);
            engine.resign(claim, at(100), out);
            deliver(at(100));

            engine.onOwnerSeen("r", RIVAL, LEASE, at(110), out);
            engine.onOwnerGone("r", new Ballot(1, RIVAL), at(112), out);

            engine.onTime(at(100 + REST - 1), out);
            assertThat(out.requests).isEmpty();
            engine.onTime(at(100 + REST), out);
            deliver(at(100 + REST));
            deliver(at(100 + REST));
            assertThat(claim.tenure).isNotNull();
        }

        @Test
        void doesNotTryBeforeTheLeaseOfTheNextOwnerEnds() {
            Claim claim = Claim.standing("r", LEASE, 0);
            take(claim);
            engine.resign(claim, at(100), out);
            engine.onOwnerSeen("r", RIVAL, LEASE, at(110), out);
            assertThat(engine.nextWakeNanos().getAsLong())
                    .isGreaterThanOrEqualTo(at(10_110).nanos());
        }

        /** Another user of this node had its turn, and when that gave the lease back, who had resigned had it again before anybody else. */
        @Test
        void letsTheOthersTryFirstAlsoAfterAnotherUserOfTheSameNode() {
            Claim claim = Claim.standing("r", LEASE, 0);
            take(claim);
            Claim other = Claim.patient("r", LEASE, LEASE);
            engine.submit(other, at(2), out);
            engine.resign(claim, at(100), out);
            deliver(at(100));
            assertThat(other.tenure).isNotNull();
            engine.withdraw(other, at(110), out);
            deliver(at(110));
            assertThat(other.tenure).isNull();

            engine.onTime(at(100 + REST - 1), out);
            assertThat(out.requests).isEmpty();
            assertThat(claim.tenure).isNull();
        }

        /** It rested for twenty round trips, which take a second each where nobody answers. */
        @Test
        void doesNotRestForLongerWhereRoundsTimedOut() {
            Claim claim = Claim.standing("r", LEASE, 0);
            take(claim);
            Claim unheard = Claim.standing("s", LEASE, 0);
            engine.submit(unheard, at(1), out);
            while (engine.picture("s").roundEndsNanos - engine.picture("s").roundBeganNanos < 1_000 * MILLI) {
                Now next = new Now(engine.nextWakeNanos().getAsLong(), 1_000_000);
                engine.onTime(next, out);
            }
            Now now = new Now(engine.nextWakeNanos().getAsLong(), 1_000_000);
            engine.withdraw(unheard, now, out);
            out.requests.clear();
            assertThat(claim.tenure).isNotNull();
            engine.resign(claim, now, out);
            deliver(now);

            engine.onTime(new Now(now.nanos() + REST * MILLI, now.wallMillis() + REST), out);
            assertThat(out.requests).isNotEmpty();
        }
    }

    /** Bits: 1 for the node itself, 2 for n2, 4 for n3. */
    @Nested
    class AMajorityIsAsked {

        private final LeaseEngine asking = engine(SELF, new Cell("cell", List.of("n", "n2", "n3")), true);

        AMajorityIsAsked() {
            acquire("first", at(1));
        }

        private void acquire(String resource, Now now) {
            Output other = new Output();
            asking.submit(Claim.once(resource, LEASE, LEASE), now, other);
            Ballot ballot = other.requests.get(0).ballot();
            for (int acceptor : List.of(0, 1)) {
                ProposeResponse yes = new ProposeResponse(resource, ballot, true, ballot.counter(), null);
                asking.onResponse(acceptor, yes, now, other);
            }
        }

        private Request submit(Claim claim) {
            asking.submit(claim, at(1), out);
            assertThat(out.requests).hasSize(1);
            return out.requests.get(0);
        }

        private long recipients(int request) {
            return IntStream.range(0, 3)
                    .filter(acceptor -> out.isFor(acceptor, request))
                    .map(acceptor -> 1 << acceptor)
                    .sum();
        }

        private ProposeResponse answer(Request request, boolean accepted) {
            return new ProposeResponse(
                    "r", request.ballot(), accepted, request.ballot().counter(), null);
        }

        private void win(Request request) {
            asking.onResponse(0, answer(request, true), at(1), out);
            asking.onResponse(1, answer(request, true), at(1), out);
        }

        private Claim holding() {
            Claim claim = Claim.patient("r", LEASE, LEASE);
            win(submit(claim));
            return claim;
        }

        @Test
        void forALeaseThatIsNotToLast() {
            submit(Claim.once("r", LEASE, LEASE));
            assertThat(recipients(0)).isEqualTo(0b011);
        }

        @Test
        void butEverybodyForAStandingCandidacy() {
            submit(Claim.standing("r", LEASE, 0));
            assertThat(recipients(0)).isEqualTo(0b111);
        }

        @Test
        void andTheRestAtOnceIfOneIsAgainst() {
            Request request = submit(Claim.once("r", LEASE, LEASE));
            asking.onResponse(0, answer(request, true), at(1), out);
            asking.onResponse(1, answer(request, false), at(1), out);
            assertThat(out.requests).containsExactly(request, request);
            assertThat(recipients(1)).isEqualTo(0b100);

            asking.onResponse(1, answer(request, false), at(1), out);
            assertThat(out.requests).hasSize(2);
            asking.onResponse(2, answer(request, true), at(2), out);
            assertThat(out.notices).last().isInstanceOf(Notice.LeaderChanged.class);
        }

        @Test
        void andTheRestAtOnceIfOneCannotAnswer() {
            Request request = submit(Claim.once("r", LEASE, LEASE));
            asking.onUnanswered(1, request, at(1), out);
            assertThat(recipients(1)).isEqualTo(0b100);
        }

        @Test
        void andTheRestAfterHalfOfARoundOfSilence() {
            Request request = submit(Claim.once("r", LEASE, LEASE));
            asking.onResponse(0, answer(request, true), at(1), out);
            asking.onTime(at(25), out);
            assertThat(out.requests).hasSize(1);
            assertThat(asking.nextWakeNanos()).hasValue(at(26).nanos());

            asking.onTime(at(26), out);
            assertThat(recipients(1)).isEqualTo(0b100);

            asking.onTime(at(75), out);
            assertThat(out.requests).hasSize(2);
            asking.onTime(at(76), out);
            assertThat(out.requests.get(2)).isInstanceOf(ReleaseRequest.class);
            assertThat(recipients(2)).isEqualTo(0b111);
        }

        @Test
        void butEverybodyAfterASilence() {
            Request request = submit(Claim.once("r", LEASE, LEASE));
            asking.onUnanswered(1, request, at(1), out);
            Output next = new Output();
            asking.submit(Claim.once("next", LEASE, LEASE), at(2), next);
            assertThat(next.isFor(2, 0)).isTrue();
        }

        /** It knows that there are rivals, and they should hear of it. */
        @Test
        void butEverybodyByAClaimThatWaited() {
            asking.watch("r");
            asking.onOwnerSeen("r", RIVAL, 1_000 * MILLI, at(1), out);
            asking.submit(Claim.patient("r", LEASE, LEASE), at(2), out);
            assertThat(out.requests).isEmpty();
            asking.onTime(at(2_000), out);
            assertThat(recipients(0)).isEqualTo(0b111);
        }

        @Test
        void andItIsToldOfTheEndIfTheAttemptIsGivenUp() {
            Claim claim = Claim.patient("r", LEASE, LEASE);
            Request request = submit(claim);
            asking.onResponse(0, answer(request, true), at(1), out);
            asking.withdraw(claim, at(2), out);
            assertThat(out.requests.get(1)).isInstanceOf(ReleaseRequest.class);
            assertThat(recipients(1)).isEqualTo(0b011);
        }

        @Test
        void andEverybodyIsToldOfTheEndIfOthersWantTheLease() {
            Claim claim = Claim.patient("r", LEASE, LEASE);
            Request request = submit(claim);
            assertThat(asking.shouldKnowRivals("r")).isTrue();
            asking.onRival("r", at(1));
            assertThat(asking.shouldKnowRivals("r")).isFalse();
            win(request);
            asking.withdraw(claim, at(2), out);
            assertThat(out.requests.get(1)).isInstanceOf(ReleaseRequest.class);
            assertThat(recipients(1)).isEqualTo(0b111);
        }

        /** What is parked does not remember whom it asked. */
        @Test
        void andEverybodyIsToldOfTheEndOfALeaseThatWasParked() {
            Claim claim = holding();
            for (int i = 0; i <= Candidacies.MOST_YOUNG; i++) {
                acquire("other" + i, at(2));
            }
            asking.onTime(at(3), new Output());
            assertThat(asking.cares("r")).isFalse();

            asking.withdraw(claim, at(4), out);
            assertThat(out.requests.get(1)).isInstanceOf(ReleaseRequest.class);
            assertThat(recipients(1)).isEqualTo(0b111);
        }

        /** A proposal that was decided is of no more use to those that did not get it. */
        @Test
        void andTheRestNotOnceItIsDecided() {
            Claim claim = holding();
            Request proposal = out.requests.get(0);
            asking.extend(claim, at(100), out);
            Request extension = out.requests.get(1);
            asking.onUnanswered(1, extension, at(101), out);
            asking.onTime(at(140), out);
            assertThat(out.requests).containsExactly(proposal, extension);
        }

        @Test
        void butEverybodyForAnExtensionAndItsLease() {
            Claim claim = holding();
            asking.extend(claim, at(100), out);
            assertThat(out.requests.get(1)).isInstanceOf(ProposeRequest.class);
            assertThat(recipients(1)).isEqualTo(0b111);
            asking.withdraw(claim, at(101), out);
            assertThat(recipients(2)).isEqualTo(0b111);
        }
    }

    @Nested
    class X6AReleaseThatOvertakesTheRefusals {

        private final LeaseEngine waiting = engine(SELF, new Cell("cell", List.of("n", "n2", "n3")), true);
        private final AcceptedLease record = new AcceptedLease(new Ballot(1, RIVAL), 9_000 * MILLI);

        private void isRefused(Claim.Kind kind, boolean told) {
            Claim claim = kind == Claim.Kind.ONCE
                    ? Claim.once("r", LEASE, at(500).nanos())
                    : Claim.patient("r", LEASE, at(20_000).nanos());
            waiting.submit(claim, at(1), out);
            Ballot ballot = out.requests.get(0).ballot();
            if (told) {
                waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(2), out);
            }
            refuse(ballot, at(3), out);
        }

        private void refuse(Ballot ballot, Now now, Output out) {
            for (int acceptor : List.of(1, 2)) {
                waiting.onResponse(acceptor, new ProposeResponse("r", ballot, false, 1, record), now, out);
            }
        }

        /** The lease was free, and the node waited for all of its time. */
        @Test
        void isNotForgotten() {
            isRefused(Claim.Kind.PATIENT, true);
            assertThat(waiting.nextWakeNanos().getAsLong()).isLessThan(at(20).nanos());
        }

        /** Acceptors that hear of it later than of the attempt that follows it refuse that as well. */
        @Test
        void isNotForgottenByTheAttemptThatFollowsIt() {
            isFollowedByARefusal(false);
            assertThat(waiting.nextWakeNanos().getAsLong()).isLessThan(at(130).nanos());
        }

        @Test
        void isForgottenWhenThatOwnerIsSeenAgain() {
            isFollowedByARefusal(true);
            assertThat(waiting.nextWakeNanos().getAsLong())
                    .isGreaterThan(at(9_000).nanos());
        }

        private void isFollowedByARefusal(boolean seenAgain) {
            isRefused(Claim.Kind.PATIENT, false);
            waiting.onOwnerGone("r", new Ballot(1, RIVAL), at(100), out);
            Output next = new Output();
            waiting.onTime(at(110), next);
            if (seenAgain) {
                waiting.onOwnerSeen("r", RIVAL, LEASE, at(111), next);
            }
            refuse(next.requests.get(0).ballot(), at(112), next);
        }

        /** It would look for the new lease of that owner every few milliseconds. */
        @Test
        void isForgottenByTheNextAttempt() {
            isRefused(Claim.Kind.PATIENT, true);
            Output next = new Output();
            waiting.onTime(at(20), next);
            Ballot ballot = next.requests.get(0).ballot();
            for (int acceptor : List.of(1, 2)) {
                PrepareResponse held = new PrepareResponse("r", ballot, true, ballot.counter(), record);
                waiting.onResponse(acceptor, held, at(21), next);
            }
            assertThat(waiting.nextWakeNanos().getAsLong())
                    .isGreaterThan(at(9_000).nanos());
        }

        @Test
        void isNotSeenWhereThereWasNone() {
            isRefused(Claim.Kind.PATIENT, false);
            assertThat(waiting.nextWakeNanos().getAsLong())
                    .isGreaterThan(at(9_000).nanos());
        }

        @Test
        void doesNotKeepAClaimThatDoesNotWait() {
            isRefused(Claim.Kind.ONCE, true);
            assertThat(out.notices).last().isInstanceOf(Notice.Unavailable.class);
        }
    }

    /** Where more leases are to be extended than the cell can at once. */
    @Nested
    class ManyExtensions {

        private final LeaseEngine owner = engine(SELF, new Cell("cell", List.of("n")), true);
        private final LocalAcceptor roomy =
                new LocalAcceptor(new Acceptor(timing, 20_000, at(0)), ballots, Runnable::run);

        ManyExtensions() {
            roomy.open(true, at(0));
        }

        private List<Request> time(Now now) {
            Output event = new Output();
            owner.onTime(now, event);
            return event.requests;
        }

        private void answer(List<Request> requests, Now now) {
            Output event = new Output();
            for (Request request : requests) {
                Response response = roomy.handle(request, now);
                if (response != null) {
                    owner.onResponse(0, response, now, event);
                }
            }
        }

        private List<Claim> held(int count, long leaseNanos) {
            List<Claim> claims = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Claim claim = Claim.once("lease-" + i, leaseNanos, LEASE);
                Output event = new Output();
                owner.submit(claim, at(1), event);
                answer(event.requests, at(1));
                owner.autoExtend(claim, at(1), new Output());
                owner.autoExtend(claim, at(1), new Output());
                claims.add(claim);
            }
            time(at(2));
            assertThat(owner.parked()).isEqualTo(count);
            return claims;
        }

        /** What is parked and does not extend itself remembers its end only. */
        @Test
        void beginInTimeWhereTheyAreWantedLateAndTheLeaseWasParked() {
            Claim claim = Claim.once("r", LEASE, LEASE);
            for (int i = 0; i <= Candidacies.MOST_YOUNG; i++) {
                Output event = new Output();
                owner.submit(i == 0 ? claim : Claim.once("other" + i, LEASE, LEASE), at(1), event);
                answer(event.requests, at(1));
            }
            assertThat(time(at(2))).isEmpty();
            assertThat(owner.parked()).isEqualTo(1);

            owner.autoExtend(claim, at(6_000), new Output());
            answer(time(at(8_000)), at(8_000));
            assertThat(claim.tenure.isActive(at(15_000))).isTrue();
        }

        @Test
        void areNotForgottenWhereSomebodyElseWithdrawsWhatItNeverHad() {
            held(1, LEASE);
            owner.withdraw(Claim.once("lease-0", LEASE, LEASE), at(3), new Output());
            assertThat(time(at(6_000))).singleElement().isInstanceOf(ProposeRequest.class);
        }

        @Test
        void areNotBegunAgainWhileTheyAreUnderWay() {
            held(1, LEASE);
            Claim sooner = Claim.once("sooner", 9_000 * MILLI, LEASE);
            Output event = new Output();
            owner.submit(sooner, at(1), event);
            answer(event.requests, at(1));
            owner.autoExtend(sooner, at(1), new Output());
            time(at(3));
            assertThat(owner.parked()).isEqualTo(2);

            assertThat(time(at(4_800))).singleElement().returns("sooner", Request::resource);
            // Before the round of the first ends.
            assertThat(time(at(4_950))).singleElement().returns("lease-0", Request::resource);
        }

        @Test
        void thatWereAnsweredStayParkedWhenTheRoundOfTheOthersEnds() {
            held(2, LEASE);
            List<Request> requests = time(at(5_000));
            assertThat(requests).hasSize(2);
            answer(requests.subList(0, 1), at(5_001));
            time(at(5_500));
            assertThat(owner.parked()).isEqualTo(1);
            assertThat(owner.candidacies()).hasSize(1);
        }

        @Test
        void waitForTheAnswersToEarlierOnes() {
            List<Claim> claims = held(10_000, LEASE);
            List<Request> unanswered = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                unanswered.addAll(time(at(6_000)));
            }
            assertThat(unanswered).hasSizeBetween(3_000, 5_500);
            assertThat(owner.nextWakeNanos().getAsLong())
                    .isGreaterThan(at(6_000).nanos());

            for (int i = 0; i < 100; i++) {
                answer(unanswered, at(6_001));
                unanswered = time(at(6_001));
            }
            assertThat(owner.parked()).isEqualTo(claims.size());
            assertThat(claims).allMatch(claim -> claim.tenure.isActive(at(12_000)));
        }

        @Test
        void waitForTheAnswersToElectionsToo() {
            held(1, LEASE);
            Output event = new Output();
            for (int i = 0; i < 4_000; i++) {
                owner.submit(Claim.standing("election-" + i, LEASE, 0), at(1), event);
            }
            answer(event.requests, at(1));

            List<Request> ofElections = time(at(4_950));
            assertThat(ofElections)
                    .hasSize(4_000)
                    .noneMatch(request -> request.resource().equals("lease-0"));
            answer(ofElections, at(4_951));
            assertThat(time(at(4_952))).singleElement().returns("lease-0", Request::resource);
        }

        /** Each round that ended without an answer doubled what was expected of the next ones. */
        @Test
        void areNoMoreReasonForPatienceThanOneWhereManyFailTogether() {
            held(100, LEASE);
            assertThat(time(at(6_000))).hasSize(100);
            assertThat(time(at(6_500))).isEmpty();
            assertThat(time(at(8_500))).hasSize(100);
            assertThat(owner.nextWakeNanos().getAsLong())
                    .isLessThanOrEqualTo(at(8_600).nanos());
        }
    }

    @Nested
    class AnExtensionThatFails {

        /** The acceptances that came while the lease was parked were forgotten, so that it took each such round for one without a majority. */
        @Test
        void isNoReasonToGiveOthersMoreTimeIfAMajorityAnswered() {
            LeaseEngine three = engine(SELF, new Cell("cell", List.of("n", "n2", "n3")), true);
            Claim claim = Claim.once("r", LEASE, LEASE);
            Output first = new Output();
            three.submit(claim, at(1), first);
            Ballot won = first.requests.get(0).ballot();
            for (int acceptor = 0; acceptor < 2; acceptor++) {
                three.onResponse(
                        acceptor, new ProposeResponse("r", won, true, won.counter(), null), at(1), new Output());
            }
            three.autoExtend(claim, at(1), new Output());

            int failed = 0;
            for (long millis = 2; millis < 9_000; millis++) {
                Output event = new Output();
                three.onTime(at(millis), event);
                for (Request request : event.requests) {
                    failed++;
                    Ballot ballot = request.ballot();
                    long higher = ballot.counter() + 1;
                    three.onResponse(
                            0,
                            new ProposeResponse("r", ballot, true, ballot.counter(), null),
                            at(millis),
                            new Output());
                    three.onResponse(
                            1, new ProposeResponse("r", ballot, false, higher, null), at(millis), new Output());
                }
            }
            assertThat(failed).isGreaterThanOrEqualTo(3);

            three.withdraw(claim, at(9_000), new Output());
            three.submit(Claim.standing("other", LEASE, 0), at(9_000), new Output());
            assertThat(three.nextWakeNanos()).hasValue(at(9_000).nanos() + RoundTrips.SHORTEST_ROUND_NANOS);
        }

        /** The last chance came after two round trips, of the second that each was expected to take after an outage. */
        @Test
        void isTriedAgainInTimeWhereAnswersAreExpectedToTakeLong() {
            engine.submit(Claim.patient("unanswered", LEASE, 60_000 * MILLI), at(1), out);
            Claim claim = Claim.patient("r", 2_000 * MILLI, LEASE);
            for (long millis = 1; millis < 8_000; millis++) {
                engine.onTime(at(millis), out);
                if (millis == 6_000) {
                    engine.submit(claim, at(millis), out);
                    claim.autoExtend = true;
                }
                boolean lost = millis > 6_500 && millis < 7_300;
                out.requests.removeIf(request -> lost || request.resource().equals("unanswered"));
                deliver(at(millis));
            }
            assertThat(claim.tenure).isNotNull();
            assertThat(claim.tenure.isActive(at(8_100))).isTrue();
        }
    }

    @Nested
    class X6Turns {

        private static final Cell CELL = new Cell("cell", List.of("n1", "n2", "n3", "n4", "n5"));
        private static final List<String> FOLLOWERS = List.of("n2", "n3", "n4", "n5");
        private static final long REMAINING = 2_000;

        /** When a follower tries after the record of its own acceptor has ended, or after the owner has said that it is gone. */
        private long triesAfterMillis(String follower, String resource, Incarnation owner, boolean gone) {
            return triesAfterMillis(follower, resource, owner, gone, 0);
        }

        private long triesAfterMillis(
                String follower, String resource, Incarnation owner, boolean gone, long yieldMillis) {
            Incarnation self = new Incarnation(follower, 7);
            LeaseEngine engine = engine(self, CELL, true);
            Output out = new Output();
            engine.watch(resource);
            engine.onOwnerSeen(resource, owner, REMAINING * MILLI, at(0), out);
            engine.submit(Claim.standing(resource, LEASE, yieldMillis * MILLI), at(1), out);
            assertThat(out.requests).isEmpty();
            if (gone) {
                engine.onOwnerGone(resource, new Ballot(1, owner), at(500), out);
            }
            long wake = engine.nextWakeNanos().getAsLong();
            engine.onTime(new Now(wake, 1_000_000 + wake / MILLI), out);
            assertThat(out.requests).hasSize(1);
            return wake / MILLI - (gone ? 500 : REMAINING);
        }

        private List<Long> turns(String resource, Incarnation owner, boolean gone) {
            return FOLLOWERS.stream()
                    .map(follower -> triesAfterMillis(follower, resource, owner, gone))
                    .toList();
        }

        @Test
        void followersTryOneAfterAnother() {
            for (long life = 0; life < 20; life++) {
                Incarnation owner = new Incarnation("n1", life);
                assertThat(turns("r", owner, false)).containsExactlyInAnyOrder(5L, 20L, 35L, 50L);
                assertThat(turns("r", owner, true)).containsExactlyInAnyOrder(0L, 2L, 4L, 6L);
            }
        }

        @Test
        void everyFollowerIsFirstNowAndThen() {
            Incarnation owner = new Incarnation("n1", 1);
            assertThat(IntStream.range(0, 50)
                            .mapToObj(i -> turns("r" + i, owner, false).indexOf(5L)))
                    .contains(0, 1, 2, 3);
            assertThat(IntStream.range(0, 50)
                            .mapToObj(life -> turns("r", new Incarnation("n1", life), false)
                                    .indexOf(5L)))
                    .contains(0, 1, 2, 3);
        }

        @Test
        void whoYieldsComesLaterByThat() {
            Incarnation owner = new Incarnation("n1", 1);
            long yields = 300;
            for (boolean gone : List.of(true, false)) {
                assertThat(triesAfterMillis("n2", "r", owner, gone, yields))
                        .isEqualTo(triesAfterMillis("n2", "r", owner, gone, 0) + yields);
            }
        }

        @Test
        void anOwnerThatIsNoMemberTakesNoTurn() {
            assertThat(turns("r", new Incarnation("elsewhere", 1), false))
                    .isSubsetOf(5L, 20L, 35L, 50L, 65L)
                    .doesNotHaveDuplicates();
        }

        @Test
        void aCandidateThatIsNoMemberComesSometime() {
            assertThat(triesAfterMillis("elsewhere", "r", new Incarnation("n1", 1), false))
                    .isBetween(5L, 13L);
        }
    }

    @Nested
    class P6Release {

        @Test
        void aWithdrawnClaimHoldsNothingAndNothingIsRemembered() {
            Claim claim = Claim.patient("r", LEASE, LEASE);
            engine.submit(claim, at(1), out);
            deliver(at(1));
            engine.withdraw(claim, at(2), out);
            assertThat(claim.tenure).isNull();
            assertThat(engine.candidacies()).isEmpty();
            assertThat(engine.nextWakeNanos()).isEmpty();
        }
    }
}
