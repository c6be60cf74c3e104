package io.paxoslease.node;

import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;

/**
 * Many proposers want one free lease at once, and know nothing of each other: contests until somebody owns it. Played with the naive majority
 * algorithm of the 2012 paper's introduction, and with the production classes. No faults; all clocks are equal.
 *
 * <p>The naive algorithm: an acceptor accepts whatever comes first and forgets it after the lease time; who gets a majority owns; who does not
 * waits until enough acceptors can be free. There are no ballots, and what a loser was given stays until it times out. It is helped as much as
 * ours: a refusal tells how much time is left, and everybody waits for that and a random spread as wide as ours.
 */
final class MajorityContest {

    /**
     * What came of many contests.
     *
     * @param proposers how many took part
     * @param freeNanos how long it took until there was an owner, sorted
     */
    record Outcome(int proposers, long[] freeNanos) {

        /** The share of contests in which the first proposals blocked each other until they timed out. */
        double shareBlocked() {
            return (double) Arrays.stream(freeNanos)
                            .filter(nanos -> nanos > BLOCKED_NANOS)
                            .count()
                    / freeNanos.length;
        }

        long percentileNanos(double share) {
            return freeNanos[Math.min(freeNanos.length - 1, (int) (share * freeNanos.length))];
        }
    }

    static final long LEASE_NANOS = 1_000_000_000L;
    static final long LEAST_DELAY_NANOS = 250_000;
    static final long MOST_DELAY_NANOS = 750_000;

    /** Within this time all come: one round trip. */
    private static final long START_NANOS = 1_000_000;

    /** The spread of {@link LeaseEngine} while round trips are short. */
    private static final long SPREAD_NANOS = 8_000_000;

    /** A lease that was free for longer than this was blocked, not just on its way. */
    private static final long BLOCKED_NANOS = LEASE_NANOS / 2;

    private static final String RESOURCE = "r";

    private final int acceptors;
    private final Dice dice;
    private final EventQueue queue = new EventQueue();
    private long nowNanos;
    private long ownedAtNanos = -1;

    private MajorityContest(int acceptors, long seed) {
        this.acceptors = acceptors;
        this.dice = new Dice(seed);
    }

    private long untilOwned() {
        while (ownedAtNanos < 0) {
            nowNanos = queue.nextAt();
            queue.poll().run();
        }
        return ownedAtNanos;
    }

    private void owned() {
        ownedAtNanos = nowNanos;
    }

    private void travel(Runnable arrival) {
        queue.add(nowNanos + LEAST_DELAY_NANOS + dice.nextLong(MOST_DELAY_NANOS - LEAST_DELAY_NANOS), arrival);
    }

    // The naive algorithm.

    private final class NaiveProposer {
        int accepted;
        int answered;
        long[] freeInNanos;

        void start(long[] acceptedUntil) {
            accepted = 0;
            answered = 0;
            freeInNanos = new long[acceptors];
            for (int i = 0; i < acceptors; i++) {
                int acceptor = i;
                travel(() -> {
                    long left = acceptedUntil[acceptor] - nowNanos;
                    if (left <= 0) {
                        acceptedUntil[acceptor] = nowNanos + LEASE_NANOS;
                    }
                    travel(() -> onAnswer(acceptedUntil, acceptor, left));
                });
            }
        }

        private void onAnswer(long[] acceptedUntil, int acceptor, long left) {
            answered++;
            boolean accepts = left <= 0;
            accepted += accepts ? 1 : 0;
            // Its own record is in its way as well.
            freeInNanos[acceptor] = accepts ? LEASE_NANOS : left;
            if (accepted > acceptors / 2) {
                owned();
            }
            if (answered == acceptors) {
                Arrays.sort(freeInNanos);
                queue.add(
                        nowNanos + freeInNanos[acceptors / 2] + dice.nextLong(SPREAD_NANOS),
                        () -> start(acceptedUntil));
            }
        }
    }

