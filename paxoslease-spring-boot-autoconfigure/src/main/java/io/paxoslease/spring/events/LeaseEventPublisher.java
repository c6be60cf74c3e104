package io.paxoslease.spring.events;

import io.paxoslease.node.LeaseListener;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.protocol.Names;
import io.paxoslease.spring.LeaderChangedEvent;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseExtendedEvent;
import io.paxoslease.spring.LeaseExtensionFailedEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import io.paxoslease.spring.bounded.SystemExit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.SmartApplicationListener;
import org.springframework.core.Ordered;

/**
 * Publishes what happens to the leases of a node as {@link LeaseEvent}s.
 *
 * <p>Each lease is a lane of its own: its events go out one after another, in order, and not before the application is ready.
 * An event is handed to its listeners one by one in their order; the lane waits {@link #PATIENCE} for each. A listener that takes
 * longer is left behind: the lane goes on without it, and what follows waits in its own inbox until it is done. So a listener that
 * leads inside of {@link LeaseAcquiredEvent} cannot keep the end of its tenure from another one.
 *
 * <p>{@link #TURNS} lanes deliver at once, an event in each turn, on two threads each; the others wait in line. A listener that is left
 * behind keeps its thread and gives up its turn, so that however many block, no lease waits for ever. Their number has no limit, because
 * the application alone knows whether it leads in a thousand listeners or its database has stopped; but the more they are, the longer the
 * lanes wait before one more is left behind. If all turns are taken by listeners that block, N are left behind after about (N/64)<sup>2</sup>/2
 * seconds: not thousands of threads at once when a node loses thousands of leases. If no thread can be started at all, events wait for one
 * that is there already, or for the next event of any lease; but whoever brings the end of a tenure then delivers it, and waits for the
 * listeners: nothing may come after it.
 *
 * <p>Threads: everything may be called from any thread; listeners run on threads of this object, which come when needed and go when
 * idle. One monitor guards the state and is never held while a listener runs.
 */
public final class LeaseEventPublisher implements LeaseListener, SmartApplicationListener, AutoCloseable {

    /** How long the other listeners wait for one, as long as few are left behind. */
    static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final Log LOG = LogFactory.getLog(LeaseEventPublisher.class);
    private static final int CAPACITY = 256;
    /** How many lanes deliver at once. */
    private static final int TURNS = 64;

    private static final Duration CLOSING = Duration.ofSeconds(2);
    private static final long MEMORY_PAUSE_NANOS = 10_000_000;
    /** Of how many leases that are not held something is kept until the application is ready, which may be never. */
    private static final int MOST_BEFORE_READY = 256;

    private final Object source;
    private final String node;
    private final ApplicationContext context;
    private final LeaseEventListeners listeners;
    private final ListenerThreads threads;

    private final Object monitor = new Object();
    private final Map<String, Lane> lanes = new HashMap<>();
    /** Those that have an event and wait for a thread. */
    private final Line waiting = new Line();
    /** Made here, because there may be no memory for it when it is needed. */
    private final Runnable takeTurns = this::takeTurns;

    /** How many threads take turns. */
    private int turns;
    /** How many listeners are at work that their lanes did not wait for. */
    private int leftBehind;

    /** Who waits for the others. */
    private @Nullable Thread waiter;

    private boolean ready;
    private boolean closed;

    /**
     * Makes the publisher.
     *
     * @param source the source of the events
     * @param node the id of the node
     * @param context the context whose listeners are told
     */
    public LeaseEventPublisher(Object source, String node, ApplicationContext context) {
        this(source, node, context, ListenerThreads.of(context));
    }

    LeaseEventPublisher(Object source, String node, ApplicationContext context, ThreadFactory factory) {
        this.source = source;
        this.node = node;
        this.context = context;
        this.listeners = new LeaseEventListeners(context);
        this.threads = new ListenerThreads(factory);
    }

