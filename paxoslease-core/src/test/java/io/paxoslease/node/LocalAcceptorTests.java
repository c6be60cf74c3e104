package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.paxoslease.HeardLog;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LocalAcceptorTests {

    private static final long LEASE_NANOS = Duration.ofSeconds(1).toNanos();

    private final Timing timing = new Timing(LEASE_NANOS, 0.01);
    private final Now start = new Now(0, 1_000_000);
    private boolean outOfMemory;

    private final BallotSequence ballots = new BallotSequence(start);
    private final LocalAcceptor acceptor = new LocalAcceptor(
            new Acceptor(timing, 100, start) {
                @Override
                public ProposeResponse onProposeRequest(ProposeRequest request, Now now) {
                    if (outOfMemory) {
                        throw new OutOfMemoryError("planted");
                    }
                    return super.onProposeRequest(request, now);
                }

                @Override
                public void sweep(int rows, Now now) {
                    throw new OutOfMemoryError("planted");
                }
            },
            ballots,
            Runnable::run);

    private ProposeRequest propose(String resource) {
        return propose(resource, start);
    }

    private static ProposeRequest propose(String resource, Now now) {
        return new ProposeRequest(resource, new Ballot(now.counterFloor() + 1, new Incarnation("b", 1)), LEASE_NANOS);
    }

    /** T4. Also of a request in which it takes no part. */
    @Test
    void liftsTheNextBallotOfItsNodeAboveThoseOfOthers() {
        ProposeRequest request = propose("a");
        assertThat(acceptor.handle(request, start)).isNull();
        assertThat(ballots.next(start)).isGreaterThan(request.ballot().counter());
    }

    @Test
    void goesOnAlthoughItsLogFails() {
        try (HeardLog full = new HeardLog(LocalAcceptor.class, NewsTests::full)) {
            acceptor.open(true, start);
            Ballot poisoned = new Ballot(Ballot.MAX_COUNTER, new Incarnation("b", 1));

            assertThat(acceptor.handle(new ProposeRequest("a", poisoned, LEASE_NANOS), start))
                    .isNull();
            assertThat(acceptor.handle(propose("a"), start)).isNotNull();
        }
    }

    @Test
    void isSilentOnceItHasFailedInTheMiddleOfARequest() {
        acceptor.open(true, start);
        assertThat(acceptor.handle(propose("a"), start)).isNotNull();
        outOfMemory = true;
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> acceptor.handle(propose("b"), start));
        outOfMemory = false;

        assertThat(acceptor.handle(propose("a"), start)).isNull();
        assertThat(acceptor.handle(propose("c"), start)).isNull();
        assertThat(acceptor.state(start)).isEqualTo(RequestHandler.AcceptorState.QUARANTINED);
    }

    @Test
    void isSilentOnceASweepHasFailed() {
        acceptor.open(true, start);
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> acceptor.sweep(1, start));

        assertThat(acceptor.handle(propose("a"), start)).isNull();
        acceptor.sweep(1, start);
    }

    /** Its node says no more than that no majority answered, and is right. */
    @Test
    void tellsOnceOfANodeWhoseBallotsAreMoreThanADayAhead() {
        List<String> lines = new ArrayList<>();
        try (HeardLog log = new HeardLog(LocalAcceptor.class, line -> lines.add(line.getMessage()))) {
            acceptor.open(true, start);
            for (int i = 0; i < 3; i++) {
                long counter = start.counterFloor() + Duration.ofDays(2).toMillis() * 1_000 + i;
                Ballot ballot = new Ballot(counter, new Incarnation("ahead", 1));
                assertThat(acceptor.handle(new ProposeRequest("a", ballot, LEASE_NANOS), start))
                        .isNull();
            }
            acceptor.handle(propose("a"), start);
        }

        assertThat(lines)
                .singleElement()
                .asString()
                .startsWith("Node ahead uses ballots more than a day ahead")
                .endsWith("restart ahead when it is set right");
    }

    /** X9. It hears of it with each frame. */
    @Test
    void tellsOnceAMinuteThatItStandsAside() {
        List<String> lines = new ArrayList<>();
        try (HeardLog log = new HeardLog(LocalAcceptor.class, line -> lines.add(line.getMessage()))) {
            LocalAcceptor voting = new LocalAcceptor(new Acceptor(timing, 2, start), ballots, Runnable::run);
            voting.open(true, start);
            voting.standAside("Somebody votes", start);
            assertThat(lines).isEmpty();

            acceptor.open(false, start);
            acceptor.standAside("Somebody votes", start);
            acceptor.standAside("Somebody votes", after(59));
            assertThat(lines).singleElement().asString().startsWith("Somebody votes. ");
            acceptor.standAside("Somebody votes", after(60));
            assertThat(lines).hasSize(2);
        }
        assertThat(acceptor.handle(propose("a"), after(61))).isNull();
    }

    /** X4. What the metric counts, for whoever reads the log. */
    @Test
    void tellsOnceAMinuteThatItsTableIsFull() {
        LocalAcceptor small = new LocalAcceptor(new Acceptor(timing, 2, start), ballots, Runnable::run);
        List<String> lines = new ArrayList<>();
        try (HeardLog log = new HeardLog(LocalAcceptor.class, line -> lines.add(line.getMessage()))) {
            assertThat(small.handle(propose("quarantined"), start)).isNull();
            small.open(true, start);
            assertThat(small.handle(propose("a"), start)).isNotNull();
            assertThat(small.handle(propose("b"), start)).isNotNull();
            assertThat(lines).isEmpty();

            assertThat(small.handle(propose("c"), start)).isNull();
            assertThat(lines).singleElement().asString().contains("remembers 2 leases", "for others, 1 so far");
            small.handle(List.of(propose("c"), propose("d"), propose("a")), start, new ArrayList<>());
            assertThat(lines).hasSize(1);

            askForOneTooMany(small, after(59));
            assertThat(lines).hasSize(1);
            askForOneTooMany(small, after(61));
            assertThat(lines).hasSize(2).last().asString().contains("for others, 5 so far");
        }
    }

    private static void askForOneTooMany(LocalAcceptor small, Now now) {
        assertThat(small.handle(propose("a", now), now)).isNotNull();
        assertThat(small.handle(propose("b", now), now)).isNotNull();
        assertThat(small.handle(propose("c", now), now)).isNull();
    }

    private Now after(long seconds) {
        return new Now(Duration.ofSeconds(seconds).toNanos(), start.wallMillis() + seconds * 1_000);
    }
}
