package io.paxoslease.node;

import io.paxoslease.node.Dispatcher.Task;
import io.paxoslease.protocol.Names;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Dispatcher} has still to run, in the order in which it was given; but what comes for a deferred key, one in which a worker is stuck,
 * waits for that worker, and not for its turn. Not safe for concurrent use.
 */
final class Backlog {

    /** How many tasks that wait for one which does not end are told of, and again each time when they are twice as many. */
    static final int WORTH_A_WARNING = 256;

    /** And not before that one has run for so long: of a lease that is taken and released all the time, as many wait in an instant. */
    static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** How many lines wait at most for a log that blocks. Then the oldest goes: people believe the last. */
    static final int MOST_LINES = 100_000;

    private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());

    /** As they were given, and none without a next one. Linked, because an array that cannot grow for lack of memory forgets all that is in it. */
    private final LinkedList<ListIterator<Task>> tasks = new LinkedList<>();

    /** How many those are together. */
    private final AtomicInteger size = new AtomicInteger();

    private final Map<String, Deferred> deferred = new HashMap<>();
    private final LongSupplier nanos;

    /** What waits for a worker that is stuck in a key. */
    private static final class Deferred {
        final LinkedList<Task> tasks = new LinkedList<>();
        /** When the worker began what it is at. */
        long begunNanos;

        int worthAWarning = WORTH_A_WARNING;
        /** How many lines went, until that is told. */
        int dropped;
    }

    Backlog(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** The list must not change any more. */
    void add(List<Task> more) {
        if (!more.isEmpty()) {
            tasks.add(more.listIterator());
            size.addAndGet(more.size());
        }
    }

    /** Adds a task without a key before all others. */
    void addFirst(Runnable code) {
        tasks.addFirst(List.of(new Task(null, code)).listIterator());
        size.incrementAndGet();
    }

    /** How many {@link #poll} has still to look at. Safe to call at any time. */
    int size() {
        return size.get();
    }

    /** Whether {@link #poll} has nothing left to look at; tasks of deferred keys may be waiting. */
    boolean isEmpty() {
        return tasks.isEmpty();
    }

    /** The next task whose key is not deferred. Those before it are left to {@link #pollDeferred}. */
    @Nullable
    Task poll() {
        ListIterator<Task> first;
        while ((first = tasks.peek()) != null) {
            Task task = first.next();
            String key = task.key();
            Deferred waiting = key == null ? null : deferred.get(key);
            if (waiting != null) {
                defer(task, waiting, first);
            }
            size.decrementAndGet();
            if (!first.hasNext()) {
                tasks.remove();
            }
            if (key == null || waiting == null) {
                return task;
            }
            if (key.equals(Dispatcher.LOG_KEY)) {
                dropIfTooMany(waiting);
            } else {
                warnIfMany(waiting, key);
            }
        }
        return null;
    }

    private static void defer(Task task, Deferred waiting, ListIterator<Task> from) {
        try {
            waiting.tasks.add(task);
        } catch (OutOfMemoryError full) {
            // Whoever has memory takes it.
            from.previous();
            throw full;
        }
    }

    private static void dropIfTooMany(Deferred lines) {
        if (lines.tasks.size() > MOST_LINES) {
            lines.tasks.remove();
            lines.dropped++;
        }
    }

    /** They are kept, because each may be the end of a tenure; only the application can have them told. */
    private void warnIfMany(Deferred waiting, String key) {
        int many = waiting.tasks.size();
        if (many >= waiting.worthAWarning && nanos.getAsLong() - waiting.begunNanos >= LONG_NANOS) {
            waiting.worthAWarning = 2 * many;
            String message = many + " news of lease '" + Names.printable(key)
                    + "' wait for a listener of the node that is still busy"
                    + " with an earlier one; until it returns nobody here is told of this lease";
            addFirst(() -> LOG.log(Level.WARNING, message));
        }
    }

    /** From now on what comes for a key, if there is one, waits for the worker that is stuck in it. */
    void defer(@Nullable String key) {
        if (key != null) {
            Deferred waiting = new Deferred();
            waiting.begunNanos = nanos.getAsLong();
            deferred.put(key, waiting);
        }
    }

    /**
     * What waited longest for the worker that was stuck in a key, after a line about those that were dropped before it. If nothing does, the key is
     * not deferred any more.
     */
    @Nullable
    Task pollDeferred(@Nullable String key) {
        Deferred waiting = key == null ? null : deferred.get(key);
        if (key == null || waiting == null) {
            return null;
        }
        if (waiting.dropped > 0) {
            String message =
                    waiting.dropped + " older lines of the node were dropped, because the log took none for so long";
            waiting.dropped = 0;
            return new Task(key, () -> LOG.log(Level.WARNING, message));
        }
        Task next = waiting.tasks.poll();
        if (next == null) {
            deferred.remove(key);
        } else {
            waiting.begunNanos = nanos.getAsLong();
        }
        return next;
    }
}