    /** The events of one lease. */
    private static final class Lane {
        final String lease;
        final EventQueue events = new EventQueue(CAPACITY);
        /** One for all that are empty: each lease that is held has a lane, most of them idle. */
        Map<ApplicationListener<?>, Inbox> busy = Map.of();
        /** Whether it has the turn or waits for it. */
        boolean running;

        boolean open;
        long token;

        @Nullable
        Lane next;

        Lane(String lease) {
            this.lease = lease;
        }

        boolean isIdle() {
            return !running && events.isEmpty() && busy.isEmpty();
        }

        /** Whatever a thread has to do that waits itself: to wait for it would be in vain. */
        boolean isIdleBut(Thread thread) {
            return !running && events.isEmpty() && busy.values().stream().allMatch(inbox -> inbox.isWaitingFor(thread));
        }
    }

    /** Lanes one after the other. It needs no memory: a lane for which there is none would never have its turn. */
    private static final class Line {
        private @Nullable Lane first;
        private @Nullable Lane last;

        boolean isEmpty() {
            return first == null;
        }

        /** Of a lane that is in no line. */
        void add(Lane lane) {
            if (last == null) {
                first = lane;
            } else {
                last.next = lane;
            }
            last = lane;
        }

        @Nullable
        Lane poll() {
            Lane lane = first;
            if (lane != null) {
                remove(lane);
            }
            return lane;
        }

        boolean remove(Lane lane) {
            Lane before = null;
            Lane each = first;
            while (each != null && each != lane) {
                before = each;
                each = each.next;
            }
            if (each == null) {
                return false;
            }
            if (before == null) {
                first = lane.next;
            } else {
                before.next = lane.next;
            }
            last = last == lane ? before : last;
            lane.next = null;
            return true;
        }
    }

    /** A listener that is at work, and what waits for it. */
    private static final class Inbox {
        final EventQueue events = new EventQueue(CAPACITY);
        boolean leftBehind;

        @Nullable
        Thread worker;

        /** Whether the listener itself waits for a thread that waits for the listeners: it is that thread, or has asked for the end of the process. */
        boolean isWaitingFor(@Nullable Thread waiter) {
            return worker != null && waiter != null && (worker == waiter || SystemExit.isUnderWayOn(worker));
        }
    }

    @Override
    public void onTransition(LeaseTransition transition) {
        boolean ends =
                transition.kind() == LeaseTransition.Kind.LOST || transition.kind() == LeaseTransition.Kind.RELEASED;
        Lane untold;
        while (true) {
            try {
                untold = take(transition, ends);
                break;
            } catch (OutOfMemoryError full) {
                awaitMemory(ends, full);
            }
        }
        threads.complainIfNone();
        if (untold != null) {
            deliverAll(untold);
        }
    }

    /** The end of a tenure waits until there is memory to tell it, with all that comes for that lease; what else has none is not told. */
    private static void awaitMemory(boolean end, OutOfMemoryError full) {
        if (!end) {
            throw full;
        }
        try {
            LockSupport.parkNanos(MEMORY_PAUSE_NANOS);
        } catch (OutOfMemoryError unlinked) {
            // The first call needs some.
        }
    }

    /** Answers the lane whose events no thread can be had to deliver although one of them ends a tenure. */
    private @Nullable Lane take(LeaseTransition transition, boolean ends) {
        synchronized (monitor) {
            if (closed) {
                return null;
            }
            Lane lane = lanes.computeIfAbsent(transition.leaseName(), Lane::new);
            if (ends && (!lane.open || lane.token != transition.fencingToken())) {
                return null;
            }
            if (transition.kind() == LeaseTransition.Kind.ACQUIRED && lane.open) {
                // There was no memory for the event of its end.
                lane.events.add(new LeaseLostEvent(source, lane.lease, node, lane.token));
                lane.open = false;
            }
            // First: where there is no memory for it, nobody is told of the end of what began for nobody.
            if (ready) {
                lane.events.add(event(transition));
            } else {
                // A runner may hold many leases for hours.
                lane.events.addLatest(event(transition));
            }
            if (transition.kind() == LeaseTransition.Kind.ACQUIRED) {
                lane.open = true;
                lane.token = transition.fencingToken();
            } else if (ends) {
                lane.open = false;
            }
            run(lane);
            if (!ready && !lane.open && lanes.size() > MOST_BEFORE_READY) {
                lanes.remove(lane.lease);
            }
            return ends && turns == 0 && waiting.remove(lane) ? lane : null;
        }
    }

