package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lease that is parked and extended in its place, in a cell of three whose answers the test gives. */
class ExtensionTests {

    private static final long MILLI = 1_000_000L;
    private static final long LEASE = 10_000 * MILLI;
    private static final Now DUE = at(5_000);

    private final Timing timing = new Timing(LEASE, 0.01);
    private final Incarnation self = new Incarnation("a", 1);
    private final Ballot rival = new Ballot(Ballot.MAX_COUNTER / 2, new Incarnation("b", 1));
    private final LeaseEngine engine = new LeaseEngine(
            self,
            new Proposer(self, new Cell("cell", List.of("a", "b", "c")), timing, new BallotSequence(at(0))),
            true,
            1_000 * MILLI,
            new Dice(1));
    private final LocalAcceptor[] acceptors = new LocalAcceptor[3];
    private final Claim claim = Claim.once("r", LEASE, 60_000 * MILLI);

    private Output out = new Output();
    private Request proposal;

    private static Now at(long millis) {
        return new Now(millis * MILLI, 1_000_000 + millis);
    }

    @BeforeEach
    void parkAndBeginToExtend() {
        for (int i = 0; i < acceptors.length; i++) {
            acceptors[i] = new LocalAcceptor(new Acceptor(timing, 10, at(0)), new BallotSequence(at(0)), Runnable::run);
            acceptors[i].open(true, at(0));
        }
        engine.tellAttempts();
        engine.submit(claim, at(1), out);
        accept(0, at(1));
        accept(1, at(1));
        accept(2, at(1));
        event();
        engine.autoExtend(claim, at(1), out);
        event();
        engine.onTime(at(2), out);
        assertThat(engine.parked()).isEqualTo(1);
        event();
        engine.onTime(DUE, out);
        assertThat(engine.parked()).isEqualTo(1);
        assertThat(engine.candidacies()).isEmpty();
        assertThat(out.notices).containsExactly(new Notice.AttemptBegan("r", AttemptListener.Purpose.EXTEND));
        proposal = out.requests.get(0);
        assertThat(out.isFor(0, 0) && out.isFor(1, 0) && out.isFor(2, 0)).isTrue();
    }

    /** What follows is another event. */
    private void event() {
        out = new Output();
    }

    private void accept(int acceptor, Now now) {
        accept(acceptor, out.requests.get(out.requests.size() - 1), now);
    }

    private void accept(int acceptor, Request request, Now now) {
        Response response = acceptors[acceptor].handle(request, now);
        assertThat(((ProposeResponse) response).accepted()).isTrue();
        engine.onResponse(acceptor, response, now, out);
    }

    private void reject(int acceptor) {
        AcceptedLease lease = new AcceptedLease(rival, LEASE);
        engine.onResponse(
                acceptor, new ProposeResponse("r", proposal.ballot(), false, rival.counter(), lease), DUE, out);
    }

    private List<Notice> told(Class<? extends Notice> kind) {
        return out.notices.stream().filter(kind::isInstance).toList();
    }

    /** Lets time pass until the next extension begins; answers when that is. */
    private Now next(long wallAheadMillis) {
        Now now;
        do {
            event();
            long nanos = engine.nextWakeNanos().getAsLong();
            now = new Now(nanos, 1_000_000 + wallAheadMillis + nanos / MILLI);
            engine.onTime(now, out);
        } while (out.requests.isEmpty());
        return now;
    }

    private void assertExtendedInItsPlace(Now now) {
        assertThat(claim.tenure.ballot()).isEqualTo(proposal.ballot());
        assertThat(claim.tenure.isActive(at(14_000))).isTrue();
        assertThat(out.notices)
                .containsSubsequence(
                        new Notice.AttemptEnded("r", AttemptListener.Outcome.SUCCESS, null),
                        new Notice.Extended(null, claim.tenure, now.nanos() - DUE.nanos()));
        assertThat(engine.candidacies()).isEmpty();
        assertThat(engine.parked()).isEqualTo(1);
    }

    @Test
    void succeedsWithAMajorityOfAcceptances() {
        accept(0, DUE);
        assertThat(out.notices).hasSize(1);
        event();
        accept(2, proposal, at(5_010));
        assertExtendedInItsPlace(at(5_010));
        event();
        accept(1, proposal, at(5_020));
        assertThat(out.notices).isEmpty();
        assertThat(engine.picture("r").claims.getFirst().extensionCount).isEqualTo(1);
    }

