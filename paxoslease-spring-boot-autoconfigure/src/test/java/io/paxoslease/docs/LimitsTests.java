package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Effect;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The conditions that {@code docs/operations.md} sets and that no check between nodes can see for certain: what happens to those who break them, and
 * that the steps described there do not.
 */
class LimitsTests {

    private static final Cell CELL = new Cell("default", List.of("a", "b", "c"));
    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long SHORT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Timing LONG = new Timing(LONG_NANOS, 0.01);
    private static final Timing SHORT = new Timing(SHORT_NANOS, 0.01);

    private Now now = new Now(0, 1_800_000_000_000L);

    @Test
    void loweringTheMaximumInOneRolloutGivesTwoLeaders() {
        Proposer first = proposer("a", LONG);
        Acceptor a = voting(LONG);
        Acceptor b = voting(LONG);
        assertThat(acquires(first, LONG_NANOS, Map.of("a", a, "b", b))).isTrue();

        Acceptor restarted = restarted(SHORT);
        advance(SHORT_NANOS);
        Proposer second = proposer("c", SHORT);

        assertThat(acquires(second, SHORT_NANOS, Map.of("b", restarted, "c", voting(SHORT))))
                .isTrue();
        assertThat(first.tenure("job", now)).as("the first leader, still").isNotNull();
    }

    @Test
    void loweringItDoesNotWhereWhoIsRestartedHearsOfTheLongerMaximum() {
        Proposer first = proposer("a", LONG);
        assertThat(acquires(first, LONG_NANOS, Map.of("a", voting(LONG), "b", voting(LONG))))
                .isTrue();

        Acceptor restarted = restarted(SHORT);
        restarted.outlast(LONG_NANOS, now);
        Proposer second = proposer("c", SHORT);
        Map<String, Acceptor> others = Map.of("b", restarted, "c", voting(SHORT));
        while (first.tenure("job", now) != null) {
            assertThat(acquires(second, SHORT_NANOS, others)).isFalse();
            advance(TimeUnit.MILLISECONDS.toNanos(100));
        }
        advance(TimeUnit.SECONDS.toNanos(1));
        assertThat(acquires(second, SHORT_NANOS, others)).isTrue();
    }

    @Test
    void loweringTheLeaseTimesFirstDoesNot() {
        Proposer first = proposer("a", LONG);
        assertThat(acquires(first, SHORT_NANOS, Map.of("a", voting(LONG), "b", voting(LONG))))
                .isTrue();

        Acceptor restarted = restarted(SHORT);
        advance(SHORT_NANOS);
        Proposer second = proposer("c", SHORT);

        assertThat(acquires(second, SHORT_NANOS, Map.of("b", restarted, "c", voting(SHORT))))
                .isTrue();
        assertThat(first.tenure("job", now)).isNull();
    }

    @Test
    void twoProcessesThatAnswerAsOneMemberGiveTwoLeaders() {
        Proposer first = proposer("a", SHORT);
        Proposer second = proposer("b", SHORT);

        assertThat(acquires(first, SHORT_NANOS, Map.of("a", voting(SHORT), "c", voting(SHORT))))
                .isTrue();
        assertThat(acquires(second, SHORT_NANOS, Map.of("b", voting(SHORT), "c", voting(SHORT))))
                .isTrue();
        assertThat(first.tenure("job", now)).as("the first leader, still").isNotNull();
    }

    @Test
    void listsThatFitTheNextOneNeedNotFitTheOneAfter() {
        Cell three = new Cell("default", List.of("a", "b", "c"));
        Cell four = new Cell("default", List.of("a", "b", "c", "d"));
        Cell five = new Cell("default", List.of("a", "b", "c", "d", "e"));

        assertThat(three.majoritiesMeet(four)).isTrue();
        assertThat(four.majoritiesMeet(five)).isTrue();
        assertThat(three.majoritiesMeet(five)).isFalse();
    }

    private void advance(long nanos) {
        now = new Now(now.nanos() + nanos, now.wallMillis() + TimeUnit.NANOSECONDS.toMillis(nanos));
    }

    private Proposer proposer(String nodeId, Timing timing) {
        return new Proposer(new Incarnation(nodeId, 1), CELL, timing, new BallotSequence(now));
    }

    private Acceptor voting(Timing timing) {
        Acceptor acceptor = new Acceptor(timing, 10, now);
        acceptor.openAtOnce(now);
        return acceptor;
    }

    /** Blank, and quarantined for its own maximum. */
    private Acceptor restarted(Timing timing) {
        Acceptor acceptor = new Acceptor(timing, 10, now);
        acceptor.open(now);
        return acceptor;
    }

    /** Runs one attempt that reaches the given acceptors and no others. */
    private boolean acquires(Proposer proposer, long leaseNanos, Map<String, Acceptor> reached) {
        List<Effect> effects = new ArrayList<>();
        advance(TimeUnit.MILLISECONDS.toNanos(1));
        proposer.start("job", leaseNanos, now, effects);
        for (int i = 0; i < effects.size(); i++) {
            if (effects.get(i) instanceof Effect.Broadcast broadcast) {
                for (String acceptor : CELL.acceptors()) {
                    Acceptor target = reached.get(acceptor);
                    Response response = target == null ? null : target.onRequest(broadcast.request(), now);
                    if (response != null) {
                        proposer.onResponse(CELL.indexOf(acceptor), response, now, effects);
                    }
                }
            }
        }
        return proposer.tenure("job", now) != null;
    }
}
