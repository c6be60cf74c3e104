package io.paxoslease.protocol;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor role for all resources of a cell: promises ballots, and excludes every other owner for the time of an accepted lease.
 *
 * <p>Deterministic: it has no clock, thread or random source. Not safe for concurrent use; the shell serialises calls. A {@code null}
 * answer means that the acceptor takes no part, which the proposer must count like a lost message; {@link #refusals()} tells why.
 *
 * <p>The package-private methods are the single decisions that the rules prescribe. They can be overridden only by tests, which weaken
 * one rule at a time and show what it is good for.
 */
public class Acceptor {

    /** Why an acceptor took no part. */
    public enum Refusal {
        /** A4. The acceptor was not opened yet or is quarantined. */
        QUARANTINED,
        /** X1. The lease time is above this acceptor's own maximum. */
        LEASE_TIME_ABOVE_MAXIMUM,
        /** X2. The counter is more than a day ahead of this acceptor's wall clock. */
        COUNTER_TOO_FAR_AHEAD,
        /** X4. There is no room for one more resource. */
        TABLE_FULL
    }

    /** How long a promise without a lease is remembered by itself at least, so that the proposal that follows it finds it. */
    static final long PROMISE_GRACE_NANOS = 1_000_000_000L;

    /**
     * How much longer than a whole quarantine an acceptor stands aside: a member that does not fit is asked again after 16 seconds at most, some of
     * that may be lost, and the member may be restarted meanwhile.
     */
    static final long ASIDE_NANOS = 60_000_000_000L;

    private static final int SWEPT_PER_REQUEST = 4;

    private final Timing timing;
    private final AcceptorTable table;
    private final int maxResources;
    private final Map<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
    private boolean open;
    private long votingFromNanos;
    /** The longest maximum of another node that is outlasted, 0 if there is none. */
    private long outlastedNanos;
    /** Until when it stands aside; when it was made if nobody asked for that. */
    private long asideUntilNanos;

    /**
     * Creates a blank acceptor that takes no part until it is opened.
     *
     * @param timing the bounds of the cell
     * @param maxResources how many resources it remembers at most
     * @param now the clocks; the wall clock is the first promise floor (X3)
     */
    public Acceptor(Timing timing, int maxResources, Now now) {
        this(timing, maxResources, now, new ResourceIndex());
    }

    /**
     * Creates a blank acceptor that shares the names of its resources with others.
     *
     * @param timing the bounds of the cell
     * @param maxResources how many resources it remembers at most
     * @param now the clocks; the wall clock is the first promise floor (X3)
     * @param index the names, shared with the proposer of the same node
     */
    public Acceptor(Timing timing, int maxResources, Now now, ResourceIndex index) {
        this.timing = timing;
        this.maxResources = maxResources;
        this.table = new AcceptorTable(now.counterFloor(), index);
        this.asideUntilNanos = now.nanos();
    }

    /** An independent copy with the same memory, for tests that explore what can happen next. */
    Acceptor(Acceptor other) {
        this.timing = other.timing;
        this.maxResources = other.maxResources;
        this.table = new AcceptorTable(other.table);
        this.refusals.putAll(other.refusals);
        this.open = other.open;
        this.votingFromNanos = other.votingFromNanos;
        this.outlastedNanos = other.outlastedNanos;
        this.asideUntilNanos = other.asideUntilNanos;
    }

    /** A4. Starts the quarantine; to be called when the node's own listening port is bound. */
    public void open(Now now) {
        openAfter(wholeQuarantineNanos(), now);
    }

    /**
     * A4. Stays silent for another node's maximum lease time, too, where that is longer than the own one: before it was restarted this acceptor may
     * have had that maximum, and have accepted such a lease, whose owner still holds it. Without effect once it votes: whoever raises the maximum
     * begins with one node, and the others are to go on.
     *
     * @return whether the quarantine is longer by that
     */
    public boolean outlast(long maxLeaseNanos, Now now) {
        long nanos = Math.min(maxLeaseNanos, Timing.MAX_LEASE_NANOS);
        long before = wholeQuarantineNanos();
        if (isVoting(now) || nanos <= before) {
            return false;
        }
        outlastedNanos = nanos;
        votingFromNanos += nanos - before;
        return true;
    }

    /**
     * A4, X9. Stays silent for a whole quarantine and a minute more, because another acceptor is there in its place, or a majority of another list
     * of members votes, which need not meet one of its own: were it to vote as well, two nodes might lead. To be called whenever that is heard. Who
     * votes goes on, so this is without effect once it votes; and where the others stop, the leases that they accepted are over before this one votes.
     */
    public void standAside(Now now) {
        if (!isVoting(now)) {
            asideUntilNanos = now.nanos() + wholeQuarantineNanos() + ASIDE_NANOS;
        }
    }

    /** A4. Takes part in nothing until it is opened again; to be called before the node's own listening port is given up. */
    public void close() {
        open = false;
    }

    /** Opens without a quarantine; only for a cell of one that lives and dies with its process. */
    public void openAtOnce(Now now) {
        openAfter(0, now);
    }

    private void openAfter(long quarantineNanos, Now now) {
        if (!open) {
            open = true;
            votingFromNanos = now.nanos() + quarantineNanos;
        }
    }

    private long wholeQuarantineNanos() {
        return Math.max(quarantineNanos(), outlastedNanos);
    }

    /** Whether the quarantine is over. */
    public boolean isVoting(Now now) {
        return open && now.hasReached(votingFromNanos) && now.hasReached(asideUntilNanos);
    }

    /** How long the quarantine lasts from now; all of it if the acceptor was not opened yet, zero if it is over. */
    public long quarantineRemainingNanos(Now now) {
        long quarantineNanos = open ? votingFromNanos - now.nanos() : wholeQuarantineNanos();
        return Math.max(0, Math.max(quarantineNanos, asideUntilNanos - now.nanos()));
    }

    /** Handles a request of any kind; null for a release, and if this acceptor takes no part. */
    public @Nullable Response onRequest(Request request, Now now) {
        if (request instanceof PrepareRequest prepare) {
            return onPrepareRequest(prepare, now);
        } else if (request instanceof ProposeRequest propose) {
            return onProposeRequest(propose, now);
        }
        onReleaseRequest((ReleaseRequest) request, now);
        return null;
    }

    /**
     * A1. Promises a ballot that is not below the promise and reports the live lease; otherwise rejects.
     *
     * @return the answer, or null if this acceptor takes no part
     */
    public @Nullable PrepareResponse onPrepareRequest(PrepareRequest request, Now now) {
        if (takesNoPart(request, request.leaseNanos(), now)) {
            return null;
        }
        int slot = table.find(request.resource());
        boolean promised = !isBelowPromise(slot, request.ballot());
        if (promised) {
            long endNanos = promiseEnd(request, now);
            slot = slot == ResourceIndex.NONE ? table.add(request.resource(), endNanos) : slot;
            table.promise(slot, request.ballot());
            if (!isLive(slot, now)) {
                table.clear(slot, endNanos);
            }
        }
        return new PrepareResponse(
                request.resource(), request.ballot(), promised, counterToTell(slot, now), liveLease(slot, now));
    }

    /**
     * A2. Accepts a ballot that is not below the promise while no other owner's lease is live; otherwise rejects.
     *
     * <p>The second condition is the heart of the safety proof. Without it a renewal across one acceptor's restart gives two owners.
     *
     * @return the answer, or null if this acceptor takes no part
     */
    public @Nullable ProposeResponse onProposeRequest(ProposeRequest request, Now now) {
        if (takesNoPart(request, request.leaseNanos(), now)) {
            return null;
        }
        Ballot ballot = request.ballot();
        int slot = table.find(request.resource());
        boolean accepted = !isBelowPromise(slot, ballot) && !isHeldByOther(slot, ballot.owner(), now);
        if (accepted) {
            slot = slot == ResourceIndex.NONE ? table.add(request.resource(), graceEnd(now)) : slot;
            long endNanos = recordEnd(slot, ballot, now.nanos() + request.leaseNanos(), now);
            if (raisesPromise()) {
                table.accept(slot, ballot, endNanos);
            } else {
                table.record(slot, ballot, endNanos);
            }
        }
        AcceptedLease against = accepted ? null : liveLease(slot, now);
        return new ProposeResponse(request.resource(), ballot, accepted, counterToTell(slot, now), against);
    }

    /**
     * A3, X5. Clears the record if the sender's incarnation made it at or below the ballot that it has given up, and accepts nothing at or below
     * that ballot any more: a proposal that comes after the release would exclude all others for a lease that nobody holds.
     *
     * @return whether a live lease ended by this
     */
    public boolean onReleaseRequest(ReleaseRequest request, Now now) {
        if (dropsReleases(now)) {
            refuse(Refusal.QUARANTINED);
            return false;
        }
        int slot = table.find(request.resource());
        Ballot lease = table.lease(slot);
        boolean live = isLive(slot, now);
        if (lease != null) {
            if (live && !isReleasedBy(request.ballot(), lease)) {
                return false;
            }
            table.clear(slot, graceEnd(now));
        }
        withdraw(slot, request, now);
        return live;
    }

    /** Promises to nobody what was given up. */
    private void withdraw(int slot, ReleaseRequest request, Now now) {
        long counter = request.ballot().counter();
        if (isBelowPromise(slot, request.ballot()) || BallotSequence.isTooFarAhead(counter, now)) {
            return;
        }
        if (slot == ResourceIndex.NONE) {
            table.sweep(now, SWEPT_PER_REQUEST);
            if (!hasRoom()) {
                return;
            }
            slot = table.add(request.resource(), graceEnd(now));
        }
        table.withdraw(slot, counter, graceEnd(now));
    }

    /** X4. Drops up to {@code rows} rows whose time is over; for the shell to call now and then when no requests come. */
    public void sweep(int rows, Now now) {
        table.sweep(now, rows);
    }

    /** The live lease of a resource, null if there is none. */
    public @Nullable AcceptedLease lease(String resource, Now now) {
        return liveLease(table.find(resource), now);
    }

    /** How many leases are recorded, counting expired ones until they are swept. */
    public int leases() {
        return table.leases();
    }

    /** How many resources are remembered, with and without a lease. */
    public int resources() {
        return table.size();
    }

    /** How often this acceptor took no part, by reason. */
    public Map<Refusal, Long> refusals() {
        return Map.copyOf(refusals);
    }

    // The decisions, one rule each.

    /** T3. */
    long quarantineNanos() {
        return timing.quarantineNanos();
    }

    /** A4. What arrives during the quarantine is dropped, releases too. */
    boolean dropsReleases(Now now) {
        return !isVoting(now);
    }

    /** A1, A2, X3. Below the promise, or beside it: an equal counter of another incarnation. */
    boolean isBelowPromise(int slot, Ballot ballot) {
        long promised = table.promised(slot);
        return ballot.counter() < promised
                || (ballot.counter() == promised && !ballot.owner().equals(table.promisedBy(slot)));
    }

    /** A2. Owners are incarnations: a restarted node is another owner. */
    boolean isHeldByOther(int slot, Incarnation proposer, Now now) {
        return isLive(slot, now) && !proposer.equals(table.leaseOwner(slot));
    }

    /** Whether accepting raises the promise to the ballot. */
    boolean raisesPromise() {
        return true;
    }

    /** X10. The same owner's record is never shortened: its older, longer deadline may rest on it. */
    long recordEnd(int slot, Ballot ballot, long endNanos, Now now) {
        return isLive(slot, now) && table.endNanos(slot) - endNanos > 0 ? table.endNanos(slot) : endNanos;
    }

    /** A3, X5. */
    boolean isReleasedBy(Ballot given, Ballot lease) {
        return lease.owner().equals(given.owner()) && lease.counter() <= given.counter();
    }

    /** T1. The record's end is stored and compared here; no timer decides. */
    boolean isLive(int slot, Now now) {
        return table.leaseOwner(slot) != null && !now.hasReached(table.endNanos(slot));
    }

    final AcceptorTable table() {
        return table;
    }

    private boolean takesNoPart(Request request, long leaseNanos, Now now) {
        Refusal reason = reasonToTakeNoPart(request, leaseNanos, now);
        if (reason != null) {
            refuse(reason);
        }
        return reason != null;
    }

    private @Nullable Refusal reasonToTakeNoPart(Request request, long leaseNanos, Now now) {
        if (!isVoting(now)) {
            return Refusal.QUARANTINED;
        }
        if (leaseNanos <= 0 || leaseNanos > timing.maxLeaseNanos()) {
            return Refusal.LEASE_TIME_ABOVE_MAXIMUM;
        }
        if (BallotSequence.isTooFarAhead(request.ballot().counter(), now)) {
            return Refusal.COUNTER_TOO_FAR_AHEAD;
        }
        table.sweep(now, SWEPT_PER_REQUEST);
        if (!hasRoom() && table.find(request.resource()) == ResourceIndex.NONE) {
            return Refusal.TABLE_FULL;
        }
        return null;
    }

    private boolean hasRoom() {
        return table.size() < maxResources && !table.isFull();
    }

    private void refuse(Refusal reason) {
        refusals.merge(reason, 1L, Long::sum);
    }

    private @Nullable AcceptedLease liveLease(int slot, Now now) {
        Ballot ballot = isLive(slot, now) ? table.lease(slot) : null;
        return ballot == null ? null : new AcceptedLease(ballot, table.endNanos(slot) - now.nanos());
    }

    /**
     * The promise; where that is the floor or nobody's, the own wall clock if it is ahead. In a busy cell the floor has gone on by the time a
     * ballot arrives that was chosen just above it (T4).
     */
    private long counterToTell(int slot, Now now) {
        long promised = table.promised(slot);
        return table.promisedBy(slot) == null ? Math.max(promised, now.counterFloor()) : promised;
    }

    /** Where answers take long the proposal comes late, though not after T. */
    private static long promiseEnd(PrepareRequest request, Now now) {
        long longest = Math.min(request.leaseNanos(), 10 * PROMISE_GRACE_NANOS);
        return now.nanos() + Math.max(PROMISE_GRACE_NANOS, longest);
    }

    private static long graceEnd(Now now) {
        return now.nanos() + PROMISE_GRACE_NANOS;
    }
}
