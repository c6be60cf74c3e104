package io.paxoslease.node;

import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Tenure;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What dashboards are shown of the leases of a node. Safe to use from any thread. */
final class Statuses {

    /** How many parked leases are looked at before others have their turn. */
    private static final int SLOTS_PER_LOOK = 4_096;

    private final NodeSettings settings;
    private final NodeClock clock;
    private final LeaseEngine engine;
    private final NodeLoop loop;

    Statuses(NodeSettings settings, NodeClock clock, LeaseEngine engine, NodeLoop loop) {
        this.settings = settings;
        this.clock = clock;
        this.engine = engine;
        this.loop = loop;
    }

    /** One lease, empty if nobody on this node wants or watches it. */
    Optional<LeaseStatus> of(String leaseName) {
        return loop.ask(() -> {
            Candidacy candidacy = engine.picture(leaseName);
            return candidacy == null ? Optional.empty() : Optional.of(status(candidacy, clock.now()));
        });
    }

    /** As many as the limit says; what is parked is looked at piece by piece, so that the node goes on meanwhile. */
    Map<String, LeaseStatus> all(int limit) {
        Map<String, LeaseStatus> leases = new TreeMap<>();
        boolean more = true;
        for (int from = 0; more && leases.size() < limit; from += SLOTS_PER_LOOK) {
            int first = from;
            more = loop.ask(() -> {
                boolean last = engine.slots() - first <= SLOTS_PER_LOOK;
                if (first == 0 || last) {
                    // Again at the last look: what was parked at the first need not have been so when its slot came.
                    add(engine.candidacies(), limit, leases);
                }
                add(engine.parked(first, first + SLOTS_PER_LOOK), limit, leases);
                return !last;
            });
        }
        return leases;
    }

    private void add(Collection<Candidacy> candidacies, int limit, Map<String, LeaseStatus> leases) {
        Now now = clock.now();
        for (Candidacy candidacy : candidacies) {
            if (leases.size() >= limit) {
                return;
            }
            leases.put(candidacy.resource, status(candidacy, now));
        }
    }

    private LeaseStatus status(Candidacy candidacy, Now now) {
        // A node that failed seeks nothing any more.
        Claim claim = loop.isFailed() ? null : candidacy.claims.peek();
        Tenure tenure = claim == null ? null : claim.tenure;
        return claim != null && tenure != null && tenure.isActive(now)
                ? held(candidacy, claim, tenure, now)
                : notHeld(candidacy, claim, now);
    }

    private LeaseStatus held(Candidacy candidacy, Claim claim, Tenure tenure, Now now) {
        return new LeaseStatus(
                candidacy.resource,
                LeaseStatus.State.HELD,
                settings.nodeId(),
                true,
                tenure.token(),
                Duration.ofNanos(claim.leaseNanos),
                Duration.ofNanos(tenure.deadline().remainingNanos(now)),
                Instant.ofEpochMilli(claim.acquiredAtMillis),
                claim.autoExtend ? Duration.ofNanos(Math.max(0, candidacy.resumeNanos - now.nanos())) : null,
                claim.extensionCount,
                true);
    }

    private LeaseStatus notHeld(Candidacy candidacy, @Nullable Claim claim, Now now) {
        Hint hint = loop.hint(candidacy, now);
        LeaseStatus.State seeking = hint == null ? LeaseStatus.State.SEEKING : LeaseStatus.State.FOLLOWING;
        return new LeaseStatus(
                candidacy.resource,
                claim == null ? LeaseStatus.State.STOPPED : seeking,
                hint == null ? null : hint.owner().nodeId(),
                false,
                null,
                claim == null ? settings.lease(candidacy.resource).leaseTime() : Duration.ofNanos(claim.leaseNanos),
                hint == null ? null : Duration.ofNanos(hint.freeAtNanos() - now.nanos()),
                null,
                null,
                0,
                claim != null);
    }
}
