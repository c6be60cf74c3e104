package io.paxoslease.node;

import io.paxoslease.LeaderElection;
import io.paxoslease.LeaderHint;
import io.paxoslease.Lease;
import io.paxoslease.protocol.Now;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The standing candidacy of this node for one lease. */
final class NodeElection implements LeaderElection {

    private final LeaseNode node;
    private final Candidacy candidacy;
    private volatile @Nullable Claim claim;
    /** Who said that it needs it, and whether somebody started it without saying so. */
    private final Set<Object> needs = new HashSet<>();

    private boolean wanted;

    NodeElection(LeaseNode node, Candidacy candidacy) {
        this.node = node;
        this.candidacy = candidacy;
    }

    @Override
    public String name() {
        return candidacy.resource;
    }

    @Override
    public synchronized void start() {
        wanted = true;
        stand();
    }

    /** See {@link LeaseNode#startNeeded}. */
    synchronized void startNeeded(Object who) {
        needs.add(who);
        stand();
    }

    private void stand() {
        if (!isStarted() && node.mayStand(name())) {
            // Known before it can win, which may be before this returns.
            Claim standing = node.standing(name());
            claim = standing;
            node.stand(standing);
        }
    }

    /** See {@link LeaseNode#need}. */
    synchronized void need(Object who) {
        needs.add(who);
    }

    /** See {@link LeaseNode#needNoMore}. */
    synchronized void needNoMore(Object who) {
        if (needs.remove(who) && needs.isEmpty()) {
            stop();
        }
    }

    /** See {@link LeaseNode#isNeededByOthers}. */
    synchronized boolean isNeededByOthers(Object who) {
        return wanted || needs.size() > (needs.contains(who) ? 1 : 0);
    }

    boolean isStarted() {
        Claim current = claim;
        return current != null && !current.withdrawn;
    }

    @Override
    public synchronized void stop() {
        wanted = false;
        withdraw();
    }

    /** Stops it until it is started again by whoever stopped it, wanted or not as before; false if it was not started. */
    synchronized boolean withdraw() {
        Claim current = claim;
        if (current == null) {
            return false;
        }
        claim = null;
        node.withdraw(current);
        return true;
    }

    @Override
    public boolean isLeader() {
        NodeLease lease = currentLease();
        return lease != null && lease.isHeld();
    }

    @Override
    public Optional<Lease> lease() {
        NodeLease lease = currentLease();
        return lease != null && lease.isHeld() ? Optional.of(lease) : Optional.empty();
    }

    @Override
    public Optional<LeaderHint> leader() {
        Now now = node.now();
        return Optional.ofNullable(node.hint(candidacy, now))
                .map(hint -> new LeaderHint(hint.owner().nodeId(), Duration.ofNanos(hint.freeAtNanos() - now.nanos())));
    }

    @Override
    public void resign() {
        Claim current = claim;
        if (current != null) {
            node.resign(current);
        }
    }

    @Override
    public String toString() {
        return "LeaderElection[" + name() + (isLeader() ? ", led here" : isStarted() ? ", sought here" : "") + "]";
    }

    private @Nullable NodeLease currentLease() {
        Claim current = claim;
        return current == null ? null : current.lease;
    }
}