    @Test
    void isFollowedByTheNext() {
        accept(0, DUE);
        accept(1, DUE);
        Now next = next(0);
        assertThat(next.nanos()).isBetween(at(9_800).nanos(), at(10_000).nanos());
        assertThat(out.requests)
                .singleElement()
                .satisfies(request -> assertThat(request.ballot().counter())
                        .isGreaterThan(proposal.ballot().counter()));
        assertThat(engine.candidacies()).isEmpty();
    }

    @Test
    void isFollowedByTheNextTogetherWithOthers() {
        accept(0, DUE);
        accept(1, DUE);
        assertThat(next(0).nanos() % (LEASE / 512)).isLessThan(MILLI);
    }

    /** X11. The first time it was the second that decided. */
    @Test
    void showsWhomToAskFirst() {
        accept(0, DUE);
        accept(2, proposal, DUE);
        event();
        engine.submit(Claim.once("s", LEASE, 60_000 * MILLI), at(5_010), out);
        assertThat(out.isFor(0, 0) && out.isFor(2, 0)).isTrue();
        assertThat(out.isFor(1, 0)).isFalse();
    }

    @Test
    void anAcceptorCountsOnce() {
        accept(1, DUE);
        accept(1, proposal, DUE);
        assertThat(told(Notice.Extended.class)).isEmpty();
        accept(2, proposal, DUE);
        assertExtendedInItsPlace(DUE);
    }

    @Test
    void doesNotFailWithOneRejection() {
        reject(1);
        assertThat(engine.candidacies()).hasSize(1);
        accept(0, DUE);
        accept(2, DUE);
        assertThat(told(Notice.Extended.class)).hasSize(1);
        event();
        engine.onTime(at(5_001), out);
        assertThat(engine.candidacies()).isEmpty();
        assertThat(engine.parked()).isEqualTo(1);
        assertThat(claim.tenure.isActive(at(14_000))).isTrue();
    }

    @Test
    void failsWithAMajorityOfRejections() {
        accept(0, DUE);
        reject(1);
        reject(2);
        assertThat(out.notices)
                .contains(
                        new Notice.AttemptEnded("r", AttemptListener.Outcome.FAILURE, "held by b"),
                        new Notice.ExtensionFailed(claim, claim.tenure, "held by b", 0b110, 0));
        assertThat(claim.tenure.isActive(at(9_000))).isTrue();
    }

    /** In a rolling restart one member is quarantined most of the time, and says so at once. */
    @Test
    void succeedsInItsPlaceWithoutTheAnswerOfOne() {
        engine.onUnanswered(1, proposal, DUE, out);
        assertThat(engine.candidacies()).isEmpty();
        accept(0, proposal, DUE);
        assertThat(told(Notice.Extended.class)).isEmpty();
        accept(2, proposal, DUE);
        assertExtendedInItsPlace(DUE);
    }

    @Test
    void ofAnOlderBallotThatNobodyAnswersSaysNothingOfTheNext() {
        accept(0, DUE);
        accept(1, DUE);
        Now next = next(0);
        engine.onUnanswered(1, proposal, next, out);
        engine.onUnanswered(2, proposal, next, out);
        assertThat(told(Notice.ExtensionFailed.class)).isEmpty();
        assertThat(engine.candidacies()).isEmpty();
    }

    @Test
    void endsWithItsLeaseIfSomebodyWillNotAnswer() {
        event();
        engine.onUnanswered(1, proposal, at(10_000), out);
        assertThat(told(Notice.Lost.class)).hasSize(1);
        assertThat(claim.tenure).isNull();
        assertThat(engine.parked()).isZero();
    }

    @Test
    void failsIfAMajorityWillNotAnswer() {
        accept(0, DUE);
        engine.onUnanswered(1, proposal, DUE, out);
        assertThat(told(Notice.ExtensionFailed.class)).isEmpty();
        engine.onUnanswered(2, proposal, DUE, out);
        assertThat(told(Notice.ExtensionFailed.class)).hasSize(1);
    }

