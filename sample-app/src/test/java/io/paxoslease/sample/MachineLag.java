package io.paxoslease.sample;

/**
 * Measures how late a thread of this machine gets to run, so that a test can tell a slow protocol from a busy machine. Safety is judged always,
 * times only when the machine was calm.
 */
final class MachineLag implements AutoCloseable {

    private static final long STEP_NANOS = 5_000_000L;
    private static final long CALM_NANOS = 50_000_000L;

    private final Thread sampler = new Thread(this::sample, "machine-lag");
    private volatile long worstNanos;
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
            worstNanos = Math.max(worstNanos, System.nanoTime() - startNanos - STEP_NANOS);
        }
    }

    /** The worst lag since the start. */
    long nanos() {
        return worstNanos;
    }

    boolean isCalm() {
        return worstNanos < CALM_NANOS;
    }

    @Override
    public void close() {
        closed = true;
        sampler.interrupt();
    }
}
