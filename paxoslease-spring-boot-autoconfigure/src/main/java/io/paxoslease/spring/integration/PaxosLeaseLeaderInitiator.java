package io.paxoslease.spring.integration;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.node.LeaseListener;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.spring.bounded.SystemExit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/**
 * Leader election for one Spring Integration {@link Candidate}. The lease is called like the candidate's role, so {@code paxoslease.leases.<role>}
 * configures it and {@code @LeaderOnly("<role>")} shares it.
 *
 * <p>The candidate and the listeners are called on a thread of the role's own. The candidate is granted before it is revoked, and in turns. Listeners
 * are told after it: of a grant only once {@code onGranted} has returned, and if the leadership lasts still; of the end in any case. A candidate
 * that does its work inside {@code onGranted} is interrupted when it is to stop. When leadership is given up on purpose, by {@code yield()} or
 * {@link #stop()}, the candidate is revoked before the lease is released; another node does not begin before this one has ended. When it is lost,
 * the candidate learns of it at once, which is before others can get the lease.
 * A candidate may close the context, or end the process, and is not waited for then.
 *
 * <p>An initiator that stops gives the lease up unless others need it: guarded methods, the settings, another adapter. Then the node gives it up
 * when it stops, after what they let run has ended.
 *
 * <p>Safe to call from any thread.
 */
public final class PaxosLeaseLeaderInitiator implements SmartLifecycle, AutoCloseable {

    /** Stopped before the node, which has 512 less than the default. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 256;

    private static final Log LOG = LogFactory.getLog(PaxosLeaseLeaderInitiator.class);
    private static final Context NOT_LEADER = () -> false;
    private static final long IDLE_SECONDS = 10;

    private final LeaseNode node;
    private final LeaderElection election;
    private final Candidate candidate;
    private final LeaderEventPublisher publisher;
    private final ThreadPoolExecutor worker;
    private final LeaseListener listener = this::onTransition;
    /** The one of {@link #worker}, null if there was none yet. */
    private volatile @Nullable Thread roleThread;

    private @Nullable Leadership current;
    private boolean running;

