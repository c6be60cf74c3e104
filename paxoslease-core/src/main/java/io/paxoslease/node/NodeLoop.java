package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Tenure;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes a node from one event to the next: reads the clock once for each, lets {@link LeaseEngine} decide, sends what it wants sent and has told
 * what it wants told.
 *
 * <p>There is one lock, which is never held while waiting, doing I/O or running application code. A step runs on the thread that brings it, or on
 * that of another which holds the lock just then; one thread of its own brings what is due. Safe to use from any thread.
 */
final class NodeLoop {

    /** What happens in one event. */
    interface Step {
        void run(Now now, Output output);
    }

    private static final System.Logger LOG = System.getLogger(NodeLoop.class.getName());
    /** How long the timer of an owner sleeps at most: so late it tells of a lease that ended while the machine was suspended. */
    private static final long LONGEST_SLEEP_NANOS = 1_000_000_000L;
    /** And that of a node that holds none. */
    private static final long LONGEST_IDLE_SLEEP_NANOS = 5_000_000_000L;

    private static final long SUSPEND_MILLIS = 100;
    /** Ample also where a compiler has put two of them into one. */
    private static final int FRAMES_TO_UNLOCK = 32;

    private static final int ROWS_PER_SWEEP = 4_096;
    /** How many posted steps are performed without letting go of the lock, and how often one thread takes it for those of others. */
    private static final int POSTED_PER_LOCK = 64;

    private static final int TURNS_FOR_OTHERS = 4;

    private final Incarnation self;
    private final Cell cell;
    private final int selfIndex;
    private final NodeClock clock;
    private final Transport transport;
    private final @Nullable LocalAcceptor acceptor;
    private final LeaseEngine engine;
    private final News news;
    private final Dispatcher dispatcher;
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Posted> posted = new ConcurrentLinkedQueue<>();
    private final Thread timer;
    private volatile boolean timerWoken;
    private volatile long timerWakesNanos;
    private volatile boolean closed;
    private volatile boolean failed;
    /** Why, until that was told. */
    private volatile @Nullable Throwable untold;
    /** Why not all could be told that had happened before, or every loss. */
    private volatile @Nullable Throwable untellable;

    // Of the step that met it, what there was no memory to tell, and how far the losses are told. Under the lock.
    private @Nullable Afterwards rest;
    private int slotsLost;

    NodeLoop(
            Incarnation self,
            Cell cell,
            NodeClock clock,
            Transport transport,
            @Nullable LocalAcceptor acceptor,
            LeaseEngine engine,
            News news,
            Dispatcher dispatcher) {
        this.self = self;
        this.cell = cell;
        this.selfIndex = cell.indexOf(self.nodeId());
        this.clock = clock;
        this.transport = transport;
        this.acceptor = acceptor;
        this.engine = engine;
        this.news = news;
        this.dispatcher = dispatcher;
        this.timer = new Thread(this::runTimer, "paxoslease-" + self.nodeId() + "-timer");
        this.timer.setDaemon(true);
    }

    /** Has what is due brought in time, unless the clock is driven. */
    void start() {
        if (!clock.isDriven()) {
            timer.start();
        }
    }

    /** Performs no more steps. May be called in the last one. */
    void close() {
        closed = true;
        LockSupport.unpark(timer);
    }

    boolean isClosed() {
        return closed;
    }

    /** Whether this node gave up all its leases, and its vote, for good because of a defect. */
    boolean isFailed() {
        return failed;
    }

    /** X6. Who probably owns a lease, null if nobody is known to. A node that failed does not own what it owned before. */
    @Nullable
    Hint hint(Candidacy candidacy, Now now) {
        Hint hint = candidacy.hint;
        return hint == null || hint.isPast(now) || (failed && hint.owner().equals(self)) ? null : hint;
    }

    // Steps.

    /** A step that whoever holds the lock performs, and what is done instead if the node has failed or is closed. */
    private record Posted(Step step, Runnable otherwise) {}

    /** What is to be done once the lock is free: waking others before would only make them wait for it. */
    private static final class Afterwards {
        final List<Runnable> answers = new ArrayList<>();
        /** Of one step after the other. */
        final Output output = new Output();

        boolean wakeTimer;

        @Nullable
        Now last;
    }

    /** Performs a step at once. False if the node has failed or is closed. */
    boolean run(Step step) {
        Afterwards afterwards = new Afterwards();
        boolean performed;
        requireRoom(FRAMES_TO_UNLOCK);
        lock.lock();
        try {
            performPosted(afterwards);
            performed = perform(step, afterwards);
            performDue(afterwards);
            news.dispatch();
        } finally {
            lock.unlock();
            finish(afterwards);
        }
        performPosted();
        return performed;
    }

    /**
     * Has a step performed before long, by this thread or by the one that holds the lock. Where many threads want something, they do not
     * wait for each other, and what they want travels together.
     */
    void post(Step step, Runnable otherwise) {
        posted.add(new Posted(step, otherwise));
        performPosted();
    }

    void post(Step step) {
        post(step, () -> {});
    }

