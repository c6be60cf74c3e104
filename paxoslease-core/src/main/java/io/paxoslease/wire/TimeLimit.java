package io.paxoslease.wire;

import java.util.concurrent.TimeUnit;

/** How long to wait for an answer, learnt from the round trips so far. Grows when it was too short. */
final class TimeLimit {

    private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final long mostNanos;
    private boolean measured;
    private long smoothedNanos;
    private long deviationNanos;
    private long limitNanos;

    TimeLimit(long mostNanos) {
        this.mostNanos = mostNanos;
        this.limitNanos = mostNanos;
    }

    /** The limit for the next exchange. */
    long nanos() {
        return limitNanos;
    }

    boolean isMeasured() {
        return measured;
    }

    /** The usual round trip. */
    long smoothedNanos() {
        return smoothedNanos;
    }

    void onAnswer(long roundTripNanos) {
        if (measured) {
            deviationNanos += (Math.abs(roundTripNanos - smoothedNanos) - deviationNanos) / 4;
            smoothedNanos += (roundTripNanos - smoothedNanos) / 8;
        } else {
            measured = true;
            smoothedNanos = roundTripNanos;
            deviationNanos = roundTripNanos / 2;
        }
        limitNanos = Math.min(mostNanos, Math.max(LEAST_NANOS, 8 * smoothedNanos + 4 * deviationNanos));
    }

    /** One that was sent before the last time-out, and ends with it, says nothing new. */
    void onTimeOut(long timeoutNanos) {
        limitNanos = Math.min(mostNanos, Math.max(limitNanos, 2 * timeoutNanos));
    }
}
