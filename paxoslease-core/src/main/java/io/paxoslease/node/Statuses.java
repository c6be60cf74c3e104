package io.paxoslease.node;

import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Tenure;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

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
        Claim claim = candidacy.claims.peek();
        Tenure tenure = claim == null || loop.isFailed() ? null : claim.tenure;
        boolean held = tenure != null && tenure.isActive(now);
        Hint hint = loop.hint(candidacy, now);
        LeaseStatus.State state = held
                ? LeaseStatus.State.HELD
                : claim == null
                        ? LeaseStatus.State.STOPPED
                        : hint != null ? LeaseStatus.State.FOLLOWING : LeaseStatus.State.SEEKING;
        return new LeaseStatus(
                candidacy.resource,
                state,
                held ? settings.nodeId() : hint != null ? hint.owner().nodeId() : null,
                held,
                tenure != null && held ? (Long) tenure.token() : null,
                claim == null ? settings.lease(candidacy.resource).leaseTime() : Duration.ofNanos(claim.leaseNanos),
                tenure != null && held
                        ? Duration.ofNanos(tenure.deadline().remainingNanos(now))
                        : hint != null ? Duration.ofNanos(hint.freeAtNanos() - now.nanos()) : null,
                claim != null && held ? Instant.ofEpochMilli(claim.acquiredAtMillis) : null,
                claim != null && held && claim.autoExtend
                        ? Duration.ofNanos(Math.max(0, candidacy.resumeNanos - now.nanos()))
                        : null,
                claim != null && held ? claim.extensionCount : 0,
                claim != null);
    }
}