    private LeaseEvent event(LeaseTransition transition) {
        String lease = transition.leaseName();
        long token = transition.fencingToken();
        return switch (transition.kind()) {
            case ACQUIRED -> new LeaseAcquiredEvent(source, lease, node, token);
            case EXTENDED -> new LeaseExtendedEvent(source, lease, node, token);
            case EXTENSION_FAILED -> {
                String reason = transition.reason();
                yield new LeaseExtensionFailedEvent(source, lease, node, token, reason == null ? "unknown" : reason);
            }
            case LOST -> new LeaseLostEvent(source, lease, node, token);
            case RELEASED -> new LeaseReleasedEvent(source, lease, node, token);
            case LEADER_CHANGED -> new LeaderChangedEvent(source, lease, node, transition.leader());
        };
    }

    // When the application is ready.

    @Override
    public boolean supportsEventType(Class<? extends ApplicationEvent> eventType) {
        return ApplicationReadiness.mayBeToldBy(eventType);
    }

    /** After the application's own listeners. */
    @Override
    public int getOrder() {
        return Ordered.LOWEST_PRECEDENCE;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (ApplicationReadiness.isToldBy(event, context)) {
            ready();
        }
    }

    private void ready() {
        listeners.addListenerBeans();
        synchronized (monitor) {
            if (!ready && !closed) {
                ready = true;
                lanes.values().forEach(this::run);
            }
        }
        threads.complainIfNone();
    }

    // The lanes.

    private void run(Lane lane) {
        if (!ready) {
            return;
        }
        boolean comes = !lane.running && !lane.events.isEmpty();
        if (comes) {
            waiting.add(lane);
            lane.running = true;
        }
        // Without one that comes, there is one that waits for a thread only if none could be started for it.
        if (turns < TURNS && (comes || turns == 0) && !waiting.isEmpty()) {
            turns += threads.start(takeTurns) ? 1 : 0;
        }
    }

    /** Delivers an event of each lane in its turn until none waits. */
    private void takeTurns() {
        Lane lane = null;
        while (true) {
            LeaseEvent event;
            synchronized (monitor) {
                if (lane != null) {
                    endTurn(lane);
                }
                lane = waiting.poll();
                if (lane == null) {
                    turns--;
                    return;
                }
                event = lane.events.poll();
            }
            if (event != null) {
                deliver(event, lane);
            }
        }
    }

    /** Of a lane that has the turn already. */
    private void deliverAll(Lane lane) {
        while (true) {
            LeaseEvent event;
            synchronized (monitor) {
                event = lane.events.poll();
                if (event == null) {
                    endTurn(lane);
                    return;
                }
            }
            deliver(event, lane);
        }
    }

    private void endTurn(Lane lane) {
        if (lane.events.isEmpty()) {
            lane.running = false;
            rest(lane);
        } else {
            waiting.add(lane);
        }
    }

    private void deliver(LeaseEvent event, Lane lane) {
        try {
            List<ApplicationListener<?>> all = listenersOnceThereIsMemory(event);
            for (int i = 0; i < all.size(); i++) {
                handOnceThereIsMemory(event, all.get(i), lane);
            }
        } catch (Throwable failure) {
            tellFailure(event, failure);
        }
    }

    // What tells of a failure never throws, and nothing is made to call it: there may be no memory, and whoever comes
    // next must be told all the same.

    private static void tellFailure(LeaseEvent event, Throwable failure) {
        try {
            LOG.error("The listeners of " + event + " could not be told", failure);
        } catch (Throwable unheard) {
            // nobody is left to tell
        }
    }

