package io.paxoslease.protocol;

/**
 * The end of a proposer's authority, stored as data when an attempt begins (rules P1, T1).
 *
 * <p>It lies on both clocks, and the first to reach it ends the authority: the time that passed is the larger of the two clocks'
 * advances (rule X7), because a suspended machine stops its monotonic clock but not the acceptors.
 *
 * @param nanos on the monotonic clock
 * @param wallMillis on the wall clock, early by up to a millisecond because that clock is read rounded down
 */
public record Deadline(long nanos, long wallMillis) {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /**
     * The deadline {@code durationNanos} after {@code start}.
     *
     * @param start the clocks just before the first message of the attempt is sent
     * @param durationNanos the proposer's own duration D
     * @return the deadline
     */
    public static Deadline after(Now start, long durationNanos) {
        return new Deadline(
                start.nanos() + durationNanos, start.wallMillis() + Math.max(1, durationNanos / NANOS_PER_MILLI) - 1);
    }

    /** Whether either clock has reached the deadline. */
    public boolean isPast(Now now) {
        return now.hasReached(nanos) || wallRemainingMillis(now) <= 0;
    }

    /** The time left, zero if the deadline is past. */
    public long remainingNanos(Now now) {
        if (isPast(now)) {
            return 0;
        }
        long wallMillis = wallRemainingMillis(now);
        long monotonic = nanos - now.nanos();
        return wallMillis > monotonic / NANOS_PER_MILLI ? monotonic : Math.min(monotonic, wallMillis * NANOS_PER_MILLI);
    }

    /** The one of two deadlines that ends later on the monotonic clock; never a mixture of both. */
    public Deadline later(Deadline other) {
        return other.nanos - nanos > 0 ? other : this;
    }

    private long wallRemainingMillis(Now now) {
        return wallMillis - now.wallMillis();
    }
}
