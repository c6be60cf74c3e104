package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The table of known mistakes, row by row: a schedule that is safe with our rules, and fails as predicted as soon as one decision is taken
 * wrongly. Rows that need an overwriting acceptor are also shown to be safe with either mistake alone. T and M are one second.
 */
class KnownMistakesTests {

    private static final Class<PrepareRequest> PREPARE = PrepareRequest.class;
    private static final Class<PrepareResponse> PREPARED = PrepareResponse.class;
    private static final Class<ProposeRequest> PROPOSE = ProposeRequest.class;
    private static final Class<ProposeResponse> PROPOSED = ProposeResponse.class;
    private static final Class<ReleaseRequest> RELEASE = ReleaseRequest.class;

    private interface Schedule {
        void run(World world);
    }

    private static World play(Schedule schedule, Set<Mistake> mistakes) {
        World world = new World(3, mistakes).proposer("p").proposer("q");
        schedule.run(world);
        return world;
    }

    private static void givesTwoOwnersOnlyWith(Set<Mistake> mistakes, Schedule schedule) {
        assertThat(play(schedule, Set.of()).activeOwners()).as("with our rules").hasSize(1);
        assertThat(play(schedule, mistakes).activeOwners())
                .as("with %s", mistakes)
                .hasSize(2);
        if (mistakes.size() > 1) {
            for (Mistake mistake : mistakes) {
                assertThat(play(schedule, Set.of(mistake)).activeOwners())
                        .as("with %s alone", mistake)
                        .hasSize(1);
            }
        }
    }

