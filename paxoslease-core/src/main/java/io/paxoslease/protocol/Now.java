package io.paxoslease.protocol;

/**
 * The reading of both of a node's clocks at one instant, taken once per event by the shell and passed in.
 *
 * @param nanos the monotonic clock, with an arbitrary origin; it may overflow, so it is compared by subtraction only
 * @param wallMillis the wall clock, milliseconds since the epoch, rounded down; it may step
 */
public record Now(long nanos, long wallMillis) {

    private static final long COUNTERS_PER_MILLI = 1_000;

    /** The wall clock in the unit of ballot counters: microseconds since the epoch (rule X2). */
    public long counterFloor() {
        return Math.max(0, Math.min(wallMillis * COUNTERS_PER_MILLI, Ballot.MAX_COUNTER));
    }

    /** Whether a monotonic deadline has been reached: the one place where monotonic times are compared. */
    public boolean hasReached(long deadlineNanos) {
        return nanos - deadlineNanos >= 0;
    }
}