    private static void tellFailure(LeaseEvent event, ApplicationListener<?> listener, Throwable failure) {
        try {
            LOG.error(
                    "Listener " + listener + " of lease '" + Names.printable(event.leaseName()) + "' failed with "
                            + event,
                    failure);
        } catch (Throwable unheard) {
            // nobody is left to tell
        }
    }

    private List<ApplicationListener<?>> listenersOnceThereIsMemory(LeaseEvent event) {
        while (true) {
            try {
                return listeners.of(event);
            } catch (OutOfMemoryError full) {
                awaitMemory(EventQueue.isEnd(event), full);
            }
        }
    }

    private void handOnceThereIsMemory(LeaseEvent event, ApplicationListener<?> listener, Lane lane) {
        while (true) {
            try {
                hand(event, listener, lane);
                return;
            } catch (OutOfMemoryError full) {
                awaitMemory(EventQueue.isEnd(event), full);
            }
        }
    }

    /** Where it fails for lack of memory, nothing was handed. */
    private void hand(LeaseEvent event, ApplicationListener<?> listener, Lane lane) {
        Inbox inbox = new Inbox();
        Runnable work = () -> work(listener, inbox, lane);
        Condition done = () -> lane.busy.get(listener) != inbox || inbox.isWaitingFor(waiter);
        boolean handed;
        long waitedNanos;
        synchronized (monitor) {
            Inbox behind = lane.busy.get(listener);
            if (behind != null) {
                behind.events.add(event);
                return;
            }
            inbox.events.add(event);
            lane.busy = lane.busy.isEmpty() ? new IdentityHashMap<>(1) : lane.busy;
            lane.busy.put(listener, inbox);
            handed = threads.start(work);
            waitedNanos = handed ? leaveBehindUnless(done, inbox) : 0;
        }
        if (!handed) {
            threads.complainIfNone();
            work.run();
        } else if (waitedNanos > 0) {
            // Not under the monitor: a log may block, and so may what writes the listener down.
            tellLeftBehind(event, listener, waitedNanos);
        }
    }

    private static void tellLeftBehind(LeaseEvent event, ApplicationListener<?> listener, long waitedNanos) {
        try {
            LOG.warn("Listener " + listener + " has been busy with " + event + " for " + Duration.ofNanos(waitedNanos)
                    + "; the others go on without it");
        } catch (Throwable unheard) {
            // nobody is left to tell
        }
    }

    /** How long the lane waited for a listener that it leaves behind, 0 if it need not. */
    private long leaveBehindUnless(Condition done, Inbox inbox) {
        long patienceNanos = PATIENCE.toNanos() * (1 + leftBehind / TURNS);
        if (await(patienceNanos, done)) {
            return 0;
        }
        inbox.leftBehind = true;
        leftBehind++;
        return patienceNanos;
    }

    private void work(ApplicationListener<?> listener, Inbox inbox, Lane lane) {
        while (true) {
            LeaseEvent event;
            synchronized (monitor) {
                event = inbox.events.poll();
                if (event == null) {
                    if (inbox.leftBehind) {
                        leftBehind--;
                    }
                    lane.busy.remove(listener);
                    lane.busy = lane.busy.isEmpty() ? Map.of() : lane.busy;
                    rest(lane);
                    // An interrupt by close() must not follow the thread to another listener.
                    Thread.interrupted();
                    return;
                }
                inbox.worker = Thread.currentThread();
            }
            try {
                listeners.call(listener, event);
            } catch (Throwable failure) {
                tellFailure(event, listener, failure);
            }
        }
    }

    /** Wakes who waits for the lane, and forgets it if nothing is left of it: there may be many names over time. */
    private void rest(Lane lane) {
        if (lane.isIdle() && !lane.open) {
            lanes.remove(lane.lease, lane);
        }
        monitor.notifyAll();
    }

    // The end.

