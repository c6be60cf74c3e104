package io.paxoslease.test;

import io.paxoslease.node.LeaseNode;
import java.util.Collection;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The clock and the wire of a cell in memory: lets time pass from one thing that is due to the next. Messages travel on one thread and arrive without
 * the clock moving.
 *
 * <p>Not safe for use by several threads, except for the clock and {@link #carry}.
 */
final class VirtualTime implements AutoCloseable {

    private static final long LONGEST_DELIVERY_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_ROUNDS_AT_ONCE = 100_000;

    private final Supplier<? extends Collection<LeaseNode>> awake;
    private final VirtualClock clock = new VirtualClock();
    private final ExecutorService wire = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "paxoslease-test-wire");
        thread.setDaemon(true);
        return thread;
    });
    private final Object traffic = new Object();
    private long sent;
    private long arrived;
    private boolean closed;

    /**
     * Makes a clock that stands still.
     *
     * @param awake the nodes that do at present what is due
     */
    VirtualTime(Supplier<? extends Collection<LeaseNode>> awake) {
        this.awake = awake;
    }

    VirtualClock clock() {
        return clock;
    }

    /** Sets the clock ahead, and nobody does anything meanwhile. */
    void jump(long nanos) {
        clock.set(clock.nanos() + nanos);
    }

    /** Lets time pass from one thing that is due to the next, until a condition holds or so much time has passed; answers whether it holds. */
    boolean passUntil(long atMostNanos, BooleanSupplier condition) {
        long end = clock.nanos() + atMostNanos;
        while (true) {
            OptionalLong next = settle();
            if (condition.getAsBoolean()) {
                return true;
            }
            if (clock.nanos() - end >= 0) {
                return false;
            }
            clock.set(next.isPresent() && next.getAsLong() - end < 0 ? next.getAsLong() : end);
        }
    }

    /** Lets the nodes do what is due and all messages arrive, and says when something is due next. */
    OptionalLong settle() {
        for (int round = 0; round < MOST_ROUNDS_AT_ONCE; round++) {
            long sentBefore = awaitArrival();
            OptionalLong next = OptionalLong.empty();
            for (LeaseNode node : awake.get()) {
                next = earlier(next, node.onTime());
            }
            boolean quiet = sentBefore == awaitArrival();
            if (quiet && (next.isEmpty() || next.getAsLong() - clock.nanos() > 0)) {
                return next;
            }
        }
        throw new IllegalStateException("The nodes do not come to rest at one instant");
    }

    private static OptionalLong earlier(OptionalLong one, OptionalLong other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.isEmpty() ? other : one;
        }
        return one.getAsLong() - other.getAsLong() <= 0 ? one : other;
    }

    /** Puts a message on the wire. Lost once this is closed. */
    void carry(Runnable delivery) {
        synchronized (traffic) {
            if (closed) {
                return;
            }
            sent++;
            wire.execute(() -> deliver(delivery));
        }
    }

    private void deliver(Runnable delivery) {
        try {
            delivery.run();
        } finally {
            synchronized (traffic) {
                arrived++;
                traffic.notifyAll();
            }
        }
    }

    /** Waits until all that was sent has arrived, and says how much that was. */
    private long awaitArrival() {
        long deadline = System.nanoTime() + LONGEST_DELIVERY_NANOS;
        boolean interrupted = false;
        synchronized (traffic) {
            while (arrived < sent && !closed) {
                long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (millis <= 0) {
                    throw new IllegalStateException("Messages of the cell in memory do not arrive");
                }
                try {
                    traffic.wait(millis);
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return sent;
        }
    }

    @Override
    public void close() {
        synchronized (traffic) {
            closed = true;
            wire.shutdown();
            traffic.notifyAll();
        }
    }
}
