package io.paxoslease.node;

import io.paxoslease.Lease;
import io.paxoslease.LeaseLostException;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Tenure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A tenure as the application sees it. Its state is the claim's tenure and the clock, nothing else. */
final class NodeLease implements Lease {

    private final LeaseNode node;
    private final Claim claim;
    private final long token;
    private final List<Runnable> lossActions = new ArrayList<>(0);
    private @Nullable Boolean lost;
    private volatile boolean over;

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
        return remainingNanos() > 0;
    }

    @Override
    public Duration remaining() {
        return Duration.ofNanos(remainingNanos());
    }

    private long remainingNanos() {
        Tenure tenure = tenure();
        if (tenure == null) {
            return 0;
        }
        Now now = node.now();
        long nanos = tenure.deadline().remainingNanos(now);
        if (nanos == 0) {
            // First: where this fails, nothing is said, and somebody else asks again.
            node.endTenure(claim, token, now);
            // What was once said to be over stays over, also if the wall clock that said so is set back.
            over = true;
        }
        return nanos;
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
        // Found where the lease ends, it would be a defect of the node.
        Objects.requireNonNull(action, "action");
        boolean already;
        synchronized (lossActions) {
            if (lost == null) {
                lossActions.add(action);
            } else if (!lost) {
                return;
            }
            already = lost != null;
        }
        if (already) {
            node.runLossAction(action);
        } else {
            node.pin(claim);
        }
    }

    @Override
    public void release() {
        if (tenure() != null) {
            // First: a lease that is over for the application, and not for the node, would be extended for good.
            node.release(claim, token);
            over = true;
        }
    }

    /** Told that the tenure has ended; once more where memory was short, and then it goes on where it failed. */
    void ended(boolean wasLost) {
        synchronized (lossActions) {
            lost = wasLost;
            if (!wasLost) {
                lossActions.clear();
            }
        }
        // None is added any more.
        while (!lossActions.isEmpty()) {
            node.runLossAction(lossActions.get(0));
            lossActions.remove(0);
        }
    }

    @Override
    public String toString() {
        return "Lease[" + name() + ", owner " + owner() + ", token " + token + ", "
                + (isHeld() ? "held for " + remaining() : "not held") + "]";
    }

    private @Nullable Tenure tenure() {
        Tenure tenure = claim.tenure(token);
        return over || node.isFailed() ? null : tenure;
    }
}
