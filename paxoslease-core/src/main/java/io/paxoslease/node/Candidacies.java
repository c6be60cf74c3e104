package io.paxoslease.node;

import io.paxoslease.node.Candidacy.State;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Tenure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Where the engine keeps what this node wants or watches: a {@link Candidacy} for each lease, but for those that are held and need nothing for now,
 * which are kept without objects in {@link ParkedLeases}.
 *
 * <p>A candidacy that has become quiet is parked when the next event comes, or if it does not extend itself, when many others have become so.
 * Not safe for concurrent use where nothing else is said.
 */
final class Candidacies {

    /** How many leases that do not extend themselves are not parked yet. */
    static final int MOST_YOUNG = 512;

    private final Incarnation self;
    private final Proposer proposer;
    private final TimerHeap timers;
    private final Map<String, Candidacy> active = new ConcurrentHashMap<>();
    private final ParkedLeases parked;
    private final List<Candidacy> quiet = new ArrayList<>();
    private final ArrayDeque<Candidacy> young = new ArrayDeque<>();
    private int extending;

    Candidacies(Incarnation self, Proposer proposer, TimerHeap timers) {
        this.self = self;
        this.proposer = proposer;
        this.timers = timers;
        this.parked = new ParkedLeases(proposer.index());
    }

    /** What is not parked of a resource, null if there is nothing. Safe to call without the lock. */
    @Nullable
    Candidacy active(String resource) {
        return active.get(resource);
    }

    /** What is not parked, in no order. Safe to call without the lock. */
    Collection<Candidacy> active() {
        return active.values();
    }

    /** What is not parked of a resource, made if there is nothing. */
    Candidacy activeOrNew(String resource) {
        return active.computeIfAbsent(resource, Candidacy::new);
    }

    /** What is parked. */
    ParkedLeases parked() {
        return parked;
    }

    /** How many are being extended. */
    int extending() {
        return extending;
    }

    /** Forgets what nobody wants or watches any more. */
    void remove(Candidacy candidacy) {
        timers.cancel(candidacy);
        active.remove(candidacy.resource);
    }

    /** Changes what a candidacy is doing. */
    void enter(Candidacy candidacy, State state) {
        candidacy.withheld = null;
        extending += (state == State.EXTENDING ? 1 : 0) - (candidacy.state == State.EXTENDING ? 1 : 0);
        candidacy.state = state;
    }

    // Parking.

    /** Makes a candidacy of what is parked; the caller sees to its timer. */
    Candidacy unpark(int slot) {
        return resume(parked.unpark(slot));
    }

    /** Makes a candidacy of what is parked, null if there is nothing; the caller sees to its timer. */
    @Nullable
    Candidacy unpark(String resource) {
        ParkedLeases.Row row = parked.unpark(resource);
        return row == null ? null : resume(row);
    }

    private Candidacy resume(ParkedLeases.Row row) {
        Candidacy candidacy = picture(row);
        active.put(candidacy.resource, candidacy);
        return candidacy;
    }

    /** Whether there is nothing to remember but the tenure of one claim and the time of its next extension. */
    static boolean isQuiet(Candidacy candidacy) {
        if (candidacy.state != State.HOLDING || candidacy.watched || candidacy.claims.size() != 1) {
            return false;
        }
        Claim claim = candidacy.firstClaim();
        return claim.tenure != null && !claim.isStanding() && !claim.isAwaited();
    }

    /** What extends itself is parked at once, since its extensions wait for those of others there. Other leases may be released soon. */
    void noteQuiet(Candidacy candidacy) {
        if (!candidacy.firstClaim().autoExtend) {
            if (!candidacy.young) {
                candidacy.young = true;
                young.add(candidacy);
            }
        } else if (!candidacy.quiet) {
            candidacy.quiet = true;
            quiet.add(candidacy);
        }
    }

    /** Parks what became quiet; to be called when what had happened to it has been told. */
    void parkQuiet() {
        for (Candidacy candidacy : quiet) {
            candidacy.quiet = false;
            parkIfQuiet(candidacy);
        }
        quiet.clear();
        while (young.size() > MOST_YOUNG) {
            Candidacy oldest = young.remove();
            oldest.young = false;
            parkIfQuiet(oldest);
        }
    }

    private void parkIfQuiet(Candidacy candidacy) {
        if (isQuiet(candidacy) && active.get(candidacy.resource) == candidacy) {
            park(candidacy);
        }
    }

    private void park(Candidacy candidacy) {
        Claim claim = candidacy.firstClaim();
        timers.cancel(candidacy);
        parked.park(new ParkedLeases.Row(
                candidacy.resource,
                claim.resumed ? null : claim,
                claim.autoExtend,
                claim.autoExtend ? ParkedLeases.coalesced(candidacy.dueNanos, claim.leaseNanos) : candidacy.dueNanos,
                claim.acquiredAtMillis,
                (int) Math.min(claim.extensionCount, Integer.MAX_VALUE)));
        active.remove(candidacy.resource);
    }

    // Pictures, which change nothing.

    /** What is known of a resource, null if nobody wants or watches it. */
    @Nullable
    Candidacy picture(String resource) {
        Candidacy candidacy = active.get(resource);
        ParkedLeases.Row row = candidacy == null ? parked.row(resource) : null;
        return row == null ? candidacy : picture(row);
    }

    /** What is parked in some slots, and stays there. */
    List<Candidacy> pictures(int fromSlot, int toSlot) {
        return parked.rows(fromSlot, toSlot).stream().map(this::picture).toList();
    }

    private Candidacy picture(ParkedLeases.Row row) {
        Tenure tenure = proposer.unsettledTenure(row.resource());
        if (tenure == null) {
            throw new IllegalStateException("Lease " + row.resource() + " is parked, but is not held");
        }
        Claim claim = row.claim() == null ? Claim.resumed(tenure) : row.claim();
        claim.autoExtend = row.autoExtend();
        claim.acquiredAtMillis = row.acquiredAtMillis();
        claim.extensionCount = row.extensions();
        Candidacy candidacy = new Candidacy(row.resource());
        candidacy.claims.add(claim);
        candidacy.state = State.HOLDING;
        candidacy.resumeNanos = row.dueNanos();
        candidacy.dueNanos = row.dueNanos();
        candidacy.told = Majority.EVERYBODY;
        candidacy.hint = new Hint(self, tenure.deadline().nanos());
        return candidacy;
    }
}
