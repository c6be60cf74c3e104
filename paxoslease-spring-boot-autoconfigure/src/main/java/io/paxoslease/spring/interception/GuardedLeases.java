package io.paxoslease.spring.interception;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseListener;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.LeaderOnly.Otherwise;
import io.paxoslease.spring.NotLeaderException;
import io.paxoslease.spring.interception.CallListener.Outcome;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * Decides whether a guarded call may run, and knows the calls that do. At shutdown: {@link #beginDraining()}, give each lease up
 * {@linkplain #giveUpWhenIdle when no call of it runs}, wait for {@link #whenIdle()}, release the rest. Safe to use from any thread.
 */
public final class GuardedLeases implements LeaseListener, SmartInitializingSingleton {

    private static final Log LOG = LogFactory.getLog(GuardedLeases.class);
    private static final String STOPPING = "This node is stopping";

    private final ObjectProvider<LeaseManager> manager;
    private final ObjectProvider<LeaseNode> node;
    private final LeaderOnlyRegistry registry;
    private final Map<String, LeaderElection> elections = new ConcurrentHashMap<>();
    private final Map<String, LeaseCalls> calls = new ConcurrentHashMap<>();
    private final CallsInFlight inFlight = new CallsInFlight();
    private final TenureWatches tenures = new TenureWatches();
    private final Set<Object> running = ConcurrentHashMap.newKeySet();
    private final List<CallListener> listeners = new CopyOnWriteArrayList<>();
    private volatile boolean draining;
    private volatile @Nullable CallObserver observer;

    /**
     * Makes the object.
     *
     * @param manager whose elections decide; asked for when it is needed first
     * @param node tells how tenures end and what is possible; the manager may be the application's own in front of it
     * @param registry the leases that guarded methods need
     */
    public GuardedLeases(
            ObjectProvider<LeaseManager> manager, ObjectProvider<LeaseNode> node, LeaderOnlyRegistry registry) {
        this.manager = manager;
        this.node = node;
        this.registry = registry;
    }

    /** One target's scheduled method while it runs. */
    private record Running(Object target, Method method) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Running that && target == that.target && method.equals(that.method);
        }

        @Override
        public int hashCode() {
            return 31 * System.identityHashCode(target) + method.hashCode();
        }
    }

    /**
     * What is known of who makes a call beyond what the current thread knows.
     *
     * @param guarded whether it is a guarded call
     * @param observation what observes it
     */
    record Caller(boolean guarded, @Nullable Object observation) {

        static final Caller OF_THIS_THREAD = new Caller(false, null);
    }

    /** Fails if there are guarded methods and nothing to guard them with, or one that could never run. */
    @Override
    public void afterSingletonsInstantiated() {
        LeaseManager leases = manager.getIfAvailable();
        LeaseNode behind = node(leases);
        if (behind != null) {
            behind.addListener(this);
            registry.require((method, bean) -> requirePossible(method, bean, behind.settings()));
        }
        if (leases == null && !registry.leaseNames().isEmpty()) {
            throw new IllegalStateException("There are @LeaderOnly methods for the leases " + registry.leaseNames()
                    + " but no LeaseManager bean");
        }
    }

    private @Nullable LeaseNode node(@Nullable LeaseManager leases) {
        return leases instanceof LeaseNode itself ? itself : node.getIfUnique();
    }

    private static void requirePossible(GuardedMethod method, String bean, NodeSettings settings) {
        NodeSettings.LeaseSettings own = settings.leases().get(method.leaseName());
        Duration leaseTime = own == null ? settings.leaseTime() : own.leaseTime();
        if (method.minRemainingNanos() > settings.timing().ownerNanos(leaseTime.toNanos())) {
            throw GuardedMethods.unguardable(
                    method.method(),
                    bean,
                    "its minRemaining of " + Duration.ofNanos(method.minRemainingNanos())
                            + " is never left of the lease time of " + leaseTime,
                    "Set a shorter minRemaining or a longer paxoslease.lease-time.");
        }
    }

    /**
     * Adds a listener that is told how every call ends from now on.
     *
     * @param listener the listener
     */
    public void addCallListener(CallListener listener) {
        listeners.add(listener);
    }

    /**
     * Lets an observer accompany the calls that run from now on, in place of the one before.
     *
     * @param callObserver the observer
     */
    public void observeCalls(CallObserver callObserver) {
        observer = callObserver;
    }

    // Draining.

    /** How many guarded calls run now. */
    public int inFlight() {
        return inFlight.count();
    }

    /**
     * From now on guarded calls are treated as on a node that does not lead, except those that a running guarded call makes of a lease that was not
     * given up.
     */
    public void beginDraining() {
        draining = true;
    }

    /**
     * Has a lease given up as soon as no guarded call of it runs, and lets none begin afterwards. Does nothing where the application has a manager of
     * its own in front of the node, whose names may be others.
     *
     * @param leaseName the name of the lease
     * @param giveUp gives it up; runs once, on the thread of the last call or, if none runs now, at once. It must not block
     */
    public void giveUpWhenIdle(String leaseName, Runnable giveUp) {
        if (manager.getIfAvailable() instanceof LeaseNode) {
            calls(leaseName).giveUpWhenIdle(giveUp);
        }
    }

    /** Lets guarded calls run again after {@link #beginDraining()} and {@link #giveUpWhenIdle}. */
    public void resume() {
        draining = false;
        calls.values().forEach(LeaseCalls::resume);
    }

    private LeaseCalls calls(String leaseName) {
        LeaseCalls known = calls.get(leaseName);
        return known != null ? known : calls.computeIfAbsent(leaseName, name -> new LeaseCalls());
    }

    /**
     * A stage that completes when no guarded call runs, on the thread of the last one or, if none runs now, at once. With
     * {@link #beginDraining()} before, none begins afterwards. The calls that the current thread is in do not count: one that closes
     * the context would wait for itself.
     */
    public CompletionStage<Void> whenIdle() {
        return inFlight.whenIdle();
    }

    private void leave(LeaseCalls ofLease) {
        ofLease.leave();
        inFlight.end();
    }

    /** The calls that run. */
    CallsInFlight calls() {
        return inFlight;
    }

    // Calls.

    /**
     * Lets a call in, or counts that it was not.
     *
     * @return null if the call is to be skipped
     * @throws NotLeaderException if it is refused
     */
    @Nullable
    GuardedCall admit(GuardedMethod method, @Nullable Object target, Caller caller) {
        LeaseCalls ofLease = calls(method.leaseName());
        if (!ofLease.enter()) {
            return refuse(method, STOPPING);
        }
        inFlight.begin();
        GuardedCall call = null;
        try {
            call = decide(method, target, caller);
        } finally {
            if (call == null) {
                leave(ofLease);
            }
        }
        return call;
    }

    private @Nullable GuardedCall decide(GuardedMethod method, @Nullable Object target, Caller caller) {
        if (draining && !caller.guarded() && Lease.current().isEmpty()) {
            return refuse(method, STOPPING);
        }
        Lease lease = election(method.leaseName()).lease().orElse(null);
        if (lease == null) {
            return refuse(method, "This node does not lead");
        }
        if (method.minRemainingNanos() > 0 && lease.remaining().toNanos() < method.minRemainingNanos()) {
            return refuse(method, "The lease of this node lasts too short a time");
        }
        Running key = null;
        if (method.scheduled() && target != null) {
            key = new Running(target, method.method());
            if (!running.add(key)) {
                tell(method, Outcome.OVERLAPPING);
                return null;
            }
        }
        try {
            CallObserver watching = observer;
            return new GuardedCall(
                    this,
                    method,
                    lease,
                    key,
                    watching == null ? null : watching.onAdmitted(method.method(), lease, caller.observation()));
        } catch (RuntimeException | Error failure) {
            // Whoever names the observation failed: this call fails, and the next one is not taken for a second one.
            if (key != null) {
                running.remove(key);
            }
            throw failure;
        }
    }

    private @Nullable GuardedCall refuse(GuardedMethod method, String reason) {
        if (method.otherwise() == Otherwise.SKIP) {
            tell(method, Outcome.SKIPPED);
            return null;
        }
        tell(method, Outcome.REFUSED);
        LeaderElection election = election(method.leaseName());
        String self = nodeId();
        String leader = election.leader().map(LeaderHint::nodeId).orElse(null);
        if (self.equals(leader) && !election.isLeader()) {
            // No leader: whoever sends the call there would send it here again.
            throw new NotLeaderException(
                    method.leaseName(), self, null, reason + ", but its code or the process before it holds the lease");
        }
        throw new NotLeaderException(method.leaseName(), self, leader, reason);
    }

    private LeaderElection election(String leaseName) {
        LeaderElection election = elections.get(leaseName);
        if (election == null) {
            election = manager.getObject().election(leaseName);
            elections.put(leaseName, election);
        }
        return election;
    }

    private String nodeId() {
        LeaseNode behind = node(manager.getObject());
        return behind == null ? "unknown" : behind.settings().nodeId();
    }

    void ended(GuardedCall call, boolean failed) {
        if (call.runningKey() != null) {
            running.remove(call.runningKey());
        }
        leave(calls(call.method().leaseName()));
        tell(call.method(), failed ? Outcome.FAILED : Outcome.RUN);
    }

    private void tell(GuardedMethod method, Outcome outcome) {
        if (LOG.isTraceEnabled()) {
            LOG.trace(GuardedMethods.describe(method.method()) + " of lease '" + method.leaseName() + "': " + outcome);
        }
        for (CallListener listener : listeners) {
            try {
                listener.onCall(method.leaseName(), outcome);
            } catch (RuntimeException failure) {
                LOG.warn("A listener of guarded calls failed", failure);
            }
        }
    }

    // Tenures.

    /** The tenures under which calls run that want to know of their end. */
    TenureWatches tenures() {
        return tenures;
    }

    /** A lease that was given up has ended too, which its own callback does not tell. */
    @Override
    public void onTransition(LeaseTransition transition) {
        if (transition.kind() == LeaseTransition.Kind.RELEASED) {
            tenures.end(transition.leaseName(), transition.fencingToken());
        }
    }
}
