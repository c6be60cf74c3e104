package io.paxoslease.protocol;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An acceptor's memory: for each resource a promise and perhaps an accepted lease; for all others the promise floor (X4).
 *
 * <p>One row per resource with a live lease or a recent promise, kept in columns:
 *
 * <pre>
 *   slot   promised   promisedBy   lease (0 = none)   leaseOwner   endNanos
 *     0     …500       n1/5f3a        …500              n1/5f3a     end of the lease
 *     1     …700       n2/81c0          0                null       until when the promise is kept for its propose
 * </pre>
 */
final class AcceptorTable {

    private final ResourceIndex index;
    private long[] promised = new long[0];
    private @Nullable Incarnation[] promisedBy = new @Nullable Incarnation[0];
    private long[] lease = new long[0];
    private @Nullable Incarnation[] leaseOwner = new @Nullable Incarnation[0];
    private long[] endNanos = new long[0];
    private long floor;
    private int leases;
    private int hand;

    /** Creates an empty table whose every resource counts as promised at {@code floor}. */
    AcceptorTable(long floor) {
        this.index = new ResourceIndex();
        this.floor = floor;
    }

    AcceptorTable(AcceptorTable other) {
        this.index = new ResourceIndex(other.index);
        this.promised = other.promised.clone();
        this.promisedBy = other.promisedBy.clone();
        this.lease = other.lease.clone();
        this.leaseOwner = other.leaseOwner.clone();
        this.endNanos = other.endNanos.clone();
        this.floor = other.floor;
        this.leases = other.leases;
        this.hand = other.hand;
    }

    int find(String resource) {
        return index.find(resource);
    }

    /** Adds a row for a resource that has none, promised at the floor. */
    int add(String resource, long keepUntilNanos) {
        int slot = index.add(resource);
        if (slot >= promised.length) {
            int capacity = index.capacity();
            promised = Arrays.copyOf(promised, capacity);
            promisedBy = Arrays.copyOf(promisedBy, capacity);
            lease = Arrays.copyOf(lease, capacity);
            leaseOwner = Arrays.copyOf(leaseOwner, capacity);
            endNanos = Arrays.copyOf(endNanos, capacity);
        }
        promised[slot] = floor;
        promisedBy[slot] = null;
        lease[slot] = 0;
        leaseOwner[slot] = null;
        endNanos[slot] = keepUntilNanos;
        return slot;
    }

    /** What counts as promised for a slot, or for a resource without a row. */
    long promised(int slot) {
        return slot == ResourceIndex.NONE ? floor : Math.max(floor, promised[slot]);
    }

    /** Who was given the promise in force, null if it is the floor. */
    @Nullable
    Incarnation promisedBy(int slot) {
        return slot == ResourceIndex.NONE || promised[slot] < floor ? null : promisedBy[slot];
    }

    void promise(int slot, Ballot ballot) {
        promised[slot] = ballot.counter();
        promisedBy[slot] = ballot.owner();
    }

    /** The accepted lease whether live or not, null if there is none. */
    @Nullable
    Ballot lease(int slot) {
        Incarnation owner = slot == ResourceIndex.NONE ? null : leaseOwner[slot];
        return owner == null ? null : new Ballot(lease[slot], owner);
    }

    /** The owner of the accepted lease whether live or not, null if there is none. */
    @Nullable
    Incarnation leaseOwner(int slot) {
        return slot == ResourceIndex.NONE ? null : leaseOwner[slot];
    }

    long endNanos(int slot) {
        return endNanos[slot];
    }

    void record(int slot, Ballot ballot, long endNanos) {
        if (leaseOwner[slot] == null) {
            leases++;
        }
        lease[slot] = ballot.counter();
        leaseOwner[slot] = ballot.owner();
        this.endNanos[slot] = endNanos;
    }

    /** Forgets the accepted lease and keeps the promise for a while. */
    void clear(int slot, long keepUntilNanos) {
        if (leaseOwner[slot] != null) {
            leases--;
        }
        lease[slot] = 0;
        leaseOwner[slot] = null;
        endNanos[slot] = keepUntilNanos;
    }

    /** X4. Looks at up to {@code count} slots, continuing where the last call stopped, and drops the rows whose time is over. */
    void sweep(Now now, int count) {
        for (int i = Math.min(count, index.used()); i > 0; i--) {
            hand = hand + 1 < index.used() ? hand + 1 : 0;
            if (index.nameOrNull(hand) != null && now.hasReached(endNanos[hand])) {
                drop(hand);
            }
        }
    }

    /** X4. Raises the floor to the row's promise before the row is forgotten: a promise is never lowered. */
    void drop(int slot) {
        floor = Math.max(floor, promised[slot]);
        clear(slot, 0);
        promisedBy[slot] = null;
        index.remove(slot);
    }

    /** How many rows there are. */
    int size() {
        return index.size();
    }

    /** How many rows hold a lease that was not yet found expired. */
    int leases() {
        return leases;
    }

    long floor() {
        return floor;
    }
}