    /** Until then nothing is due, although the row is there. */
    @Test
    void failsWhenItsRoundEnds() {
        accept(0, DUE);
        event();
        long next = engine.nextWakeNanos().getAsLong();
        assertThat(next).isEqualTo(DUE.nanos() + 200 * MILLI);
        engine.onTime(at(5_199), out);
        assertThat(out.notices).isEmpty();
        engine.onTime(at(5_200), out);
        assertThat(told(Notice.ExtensionFailed.class)).hasSize(1);
        event();
        engine.onResponse(1, acceptors[1].handle(proposal, at(5_201)), at(5_201), out);
        assertThat(told(Notice.Extended.class)).isEmpty();
    }

    @Test
    void isTriedAgainAfterAFailure() {
        engine.onTime(at(5_200), out);
        Now next = next(0);
        assertThat(next.nanos()).isLessThan(at(8_000).nanos());
        accept(0, next);
        accept(1, next);
        assertThat(told(Notice.Extended.class)).hasSize(1);
    }

    @Test
    void ofAnOlderBallotSaysNothingOfTheNext() {
        accept(0, DUE);
        accept(1, DUE);
        Now next = next(0);
        for (int i = 1; i < 3; i++) {
            engine.onResponse(i, new ProposeResponse("r", proposal.ballot(), true, 0, null), next, out);
        }
        assertThat(told(Notice.Extended.class)).isEmpty();
        assertThat(engine.candidacies()).isEmpty();
    }

    @Test
    void endsWithARelease() {
        accept(0, DUE);
        event();
        engine.withdraw(claim, at(5_001), out);
        assertThat(told(Notice.Released.class)).hasSize(1);
        assertThat(claim.tenure).isNull();
        event();
        accept(1, proposal, at(5_002));
        accept(2, proposal, at(5_002));
        assertThat(out.notices).isEmpty();
        assertThat(claim.tenure).isNull();
        assertThat(engine.parked()).isZero();
        assertThat(engine.candidacies()).isEmpty();
        assertThat(engine.nextWakeNanos()).isEmpty();
    }

    @Test
    void doesNotSaveALeaseThatHasEnded() {
        accept(0, DUE);
        event();
        accept(1, proposal, at(10_000));
        assertThat(told(Notice.Lost.class)).hasSize(1);
        assertThat(told(Notice.Extended.class)).isEmpty();
        assertThat(claim.tenure).isNull();
        assertThat(engine.parked()).isZero();
    }

    @Test
    void doesNotSaveALeaseThatEndedDuringASuspendX7() {
        Now resumed = new Now(at(5_001).nanos(), at(60_000).wallMillis());
        event();
        engine.settleAll(resumed, out);
        assertThat(told(Notice.Lost.class)).hasSize(1);
        assertThat(claim.tenure).isNull();
    }

    /** All of them were a burst. */
    @Test
    void doesNotComeEarlierWhereTheWallClockWasSetForward() {
        accept(0, DUE);
        accept(1, DUE);
        event();
        Now setForward = new Now(at(5_001).nanos(), at(5_501).wallMillis());
        engine.settleAll(setForward, out);
        event();
        engine.onTime(setForward, out);
        assertThat(out.requests).isEmpty();
        assertThat(claim.tenure.isActive(setForward)).isTrue();
        assertThat(next(500).nanos()).isGreaterThan(at(9_000).nanos());
    }

    /** The wall clock was behind when the extension began, so that its own end is before that of the lease. */
    @Test
    void failsIfItsOwnEndHasPassed() {
        accept(0, DUE);
        accept(1, DUE);
        Now next = next(-500_000);
        assertThat(engine.candidacies()).isEmpty();
        Now later = new Now(next.nanos() + MILLI, next.wallMillis() + 500_000);
        accept(0, later);
        assertThat(told(Notice.ExtensionFailed.class)).hasSize(1);
        assertThat(claim.tenure.isActive(later)).isTrue();
    }

    /** P6. It is held. */
    @Test
    void isNotGivenUpForARivalThatWasRefused() {
        event();
        engine.onRivalRefused("r", claim.tenure.ballot(), at(1), out);
        assertThat(out.requests).isEmpty();
    }

