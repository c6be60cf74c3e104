package io.paxoslease.benchmarks;

import java.util.Locale;

/** Latencies in buckets that are 1/64 of an octave wide. Safe to use from several threads. */
final class Samples {

    private static final int BITS = 6;
    private static final int PER_OCTAVE = 1 << BITS;

    private final long[] buckets = new long[64 * PER_OCTAVE];
    private long good;
    private long bad;

    synchronized void add(long nanos, boolean success) {
        if (success) {
            good++;
            long value = Math.max(PER_OCTAVE, nanos);
            int octave = 63 - Long.numberOfLeadingZeros(value);
            buckets[octave * PER_OCTAVE + (int) (value >>> (octave - BITS) & (PER_OCTAVE - 1))]++;
        } else {
            bad++;
        }
    }

    synchronized void add(Samples other) {
        good += other.good;
        bad += other.bad;
        for (int i = 0; i < buckets.length; i++) {
            buckets[i] += other.buckets[i];
        }
    }

    private double micros(double part) {
        long rank = (long) (good * part);
        for (int i = 0; i < buckets.length; i++) {
            rank -= buckets[i];
            if (rank < 0) {
                int octave = i / PER_OCTAVE;
                return ((1L << octave) + ((long) (i % PER_OCTAVE) << octave) / (double) PER_OCTAVE) / 1e3;
            }
        }
        return 0;
    }

    /** Successes a second, p50 and p99 of their latencies in microseconds, failures; separated by spaces. */
    synchronized String summary(long nanos) {
        return String.format(Locale.ROOT, "%.0f %.0f %.0f %d", good / (nanos / 1e9), micros(0.5), micros(0.99), bad);
    }
}
