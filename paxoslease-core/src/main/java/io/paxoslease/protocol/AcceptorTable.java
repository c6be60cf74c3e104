package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * An acceptor's memory: for each resource a promise and perhaps an accepted lease; for all others the promise floor (X4).
 *
 * <p>One row per resource with a live lease or a recent promise, kept in columns:
 *
 * <pre>
 *   slot   state   promised (8)   promisedBy (4)   endNanos (8)                lease, leaseOwner
 *    (1)
 *     0    LEASE       …500          1             end of the lease            0, 0: the promised ballot is the lease
 *     1    ROW         …700          2             until when the promise is
 *                                                  kept for its propose
 *     2    LEASE       …900          2             end of the lease            -400, 1 ^ 2: …500 of owner 1
 * </pre>
 *
 * <p>A lease is kept as its distance from the promise, which accepting makes zero; chunks of zeros take no memory. So a row takes 21 bytes
 * beside its name in the {@link ResourceIndex}. Numbers for incarnations are in {@link Incarnations}.
 */
final class AcceptorTable {

    private static final int NO_ROW = 0;
    private static final int ROW = 1;
    private static final int LEASE = 2;

    private final ResourceIndex index;
    private final Incarnations incarnations;
    private final ByteColumn state;
    private final LongColumn promised;
    private final IntColumn promisedBy;
    private final LongColumn endNanos;
    private final LongColumn leaseFromPromised;
    private final IntColumn ownerFromPromised;
    private long floor;
    private int rows;
    private int leases;
    private int hand;

    /** Creates an empty table whose every resource counts as promised at {@code floor}. */
    AcceptorTable(long floor, ResourceIndex index) {
        this.index = index;
        this.incarnations = new Incarnations();
        this.state = ByteColumn.dense();
        this.promised = LongColumn.dense();
        this.promisedBy = IntColumn.dense();
        this.endNanos = LongColumn.dense();
        this.leaseFromPromised = LongColumn.sparse();
        this.ownerFromPromised = IntColumn.sparse();
        this.floor = floor;
    }

    /** An independent copy with an index of its own. */
    AcceptorTable(AcceptorTable other) {
        this.index = new ResourceIndex(other.index);
        this.incarnations = new Incarnations(other.incarnations);
        this.state = new ByteColumn(other.state);
        this.promised = new LongColumn(other.promised);
        this.promisedBy = new IntColumn(other.promisedBy);
        this.endNanos = new LongColumn(other.endNanos);
        this.leaseFromPromised = new LongColumn(other.leaseFromPromised);
        this.ownerFromPromised = new IntColumn(other.ownerFromPromised);
        this.floor = other.floor;
        this.rows = other.rows;
        this.leases = other.leases;
        this.hand = other.hand;
    }

    int find(String resource) {
        return index.find(resource, ResourceIndex.ACCEPTOR);
    }

    /** Adds a row for a resource that has none, promised at the floor. */
    int add(String resource, long keepUntilNanos) {
        int slot = index.add(resource, ResourceIndex.ACCEPTOR);
        state.set(slot, ROW);
        promised.set(slot, floor);
        endNanos.set(slot, keepUntilNanos);
        rows++;
        return slot;
    }

    /** What counts as promised for a slot, or for a resource without a row. */
    long promised(int slot) {
        return slot == ResourceIndex.NONE ? floor : Math.max(floor, promised.get(slot));
    }

    /** Who was given the promise in force, null if it is the floor or nobody's. */
    @Nullable
    Incarnation promisedBy(int slot) {
        return slot == ResourceIndex.NONE || promised.get(slot) < floor ? null : incarnations.get(promisedBy.get(slot));
    }

    void promise(int slot, Ballot ballot) {
        long lease = leaseCounter(slot);
        int owner = leaseOwnerId(slot);
        int before = promisedBy.get(slot);
        promised.set(slot, ballot.counter());
        promisedBy.set(slot, incarnations.use(ballot.owner()));
        incarnations.drop(before);
        if (hasLease(slot)) {
            setLease(slot, lease, owner);
        }
    }

