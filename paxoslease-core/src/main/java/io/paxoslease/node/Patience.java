package io.paxoslease.node;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Outcome;
import io.paxoslease.protocol.Tenure;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * How long a node waits: for answers, for others who want the same lease, and before it asks again. Safety does not rest on any of it. Times are in
 * nanoseconds. Not safe for concurrent use.
 */
final class Patience {

    private static final long MILLI = 1_000_000L;
    private static final long LONGEST_BACKOFF_NANOS = 500 * MILLI;
    private static final long SHORTEST_ROUND_OF_OWNER_NANOS = MILLI;
    private static final long LONGEST_REST_NANOS = 1_000 * MILLI;

    /** 2^64 by the golden ratio: consecutive numbers times this one differ in their upper half, too. */
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final String nodeId;
    private final Cell cell;
    private final RoundTrips roundTrips;
    private final RandomGenerator random;

    Patience(String nodeId, Cell cell, RoundTrips roundTrips, RandomGenerator random) {
        this.nodeId = nodeId;
        this.cell = cell;
        this.roundTrips = roundTrips;
        this.random = random;
    }

    /** How long a round may last: of an owner, not longer than half of what remains of its tenure. */
    long roundNanos(@Nullable Tenure held, Now now) {
        if (held == null) {
            return roundTrips.roundNanos();
        }
        long remaining = held.deadline().remainingNanos(now);
        return Math.min(roundTrips.ownersRoundNanos(remaining), Math.max(SHORTEST_ROUND_OF_OWNER_NANOS, remaining / 2));
    }

    /**
     * When a tenure is to be extended: at half of what remains, and again at half of the rest when that fails; the last chances are not closer than
     * 1/64 of T.
     */
    long extensionDueNanos(Tenure tenure, Now now) {
        long shortest =
                Math.max(tenure.leaseNanos() / 64, Math.min(tenure.leaseNanos() / 16, 2 * roundTrips.meanNanos()));
        return now.nanos() + Math.max(shortest, tenure.deadline().remainingNanos(now) / 2);
    }

    /** How long whoever resigned lets everybody else try. */
    long restNanos(long leaseNanos) {
        return Math.min(LONGEST_REST_NANOS, Math.max(20 * roundTrips.meanNanos(), leaseNanos / 4));
    }

    /** X6. How long after the end of an owner's lease this node tries, so that the candidates do not all come at once. */
    long afterEndNanos(String resource, Incarnation owner, long leaseNanos) {
        long spread = Math.min(leaseNanos / 8, Math.max(5 * MILLI, 8 * roundTrips.meanNanos()));
        long step =
                Math.max(Math.min(leaseNanos / 16, 15 * MILLI), Math.min(leaseNanos / 8, 2 * roundTrips.quickNanos()));
        // The record at another acceptor may be a little younger than the one that is known here.
        return step / 3 + turnNanos(resource, owner, 0, step, spread);
    }

    /** X6. How long after an owner said that it gave its lease up this node tries. Each time in another order: who is last would never get it. */
    long afterReleaseNanos(String resource, Ballot released) {
        return turnNanos(
                resource, released.owner(), released.counter(), releaseStepNanos(), 2 * roundTrips.meanNanos());
    }

    /** X6. How long until all others have had their turn after a release, and one of them the lease. */
    long turnsOfOthersNanos() {
        return cell.size() * releaseStepNanos() + 2 * roundTrips.meanNanos();
    }

    private long releaseStepNanos() {
        return 2 * Math.max(MILLI, roundTrips.quickNanos());
    }

    /** How long to wait for an acceptor to hear of a release that this node has heard of. */
    long untilReleaseIsHeardNanos() {
        return jitter(Math.max(MILLI, roundTrips.meanNanos()));
    }

    /** X2, X6. Random, from one round trip upward while attempts collide, slower while nobody answers. */
    long backOffNanos(Outcome outcome, int failures) {
        int doublings = Math.min(failures - 1, 10);
        if (outcome instanceof Outcome.Unanswered) {
            long window = Math.min(LONGEST_BACKOFF_NANOS, (10 * MILLI) << doublings);
            return window / 2 + jitter(window / 2);
        }
        long window = Math.min(LONGEST_BACKOFF_NANOS, Math.max(MILLI, roundTrips.meanNanos()) << doublings);
        return jitter(window);
    }

    /**
     * How long to wait beyond one's turn when somebody gave up who may have tried in vain, too. Half of the times not at all: it may have been an owner,
     * and whoever takes the lease again and again waits for nobody.
     */
    long amongOthersInVainNanos(int failures) {
        return random.nextBoolean() ? 0 : backOffNanos(new Outcome.Outbid(), failures);
    }

    /**
     * How long this node lets others go first once the owner is gone. The members know each other, so one after another has its turn, in the order of
     * lots that each draws for all of them alike: others for each resource, each life of an owner and each tenure that was given up. The owner itself
     * has no turn.
     */
    private long turnNanos(String resource, Incarnation owner, long drawn, long stepNanos, long spreadNanos) {
        int own = cell.indexOf(nodeId);
        if (own < 0) {
            return jitter(spreadNanos);
        }
        int former = cell.indexOf(owner.nodeId());
        long seed = 31L * resource.hashCode() + owner.nonce() + drawn;
        long ownLot = lot(seed, own);
        int before = 0;
        for (int member = 0; member < cell.size(); member++) {
            before += member != former && lot(seed, member) < ownLot ? 1 : 0;
        }
        return before * stepNanos;
    }

    /** Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014: seeds that differ a little have lots that have nothing to do with each other. */
    private static long lot(long seed, int member) {
        long lot = seed + member * GOLDEN;
        lot = (lot ^ lot >>> 30) * 0xBF58476D1CE4E5B9L;
        lot = (lot ^ lot >>> 27) * 0x94D049BB133111EBL;
        return lot ^ lot >>> 31;
    }

    private long jitter(long spreadNanos) {
        return spreadNanos <= 0 ? 0 : random.nextLong(spreadNanos);
    }
}
