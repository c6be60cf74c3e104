package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.ParkedLeases.Row;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ResourceIndex;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Tenure;
import io.paxoslease.protocol.Timing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

class ParkedLeasesTests {

    private static final long MILLI = 1_000_000L;
    private static final long LEASE = 10_000 * MILLI;

    private static Claim claim(String name) {
        return Claim.once(name, LEASE, 0);
    }

    @Nested
    class Rows {

        /** The monotonic clock overflows during the test. */
        private static final long START = Long.MAX_VALUE - 3_000 * MILLI;

        /** Each lease has half of its T left. */
        private static final IntUnaryOperator GOES_ON = slot -> 32;

        private final ParkedLeases parked = new ParkedLeases(new ResourceIndex());

        private Now at(long millis) {
            return new Now(START + millis * MILLI, millis);
        }

        private List<Row> takeDue(Now now, int limit, IntUnaryOperator left) {
            return Arrays.stream(parked.takeDue(now, limit, left))
                    .mapToObj(parked::unpark)
                    .toList();
        }

        @Test
        void eachIsTakenWhenItIsDueNeitherEarlierNorMuchLater() {
            Random random = new Random(1);
            Map<String, Long> due = new HashMap<>();
            long taken = 0;
            for (int millis = 0; millis < 10_000; millis++) {
                for (int i = 0; i < 3; i++) {
                    String name = "lease-" + random.nextInt(20_000);
                    if (parked.contains(name)) {
                        Row row = parked.unpark(name);
                        assertThat(row.dueNanos() - START - due.remove(name)).isBetween(0L, MILLI - 1);
                    }
                    if (random.nextInt(4) > 0) {
                        long nanos = (millis + random.nextInt(5_000)) * MILLI + random.nextInt(1_000_000);
                        parked.park(new Row(name, null, true, START + nanos, 5, 7));
                        due.put(name, nanos);
                    }
                }
                for (Row row : takeDue(at(millis), 10_000, GOES_ON)) {
                    assertThat(millis * MILLI - due.remove(row.resource())).isBetween(0L, 2 * MILLI);
                    taken++;
                }
                assertThat(parked.size()).isEqualTo(due.size());
            }
            assertThat(taken).isGreaterThan(10_000);
            assertThat(parked.rows(Integer.MAX_VALUE)).hasSize(due.size());
        }

        /** A process that was frozen, or a machine that was suspended while the monotonic clock went on. */
        @Test
        void isDueHoweverLateItIsLookedFor() {
            for (int days : new int[] {1, 24, 26, 40, 50, 400}) {
                parked.park(new Row("a", null, true, at(5_000).nanos(), 0, 0));
                assertThat(takeDue(at(86_400_000L * days), 10, GOES_ON))
                        .as("%d days", days)
                        .hasSize(1);
            }
        }

        @Test
        void isNotDueWithOthersWhereTheProcessHasRunForMonths() {
            long day = 86_400_000L;
            for (int days = 1; days < 60; days++) {
                parked.park(new Row("now", null, true, at(day * days).nanos(), 0, 0));
                parked.park(new Row("later", null, true, at(day * days + 5_000).nanos(), 0, 0));
                assertThat(takeDue(at(day * days), 10, GOES_ON))
                        .as("%d days", days)
                        .extracting(Row::resource)
                        .containsExactly("now");
                assertThat(takeDue(at(day * days + 5_000), 10, GOES_ON)).hasSize(1);
            }
        }

        /** A 512th of T and a tenth of a second at most; what is due then travels with others. */
        @Test
        void waitsForOthersForAShortTimeOnly() {
            for (long lease : new long[] {1, 100 * MILLI, LEASE, 86_400_000 * MILLI}) {
                long step = Math.max(1, Math.min(lease / 512, 100 * MILLI));
                for (long due : new long[] {START, 0, -1, 12_345_678_901L, Long.MAX_VALUE - 1_000 * MILLI}) {
                    long coalesced = ParkedLeases.coalesced(due, lease);
                    assertThat(coalesced - due).isBetween(0L, step - 1);
                    assertThat(coalesced % step).isZero();
                }
            }
        }

        @Test
        void isPromisedNoLaterThanTheFirstIsDue() {
            parked.park(new Row("b", null, true, START + 20 * MILLI, 0, 0));
            parked.park(new Row("a", null, true, START + 10 * MILLI, 0, 0));
            assertThat(parked.earliestNanos()).isEqualTo(START + 10 * MILLI);
            assertThat(takeDue(at(10), 10, GOES_ON)).extracting(Row::resource).containsExactly("a");
            assertThat(parked.earliestNanos()).isEqualTo(START + 20 * MILLI);
        }

