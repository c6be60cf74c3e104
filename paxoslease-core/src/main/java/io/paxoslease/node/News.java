package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Tenure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells the application what became of its leases: whoever waits for one, listeners, and the history.
 *
 * <p>To be used under the lock of the node where nothing else is said. What application code is to hear is collected meanwhile, and {@link #dispatch}
 * gives it to the threads that tell it.
 */
final class News {

    private final LeaseNode node;
    private final Cell cell;
    private final NodeClock clock;
    private final Dispatcher dispatcher;
    private final List<LeaseListener> listeners = new CopyOnWriteArrayList<>();
    private final List<AttemptListener> attemptListeners = new CopyOnWriteArrayList<>();
    private volatile @Nullable LeaseHistory history;

    /** What listeners are still to be told. */
    private List<Dispatcher.Task> untold = new ArrayList<>();

    News(LeaseNode node, Cell cell, NodeClock clock, Dispatcher dispatcher) {
        this.node = node;
        this.cell = cell;
        this.clock = clock;
        this.dispatcher = dispatcher;
    }

    /** Safe to call from any thread. */
    void addListener(LeaseListener listener) {
        listeners.add(listener);
    }

    /** Safe to call from any thread. */
    void removeListener(LeaseListener listener) {
        listeners.remove(listener);
    }

    /** Safe to call from any thread. */
    void addAttemptListener(AttemptListener listener) {
        attemptListeners.add(listener);
    }

    /** Safe to call from any thread. */
    void keepHistory(LeaseHistory kept) {
        history = kept;
    }

    /** Null if none is kept. Safe to call from any thread. */
    @Nullable
    LeaseHistory history() {
        return history;
    }

    /**
     * Has the application told what is untold. With the lock held, so that news stay in order; all at once, because whoever tells them would be in
     * the way of each of them.
     */
    void dispatch() {
        if (!untold.isEmpty()) {
            List<Dispatcher.Task> next = new ArrayList<>();
            // Where this fails for lack of memory, they are for the next time.
            dispatcher.dispatch(untold);
            untold = next;
        }
    }

    /**
     * Tells what an event led to.
     *
     * @param answers gets what is to be run once the lock is free
     */
    void tell(Output output, Now now, List<Runnable> answers) {
        tellAll(output, now, answers);
        record(output, now);
    }

    /** Tells that a lease was lost in a defect, of which no notice comes. Where that fails for lack of memory, the claim still has its tenure. */
    void tellLost(Claim claim, Tenure tenure) {
        lost(claim, tenure);
        claim.tenure = null;
        LeaseHistory kept = history;
        if (kept != null) {
            try {
                record(kept, new Notice.Lost(claim, tenure), clock.now());
            } catch (OutOfMemoryError full) {
                // It has been told.
            }
        }
    }

    private void tellAll(Output output, Now now, List<Runnable> answers) {
        while (output.told < output.notices.size()) {
            tellNext(output, now, answers);
        }
    }

    /** What fails is not told again, but for the end of a tenure: that may be tried until there is memory for it. */
    private void tellNext(Output output, Now now, List<Runnable> answers) {
        Notice next = output.notices.get(output.told);
        boolean ends = next instanceof Notice.Lost || next instanceof Notice.Released;
        output.told += ends ? 0 : 1;
        tell(next, now, answers);
        output.told += ends ? 1 : 0;
    }

    /**
     * Tells what had happened before a defect: nobody else knows of a claim that has ended. Answers why it could not tell all, null if it could.
     *
     * @throws OutOfMemoryError if there is no memory for the end of a tenure; to be called again later
     */
    @Nullable
    Throwable tellTheRest(Output output, Now now, List<Runnable> answers) {
        Throwable first = null;
        while (output.told < output.notices.size()) {
            int place = output.told;
            try {
                tellNext(output, now, answers);
            } catch (RuntimeException | Error defect) {
                if (defect instanceof OutOfMemoryError full && output.told == place) {
                    throw full;
                }
                output.told = place + 1;
                first = first == null ? defect : first;
            }
        }
        return first;
    }

    private void tell(Notice notice, Now now, List<Runnable> answers) {
        if (notice instanceof Notice.Acquired acquired) {
            Claim claim = acquired.claim();
            NodeLease lease = new NodeLease(node, claim, acquired.tenure().token());
            claim.lease = lease;
            claim.acquiredAtMillis = now.wallMillis();
            claim.extensionCount = 0;
            publish(LeaseTransition.Kind.ACQUIRED, acquired.tenure(), null, acquired.tookNanos());
            answers.add(() -> claim.result.complete(Optional.of(lease)));
        } else if (notice instanceof Notice.Extended extended) {
            Claim claim = extended.claim();
            if (claim != null) {
                claim.extensionCount++;
                claim.answerExtensions(true);
            }
            publish(LeaseTransition.Kind.EXTENDED, extended.tenure(), null, extended.tookNanos());
        } else if (notice instanceof Notice.ExtensionFailed failure) {
            failure.claim().answerExtensions(false);
            publish(LeaseTransition.Kind.EXTENSION_FAILED, failure.tenure(), failure.reason(), failure.tookNanos());
        } else if (notice instanceof Notice.Lost lost) {
            lost(lost.claim(), lost.tenure());
        } else if (notice instanceof Notice.Released released) {
            ended(released.claim(), false);
            publish(LeaseTransition.Kind.RELEASED, released.tenure(), null, 0);
        } else if (notice instanceof Notice.Unavailable unavailable) {
            unavailable.claim().unavailableReason = unavailable.reason();
            answers.add(() -> unavailable.claim().result.complete(Optional.empty()));
        } else if (notice instanceof Notice.LeaderChanged changed) {
            Incarnation leader = changed.leader();
            publish(new LeaseTransition(
                    LeaseTransition.Kind.LEADER_CHANGED,
                    notice.resource(),
                    0,
                    leader == null ? null : leader.nodeId(),
                    null,
                    Duration.ZERO));
        } else if (notice instanceof Notice.AttemptBegan began) {
            publish(
                    began.resource(),
                    attemptListeners,
                    listener -> listener.onBegin(began.resource(), began.purpose()));
        } else if (notice instanceof Notice.AttemptEnded ended) {
            publish(
                    ended.resource(),
                    attemptListeners,
                    listener -> listener.onEnd(ended.resource(), ended.outcome(), ended.reason()));
        }
    }

    private void record(Output output, Now now) {
        LeaseHistory kept = history;
        if (kept != null) {
            output.notices.forEach(notice -> record(kept, notice, now));
            output.failedAttempts.forEach(
                    failure -> kept.record(failure.resource(), HistoryEvent.of(failure, now, cell)));
        }
    }

    private void record(LeaseHistory kept, Notice notice, Now now) {
        HistoryEvent event = HistoryEvent.of(notice, now, cell);
        if (event != null) {
            kept.record(notice.resource(), event);
        }
    }

    private void lost(Claim claim, Tenure tenure) {
        ended(claim, true);
        publish(LeaseTransition.Kind.LOST, tenure, null, 0);
    }

    private static void ended(Claim claim, boolean lost) {
        NodeLease lease = claim.lease;
        claim.answerExtensions(false);
        if (lease != null) {
            lease.ended(lost);
        }
        claim.lease = null;
    }

    private void publish(LeaseTransition.Kind kind, Tenure tenure, @Nullable String reason, long tookNanos) {
        publish(new LeaseTransition(
                kind, tenure.resource(), tenure.token(), null, reason, Duration.ofNanos(tookNanos)));
    }

    private void publish(LeaseTransition transition) {
        publish(transition.leaseName(), listeners, listener -> listener.onTransition(transition));
    }

    /** One task for all who listen now: more would have another thread watch them. */
    private <L> void publish(String leaseName, List<L> listeners, Consumer<L> news) {
        if (!listeners.isEmpty()) {
            Iterator<L> told = listeners.iterator();
            untold.add(new Dispatcher.Task(leaseName, () -> {
                while (told.hasNext()) {
                    Dispatcher.runSafely(leaseName, news, told.next());
                }
            }));
        }
    }
}
