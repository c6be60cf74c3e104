package io.paxoslease.node;

import io.paxoslease.Lease;
import io.paxoslease.LeaseLostException;
import io.paxoslease.protocol.Tenure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A tenure as the application sees it. Its state is the claim's tenure and the clock, nothing else. */
final class NodeLease implements Lease {

    private final LeaseNode node;
    private final Claim claim;
    private final long token;
    private final List<Runnable> lossActions = new ArrayList<>(0);
    private @Nullable Boolean lost;

    NodeLease(LeaseNode node, Claim claim, long token) {
        this.node = node;
        this.claim = claim;
        this.token = token;
    }

    @Override
    public String name() {
        return claim.resource;
    }

    @Override
    public String owner() {
        return node.incarnation().nodeId();
    }

    @Override
    public long fencingToken() {
        return token;
    }

    @Override
    public boolean isHeld() {
        Tenure tenure = tenure();
        return tenure != null && tenure.isActive(node.now());
    }

    @Override
    public Duration remaining() {
        Tenure tenure = tenure();
        return tenure == null
                ? Duration.ZERO
                : Duration.ofNanos(tenure.deadline().remainingNanos(node.now()));
    }

    @Override
    public void checkHeld() {
        if (!isHeld()) {
            throw new LeaseLostException(name(), token);
        }
    }

    @Override
    public boolean extend() {
        return tenure() != null && node.extend(claim, token);
    }

    @Override
    public Lease autoExtend() {
        if (tenure() != null) {
            node.autoExtend(claim);
        }
        return this;
    }

    @Override
    public void onLost(Runnable action) {
        synchronized (lossActions) {
            if (lost == null) {
                lossActions.add(action);
                return;
            }
            if (!lost) {
                return;
            }
        }
        node.runLossAction(name(), action);
    }

    @Override
    public void release() {
        if (tenure() != null) {
            node.release(claim, token);
        }
    }

    /** Told once that the tenure has ended. */
    void ended(boolean wasLost) {
        List<Runnable> actions;
        synchronized (lossActions) {
            lost = wasLost;
            actions = List.copyOf(lossActions);
            lossActions.clear();
        }
        if (wasLost) {
            actions.forEach(action -> node.runLossAction(name(), action));
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name() + ", owner " + owner() + ", token " + token + ", "
                + (isHeld() ? "held for " + remaining() : "not held") + "]";
    }

    private @Nullable Tenure tenure() {
        Tenure tenure = claim.tenure;
        return tenure != null && tenure.token() == token && !node.isFailed() ? tenure : null;
    }
}
