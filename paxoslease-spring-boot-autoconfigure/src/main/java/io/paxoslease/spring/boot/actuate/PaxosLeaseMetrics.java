package io.paxoslease.spring.boot.actuate;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Acceptor;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * The meters of one node and its leases.
 *
 * <p>A lease has meters from when it is first seen: at the start, with its first transition or guarded call, or when the registry is read.
 * Names of leases may be without bound, meters must not be: from {@code maxLeases} names on, further ones share the tag value {@value
 * #OTHER} and have no gauges.
 */
public final class PaxosLeaseMetrics implements MeterBinder {

    /** The tag value that stands for the leases that have no meters of their own. */
    static final String OTHER = "(other)";

    private static final String TRANSITIONS = "paxoslease.lease.transitions";
    private static final String TRANSITIONS_DESCRIPTION = "What happened to leases on this node";

    private final LeaseNode node;
    private final int maxLeases;
    private final List<MeterRegistry> registries = new CopyOnWriteArrayList<>();
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    /**
     * Makes the meters and listens to the node.
     *
     * @param node the node
     * @param maxLeases how many leases have meters of their own at most
     */
    public PaxosLeaseMetrics(LeaseNode node, int maxLeases) {
        this.node = node;
        this.maxLeases = maxLeases;
        node.addListener(this::onTransition);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        synchronized (seen) {
            registries.add(registry);
            seen.forEach(lease -> registerMeters(lease, registry));
        }
        Gauge.builder("paxoslease.acceptor.leases", this, PaxosLeaseMetrics::acceptorLeases)
                .description("Leases that this node's acceptor has recorded")
                .register(registry);
        if (node.acceptorState() != AcceptorState.NONE) {
            Gauge.builder(
                            "paxoslease.acceptor.voting",
                            node,
                            self -> self.acceptorState() == AcceptorState.VOTING ? 1 : 0)
                    .description("1 if this node's acceptor votes, 0 while it is quarantined")
                    .register(registry);
            for (Acceptor.Refusal reason : Acceptor.Refusal.values()) {
                FunctionCounter.builder(
                                "paxoslease.acceptor.refusals",
                                node,
                                self -> self.acceptorStatus().refusals().getOrDefault(reason, 0L))
                        .description("Requests in which this node's acceptor took no part")
                        .tag("reason", reason.name().toLowerCase(Locale.ROOT))
                        .register(registry);
            }
        }
        Gauge.builder("paxoslease.node.failed", node, self -> self.isFailed() ? 1 : 0)
                .description("1 if this node gave up all its leases for good because of a defect, else 0")
                .register(registry);
        seeAll();
    }

    /**
     * Counts a call of a {@code @LeaderOnly} method.
     *
     * @param lease the name of the lease
     * @param outcome what became of the call
     */
    public void leaderOnlyCall(String lease, String outcome) {
        count("paxoslease.leaderonly.calls", "Calls of methods that only the leader runs", lease, "outcome", outcome);
    }

    private void onTransition(LeaseTransition transition) {
        count(TRANSITIONS, TRANSITIONS_DESCRIPTION, transition.leaseName(), "kind", tag(transition.kind()));
        switch (transition.kind()) {
            case ACQUIRED -> record("paxoslease.acquire", "Acquisitions that succeeded", "success", transition.took());
            case EXTENDED -> record("paxoslease.extend", "Attempts to extend a lease", "success", transition.took());
            case EXTENSION_FAILED ->
                record("paxoslease.extend", "Attempts to extend a lease", "failure", transition.took());
            case LOST, RELEASED, LEADER_CHANGED -> {}
        }
    }

    private void count(String counter, String description, String lease, String tag, String value) {
        String named = see(lease);
        for (MeterRegistry registry : registries) {
            counter(registry, counter, description, named, tag, value).increment();
        }
    }

    private static Counter counter(
            MeterRegistry registry, String counter, String description, String lease, String tag, String value) {
        return Counter.builder(counter)
                .description(description)
                .tag("lease", lease)
                .tag(tag, value)
                .register(registry);
    }

    private void record(String timer, String description, String outcome, Duration took) {
        for (MeterRegistry registry : registries) {
            Timer.builder(timer)
                    .description(description)
                    .tag("outcome", outcome)
                    .register(registry)
                    .record(took);
        }
    }

    private void seeAll() {
        node.leases(maxLeases).keySet().forEach(this::see);
    }

    /** Gives a lease its meters when it is new; the tag value to count it under. */
    private String see(String lease) {
        if (seen.contains(lease)) {
            return lease;
        }
        synchronized (seen) {
            if (seen.size() >= maxLeases) {
                if (seen.contains(lease)) {
                    return lease;
                }
                registries.forEach(registry -> losses(OTHER, registry));
                return OTHER;
            }
            if (seen.add(lease)) {
                registries.forEach(registry -> registerMeters(lease, registry));
            }
        }
        return lease;
    }

    private static String tag(LeaseTransition.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** The counter of losses, which is there before the first one: its increase from nothing to one is to be seen. */
    private static void losses(String lease, MeterRegistry registry) {
        counter(registry, TRANSITIONS, TRANSITIONS_DESCRIPTION, lease, "kind", tag(LeaseTransition.Kind.LOST));
    }

    private void registerMeters(String lease, MeterRegistry registry) {
        losses(lease, registry);
        Gauge.builder("paxoslease.lease.held", this, self -> self.held(lease))
                .description("1 while this node holds the lease, else 0")
                .tag("lease", lease)
                .register(registry);
        TimeGauge.builder("paxoslease.lease.remaining", this, TimeUnit.NANOSECONDS, self -> self.remaining(lease))
                .description("How long the lease lasts unless it is extended, 0 if this node does not hold it")
                .tag("lease", lease)
                .register(registry);
    }

    private double held(String lease) {
        return node.lease(lease).filter(LeaseStatus::heldHere).isPresent() ? 1 : 0;
    }

    private double remaining(String lease) {
        return node.lease(lease)
                .filter(LeaseStatus::heldHere)
                .map(LeaseStatus::remaining)
                .map(Duration::toNanos)
                .orElse(0L);
    }

    private double acceptorLeases() {
        seeAll();
        return node.acceptorStatus().leases();
    }
}