        @Test
        void whatIsDueBeyondTheLimitComesNext() {
            for (int i = 0; i < 5_000; i++) {
                parked.park(new Row("lease-" + i, null, true, START, 0, 0));
            }
            int calls = 0;
            while (parked.size() > 0) {
                assertThat(at(1).hasReached(parked.earliestNanos())).isTrue();
                assertThat(takeDue(at(1), 512, GOES_ON)).hasSizeBetween(1, 512 + 1_024);
                calls++;
            }
            assertThat(calls).isGreaterThan(2);
        }

        /** Where more is due than can be extended, all leases are to have their turn. */
        @Test
        void whatHadToWaitComesBeforeWhatIsDueAgain() {
            int chunks = 7;
            for (int i = 0; i < chunks * 1_024; i++) {
                parked.park(new Row("lease-" + i, null, true, START, 0, 0));
            }
            Set<String> taken = new HashSet<>();
            for (int look = 0; look < chunks; look++) {
                List<Row> rows = takeDue(at(1), 512, GOES_ON);
                assertThat(rows).hasSize(1_024);
                rows.forEach(row -> taken.add(row.resource()));
                rows.forEach(parked::park);
            }
            assertThat(taken).hasSize(chunks * 1_024);
        }

        /** Whoever tells the ends of many leases first has more of them to tell soon. */
        @Test
        void whereManyAreToBeExtendedFewOfThoseThatEndedComeWithThem() {
            int count = 8_192;
            for (int i = 0; i < count; i++) {
                parked.park(new Row((i % 2 == 0 ? "ends-" : "goes-on-") + i, null, true, START, 0, 0));
            }
            IntUnaryOperator left = slot -> slot % 2 == 0 ? 3 : 4;
            takeDue(at(1), 512, left);
            int taken = count - parked.size();
            int ended = 0;
            while (taken - ended < count / 2) {
                List<Row> rows = takeDue(at(1), 512, left);
                long others = rows.stream()
                        .filter(row -> row.resource().startsWith("ends"))
                        .count();
                assertThat(others).isBetween(1L, 64L);
                taken += rows.size();
                ended = count / 2
                        - (int) parked.rows(count).stream()
                                .filter(row -> row.resource().startsWith("ends"))
                                .count();
            }
            assertThat(at(1).hasReached(parked.earliestNanos())).isTrue();
            while (parked.size() > 0) {
                assertThat(takeDue(at(1), 512, left)).isNotEmpty();
            }
        }

        /** Of a million that ended together, looking through all for the next few of them took a quarter of a minute. */
        @Test
        void leasesThatEndedAreNotLookedAtForEachFewOfThemThatAreTold() {
            int count = 100_000;
            for (int i = 0; i < count; i++) {
                parked.park(new Row("lease-" + i, null, true, START, 0, 0));
            }
            long[] looks = new long[1];
            IntUnaryOperator left = slot -> {
                looks[0]++;
                return 0;
            };
            while (parked.size() > 0) {
                assertThat(at(1).hasReached(parked.earliestNanos())).isTrue();
                int size = parked.size();
                assertThat(takeDue(at(1), 512, left)).hasSize(Math.min(512, size));
            }
            assertThat(looks[0]).isLessThan(4 * count);
        }

        /** After so long what was due looks as if it were in weeks. */
        @Test
        void whatWasLeftOverIsDueHoweverLateItIsLookedFor() {
            for (int i = 0; i < 30; i++) {
                parked.park(new Row("lease-" + i, null, true, START, 0, 0));
            }
            assertThat(takeDue(at(1), 10, slot -> 0)).hasSize(10);
            for (int look = 0; look < 2; look++) {
                assertThat(takeDue(at(86_400_000L * 26), 10, slot -> 0)).hasSize(10);
            }
        }

        @Test
        void wakeAllMakesEachDueOnce() {
            parked.park(new Row("a", null, true, at(10_000).nanos(), 0, 0));
            parked.wakeAll(at(1));
            List<Row> rows = takeDue(at(1), 10, GOES_ON);
            assertThat(rows).hasSize(1);
            parked.park(rows.get(0));
            assertThat(takeDue(at(1), 10, GOES_ON)).isEmpty();
            assertThat(takeDue(at(10_000), 10, GOES_ON)).hasSize(1);
        }

