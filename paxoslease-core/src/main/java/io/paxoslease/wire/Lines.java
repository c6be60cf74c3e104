package io.paxoslease.wire;

import io.paxoslease.node.NodeClock;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Lines for the log, written in order by a thread that ends when none is left. A log may block, as where nobody reads the standard output or a
 * disk is full, and whoever has something to tell must not wait for it. Safe to use from any thread.
 */
public final class Lines {

    /** How many lines about a subject wait at most. Then the oldest goes: people believe the last. */
    static final int MOST_EACH = 64;

    /** Each frame may ask for a thread, and of each that is not to be had the JVM itself writes two lines. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** One line, and what failed if it tells of that. */
    record Line(
            String subject,
            Level level,
            String text,
            @Nullable Throwable failure) {}

    private final System.Logger log;
    private final Executor threads;
    private final NodeClock clock;

    private final ArrayDeque<Line> waiting = new ArrayDeque<>();
    private boolean writing;

    /** Whether any waits. Whoever adds one has it written, so that others may look without the lock. */
    private volatile boolean anyWaits;

    /** When a thread may be asked for again. */
    private volatile long retryNanos;

    /**
     * Lines of one part of a node; a daemon thread writes them.
     *
     * @param log where they are written
     * @param name names the thread, usually the node id
     */
    public Lines(System.Logger log, String name) {
        this(log, threadsOf(name), NodeClock.SYSTEM);
    }

    /** Begins a thread for whatever is written while none is at work. */
    Lines(System.Logger log, Executor threads, NodeClock clock) {
        this.log = log;
        this.threads = threads;
        this.clock = clock;
        this.retryNanos = clock.now().nanos();
    }

    /** Daemon threads, one for each task. */
    static Executor threadsOf(String name) {
        return task -> daemon(task, "paxoslease-" + name + "-log").start();
    }

    static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** Notes a line; {@link #write} has it written. Does not wait, so that it may be called with a lock held that puts the lines in order. */
    void add(String subject, Level level, String text) {
        add(new Line(subject, level, text, null));
    }

    private synchronized void add(Line line) {
        Predicate<Line> sameSubject = other -> other.subject().equals(line.subject());
        if (waiting.stream().filter(sameSubject).count() == MOST_EACH) {
            waiting.stream().filter(sameSubject).findFirst().ifPresent(waiting::remove);
        }
        waiting.add(line);
        anyWaits = true;
    }

    /** Has a line without a subject written, with what failed if it tells of that. */
    public void tell(Level level, String text, @Nullable Throwable failure) {
        add(new Line("", level, text, failure));
        begin();
    }

    /**
     * Has what waits written, and costs next to nothing if nothing does. If no thread can be had it goes on waiting, for the first call after a second.
     * Never throws, not even where there is no memory: whoever carries frames comes by here.
     */
    public void write() {
        try {
            if (anyWaits && clock.now().nanos() - retryNanos >= 0) {
                begin();
            }
        } catch (OutOfMemoryError full) {
            // the next call may have some
        }
    }

    private void begin() {
        synchronized (this) {
            if (writing || waiting.isEmpty()) {
                return;
            }
            writing = true;
        }
        try {
            threads.execute(this::writeAll);
        } catch (RuntimeException | Error noThread) {
            synchronized (this) {
                writing = false;
            }
            // Last: there may be no memory to read the clock.
            retryNanos = clock.now().nanos() + RETRY_NANOS;
        }
    }

    private void writeAll() {
        for (Line line = next(); line != null; line = next()) {
            try {
                log.log(line.level(), line.text(), line.failure());
            } catch (RuntimeException | Error unheard) {
                // the next may be heard
            }
        }
    }

    /** The line that waited longest. */
    synchronized @Nullable Line next() {
        Line line = waiting.poll();
        writing = line != null;
        anyWaits = !waiting.isEmpty();
        return line;
    }
}
