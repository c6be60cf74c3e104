package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * The leases that a proposer holds, in columns like the {@link AcceptorTable}. The owner is always the proposer itself.
 *
 * <pre>
 *   slot   counter (8)   token (8)   endNanos (8)   endWallAhead (4)    leaseNanos         spent
 *                                                   (from the first)    (from the first)
 *     0       …900          …500          end          0                    0                  0
 *     1       …700          …700          end         -1 ms                 0                …800: a failed extension
 * </pre>
 *
 * <p>The wall clock's deadline is kept as its distance from the monotonic one, which hardly changes, and T as its distance from the first
 * lease's: 28 bytes a row as long as most leases have the same T and none has a failed extension.
 */
final class HeldLeases {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Incarnation owner;
    private final ResourceIndex index;
    private final LongColumn counter;
    private final LongColumn token;
    private final LongColumn endNanos;
    private final NarrowColumn endWallAhead;
    private final NarrowColumn leaseNanos;
    private final LongColumn spent;
    private int rows;

    HeldLeases(Incarnation owner, ResourceIndex index) {
        this.owner = owner;
        this.index = index;
        this.counter = LongColumn.dense();
        this.token = LongColumn.dense();
        this.endNanos = LongColumn.dense();
        this.endWallAhead = NarrowColumn.dense();
        this.leaseNanos = NarrowColumn.sparse();
        this.spent = LongColumn.sparse();
    }

    /** An independent copy with an index of its own. */
    HeldLeases(HeldLeases other) {
        this.owner = other.owner;
        this.index = new ResourceIndex(other.index);
        this.counter = new LongColumn(other.counter);
        this.token = new LongColumn(other.token);
        this.endNanos = new LongColumn(other.endNanos);
        this.endWallAhead = new NarrowColumn(other.endWallAhead);
        this.leaseNanos = new NarrowColumn(other.leaseNanos);
        this.spent = new LongColumn(other.spent);
        this.rows = other.rows;
    }

    /** Where a lease is, {@link ResourceIndex#NONE} if it is not held; it stays there until it is removed. */
    int find(String resource) {
        return index.find(resource, ResourceIndex.PROPOSER);
    }

    /** The lease of this name, whose slot is known; null if that is {@link ResourceIndex#NONE}. */
    @Nullable
    Tenure get(String resource, int slot) {
        if (slot == ResourceIndex.NONE) {
            return null;
        }
        return new Tenure(
                resource, new Ballot(counter.get(slot), owner), token.get(slot), leaseNanos.get(slot), deadline(slot));
    }

    /** The ballot under which the lease was won last; null if it is not held. */
    @Nullable
    Ballot ballot(int slot) {
        return slot == ResourceIndex.NONE ? null : new Ballot(counter.get(slot), owner);
    }

    /** What the tenure that is held becomes by an extension; its deadline only moves on. */
    Tenure extended(Attempt attempt, Deadline deadline) {
        int slot = attempt.slot;
        return new Tenure(
                attempt.resource,
                attempt.ballot,
                token.get(slot),
                attempt.leaseNanos,
                deadline(slot).later(deadline));
    }

    /** Whether a row is there whose deadline is not past. */
    boolean isActive(int slot, Now now) {
        return slot != ResourceIndex.NONE && !deadline(slot).isPast(now);
    }

    int sixtyFourthsLeft(int slot, Now now) {
        Deadline deadline = deadline(slot);
        return deadline.isPast(now) ? 0 : (int) (64 * deadline.remainingNanos(now) / leaseNanos.get(slot));
    }

    private Deadline deadline(int slot) {
        long nanos = endNanos.get(slot);
        return new Deadline(nanos, nanos / NANOS_PER_MILLI + endWallAhead.get(slot));
    }

    /** Adds a lease that is not held. */
    void add(Tenure tenure) {
        int slot = index.add(tenure.resource(), ResourceIndex.PROPOSER);
        rows++;
        set(slot, tenure);
    }

    /** Puts a tenure in the place of the one before. */
    void set(int slot, Tenure tenure) {
        Deadline deadline = tenure.deadline();
        counter.set(slot, tenure.ballot().counter());
        token.set(slot, tenure.token());
        leaseNanos.set(slot, tenure.leaseNanos());
        endNanos.set(slot, deadline.nanos());
        endWallAhead.set(slot, deadline.wallMillis() - deadline.nanos() / NANOS_PER_MILLI);
    }

    void remove(int slot) {
        if (slot != ResourceIndex.NONE) {
            counter.set(slot, 0);
            token.set(slot, 0);
            leaseNanos.clear(slot);
            endNanos.set(slot, 0);
            endWallAhead.clear(slot);
            spent.set(slot, 0);
            rows--;
            index.remove(slot, ResourceIndex.PROPOSER);
        }
    }

    /** X5. The highest ballot of a failed extension whose records may still lie at acceptors, 0 if there was none. */
    long spent(int slot) {
        return slot == ResourceIndex.NONE ? 0 : spent.get(slot);
    }

    void spend(int slot, long ballotCounter) {
        spent.set(slot, Math.max(spent.get(slot), ballotCounter));
    }

    int size() {
        return rows;
    }

    ResourceIndex index() {
        return index;
    }
}