        /** More than fit in one look, and those that were taken come back. */
        @Test
        void wakeAllMakesEachOfManyDueOnce() {
            int count = 2_048;
            for (int i = 0; i < count; i++) {
                parked.park(new Row("r" + i, null, i % 5 < 2, at(10_000).nanos(), 0, 0));
            }
            parked.wakeAll(at(1));
            Set<String> taken = new HashSet<>();
            while (at(1).hasReached(parked.earliestNanos())) {
                List<Row> rows = takeDue(at(1), 512, GOES_ON);
                assertThat(rows).isNotEmpty();
                rows.forEach(row -> assertThat(taken.add(row.resource())).isTrue());
                rows.forEach(parked::park);
            }
            assertThat(taken).hasSize(count);
        }

        @Test
        void whatIsBeingExtendedIsNotDue() {
            Claim claim = claim("a");
            parked.park(new Row("a", claim, true, START, 0, 0));
            int slot = parked.takeDue(at(1), 10, GOES_ON)[0];
            assertThat(parked.goesOn(slot, at(1))).isTrue();
            parked.extending(slot);
            assertThat(parked.goesOn(slot, at(1))).isFalse();
            assertThat(parked.name(slot)).isEqualTo("a");
            assertThat(at(100_000).hasReached(parked.earliestNanos())).isFalse();
            parked.park(new Row("b", null, true, at(2_000).nanos(), 0, 0));
            parked.wakeAll(at(1));
            assertThat(takeDue(at(1), 10, GOES_ON)).extracting(Row::resource).containsExactly("b");
            assertThat(parked.takeDue(at(100_000), 10, GOES_ON)).isEmpty();
            assertThat(parked.rows(10)).hasSize(1);
            Tenure tenure = new Tenure("a", new Ballot(2, new Incarnation("n", 1)), 1, LEASE, new Deadline(0, 0));
            parked.extended(slot, tenure, at(200_000).nanos());
            assertThat(claim.tenure).isSameAs(tenure);
            assertThat(parked.earliestNanos()).isEqualTo(at(200_000).nanos());
            assertThat(takeDue(at(200_000), 10, GOES_ON))
                    .containsExactly(new Row("a", claim, true, at(200_000).nanos(), 0, 1));
        }

        @Test
        void whatWakeAllMadeDueBeyondTheLimitComesNext() {
            for (int i = 0; i < 30; i++) {
                parked.park(new Row("r" + i, null, false, at(10_000).nanos(), 0, 0));
            }
            parked.wakeAll(at(1));
            for (int i = 0; i < 3; i++) {
                assertThat(at(1).hasReached(parked.earliestNanos())).isTrue();
                assertThat(takeDue(at(1), 10, GOES_ON)).hasSize(10);
            }
        }

        @Test
        void keepsEverythingOfARow() {
            Claim claim = claim("a");
            Row row = new Row("a", claim, true, START, Long.MAX_VALUE / 3, 12);
            parked.park(row);
            assertThat(parked.rows(1)).containsExactly(row);
            assertThat(parked.unpark("a")).isEqualTo(row);
            assertThat(parked.unpark("a")).isNull();
        }
    }

    @Nested
    class InTheEngine {

        private final Timing timing = new Timing(LEASE, 0.01);
        private final BallotSequence ballots = new BallotSequence(at(0));
        private final Incarnation self = new Incarnation("n", 1);
        private final LeaseEngine engine = new LeaseEngine(
                self,
                new Proposer(self, new Cell("cell", List.of("n")), timing, ballots),
                false,
                1_000 * MILLI,
                new Dice(1));
        private final LocalAcceptor acceptor =
                new LocalAcceptor(new Acceptor(timing, 1_000, at(0)), ballots, Runnable::run);

        InTheEngine() {
            acceptor.open(true, at(0));
        }

        private static Now at(long millis) {
            return new Now(millis * MILLI, 1_000_000 + millis);
        }

        private interface Event {
            void happen(Output out);
        }

        /** One event as the shell performs it; answers what it told. */
        private List<Notice> event(long millis, boolean answered, Event event) {
            Output out = new Output();
            event.happen(out);
            for (int i = 0; i < out.requests.size(); i++) {
                Response response = answered ? acceptor.handle(out.requests.get(i), at(millis)) : null;
                if (response != null) {
                    engine.onResponse(0, response, at(millis), out);
                }
            }
            return out.notices;
        }

        private void time(long millis) {
            event(millis, true, out -> engine.onTime(at(millis), out));
        }

        private Claim held(String name, boolean autoExtend) {
            Claim claim = claim(name);
            event(1, true, out -> engine.submit(claim, at(1), out));
            assertThat(claim.tenure).isNotNull();
            if (autoExtend) {
                event(1, true, out -> engine.autoExtend(claim, at(1), out));
            } else {
                comeAndGo(Candidacies.MOST_YOUNG);
            }
            event(2, true, out -> engine.onTime(at(2), out));
            assertThat(engine.parked()).isEqualTo(1);
            assertThat(engine.candidacies()).isEmpty();
            return claim;
        }