    /**
     * Waits until everybody has been told everything: no tenure that was announced is without its end, and no listener is at work.
     * To be called after leases were released and before the context is destroyed. Answers at once if the application did not
     * become ready, because nobody was told anything then.
     *
     * @param atMost how long to wait at most
     * @return whether all is delivered; false also if this thread was interrupted, which stays set
     */
    public boolean awaitDelivered(Duration atMost) {
        return awaitDelivered(atMost, Thread.currentThread(), lease -> false);
    }

    /**
     * The same while another thread waits for this one: if that is a listener's, which closes the context for example, it is left out. So is a
     * listener that is in {@code System.exit}.
     *
     * @param atMost how long to wait at most
     * @param whoWaits the thread that waits
     * @param goesOn whether the tenure of a lease goes on, so that neither its end nor its listeners are waited for; does not wait for listeners
     * @return whether all is delivered but to the listener of that thread; false also if this thread was interrupted, which stays set
     */
    public boolean awaitDelivered(Duration atMost, Thread whoWaits, Predicate<String> goesOn) {
        synchronized (monitor) {
            goOnWithout(whoWaits);
            try {
                return !ready
                        || await(
                                atMost,
                                () -> lanes.values().stream()
                                        .allMatch(lane ->
                                                lane.open ? goesOn.test(lane.lease) : lane.isIdleBut(whoWaits)));
            } finally {
                waiter = closed ? waiter : null;
            }
        }
    }

    /**
     * Waits until everybody has been told what is known so far; tenures may go on. Answers at once if the application did not become ready.
     *
     * @param atMost how long to wait at most
     * @return whether all is delivered; false also if this thread was interrupted, which stays set
     */
    public boolean awaitTold(Duration atMost) {
        synchronized (monitor) {
            return !ready || await(atMost, this::isIdle);
        }
    }

    /**
     * Takes nothing new, tells the end of every tenure that has none yet (as lost: nothing else is known), and waits a little for
     * the listeners; those that block are interrupted. A listener may call it, or {@code System.exit}, and is not waited for then.
     */
    @Override
    public void close() {
        Thread self = Thread.currentThread();
        boolean busy = false;
        synchronized (monitor) {
            if (closed) {
                return;
            }
            closed = true;
            goOnWithout(self);
            if (ready) {
                for (Lane lane : lanes.values()) {
                    if (lane.open) {
                        lane.open = false;
                        lane.events.add(new LeaseLostEvent(source, lane.lease, node, lane.token));
                        run(lane);
                    }
                }
                if (!await(CLOSING, () -> areIdleBut(self))) {
                    interruptListenersBut(self);
                    busy = !await(CLOSING, () -> areIdleBut(self));
                }
            }
        }
        threads.close();
        threads.complainIfNone();
        if (busy) {
            LOG.warn("Some listeners of lease events were still busy when the context was closed");
        }
    }

    /** Nobody waits for a listener that itself waits for the others. */
    private void goOnWithout(Thread thread) {
        waiter = thread;
        monitor.notifyAll();
    }

    private void interruptListenersBut(Thread self) {
        for (Lane lane : lanes.values()) {
            for (Inbox inbox : new ArrayList<>(lane.busy.values())) {
                if (inbox.worker != null && inbox.worker != self) {
                    inbox.worker.interrupt();
                }
            }
        }
    }

    private boolean areIdleBut(Thread thread) {
        return lanes.values().stream().allMatch(lane -> lane.isIdleBut(thread));
    }

    private boolean isIdle() {
        return lanes.values().stream().allMatch(Lane::isIdle);
    }

    private interface Condition {
        boolean holds();
    }

    /** Waits on the monitor, which the caller has; false after the time or an interrupt, which stays set. */
    private boolean await(Duration atMost, Condition condition) {
        return await(atMost.toNanos(), condition);
    }

    private boolean await(long atMostNanos, Condition condition) {
        long deadline = System.nanoTime() + atMostNanos;
        while (!condition.holds()) {
            long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime() + 999_999);
            if (millis <= 0) {
                return false;
            }
            try {
                monitor.wait(millis);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }
}
