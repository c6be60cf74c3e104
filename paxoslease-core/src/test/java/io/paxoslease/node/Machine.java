package io.paxoslease.node;

import io.paxoslease.protocol.Now;

/** The clocks of one simulated machine as functions of true time. */
final class Machine {

    /** True time zero on every wall clock, so that counters look like real ones. */
    private static final long EPOCH_MILLIS = 1_790_000_000_000L;

    private final double rate;
    private long monotonicBase;
    private long trueBase;
    private long suspendedUntil;
    private long wallAheadNanos;

    Machine(double rate, long monotonicOrigin, long wallAheadNanos) {
        this.rate = rate;
        this.monotonicBase = monotonicOrigin;
        this.wallAheadNanos = wallAheadNanos;
    }

    Now now(long trueNanos) {
        long sinceNanos = Math.max(0, trueNanos - Math.max(trueBase, Math.min(suspendedUntil, trueNanos)));
        return new Now(
                monotonicBase + (long) (sinceNanos * rate),
                EPOCH_MILLIS + Math.floorDiv(trueNanos + wallAheadNanos, 1_000_000L));
    }

    /** Stops the monotonic clock for a while; the wall clock goes on. */
    void suspend(long trueNanos, long untilNanos) {
        monotonicBase = now(trueNanos).nanos();
        trueBase = trueNanos;
        suspendedUntil = Math.max(suspendedUntil, untilNanos);
        trueBase = suspendedUntil;
    }

    void stepWall(long nanos) {
        wallAheadNanos += nanos;
    }

    /** How much true time passes at least while the monotonic clock advances by a duration. */
    long trueNanos(long monotonicNanos) {
        return (long) (monotonicNanos / rate);
    }
}