    private static long naive(int acceptors, int proposers, long seed) {
        MajorityContest contest = new MajorityContest(acceptors, seed);
        long[] acceptedUntil = new long[acceptors];
        for (int i = 0; i < proposers; i++) {
            NaiveProposer proposer = contest.new NaiveProposer();
            contest.queue.add(contest.dice.nextLong(START_NANOS), () -> proposer.start(acceptedUntil));
        }
        return contest.untilOwned();
    }

    static Outcome naive(int acceptors, int proposers, int contests) {
        return new Outcome(
                proposers,
                LongStream.rangeClosed(1, contests)
                        .map(seed -> naive(acceptors, proposers, seed))
                        .sorted()
                        .toArray());
    }

    // Ours.

    private final class Node {
        final LeaseEngine engine;
        final Incarnation self;
        final LocalAcceptor[] cell;
        long timerNanos = Long.MAX_VALUE;

        Node(Cell members, int index, LocalAcceptor[] cell, boolean oneRoundTrip) {
            this.self = new Incarnation("p" + index, index);
            this.cell = cell;
            Proposer proposer = new Proposer(self, members, timing(), new BallotSequence(now()));
            this.engine = new LeaseEngine(self, proposer, oneRoundTrip, 1_000_000_000L, new Dice(dice.nextLong()));
        }

        void want() {
            run((now, out) -> engine.submit(Claim.standing(RESOURCE, LEASE_NANOS, 0), now, out));
        }

        void run(Step step) {
            Output out = new Output();
            step.run(now(), out);
            out.requests.forEach(this::send);
            if (out.notices.stream().anyMatch(Notice.Acquired.class::isInstance)) {
                owned();
            }
            OptionalLong wake = engine.nextWakeNanos();
            if (wake.isPresent() && wake.getAsLong() < timerNanos) {
                timerNanos = Math.max(wake.getAsLong(), nowNanos);
                long at = timerNanos;
                queue.add(at, () -> onTimer(at));
            }
        }

        private void onTimer(long at) {
            if (timerNanos == at) {
                timerNanos = Long.MAX_VALUE;
                run(engine::onTime);
            }
        }

        private void send(Request request) {
            for (int i = 0; i < cell.length; i++) {
                int acceptor = i;
                travel(() -> {
                    Response response = cell[acceptor].handle(request, now());
                    if (response != null) {
                        travel(() -> run((now, out) -> engine.onResponse(acceptor, response, now, out)));
                    } else if (!(request instanceof ReleaseRequest)) {
                        travel(() -> run((now, out) -> engine.onUnanswered(acceptor, request, now, out)));
                    }
                });
            }
        }
    }

    private interface Step {
        void run(Now now, Output out);
    }

    private Now now() {
        return new Now(nowNanos, nowNanos / 1_000_000);
    }

    private static Timing timing() {
        return new Timing(LEASE_NANOS, 0);
    }

    /** The proposers are no acceptors, so that both algorithms have the same ways. */
    private static long ours(int acceptors, int proposers, long seed, boolean oneRoundTrip) {
        MajorityContest contest = new MajorityContest(acceptors, seed);
        List<String> names = new ArrayList<>();
        LocalAcceptor[] cell = new LocalAcceptor[acceptors];
        for (int i = 0; i < acceptors; i++) {
            names.add("a" + i);
            cell[i] = new LocalAcceptor(
                    new Acceptor(timing(), 10, contest.now()), new BallotSequence(contest.now()), Runnable::run);
            cell[i].open(true, contest.now());
        }
        for (int i = 0; i < proposers; i++) {
            Node node = contest.new Node(new Cell("cell", names), i, cell, oneRoundTrip);
            contest.queue.add(contest.dice.nextLong(START_NANOS), node::want);
        }
        return contest.untilOwned();
    }

    static Outcome ours(int acceptors, int proposers, int contests, boolean oneRoundTrip) {
        return new Outcome(
                proposers,
                LongStream.rangeClosed(1, contests)
                        .map(seed -> ours(acceptors, proposers, seed, oneRoundTrip))
                        .sorted()
                        .toArray());
    }
}