        private void comeAndGo(int count) {
            for (int i = 0; i < count; i++) {
                Claim other = claim("other-" + i);
                event(1, true, out -> engine.submit(other, at(1), out));
                event(1, true, out -> engine.withdraw(other, at(1), out));
            }
        }

        /** To park it would be in vain if it is released before long. */
        @Test
        void aLeaseThatDoesNotExtendItselfKeepsItsObjectsUntilManyOthersHaveCome() {
            Claim claim = claim("r");
            event(1, true, out -> engine.submit(claim, at(1), out));
            comeAndGo(Candidacies.MOST_YOUNG - 1);
            time(2);
            assertThat(engine.parked()).isZero();
            assertThat(engine.picture("r").claims).containsExactly(claim);
            comeAndGo(1);
            time(2);
            assertThat(engine.parked()).isEqualTo(1);
        }

        @Test
        void aLeaseThatExtendsItselfFromNowOnIsParkedAtTheNextEvent() {
            Claim claim = claim("r");
            event(1, true, out -> engine.submit(claim, at(1), out));
            time(2);
            event(3, true, out -> engine.autoExtend(claim, at(3), out));
            assertThat(engine.parked()).isZero();
            time(4);
            assertThat(engine.parked()).isEqualTo(1);
            comeAndGo(Candidacies.MOST_YOUNG + 1);
            assertThat(engine.parked()).isEqualTo(1);
        }

        @Test
        void aLeaseThatIsJustHeldIsExtendedAgainAndAgainWithoutObjectsInBetween() {
            Claim claim = held("r", true);
            long end = claim.tenure.deadline().nanos();
            int parked = 0;
            for (long millis = 2; millis < 60_000; millis += 50) {
                time(millis);
                parked += engine.parked();
                assertThat(claim.tenure).isNotNull();
                assertThat(claim.tenure.isActive(at(millis))).isTrue();
            }
            assertThat(claim.tenure.deadline().nanos()).isGreaterThan(end + 40_000 * MILLI);
            assertThat(parked).isGreaterThan(1_000);
        }

        @Test
        void aLeaseThatNobodyExtendsEnds() {
            Claim claim = held("r", false);
            event(9_500, true, out -> engine.onTime(at(9_500), out));
            assertThat(claim.tenure).isNotNull();
            List<Notice> notices = event(10_000, true, out -> engine.onTime(at(10_000), out));
            assertThat(notices).anyMatch(Notice.Lost.class::isInstance);
            assertThat(claim.tenure).isNull();
            assertThat(engine.parked()).isZero();
            assertThat(engine.nextWakeNanos()).isEmpty();
        }

        @Test
        void itsOwnerCanReleaseIt() {
            Claim claim = held("r", true);
            List<Notice> notices = event(3, true, out -> engine.withdraw(claim, at(3), out));
            assertThat(notices)
                    .anyMatch(notice -> notice instanceof Notice.Released released && released.claim() == claim);
            assertThat(acceptor.lease("r", at(3))).isNull();
            assertThat(engine.parked()).isZero();
            assertThat(engine.candidacies()).isEmpty();
        }

        @Test
        void anotherClaimOfThisNodeWaitsForIt() {
            Claim first = held("r", false);
            Claim second = Claim.patient("r", LEASE, 60_000 * MILLI);
            event(3, true, out -> engine.submit(second, at(3), out));
            assertThat(second.tenure).isNull();
            event(4, true, out -> engine.withdraw(first, at(4), out));
            assertThat(second.tenure).isNotNull();
        }

        @Test
        void afterASuspendItIsLostAtOnceX7() {
            Claim claim = held("r", true);
            Now resumed = new Now(at(3).nanos(), at(60_000).wallMillis());
            event(3, true, out -> engine.settleAll(resumed, out));
            event(3, true, out -> engine.onTime(resumed, out));
            assertThat(claim.tenure).isNull();
        }

        @Test
        void aFailedExtensionIsToldAndTriedAgain() {
            Claim claim = held("r", true);
            List<Notice> notices = new ArrayList<>();
            for (long millis = 4_900; millis < 9_000; millis += 10) {
                long now = millis;
                notices.addAll(event(now, false, out -> engine.onTime(at(now), out)));
            }
            assertThat(notices)
                    .filteredOn(Notice.ExtensionFailed.class::isInstance)
                    .hasSizeGreaterThan(1);
            for (long millis = 9_000; millis < 9_900; millis += 10) {
                time(millis);
            }
            assertThat(claim.tenure.isActive(at(12_000))).isTrue();
        }
    }
}