    @Test
    void row1TheDeadlineStartsAtThePrepareMajority() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.DEADLINE_STARTS_AT_PREPARE_MAJORITY, Mistake.OVERWRITING), world -> {
            world.wallClockAhead("p", 10_000);
            world.start("p");
            world.deliver(PREPARE, "p", "a2");
            world.advance(1);
            world.crash("a2");
            world.advance(500);
            world.start("q");
            world.advance(490);
            world.deliver(PREPARE, "p", "a1");
            world.deliver(PREPARED, "p", "a1");
            world.deliver(PREPARED, "p", "a2");
            world.advance(20);
            world.win("q", "a2", "a3");
            world.propose("p", "a1", "a2");
        });
    }

    @Test
    void row2ALatePrepareAnswerRestartsTheDeadline() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.DEADLINE_RESTARTS_AT_LATE_PREPARE_ANSWER), world -> {
            world.start("p");
            world.prepare("p", "a1", "a2");
            world.deliver(PREPARE, "p", "a3");
            world.deliver(PROPOSE, "p", "a1");
            world.deliver(PROPOSE, "p", "a2");
            world.advance(900);
            world.deliver(PREPARED, "p", "a3");
            world.deliver(PROPOSED, "p", "a1");
            world.deliver(PROPOSED, "p", "a2");
            world.advance(101);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    /**
     * A proposal of an attempt that is long over arrives at an acceptor that restarted and forgot the promise of that attempt. It overwrites the
     * live lease of another owner, and being for a shorter time leaves the acceptor free too early.
     */
    @Test
    void row3AnOverwritingAcceptorGivesTwoOwnersAcrossOneRestart() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.OVERWRITING), world -> {
            staleProposalMeetsAnotherOwnerAfterARestart(world, 50);
            world.advance(60);
            world.start("p");
            world.win("p", "a1", "a2");
        });
    }

    @Test
    void row4AnOverwritingAcceptorTakesAStaleProposalAndThenItsRelease() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.OVERWRITING), world -> {
            staleProposalMeetsAnotherOwnerAfterARestart(world, 1_000);
            world.deliver(RELEASE, "p#1", "a2");
            world.start("p");
            world.win("p", "a1", "a2");
        });
    }

    /** The first attempt of p is abandoned; q owns by a2 and a3; the proposal of p reaches a2 only now. */
    private static void staleProposalMeetsAnotherOwnerAfterARestart(World world, long leaseMillis) {
        world.wallClockAhead("p", 10_000);
        world.start("p", leaseMillis);
        world.prepare("p", "a1", "a2");
        world.giveUp("p");
        world.advance(1);
        world.crash("a2");
        world.advance(1_001);
        world.start("q");
        world.win("q", "a2", "a3");
        world.deliver(PROPOSE, "p#1", "a2");
    }

    @Test
    void row5OwnersAreComparedByNodeId() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.OWNER_COMPARED_BY_NODE_ID), world -> {
            // q is the next life of the node of p; a third node wants the lease, too.
            world.proposer("q", new Incarnation("p", 2)).proposer("r");
            world.wallClockAhead("r", 20_000);
            staleProposalMeetsAnotherOwnerAfterARestart(world, 1_000);
            world.deliver(RELEASE, "p#1", "a2");
            world.start("r");
            world.win("r", "a1", "a2");
        });
    }

    @Test
    void row6AnAcceptDoesNotRaiseThePromise() {
        givesTwoOwnersOnlyWith(
                Set.of(Mistake.PROMISE_NOT_RAISED_BY_ACCEPT),
                KnownMistakesTests::staleProposalAndReleaseOfTheOwnersEarlierAttempt);
    }

    @Test
    void row18ABallotBelowThePromiseIsServed() {
        givesTwoOwnersOnlyWith(
                Set.of(Mistake.LOWER_BALLOT_SERVED),
                KnownMistakesTests::staleProposalAndReleaseOfTheOwnersEarlierAttempt);
    }

    /** The record of the second attempt is replaced by one of the first, which is then released. */
    private static void staleProposalAndReleaseOfTheOwnersEarlierAttempt(World world) {
        world.start("p");
        world.prepare("p", "a1", "a2");
        world.giveUp("p");
        world.start("p");
        world.prepare("p", "a1", "a3");
        world.propose("p", "a1", "a2");
        world.deliver(PROPOSE, "p#1", "a2");
        world.deliver(RELEASE, "p#1", "a2");
        world.advance(1);
        world.start("q");
        world.win("q", "a2", "a3");
    }

    @Test
    void row7ARecordIsShortenedByItsOwner() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.RECORD_SHORTENED), world -> {
            world.start("p", 1_000);
            world.win("p", "a1", "a2");
            world.start("p", 100);
            world.win("p", "a1", "a2");
            world.advance(200);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row8AReleaseClearsAnyRecordOfItsOwner() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.RELEASE_BY_OWNER), world -> {
            world.start("p");
            world.prepare("p", "a1", "a2");
            world.giveUp("p");
            world.start("p");
            world.win("p", "a1", "a2");
            world.deliver(RELEASE, "p#1", "a2");
            world.advance(1);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row9MessagesAreCountedInsteadOfAcceptors() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.VOTES_COUNTED_BY_MESSAGE), world -> {
            world.start("p");
            world.prepare("p", "a1", "a1");
            world.propose("p", "a1", "a1");
            world.advance(1);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    /** The records that the older ballot made end before the authority of the newer one. */
    @Test
    void row10AnswersToAnOlderBallotOfOnesOwnAreCounted() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.ANSWERS_TO_OLDER_BALLOT_COUNTED), world -> {
            world.start("p");
            world.prepare("p", "a1", "a2");
            world.deliver(PROPOSE, "p", "a1");
            world.deliver(PROPOSE, "p", "a2");
            world.advance(900);
            world.start("p");
            world.deliver(PREPARED, "p#1", "a1");
            world.deliver(PREPARED, "p#1", "a2");
            world.deliver(PROPOSED, "p#1", "a1");
            world.deliver(PROPOSED, "p#1", "a2");
            world.advance(101);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row11AStaleLeaseOfOnesOwnIsTakenAsOpen() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.OWN_STALE_LEASE_OPEN, Mistake.OVERWRITING), world -> {
            staleProposalMeetsAnotherOwnerAfterARestart(world, 1_000);
            world.start("p");
            world.win("p", "a1", "a2");
        });
    }

    @Test
    void row12TheQuarantineIsTooShort() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.QUARANTINE_TOO_SHORT), world -> {
            world.start("p");
            world.win("p", "a1", "a2");
            world.crash("a2");
            world.advance(501);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row12TheQuarantineDoesNotHoldForTheLocalProposer() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.NO_QUARANTINE_FOR_LOCAL_PROPOSER), world -> {
            world.proposer("a2");
            world.start("p");
            world.win("p", "a1", "a2");
            world.advance(1);
            world.crash("a2");
            world.advance(1);
            world.start("a2");
            world.win("a2", "a2", "a3");
        });
    }

    /** The next process of a2 has its port and its quarantine behind it when the one before it is still stopping, and extends what it holds. */
    @Test
    void row12AnAcceptorVotesForTheLocalProposerAfterThePortWasGivenUp() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.VOTES_AFTER_PORT_WAS_GIVEN_UP), world -> {
            world.proposer("a2");
            world.start("a2");
            world.win("a2", "a2", "a3");
            world.passOnPort("a2");
            world.crash("a1");
            world.advance(500);
            world.start("a2");
            world.win("a2", "a2", "a3");
            world.advance(501);
            world.start("q");
            world.win("q", "a1", "a2");
        });
    }

    /** A restarted acceptor holds no record that a release could clear: dropping releases costs nothing and is one rule less to think about. */
    @Test
    void row12AReleaseDuringTheQuarantineFindsNothing() {
        Schedule schedule = world -> {
            world.start("p");
            world.win("p", "a1", "a2");
            world.release("p");
            world.advance(1);
            world.crash("a2");
            world.deliver(RELEASE, "p#1", "a2");
        };
        assertThat(play(schedule, Set.of()).acceptor("a2").refusals()).containsEntry(Acceptor.Refusal.QUARANTINED, 1L);
        World weak = play(schedule, Set.of(Mistake.NO_QUARANTINE_FOR_RELEASES));
        assertThat(weak.acceptor("a2").refusals()).isEmpty();
        assertThat(weak.acceptor("a2").resources()).isZero();
    }

    @Test
    void row13ABallotIsReusedAfterARestart() {
        Incarnation self = new Incarnation("p", 1);
        for (boolean reused : new boolean[] {false, true}) {
            World world = new World(3, Set.of())
                    .proposer("p", self)
                    .proposer("next life of p", reused ? self : new Incarnation("p", 2));
            world.start("p");
            world.start("next life of p");
            world.prepare("p", "a1", "a2");
            world.prepare("next life of p", "a2", "a3");
            world.propose("p", "a1", "a2");
            world.propose("next life of p", "a2", "a3");
            assertThat(world.activeOwners()).hasSize(reused ? 2 : 1);
        }
    }

    @Test
    void row14ExpiryIsDecidedByTheDispatchOfATimer() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.EXPIRY_DECIDED_BY_TIMER), world -> {
            world.start("p");
            world.win("p", "a1", "a2");
            world.advance(1_001);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row15TheExclusionIsShorterThanTheAuthorityUnderTheAllowedClockRates() {
        for (double allowedFor : new double[] {0.1, 0}) {
            World world =
                    new World(3, 1_000, allowedFor, Set.of()).proposer("p").proposer("q");
            world.clockRate("p", 0.9);
            world.clockRate("a1", 1.1);
            world.clockRate("a2", 1.1);
            world.start("p");
            world.win("p", "a1", "a2");
            world.advance(950);
            world.start("q");
            world.win("q", "a2", "a3");
            assertThat(world.activeOwners()).hasSize(allowedFor == 0 ? 2 : 1);
        }
    }

    @Test
    void row16ARenewalCountsWithoutAFreshMajority() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.RENEWAL_WITHOUT_MAJORITY), world -> {
            world.start("p");
            world.win("p", "a1", "a2");
            world.advance(500);
            world.start("p");
            world.prepare("p", "a1", "a2");
            world.propose("p", "a1");
            world.advance(501);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row17AFailedExtensionReleasesWhileTheOldLeaseIsHeld() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.FAILED_EXTENSION_RELEASES), world -> {
            world.start("p");
            world.win("p", "a1", "a2");
            world.start("p");
            world.prepare("p", "a1", "a2");
            world.propose("p", "a2");
            world.giveUp("p");
            world.deliver(RELEASE, "p#2", "a2");
            world.advance(1);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row18ThePromiseIsForgottenWithTheIdleEntry() {
        for (boolean forgotten : new boolean[] {false, true}) {
            World world = new World(
                            3, forgotten ? Set.of(Mistake.PROMISE_FORGOTTEN_WITH_IDLE_ENTRY) : Set.<Mistake>of())
                    .proposer("p")
                    .proposer("q");
            world.wallClockAhead("p", 10_000);
            world.start("q");
            world.start("p", 100);
            world.win("p", "a1", "a2");
            long token = world.tenure("p").token();
            world.advance(200);
            world.win("q", "a1", "a2");
            // Never two owners, but a fencing token that falls (X3).
            if (forgotten) {
                assertThat(world.tenure("q").token()).isLessThan(token);
            } else {
                assertThat(world.tenure("q")).isNull();
            }
        }
    }

    @Test
    void row19TimesAreComparedWithoutRegardToOverflow() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.OVERFLOWING_COMPARISON), world -> {
            world.withClocksAt(Long.MAX_VALUE - 500 * World.MILLI);
            world.advance(1);
            world.start("p");
            world.win("p", "a1", "a2");
            world.advance(1);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row20MajoritiesOfTwoListsOfMembersDoNotMeet() {
        World world = new World(5, Set.of()).proposer("p", "a1", "a2", "a3").proposer("q", "a3", "a4", "a5");
        world.start("p");
        world.win("p", "a1", "a2");
        world.start("q");
        world.win("q", "a4", "a5");
        assertThat(world.activeOwners()).hasSize(2);
        assertThat(new Cell("cell", java.util.List.of("a1", "a2", "a3"))
                        .majoritiesMeet(new Cell("cell", java.util.List.of("a3", "a4", "a5"))))
                .isFalse();
    }

    /** A stated limit of X9: that lists meet pairwise is not enough when three of them coexist. */
    @Test
    void row20ListsOfThreeFourAndFiveMembersMayGiveTwoOwnersWhenTheyCoexist() {
        World world =
                new World(5, Set.of()).proposer("p", "a1", "a2", "a3").proposer("q", "a1", "a2", "a3", "a4", "a5");
        world.start("p");
        world.win("p", "a1", "a2");
        world.start("q");
        world.win("q", "a3", "a4", "a5");
        assertThat(world.activeOwners()).hasSize(2);
        Cell three = new Cell("cell", java.util.List.of("a1", "a2", "a3"));
        Cell four = new Cell("cell", java.util.List.of("a1", "a2", "a3", "a4"));
        Cell five = world.cell();
        assertThat(three.majoritiesMeet(four)).isTrue();
        assertThat(four.majoritiesMeet(five)).isTrue();
        assertThat(three.majoritiesMeet(five)).isFalse();
    }

    @Test
    void row21AnExtensionThatCompletesAfterTheReleaseBringsTheLeaseBack() {
        for (boolean survives : new boolean[] {false, true}) {
            Schedule schedule = world -> {
                world.start("p");
                world.win("p", "a1", "a2");
                world.start("p");
                world.prepare("p", "a1", "a2");
                world.release("p");
                world.propose("p", "a1", "a2");
            };
            World world = play(schedule, survives ? Set.of(Mistake.EXTENSION_SURVIVES_RELEASE) : Set.<Mistake>of());
            assertThat(world.activeOwners()).hasSize(survives ? 1 : 0);
        }
    }

    @Test
    void row22ALeaseTimeAboveTheAcceptorsOwnMaximumIsServed() {
        givesTwoOwnersOnlyWith(Set.of(Mistake.LEASE_TIME_ABOVE_MAXIMUM_SERVED), world -> {
            world.proposer("p", new Incarnation("p", 1), world.cell(), new Timing(10_000 * World.MILLI, 0));
            world.start("p", 10_000);
            world.win("p", "a1", "a2");
            world.crash("a2");
            world.advance(1_001);
            world.start("q");
            world.win("q", "a2", "a3");
        });
    }

    @Test
    void row23WhoWaitsForEveryAcceptorNeverOwnsWhileOneIsLost() {
        Schedule schedule = world -> {
            world.start("p");
            world.win("p", "a1", "a2");
        };
        assertThat(play(schedule, Set.of()).activeOwners()).hasSize(1);
        assertThat(play(schedule, Set.of(Mistake.EVERY_ACCEPTOR_AWAITED)).activeOwners())
                .isEmpty();
    }
}
