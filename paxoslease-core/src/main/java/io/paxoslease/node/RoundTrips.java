package io.paxoslease.node;

import io.paxoslease.protocol.Now;

/**
 * How long a majority takes to answer here, and so how long a round may last. Only a matter of patience: safety does not rest on it. Times are in
 * nanoseconds. Not safe for concurrent use.
 */
final class RoundTrips {

    /** No round is shorter, but where a lease's end demands it. */
    static final long SHORTEST_ROUND_NANOS = 50_000_000L;

    private static final int PER_ROUND = 16;
    private static final int PARTS_OF_TENURE = 16;
    private static final long FIRST_GUESS_NANOS = 1_000_000L;
    private static final long SHORTEST_NANOS = 10_000L;

    private final long longestRoundNanos;
    private long meanNanos = FIRST_GUESS_NANOS;
    private long quickNanos = FIRST_GUESS_NANOS;

    RoundTrips(long longestRoundNanos) {
        this.longestRoundNanos = longestRoundNanos;
    }

    /** A smoothed mean of what majorities took. */
    long meanNanos() {
        return meanNanos;
    }

    /** What they take when nothing gets in their way. */
    long quickNanos() {
        return quickNanos;
    }

    /** How long a round that begins now may last. */
    long roundNanos() {
        return roundNanos(SHORTEST_ROUND_NANOS);
    }

    /**
     * The same for an owner: at least a sixteenth of what remains of its tenure, since the next chance comes much later than that.
     *
     * @param remainingNanos what remains
     */
    long ownersRoundNanos(long remainingNanos) {
        return roundNanos(Math.max(SHORTEST_ROUND_NANOS, remainingNanos / PARTS_OF_TENURE));
    }

    private long roundNanos(long leastNanos) {
        return Math.min(longestRoundNanos, Math.max(leastNanos, PER_ROUND * meanNanos));
    }

    /** Notes that a majority has answered. What took longer than any round may last was a pause of this node. */
    void note(long beganNanos, Now now) {
        long sample = Math.max(SHORTEST_NANOS, Math.min(longestRoundNanos, now.nanos() - beganNanos));
        meanNanos += (sample - meanNanos) / 8;
        quickNanos += (sample - quickNanos) / (sample < quickNanos ? 2 : 16);
    }

    /**
     * Notes that a round has ended without one. It takes at least as long as the round lasted, and this believes in twice as long as the mean was
     * when it began at most: so many rounds that end together are no more reason for patience than one of them.
     */
    void noteTimeOut(long meanNanosThen, long roundNanos) {
        meanNanos = Math.max(meanNanos, Math.min(2 * meanNanosThen, roundNanos));
    }
}
