package io.paxoslease.spring.integration;

import io.paxoslease.node.LeaseNode;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/** The leader initiators of all candidates of an application, started and stopped together. */
public final class PaxosLeaseLeaderInitiators implements SmartLifecycle {

    private final LeaseNode node;
    private final Supplier<List<Candidate>> candidates;
    private final LeaderEventPublisher publisher;
    private volatile @Nullable Map<String, PaxosLeaseLeaderInitiator> initiators;
    private volatile boolean running;

    /**
     * Creates the initiators.
     *
     * @param node the node of this application
     * @param candidates gives the candidates at the first start
     * @param publisher tells the application
     */
    public PaxosLeaseLeaderInitiators(
            LeaseNode node, Supplier<List<Candidate>> candidates, LeaderEventPublisher publisher) {
        this.node = node;
        this.candidates = candidates;
        this.publisher = publisher;
    }

    /**
     * The initiator of a role.
     *
     * @param role the role
     * @return the initiator, empty if there is no candidate for the role or nothing has started yet
     */
    public Optional<PaxosLeaseLeaderInitiator> initiator(String role) {
        Map<String, PaxosLeaseLeaderInitiator> known = initiators;
        return known == null ? Optional.empty() : Optional.ofNullable(known.get(role));
    }

    @Override
    public synchronized void start() {
        Map<String, PaxosLeaseLeaderInitiator> known = initiators;
        if (known == null) {
            known = create();
            initiators = known;
        }
        known.values().forEach(PaxosLeaseLeaderInitiator::start);
        running = true;
    }

    private Map<String, PaxosLeaseLeaderInitiator> create() {
        Map<String, Candidate> byRole = new LinkedHashMap<>();
        for (Candidate candidate : candidates.get()) {
            Candidate other = byRole.putIfAbsent(candidate.getRole(), candidate);
            if (other != null) {
                throw new IllegalStateException(
                        "There are two candidates for the role '" + candidate.getRole() + "', "
                                + other + " and " + candidate
                                + ". A node leads or does not, so both would lead at the same time."
                                + " Give them different roles, or make one of them a listener to OnGrantedEvent and OnRevokedEvent.");
            }
        }
        Map<String, PaxosLeaseLeaderInitiator> created = new LinkedHashMap<>();
        byRole.forEach(
                (role, candidate) -> created.put(role, new PaxosLeaseLeaderInitiator(node, candidate, publisher)));
        return created;
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public synchronized void stop(Runnable callback) {
        running = false;
        Map<String, PaxosLeaseLeaderInitiator> known = initiators;
        if (known == null || known.isEmpty()) {
            callback.run();
            return;
        }
        AtomicInteger open = new AtomicInteger(known.size());
        known.values()
                .forEach(initiator -> initiator.stop(() -> {
                    if (open.decrementAndGet() == 0) {
                        callback.run();
                    }
                }));
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PaxosLeaseLeaderInitiator.PHASE;
    }
}