    @Test
    void givesWayToACandidacyWhereItsRoundWouldEndTooLate() {
        accept(0, DUE);
        accept(1, DUE);
        event();
        Deadline end = claim.tenure.deadline();
        engine.onTime(new Now(end.nanos() - 99 * MILLI, end.wallMillis() - 99), out);
        assertThat(engine.candidacies()).hasSize(1);
        assertThat(engine.picture("r").roundEndsNanos)
                .isGreaterThan(end.nanos() - 99 * MILLI)
                .isLessThan(end.nanos() - 49 * MILLI);
    }

    /**
     * Answers that come just before each round ends, until rounds may take a second, and after one quick answer still do; answers when
     * the next extension begins.
     */
    private Now untilRoundsTakeASecond() {
        Now begun = DUE;
        long roundNanos;
        int asLong = 0;
        while ((roundNanos = engine.nextWakeNanos().getAsLong() - begun.nanos()) < 1_000 * MILLI || ++asLong < 5) {
            Request request = out.requests.get(0);
            Now answered = at((begun.nanos() + roundNanos) / MILLI - 1);
            event();
            accept(0, request, answered);
            accept(1, request, answered);
            begun = next(0);
        }
        return begun;
    }

    /** Otherwise those that are late would each cost more, and become more. */
    @Test
    void hasAShorterRoundWhereAnswersTakeLongAndItIsLate() {
        Now begun = untilRoundsTakeASecond();
        accept(0, begun);
        accept(1, begun);
        event();
        Deadline end = claim.tenure.deadline();
        engine.onTime(new Now(end.nanos() - 1_200 * MILLI, end.wallMillis() - 1_200), out);
        assertThat(out.requests).hasSize(1);
        assertThat(engine.candidacies()).isEmpty();
        assertThat(engine.nextWakeNanos()).hasValue(end.nanos() - 700 * MILLI);
    }

    @Test
    void isGivenNoShorterRoundByAnotherThatIsLate() {
        Now begun = untilRoundsTakeASecond();
        accept(0, begun);
        accept(1, begun);
        event();
        Deadline end = claim.tenure.deadline();
        Now later = new Now(begun.nanos() + 2_000 * MILLI, begun.wallMillis() + 2_000);
        Claim other = Claim.once("s", LEASE, later.nanos() + 60_000 * MILLI);
        engine.submit(other, later, out);
        for (int i = 0; i < 3; i++) {
            accept(i, later);
        }
        event();
        engine.autoExtend(other, later, out);
        event();
        Now due = new Now(end.nanos() - 1_200 * MILLI, end.wallMillis() - 1_200);
        engine.onTime(due, out);
        assertThat(out.requests).extracting(Request::resource).containsExactlyInAnyOrder("r", "s");
        assertThat(engine.candidacies()).isEmpty();
        event();
        engine.onTime(new Now(due.nanos() + 999 * MILLI, due.wallMillis() + 999), out);
        assertThat(told(Notice.ExtensionFailed.class)).hasSize(1);
        assertThat(engine.candidacies()).noneMatch(candidacy -> candidacy.resource.equals("s"));
        event();
        engine.onTime(new Now(due.nanos() + 1_000 * MILLI, due.wallMillis() + 1_000), out);
        assertThat(told(Notice.ExtensionFailed.class))
                .anyMatch(notice -> notice.resource().equals("s"));
    }

    @Test
    void isTheOneUnderWayForWhoeverWantsAnother() {
        accept(0, DUE);
        engine.extend(claim, DUE, out);
        Candidacy candidacy = engine.picture("r");
        assertThat(candidacy.state).isEqualTo(Candidacy.State.EXTENDING);
        assertThat(candidacy.attempt).isEqualTo(proposal.ballot());
        assertThat(candidacy.acceptedBy).isEqualTo(1);
        assertThat(candidacy.roundBeganNanos).isEqualTo(DUE.nanos());
        assertThat(candidacy.roundTripNanos).isPositive();
        assertThat(candidacy.claims).containsExactly(claim);
        assertThat(engine.nextWakeNanos()).hasValue(DUE.nanos() + 200 * MILLI);
        accept(2, DUE);
        assertThat(out.notices).contains(new Notice.Extended(claim, claim.tenure, 0));
    }
}