    /** Promises a counter to nobody; in a row without a lease, which is kept until then at least: the floor is not to rise to what is new. */
    void withdraw(int slot, long counter, long keepUntilNanos) {
        promised.set(slot, counter);
        incarnations.drop(promisedBy.get(slot));
        promisedBy.set(slot, 0);
        if (keepUntilNanos - endNanos.get(slot) > 0) {
            endNanos.set(slot, keepUntilNanos);
        }
    }

    /** The accepted lease whether live or not, null if there is none. */
    @Nullable
    Ballot lease(int slot) {
        Incarnation owner = leaseOwner(slot);
        return owner == null ? null : new Ballot(leaseCounter(slot), owner);
    }

    /** The owner of the accepted lease whether live or not, null if there is none. */
    @Nullable
    Incarnation leaseOwner(int slot) {
        return slot == ResourceIndex.NONE || !hasLease(slot) ? null : incarnations.get(leaseOwnerId(slot));
    }

    long endNanos(int slot) {
        return endNanos.get(slot);
    }

    void record(int slot, Ballot ballot, long endNanos) {
        int before = leaseOwnerId(slot);
        if (!hasLease(slot)) {
            leases++;
            state.set(slot, LEASE);
        }
        setLease(slot, ballot.counter(), incarnations.use(ballot.owner()));
        incarnations.drop(before);
        this.endNanos.set(slot, endNanos);
    }

    /** Records a lease and promises its ballot, which is most often that of the next extension by the same owner. */
    void accept(int slot, Ballot ballot, long endNanos) {
        int owner = promisedBy.get(slot);
        if (hasLease(slot) && leaseOwnerId(slot) == owner && incarnations.is(owner, ballot.owner())) {
            promised.set(slot, ballot.counter());
            leaseFromPromised.set(slot, 0);
            this.endNanos.set(slot, endNanos);
        } else {
            promise(slot, ballot);
            record(slot, ballot, endNanos);
        }
    }

    /** Forgets the accepted lease and keeps the promise for a while. */
    void clear(int slot, long keepUntilNanos) {
        if (hasLease(slot)) {
            leases--;
            incarnations.drop(leaseOwnerId(slot));
            leaseFromPromised.set(slot, 0);
            ownerFromPromised.set(slot, 0);
            state.set(slot, ROW);
        }
        endNanos.set(slot, keepUntilNanos);
    }

    /** X4. Looks at up to {@code count} slots, continuing where the last call stopped, and drops the rows whose time is over. */
    void sweep(Now now, int count) {
        int used = index.used();
        for (int i = Math.min(count, used); i > 0; i--) {
            hand = hand + 1 < used ? hand + 1 : 0;
            if (state.get(hand) != NO_ROW && now.hasReached(endNanos.get(hand))) {
                drop(hand);
            }
        }
    }

    /** X4. Raises the floor to the row's promise before the row is forgotten: a promise is never lowered. */
    void drop(int slot) {
        floor = Math.max(floor, promised.get(slot));
        clear(slot, 0);
        incarnations.drop(promisedBy.get(slot));
        promisedBy.set(slot, 0);
        promised.set(slot, 0);
        state.set(slot, NO_ROW);
        rows--;
        index.remove(slot, ResourceIndex.ACCEPTOR);
    }

    /** Whether there is no room for other names. */
    boolean isFull() {
        return index.isFull();
    }

    /** How many rows there are. */
    int size() {
        return rows;
    }

    /** How many rows hold a lease that was not yet found expired. */
    int leases() {
        return leases;
    }

    long floor() {
        return floor;
    }

    /** How many incarnations rows refer to. */
    int incarnations() {
        return incarnations.size();
    }

    private boolean hasLease(int slot) {
        return state.get(slot) == LEASE;
    }

    private long leaseCounter(int slot) {
        return hasLease(slot) ? promised.get(slot) + leaseFromPromised.get(slot) : 0;
    }

    private int leaseOwnerId(int slot) {
        return hasLease(slot) ? promisedBy.get(slot) ^ ownerFromPromised.get(slot) : 0;
    }

    private void setLease(int slot, long counter, int ownerId) {
        leaseFromPromised.set(slot, counter - promised.get(slot));
        ownerFromPromised.set(slot, ownerId ^ promisedBy.get(slot));
    }
}
