package io.paxoslease.protocol;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One run of P1 to P4 for one resource under one ballot: a transient object that is gone as soon as the attempt has won or is
 * abandoned.
 */
final class Attempt {

    final String resource;
    final Ballot ballot;
    final long leaseNanos;
    final Deadline deadline;

    /** P1. The ballot of the lease that was held when the attempt began, null for a fresh attempt. */
    final @Nullable Ballot renewalBase;

    /** Where the lease is among those that are held, {@link ResourceIndex#NONE} if it is not, or not any more. */
    int slot;

    /** Whether proposals were sent: only then acceptors may hold records of this ballot (X5). */
    boolean proposing;

    /** The votes of the current phase. */
    Quorum votes = new Quorum();

    /** X8. Whether the proposals were sent without preparing. */
    boolean unprepared;

    /** X5. The highest ballot of this owner whose record an acceptor still has, 0 if none told so: its release was lost. */
    long stale;

    private boolean outbid;

    /** Whose lease stands in the way at each acceptor, and for how long; null and 0 where none is known to. */
    private Incarnation @Nullable [] holders;

    private long @Nullable [] busyNanos;

    Attempt(
            String resource,
            Ballot ballot,
            long leaseNanos,
            Deadline deadline,
            @Nullable Ballot renewalBase,
            int slot) {
        this.resource = resource;
        this.ballot = ballot;
        this.leaseNanos = leaseNanos;
        this.deadline = deadline;
        this.renewalBase = renewalBase;
        this.slot = slot;
    }

    Attempt(Attempt other) {
        this(other.resource, other.ballot, other.leaseNanos, other.deadline, other.renewalBase, other.slot);
        this.proposing = other.proposing;
        this.votes = new Quorum(other.votes);
        this.unprepared = other.unprepared;
        this.stale = other.stale;
        this.outbid = other.outbid;
        this.holders = other.holders == null ? null : other.holders.clone();
        this.busyNanos = other.busyNanos == null ? null : other.busyNanos.clone();
    }

    /** P3. */
    void beginProposing() {
        proposing = true;
        votes.clear();
    }

    /** Notes why an acceptor was against, for {@link #outcome}. No hint makes anybody wait for longer than M. */
    void noteOpposition(int acceptor, Response response, Cell cell, long maxLeaseNanos) {
        AcceptedLease lease = response.lease();
        if (lease == null || lease.ballot().owner().equals(ballot.owner())) {
            outbid = true;
            stale = lease == null ? stale : Math.max(stale, lease.ballot().counter());
        } else {
            if (holders == null || busyNanos == null) {
                holders = new Incarnation[cell.size()];
                busyNanos = new long[cell.size()];
            }
            holders[acceptor] = lease.ballot().owner();
            busyNanos[acceptor] = Math.max(1, Math.min(lease.remainingNanos(), maxLeaseNanos));
        }
    }

    /** Why the attempt failed, as far as its acceptors told. */
    Outcome outcome(Cell cell) {
        if (holders == null || busyNanos == null) {
            return outbid ? new Outcome.Outbid() : new Outcome.Unanswered();
        }
        long[] blocking = blocking(busyNanos);
        long freeInNanos = freeInNanos(blocking, cell);
        int last = busyNanos.length - 1;
        while (busyNanos[last] != freeInNanos) {
            last--;
        }
        Incarnation holder = holders[last];
        boolean several = false;
        for (Incarnation other : holders) {
            several |= other != null && !other.equals(holder);
        }
        return (unprepared || outbid) && (several || blocking.length < cell.majority())
                ? new Outcome.Split()
                : new Outcome.Blocked(holder, freeInNanos);
    }

    /** How long the acceptors that block will, the shortest first. Without a stream: whoever lost an election waits for its classes. */
    private static long[] blocking(long[] busyNanos) {
        long[] sorted = busyNanos.clone();
        Arrays.sort(sorted);
        int first = 0;
        while (sorted[first] == 0) {
            first++;
        }
        return Arrays.copyOfRange(sorted, first, sorted.length);
    }

    /** When enough of the acceptors that block could be free to make a majority with those in favour; the last if that is unknown. */
    private long freeInNanos(long[] sorted, Cell cell) {
        int needed = Math.max(1, cell.majority() - votes.inFavour());
        return sorted[Math.min(needed, sorted.length) - 1];
    }
}
