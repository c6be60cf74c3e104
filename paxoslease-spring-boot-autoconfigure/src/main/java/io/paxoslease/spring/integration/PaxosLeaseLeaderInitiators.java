package io.paxoslease.spring.integration;

import io.paxoslease.node.LeaseNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/**
 * The leader initiators of the candidates of an application context, started and stopped together. In a hierarchy of contexts each has its own, and no
 * role has two.
 */
public final class PaxosLeaseLeaderInitiators implements SmartLifecycle, AutoCloseable {

    private final LeaseNode node;
    private final Supplier<List<Candidate>> candidates;
    private final LeaderEventPublisher publisher;

    /** Of all contexts of the hierarchy; guarded by itself. */
    private final Map<String, PaxosLeaseLeaderInitiator> byRole;

    private final List<PaxosLeaseLeaderInitiator> own = new ArrayList<>();
    private boolean created;
    private volatile boolean running;

    /**
     * Creates the initiators.
     *
     * @param node the node of this application
     * @param candidates gives the candidates at the first start; those that another context of the hierarchy elects may be among them
     * @param publisher tells the application
     * @param above those of the parent context, null if it has none
     */
    public PaxosLeaseLeaderInitiators(
            LeaseNode node,
            Supplier<List<Candidate>> candidates,
            LeaderEventPublisher publisher,
            @Nullable PaxosLeaseLeaderInitiators above) {
        this.node = node;
        this.candidates = candidates;
        this.publisher = publisher;
        this.byRole = above == null ? new HashMap<>() : above.byRole;
    }

    /**
     * The initiator of a role, in whichever context of the hierarchy it is.
     *
     * @param role the role
     * @return the initiator, empty if there is no candidate for the role or nothing has started yet
     */
    public Optional<PaxosLeaseLeaderInitiator> initiator(String role) {
        synchronized (byRole) {
            return Optional.ofNullable(byRole.get(role));
        }
    }

    @Override
    public synchronized void start() {
        if (!created) {
            created = true;
            candidates.get().forEach(this::create);
        }
        own.forEach(PaxosLeaseLeaderInitiator::start);
        running = true;
    }

    private void create(Candidate candidate) {
        synchronized (byRole) {
            PaxosLeaseLeaderInitiator other = byRole.get(candidate.getRole());
            if (other == null) {
                PaxosLeaseLeaderInitiator initiator = new PaxosLeaseLeaderInitiator(node, candidate, publisher);
                byRole.put(candidate.getRole(), initiator);
                own.add(initiator);
            } else if (other.candidate() != candidate || own.contains(other)) {
                throw new IllegalStateException(
                        "There are two candidates for the role '" + candidate.getRole() + "', "
                                + other.candidate() + " and " + candidate
                                + ". A node leads or does not, so both would lead at the same time."
                                + " Give them different roles, or make one of them a listener to OnGrantedEvent and OnRevokedEvent.");
            }
        }
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public synchronized void stop(Runnable callback) {
        running = false;
        if (own.isEmpty()) {
            callback.run();
            return;
        }
        AtomicInteger open = new AtomicInteger(own.size());
        own.forEach(initiator -> initiator.stop(() -> {
            if (open.decrementAndGet() == 0) {
                callback.run();
            }
        }));
    }

    /** Lets another context of the hierarchy have the roles. */
    @Override
    public synchronized void close() {
        synchronized (byRole) {
            byRole.values().removeAll(own);
        }
        own.forEach(PaxosLeaseLeaderInitiator::close);
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