    /** To be called after each time the lock was held: meanwhile others may have relied on the holder. */
    private void performPosted() {
        for (int turn = 0; !posted.isEmpty(); turn++) {
            if (turn >= TURNS_FOR_OTHERS && !closed && !failed && timer.isAlive()) {
                LockSupport.unpark(timer);
                return;
            }
            requireRoom(FRAMES_TO_UNLOCK);
            if (!lock.tryLock()) {
                return;
            }
            Afterwards afterwards = null;
            try {
                // In here: where there is no memory for it, the lock must not stay held.
                afterwards = new Afterwards();
                performPosted(afterwards);
                performDue(afterwards);
                news.dispatch();
            } finally {
                lock.unlock();
                if (afterwards != null) {
                    finish(afterwards);
                }
            }
        }
    }

    /**
     * Fails while nothing is held where the stack has no room for so many small frames. Unlocking needs some of them, too: without them the lock would
     * stay held for good, and whoever wants to close this node would wait for it.
     */
    private static int requireRoom(int frames) {
        return frames == 0 ? 0 : 1 + requireRoom(frames - 1);
    }

    private void performPosted(Afterwards afterwards) {
        for (int i = 0; i < POSTED_PER_LOCK; i++) {
            Posted next = posted.poll();
            if (next == null) {
                break;
            }
            if (!perform(next.step(), afterwards)) {
                afterwards.answers.add(next.otherwise());
            }
        }
    }

    private void performDue(Afterwards afterwards) {
        Now last = afterwards.last;
        if (!clock.isDriven() && last != null && !failed && engine.isDue(last.nanos())) {
            // The timer may be waiting for the lock, and where many want it, for long.
            perform(engine::onTime, afterwards);
        }
        afterwards.wakeTimer = !failed && engine.isDue(timerWakesNanos - 1);
    }

    private void finish(Afterwards afterwards) {
        try {
            transport.flush();
        } catch (RuntimeException | Error failure) {
            // What was to be sent is lost, as on a network; what follows must not be.
            logSafely(Level.WARNING, "The transport of node " + self + " failed", failure);
        }
        try {
            answer(afterwards.answers, 0);
        } finally {
            if (afterwards.wakeTimer) {
                timerWoken = true;
                LockSupport.unpark(timer);
            }
        }
    }

    /** Where memory is short one answer may fail; whoever waits for another one gets it. */
    private static void answer(List<Runnable> answers, int from) {
        int next = from;
        try {
            while (next < answers.size()) {
                answers.get(next++).run();
            }
        } finally {
            if (next < answers.size()) {
                answer(answers, next);
            }
        }
    }

