package io.paxoslease.sample;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures how late a thread of this machine gets to run, so that a test can tell a slow protocol from a busy machine. Safety is judged always,
 * times only when the machine was calm.
 */
final class MachineLag implements AutoCloseable {

    private static final long STEP_NANOS = 5_000_000L;
    private static final long CALM_NANOS = 20_000_000L;

    private final List<Long> lags = new ArrayList<>();
    private final Thread sampler = new Thread(this::sample, "machine-lag");
    private volatile boolean closed;

    MachineLag() {
        sampler.setDaemon(true);
        sampler.start();
    }

    private void sample() {
        while (!closed) {
            long startNanos = System.nanoTime();
            try {
                Thread.sleep(STEP_NANOS / 1_000_000);
            } catch (InterruptedException interrupt) {
                return;
            }
            synchronized (lags) {
                lags.add(System.nanoTime() - startNanos - STEP_NANOS);
            }
        }
    }

    /** The lag that 19 of 20 samples stayed below since the start. */
    long nanos() {
        synchronized (lags) {
            List<Long> sorted = lags.stream().sorted().toList();
            return sorted.isEmpty() ? 0 : sorted.get(sorted.size() * 19 / 20);
        }
    }

    boolean isCalm() {
        return nanos() < CALM_NANOS;
    }

    @Override
    public void close() {
        closed = true;
        sampler.interrupt();
    }
}
