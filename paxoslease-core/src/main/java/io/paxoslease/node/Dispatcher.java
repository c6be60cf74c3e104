package io.paxoslease.node;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs application code off the protocol's threads: in order per key, and a key whose code blocks does not hold up the others. Threads
 * come when needed and go when idle.
 */
final class Dispatcher implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());

    private final ThreadPoolExecutor threads;
    private final Map<String, ArrayDeque<Runnable>> queues = new HashMap<>();
    private final Object idle = new Object();
    private int running;

    Dispatcher(String nodeId) {
        AtomicInteger number = new AtomicInteger();
        this.threads =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "paxoslease-" + nodeId + "-events-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** For work that needs no order. */
    Executor unordered() {
        return this::execute;
    }

    private void execute(Runnable task) {
        synchronized (idle) {
            running++;
        }
        threads.execute(() -> {
            try {
                task.run();
            } finally {
                synchronized (idle) {
                    running--;
                    idle.notifyAll();
                }
            }
        });
    }

    /** Runs a task after all tasks with the same key that were given before. */
    void dispatch(String key, Runnable task) {
        synchronized (queues) {
            ArrayDeque<Runnable> queue = queues.get(key);
            if (queue != null) {
                queue.add(task);
                return;
            }
            queue = new ArrayDeque<>();
            queue.add(task);
            queues.put(key, queue);
        }
        execute(() -> drain(key));
    }

    private void drain(String key) {
        while (true) {
            Runnable task;
            synchronized (queues) {
                ArrayDeque<Runnable> queue = queues.get(key);
                task = queue == null ? null : queue.poll();
                if (task == null) {
                    queues.remove(key);
                    return;
                }
            }
            runSafely(key, task);
        }
    }

    /** Runs application code; what it throws is logged. */
    static void runSafely(String key, Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            LOG.log(Level.WARNING, "A listener of lease '" + key + "' failed", failure);
        }
    }

    /** Waits until nothing is running or queued; false after the time or an interrupt, which stays set. */
    boolean awaitIdle(Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        synchronized (idle) {
            while (running > 0) {
                long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime() + 999_999);
                if (millis <= 0) {
                    return false;
                }
                try {
                    idle.wait(millis);
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                    return false;
                }
            }
            return true;
        }
    }

    /** Lets what was dispatched run to its end on its own; takes nothing new. */
    @Override
    public void close() {
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