    /** Answers a question with the lock held, after what this thread asked for before. */
    <T> T ask(Supplier<T> question) {
        if (!posted.isEmpty()) {
            // It may still be in there: who held the lock just then need not have come to it.
            run((now, output) -> {});
        }
        requireRoom(FRAMES_TO_UNLOCK);
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
            performPosted();
        }
    }

    /** One event: reads the clock once, lets the engine decide, and performs what it wants. False if the node has failed or is closed. */
    private boolean perform(Step step, Afterwards afterwards) {
        if (failed || closed) {
            return false;
        }
        Output output = afterwards.output;
        output.clear();
        try {
            Now now = clock.now();
            afterwards.last = now;
            step.run(now, output);
            send(now, output);
            news.tell(output, now, afterwards.answers);
            return true;
        } catch (RuntimeException | Error impossible) {
            rest = afterwards;
            try {
                tellRest(afterwards.answers);
            } catch (OutOfMemoryError full) {
                // It is told with the defect.
            } finally {
                fail(impossible);
            }
            return false;
        }
    }

    /** Sends what is to be sent. The acceptor in this process answers at once, which may cause further requests. */
    private void send(Now now, Output output) {
        List<Request> requests = output.requests;
        for (int i = 0; i < requests.size(); i++) {
            if (acceptor != null && output.isFor(selfIndex, i)) {
                Request request = requests.get(i);
                engine.onAnswer(selfIndex, request, acceptor.handle(request, now), now, output);
            }
        }
        for (int i = 0; i < cell.size() && !requests.isEmpty(); i++) {
            List<Request> some = i == selfIndex ? List.of() : output.requestsFor(i);
            if (!some.isEmpty()) {
                transport.sendAll(i, some);
            }
        }
    }

    // Time.

    /** Does what is due now; calling it early, late or twice is harmless. Answers when it is to be called next, empty if nothing is due. */
    OptionalLong onTime() {
        boolean performed = run(engine::onTime);
        // Also of a node that has failed, for what is still to be told.
        tellDefect();
        dispatcher.tryAgain();
        if (!performed) {
            return OptionalLong.empty();
        }
        if (acceptor != null) {
            acceptor.sweep(ROWS_PER_SWEEP, clock.now());
        }
        return ask(engine::nextWakeNanos);
    }

    private void runTimer() {
        Throwable impossible = null;
        try {
            doWhatIsDue();
        } catch (RuntimeException | Error defect) {
            impossible = defect;
        }
        while (!isEndTold(impossible)) {
            pause(LONGEST_SLEEP_NANOS);
        }
    }

    /** May be called again: where memory is short, nobody else would tell of it. */
    private boolean isEndTold(@Nullable Throwable impossible) {
        try {
            if (impossible != null) {
                failAndTell(impossible);
            }
            tellDefect();
            performPosted();
            return dispatcher.tryAgain();
        } catch (RuntimeException | Error another) {
            return false;
        }
    }

    private void doWhatIsDue() {
        Now before = clock.now();
        while (!closed && !failed) {
            onTime();
            Now now = clock.now();
            long wallAhead = now.wallMillis() - before.wallMillis() - (now.nanos() - before.nanos()) / 1_000_000;
            if (wallAhead > SUSPEND_MILLIS) {
                run((later, output) -> engine.settleAll(later, output));
            }
            before = now;
            sleep();
        }
    }

    private void sleep() {
        long pause = ask(() -> {
            timerWoken = false;
            long latest =
                    clock.now().nanos() + (engine.heldLeases() > 0 ? LONGEST_SLEEP_NANOS : LONGEST_IDLE_SLEEP_NANOS);
            OptionalLong next = engine.nextWakeNanos();
            timerWakesNanos = next.isPresent() && next.getAsLong() - latest < 0 ? next.getAsLong() : latest;
            return timerWakesNanos - clock.now().nanos();
        });
        // Whoever wakes this thread while it waits for a lock would be forgotten.
        if (pause > 0 && !timerWoken && !failed) {
            pause(pause);
        }
    }

    private void pause(long nanos) {
        LockSupport.parkNanos(this, nanos);
        // An interrupt, which is not meant for this thread, would end every pause at once.
        Thread.interrupted();
    }

    // Defects.

    /** Something that cannot happen has happened outside of a step. */
    void failAndTell(Throwable impossible) {
        locked(() -> fail(impossible));
        performPosted();
    }

    private void locked(Runnable action) {
        requireRoom(FRAMES_TO_UNLOCK);
        lock.lock();
        try {
            action.run();
            news.dispatch();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Something that cannot happen has happened: no answer beats two leaders, so this node stops being the owner of anything. The timer tells
     * of it, because the thread that met it may be at the end of its stack.
     */
    private void fail(Throwable impossible) {
        if (!failed) {
            // What follows from the first one would hide it.
            untold = impossible;
        }
        failed = true;
        if (acceptor != null) {
            // It shares its names with the proposer.
            acceptor.silence();
        }
        if (!timer.isAlive()) {
            try {
                loseAll();
            } catch (OutOfMemoryError full) {
                // They are told with the defect.
            }
        } else if (Thread.currentThread() != timer) {
            // Itself it would wake from the pause after each time that it could not tell of it.
            LockSupport.unpark(timer);
        }
    }

    /** The losses first, and the line without the lock: a log may block. */
    private void tellDefect() {
        Throwable impossible = untold;
        if (impossible == null) {
            return;
        }
        List<Runnable> answers = new ArrayList<>();
        try {
            locked(() -> {
                tellRest(answers);
                loseAll();
            });
        } finally {
            answer(answers, 0);
        }
        logSafely(
                Level.ERROR,
                "Node " + self + " gave up all its leases for good because of a defect; restart it",
                impossible);
        Throwable another = untellable;
        if (another != null) {
            logSafely(Level.ERROR, "Not all that happened to the leases of node " + self + " could be told", another);
        }
        untold = null;
    }

    /** Where memory is short, it is to be called again: it goes on where it failed. */
    private void tellRest(List<Runnable> answers) {
        Afterwards met = rest;
        if (met != null && met.last != null) {
            noteUntellable(news.tellTheRest(met.output, met.last, answers));
        }
        rest = null;
    }

    /** Where memory is short, it is to be called again: it goes on where it failed. */
    private void loseAll() {
        lose(engine::candidacies);
        // One by one: the defect may have left one of them such that it cannot be looked at.
        while (slotsLost < engine.slots()) {
            int slot = slotsLost;
            lose(() -> engine.parked(slot, slot + 1));
            slotsLost++;
        }
    }

    /** After a defect, some losses told are better than none. */
    private void lose(Supplier<Collection<Candidacy>> candidacies) {
        try {
            for (Candidacy candidacy : candidacies.get()) {
                for (Claim claim : candidacy.claims) {
                    Tenure tenure = claim.tenure;
                    claim.result.complete(Optional.empty());
                    if (tenure != null) {
                        news.tellLost(claim, tenure);
                    }
                }
            }
        } catch (OutOfMemoryError full) {
            throw full;
        } catch (RuntimeException | Error defect) {
            noteUntellable(defect);
        }
    }

    private void noteUntellable(@Nullable Throwable why) {
        untellable = untellable == null ? why : untellable;
    }

    /** Where memory is short there may be none for a line either. */
    private static void logSafely(Level level, String message, Throwable failure) {
        try {
            LOG.log(level, message, failure);
        } catch (RuntimeException | Error unheard) {
            // nobody is left to tell
        }
    }
}
