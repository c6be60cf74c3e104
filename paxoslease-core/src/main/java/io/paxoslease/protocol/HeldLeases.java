package io.paxoslease.protocol;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The leases that a proposer holds, in columns like the {@link AcceptorTable}. The owner is always the proposer itself.
 */
final class HeldLeases {

    private final Incarnation owner;
    private final ResourceIndex index;
    private long[] counter = new long[0];
    private long[] token = new long[0];
    private long[] leaseNanos = new long[0];
    private long[] endNanos = new long[0];
    private long[] endWallMillis = new long[0];
    private long[] spent = new long[0];

    HeldLeases(Incarnation owner) {
        this.owner = owner;
        this.index = new ResourceIndex();
    }

    HeldLeases(HeldLeases other) {
        this.owner = other.owner;
        this.index = new ResourceIndex(other.index);
        this.counter = other.counter.clone();
        this.token = other.token.clone();
        this.leaseNanos = other.leaseNanos.clone();
        this.endNanos = other.endNanos.clone();
        this.endWallMillis = other.endWallMillis.clone();
        this.spent = other.spent.clone();
    }

    @Nullable
    Tenure get(String resource) {
        int slot = index.find(resource);
        return slot == ResourceIndex.NONE
                ? null
                : new Tenure(
                        resource,
                        new Ballot(counter[slot], owner),
                        token[slot],
                        leaseNanos[slot],
                        new Deadline(endNanos[slot], endWallMillis[slot]));
    }

    void put(Tenure tenure) {
        int slot = index.find(tenure.resource());
        if (slot == ResourceIndex.NONE) {
            slot = index.add(tenure.resource());
            ensureCapacity(slot);
            spent[slot] = 0;
        }
        counter[slot] = tenure.ballot().counter();
        token[slot] = tenure.token();
        leaseNanos[slot] = tenure.leaseNanos();
        endNanos[slot] = tenure.deadline().nanos();
        endWallMillis[slot] = tenure.deadline().wallMillis();
    }

    void remove(String resource) {
        int slot = index.find(resource);
        if (slot != ResourceIndex.NONE) {
            index.remove(slot);
        }
    }

    /** X5. The highest ballot of a failed extension whose records may still lie at acceptors, 0 if there was none. */
    long spent(String resource) {
        int slot = index.find(resource);
        return slot == ResourceIndex.NONE ? 0 : spent[slot];
    }

    void spend(String resource, long ballotCounter) {
        int slot = index.find(resource);
        spent[slot] = Math.max(spent[slot], ballotCounter);
    }

    int size() {
        return index.size();
    }

    private void ensureCapacity(int slot) {
        if (slot >= counter.length) {
            int capacity = index.capacity();
            counter = Arrays.copyOf(counter, capacity);
            token = Arrays.copyOf(token, capacity);
            leaseNanos = Arrays.copyOf(leaseNanos, capacity);
            endNanos = Arrays.copyOf(endNanos, capacity);
            endWallMillis = Arrays.copyOf(endWallMillis, capacity);
            spent = Arrays.copyOf(spent, capacity);
        }
    }
}