    /**
     * Creates the initiator of a candidate.
     *
     * @param node the node of this application
     * @param candidate who wants to lead
     * @param publisher tells the application
     */
    public PaxosLeaseLeaderInitiator(LeaseNode node, Candidate candidate, LeaderEventPublisher publisher) {
        this.node = node;
        this.candidate = candidate;
        this.publisher = publisher;
        this.election = node.election(candidate.getRole());
        this.worker =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = newThread(task);
                    roleThread = thread;
                    return thread;
                });
        worker.allowCoreThreadTimeOut(true);
        node.addListener(listener);
    }

    private Thread newThread(Runnable task) {
        Thread thread = new Thread(task, "paxoslease-role-" + candidate.getRole());
        thread.setDaemon(true);
        return thread;
    }

    private void onTransition(LeaseTransition transition) {
        if (!transition.leaseName().equals(election.name())) {
            return;
        }
        switch (transition.kind()) {
            case ACQUIRED -> grantIfLeading();
            // Of a loss the lease itself tells, however long another listener takes.
            case RELEASED -> revoke(transition.fencingToken());
            default -> {}
        }
    }

    Candidate candidate() {
        return candidate;
    }

    /** The context of the leadership that lasts now; one that never leads if there is none. */
    public synchronized Context getContext() {
        return current == null ? NOT_LEADER : current;
    }

    @Override
    public synchronized void start() {
        if (!running) {
            running = true;
            node.startNeeded(election.name(), this);
            grantIfLeading();
        }
    }

    private synchronized void grantIfLeading() {
        Lease lease = election.lease().orElse(null);
        if (!running || lease == null || current != null && current.lease.fencingToken() == lease.fencingToken()) {
            return;
        }
        if (current != null) {
            current.end(worker, () -> {});
        }
        current = new Leadership(lease);
        // Where threads run short, one that went could not be had again to revoke the candidate.
        worker.allowCoreThreadTimeOut(false);
        try {
            worker.execute(current::grant);
        } catch (RuntimeException | Error noThread) {
            // Else this node would lead on, and no candidate work.
            lease.release();
            throw noThread;
        }
        lease.onLost(() -> revoke(lease.fencingToken()));
    }

    private synchronized void revoke(long fencingToken) {
        Leadership leadership = current;
        if (leadership != null && leadership.lease.fencingToken() == fencingToken) {
            current = null;
            leadership.end(worker, () -> {});
        }
    }

    private synchronized void yield(Leadership leadership) {
        if (current == leadership) {
            leadership.end(worker, leadership.lease::release);
        }
    }

    @Override
    public void stop() {
        stop(worker, () -> {});
    }

    /**
     * The same, and says when the candidate was revoked. Where the role's own thread waits for that, as one does that closes the context or is in
     * {@code System.exit}, the candidate is revoked at once: on that thread, or on one more, because it may wait for the one that does not return.
     */
    @Override
    public void stop(Runnable callback) {
        Thread role = roleThread;
        if (role == Thread.currentThread()) {
            List<Runnable> tasks = new ArrayList<>();
            stop(tasks::add, callback);
            tasks.forEach(Runnable::run);
        } else if (role != null && SystemExit.isUnderWayOn(role)) {
            stop(task -> newThread(task).start(), callback);
        } else {
            stop(worker, callback);
        }
    }

    private synchronized void stop(Executor role, Runnable callback) {
        boolean wasRunning = running;
        running = false;
        Leadership leadership = current;
        current = null;
        if (leadership == null) {
            if (wasRunning) {
                // Otherwise whoever stopped it first does so, once the candidate is revoked.
                stopElection();
            }
            // The candidate may be busy with the end of its last leadership.
            role.execute(callback);
        } else {
            leadership.end(role, () -> {
                stopElection();
                callback.run();
            });
        }
    }

    /** Forgets the node, which may be a parent context's and go on. To be called after {@link #stop()}. */
    @Override
    public void close() {
        node.removeListener(listener);
    }

    /** Not if it was started again while its candidate was revoked. */
    private synchronized void stopElection() {
        if (!running) {
            node.needNoMore(election.name(), this);
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public String toString() {
        return "PaxosLeaseLeaderInitiator[role " + candidate.getRole() + ", id " + candidate.getId() + "]";
    }

    /** One tenure as the candidate sees it. */
    private final class Leadership implements Context {

        private final Lease lease;
        private volatile boolean ended;
        private boolean granted;
        private boolean revoked;
        private @Nullable Thread granting;

        Leadership(Lease lease) {
            this.lease = lease;
        }

        @Override
        public boolean isLeader() {
            return !ended && lease.isHeld();
        }

        @Override
        public void yield() {
            PaxosLeaseLeaderInitiator.this.yield(this);
        }

        @Override
        public String getRole() {
            return candidate.getRole();
        }

        /** On the role's thread. One that ended before it began is not mentioned. */
        void grant() {
            if (!beginGranting()) {
                return;
            }
            boolean taken = false;
            try {
                candidate.onGranted(this);
                taken = true;
            } catch (InterruptedException revokedMeanwhile) {
                LOG.debug("Candidate of role '" + candidate.getRole() + "' was interrupted");
            } catch (Throwable failure) {
                LOG.warn(
                        "Candidate of role '" + candidate.getRole() + "' could not take the leadership; it yields",
                        failure);
            } finally {
                endGranting();
            }
            if (!taken) {
                PaxosLeaseLeaderInitiator.this.yield(this);
            } else if (isLeader()) {
                publish(() -> publisher.publishOnGranted(PaxosLeaseLeaderInitiator.this, this, candidate.getRole()));
            }
        }

        private synchronized boolean beginGranting() {
            if (ended) {
                return false;
            }
            granted = true;
            granting = Thread.currentThread();
            return true;
        }

        private synchronized void endGranting() {
            granting = null;
            Thread.interrupted();
        }

        /** From any thread; more than once if it was given up and then released. */
        synchronized void end(Executor role, Runnable afterwards) {
            ended = true;
            if (granting != null && granting != Thread.currentThread()) {
                granting.interrupt();
            }
            // First: where no thread can be had, what follows fails.
            worker.allowCoreThreadTimeOut(true);
            role.execute(() -> {
                revoke();
                afterwards.run();
            });
        }

        /** On the role's thread, or while that waits for it. */
        private void revoke() {
            if (!granted || revoked) {
                return;
            }
            revoked = true;
            try {
                candidate.onRevoked(this);
            } catch (Throwable failure) {
                LOG.warn("Candidate of role '" + candidate.getRole() + "' failed when it was revoked", failure);
            }
            publish(() -> publisher.publishOnRevoked(PaxosLeaseLeaderInitiator.this, this, candidate.getRole()));
        }

        private void publish(Runnable event) {
            try {
                event.run();
            } catch (Throwable failure) {
                LOG.warn("A listener to the leadership of role '" + candidate.getRole() + "' failed", failure);
            }
        }

        @Override
        public String toString() {
            return "Leadership[role " + candidate.getRole() + ", id " + candidate.getId() + ", token "
                    + lease.fencingToken() + (isLeader() ? ", leads]" : ", does not lead]");
        }
    }
}
