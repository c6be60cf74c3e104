package io.paxoslease.spring.boot;

import io.paxoslease.LeaderElection;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.boot.PaxosLeaseProperties.LeaseProperties;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.springframework.beans.factory.ObjectProvider;

/**
 * The elections that the settings and the guarded methods of this application need, and which of them go on after a stop of its context.
 * Others may need the same elections. Safe to use from any thread.
 */
final class NeededElections {

    private final PaxosLeaseProperties properties;
    private final LeaseNode node;
    private final ObjectProvider<LeaderOnlyRegistry> guarded;

    /** The leases whose election this began, and did not give up. Whoever stopped one since then wants it stopped. */
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    /** The elections that go on when the context is started again, which others than this need. */
    private final List<LeaderElection> stopped = new CopyOnWriteArrayList<>();

    NeededElections(PaxosLeaseProperties properties, LeaseNode node, ObjectProvider<LeaderOnlyRegistry> guarded) {
        this.properties = properties;
        this.node = node;
        this.guarded = guarded;
    }

    /** The leases that this node is a candidate for as soon as the application is ready. */
    Set<String> leaseNames() {
        Set<String> names = new TreeSet<>();
        guarded.ifAvailable(registry -> names.addAll(registry.leaseNames()));
        properties.leases().forEach((name, lease) -> {
            if (Boolean.TRUE.equals(lease.candidate())) {
                names.add(name);
            } else if (Boolean.FALSE.equals(lease.candidate())) {
                names.remove(name);
            }
        });
        return names;
    }

    private boolean isCandidateBySetting(String name) {
        LeaseProperties lease = properties.leases().get(name);
        return lease != null && Boolean.TRUE.equals(lease.candidate());
    }

    /** Tells a listener each lease that a guarded method needs, once, also those of beans that are made later. */
    void forEachGuarded(Consumer<String> listener) {
        guarded.ifAvailable(registry -> registry.forEachLease(listener));
    }

    /** Says which are needed, before any begins. */
    void need() {
        leaseNames().forEach(name -> node.need(name, this));
    }

    void begin() {
        leaseNames().forEach(this::begin);
    }

    void begin(String name) {
        if (begun.add(name)) {
            node.startNeeded(name, this);
        }
    }

    /** Begins that of a guarded method which was not known before; whether nothing sought the lease here until now, and nothing forbids it. */
    boolean beginLate(String name) {
        boolean late = !begun.contains(name)
                && !node.isNeededByOthers(name, this)
                && leaseNames().contains(name);
        begin(name);
        return late;
    }

    /** Starts those again that were given up and that others need too. */
    void goOn() {
        stopped.forEach(LeaderElection::start);
        stopped.clear();
    }

    /** Gives up those of guarded methods, each as soon as no guarded call of its lease runs. */
    void giveUpGuarded(GuardedLeases leases) {
        giveUpWhenIdle(guarded.getObject().leaseNames(), leases);
    }

    /** Gives up those that nothing but scheduled methods need, each as soon as no guarded call of its lease runs. */
    void giveUpScheduled(GuardedLeases leases) {
        Set<String> names = guarded.getObject().onlyScheduled();
        names.removeIf(name -> isCandidateBySetting(name) || node.isNeededByOthers(name, this));
        giveUpWhenIdle(names, leases);
    }

    private void giveUpWhenIdle(Set<String> names, GuardedLeases leases) {
        node.startedElections().stream()
                .filter(election -> names.contains(election.name()))
                .forEach(election -> leases.giveUpWhenIdle(election.name(), () -> {
                    givenUp(election);
                    election.stop();
                }));
    }

    /**
     * Notes that an election which was started is given up. One that only this needs begins anew: if it was started again, it would count as
     * needed by whoever starts elections.
     */
    void givenUp(LeaderElection election) {
        if (node.isNeededByOthers(election.name(), this)) {
            stopped.add(election);
        } else {
            begun.remove(election.name());
        }
    }
}
