package io.paxoslease.node;

import io.paxoslease.protocol.Names;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs application code off the protocol's threads: in order per key, and a key whose code blocks does not hold up the others for long. Threads
 * come when needed and go when idle.
 *
 * <p>One thread has the turn and runs task after task, because most tasks are shorter than a change of threads. While others wait, a second
 * thread watches; if no task has begun for two milliseconds it takes the turn, and what comes for the key in which the first is stuck waits for
 * that thread. Where tasks come by the hundred the worker does not give the turn back at once but looks again a millisecond later: to wake a
 * thread each time costs the node more than the tasks do.
 *
 * <pre>
 *   dispatch(key, …) --> tasks of all keys --> the worker whose turn it is --stuck--> the watcher has the turn
 *                            |
 *                            +-- of a key in which a worker is stuck --> deferred --> that worker, when it goes on
 * </pre>
 */
final class Dispatcher implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());
    private static final long STUCK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** How many tasks in one turn are worth a nap before it ends. */
    private static final int MANY = 128;

    /** A node that loses tens of thousands of leases in one moment must not need as many threads. */
    static final int MOST_AT_ONCE = 256;

    /** How many tasks wait before whoever brings more waits too: some ten megabytes. */
    static final int MANY_WAITING = 1 << 16;

    private static final long KEEP_ALIVE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long COMPLAINT_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long END = -1;

    /** The key of lines for the log. No lease has an empty name, while control characters are allowed. */
    static final String LOG_KEY = "";

    /** Application code; without a key it needs no order. */
    record Task(@Nullable String key, Runnable code) {}

    private final ThreadPoolExecutor threads;
    private final long napNanos;
    /** Those that work here now. */
    private final Set<Thread> workers = ConcurrentHashMap.newKeySet();

    private volatile long complainAtNanos = System.nanoTime();

    // All under the monitor of this object.
    private final Backlog tasks;
    private final ArrayDeque<Worker> idle = new ArrayDeque<>();
    private @Nullable Worker turn;
    private @Nullable Worker watcher;
    private long begun;
    /** How many tasks had begun when the worker last found no more. */
    private long begunAtEnd;

    private int running;
    /** How many of those have a thread of their own. */
    private int atOnce;

    /** Why no thread could be had, until that is told. */
    private @Nullable Throwable noThread;

    private boolean closed;

    Dispatcher(String nodeId) {
        this(NAP_NANOS, threadsOf(nodeId));
    }

    Dispatcher(long napNanos, ThreadFactory factory) {
        this(napNanos, factory, new Backlog(System::nanoTime));
    }

    Dispatcher(long napNanos, ThreadFactory factory, Backlog tasks) {
        this.tasks = tasks;
        this.napNanos = napNanos;
        this.threads = new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, KEEP_ALIVE_NANOS, TimeUnit.NANOSECONDS, new SynchronousQueue<>(), factory);
    }

    /** Whoever needs a thread first makes it, perhaps for a request of a user; what runs there is everybody's, with the classes of the application. */
    static ThreadFactory threadsOf(String nodeId) {
        AtomicInteger number = new AtomicInteger();
        ClassLoader classes = Thread.currentThread().getContextClassLoader();
        return task -> {
            String name = "paxoslease-" + nodeId + "-events-" + number.incrementAndGet();
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(classes);
            return thread;
        };
    }

    /** Runs each task after all tasks with the same key that were given before, perhaps after a nap. The list must not change any more. */
    synchronized void dispatch(List<Task> more) {
        tasks.add(more);
        summonIfNeeded();
    }

    /**
     * Waits while there are too many tasks already. To be called with no lock held by who is about to bring more: threads that take one lease after
     * another may be quicker than listeners that are told of each, and the heap would fill. What runs here does not wait for itself.
     */
    void awaitRoom(long atMostNanos) {
        if (tasks.size() <= MANY_WAITING || workers.contains(Thread.currentThread())) {
            return;
        }
        long began = System.nanoTime();
        while (tasks.size() > MANY_WAITING
                && System.nanoTime() - began < atMostNanos
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, NAP_NANOS);
        }
    }

    /**
     * To be called now and then, with no lock held, for the case that there was no thread to be had for what was given before. Tells of that, because
     * a log that blocks would hold up whoever gave it; false if there is still none.
     */
    boolean tryAgain() {
        boolean enough;
        Throwable untold;
        synchronized (this) {
            enough = summonIfNeeded();
            untold = noThread;
            noThread = null;
        }
        if (untold != null) {
            complain(untold);
        }
        return enough;
    }

    private boolean summonIfNeeded() {
        if (tasks.isEmpty()) {
            return true;
        }
        if (turn == null) {
            turn = summon();
        } else if (turn.current != null && watcher == null) {
            watcher = summon();
        }
        return turn != null && (turn.current == null || watcher != null);
    }

    /** Has a line written after those before it. A log may block; then one thread is stuck in it, and nothing else waits for that. */
    void log(Runnable line) {
        dispatch(List.of(new Task(LOG_KEY, line)));
    }

    /** Runs a task that needs no order, and for which somebody waits. */
    synchronized void execute(Runnable code) {
        dispatch(List.of(new Task(null, code)));
        endNap();
    }

    /** The same before all others, which may be the news of thousands of leases. */
    private synchronized void executeFirst(Runnable code) {
        tasks.addFirst(code);
        dispatch(List.of());
        endNap();
    }

    private void endNap() {
        if (turn != null && turn.current == null) {
            LockSupport.unpark(turn.thread);
        }
    }

    /** Runs a task now whatever else is under way, on a thread of its own; if there are too many or none is to be had, as soon as another has time. */
    void executeAtOnce(Runnable code) {
        synchronized (this) {
            if (atOnce >= MOST_AT_ONCE) {
                executeFirst(code);
                return;
            }
            atOnce++;
            running++;
        }
        try {
            threads.execute(() -> {
                runSafely(null, code);
                endedAtOnce();
            });
        } catch (RuntimeException | Error failure) {
            synchronized (this) {
                noThread = failure;
                try {
                    executeFirst(code);
                } finally {
                    endedAtOnce();
                }
            }
        }
    }

    private synchronized void endedAtOnce() {
        atOnce--;
        ended();
    }

    private @Nullable Worker summon() {
        Worker worker = idle.pollLast();
        if (worker != null) {
            worker.resting = false;
            LockSupport.unpark(worker.thread);
            return worker;
        }
        try {
            worker = new Worker();
            threads.execute(worker);
            return worker;
        } catch (RuntimeException | Error failure) {
            // Thrown on it would take the task along that a worker has just begun.
            noThread = failure;
            return null;
        }
    }

    /** Where threads run short, each task may find none. */
    private void complain(Throwable why) {
        long nowNanos = System.nanoTime();
        if (nowNanos - complainAtNanos >= 0) {
            complainAtNanos = nowNanos + COMPLAINT_NANOS;
            try {
                LOG.log(Level.ERROR, "No thread can be had to tell the application what became of its leases", why);
            } catch (Throwable unheard) {
                // nobody is left to tell
            }
        }
    }

    private void ended() {
        running--;
        if (running == 0 && tasks.isEmpty()) {
            notifyAll();
        }
    }

    private final class Worker implements Runnable {
        private @Nullable Thread thread;
        private @Nullable Task current;
        private long watchesSince;
        private long begunThen;
        private boolean resting;
        private long restsSince;

        @Override
        public void run() {
            thread = Thread.currentThread();
            try {
                workers.add(thread);
                work();
            } finally {
                leave();
            }
        }

        /** Where memory is short it may end at any time: with the turn it would take all that is still to be told. */
        private void leave() {
            workers.remove(Thread.currentThread());
            synchronized (Dispatcher.this) {
                idle.remove(this);
                if (turn == this) {
                    turn = null;
                }
                if (watcher == this) {
                    watcher = null;
                }
            }
        }

        private void work() {
            long waitNanos;
            while ((waitNanos = advance()) != END) {
                Task task = current;
                if (task != null) {
                    runSafely(task.key(), task.code());
                } else {
                    LockSupport.parkNanos(this, waitNanos);
                    // An interrupt that came too late for a task would end every pause at once.
                    Thread.interrupted();
                }
            }
        }

        /** Ends the current task, if any, and finds the next. Without one it tells how long to wait. */
        private long advance() {
            synchronized (Dispatcher.this) {
                Task last = current;
                if (last != null) {
                    current = nextDeferred(last);
                    ended();
                }
                if (current == null && watcher == this) {
                    watch();
                }
                if (current == null && turn == this) {
                    takeTurn();
                }
                if (current != null) {
                    return 0;
                }
                return turn == this ? napNanos : watcher == this ? STUCK_NANOS : rest();
            }
        }

        /** What waited for this worker while it was stuck. */
        private @Nullable Task nextDeferred(Task last) {
            Task next = tasks.pollDeferred(last.key());
            running += next == null ? 0 : 1;
            return next;
        }

        private void watch() {
            long now = System.nanoTime();
            Worker watched = turn;
            // One without a task begins soon, or wakes from its nap.
            if (watched == null || watched.current == null || tasks.isEmpty()) {
                watcher = null;
            } else if (begun != begunThen) {
                watchesSince = now;
                begunThen = begun;
            } else if (now - watchesSince >= STUCK_NANOS) {
                tasks.defer(watched.current.key());
                watcher = null;
                turn = this;
            }
        }

        private void takeTurn() {
            Task next = tasks.poll();
            if (next == null) {
                turn = begun - begunAtEnd < MANY ? null : this;
                begunAtEnd = begun;
                return;
            }
            current = next;
            begun++;
            running++;
            summonIfNeeded();
        }

        private long rest() {
            long now = System.nanoTime();
            if (!resting) {
                resting = true;
                restsSince = now;
                idle.add(this);
            }
            long left = closed ? 0 : KEEP_ALIVE_NANOS - (now - restsSince);
            if (left <= 0) {
                idle.remove(this);
                return END;
            }
            return left;
        }
    }

    /** Runs application code; what it throws is logged. */
    static void runSafely(@Nullable String key, Runnable code) {
        runSafely(key, Runnable::run, code);
    }

    /** Hands something to application code, with nothing made for that: there may be no memory for it. Never throws. */
    static <T> void runSafely(@Nullable String key, Consumer<T> code, T argument) {
        try {
            code.accept(argument);
        } catch (Throwable failure) {
            tellFailure(key, failure);
        } finally {
            // An interrupt that was left behind is not meant for what runs here next.
            Thread.interrupted();
        }
    }

    /** Not even the message of what application code throws can be relied on, nor that there is memory for this one. */
    private static void tellFailure(@Nullable String key, Throwable failure) {
        try {
            LOG.log(
                    Level.WARNING,
                    key == null
                            ? "What an application does with a lease failed"
                            : "A listener of lease '" + Names.printable(key) + "' failed",
                    failure);
        } catch (Throwable unheard) {
            // whoever comes next must be told all the same
        }
    }

    /** Waits until nothing is running or queued; false after the time or an interrupt, which stays set. */
    synchronized boolean awaitIdle(Duration atMost) {
        long atMostNanos = TimeUnit.NANOSECONDS.convert(atMost);
        long began = System.nanoTime();
        while (running > 0 || !tasks.isEmpty()) {
            long left = atMostNanos - (System.nanoTime() - began);
            if (left <= 0) {
                return false;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    /** Lets what was dispatched run to its end on its own; threads go as soon as they are idle. */
    @Override
    public synchronized void close() {
        closed = true;
        idle.forEach(worker -> LockSupport.unpark(worker.thread));
        threads.setKeepAliveTime(1, TimeUnit.MILLISECONDS);
    }
}
