package io.paxoslease.protocol;

/**
 * A {@link LongColumn} for numbers most of which are near to the first: it keeps the distance from it in four bytes, and eight only in
 * chunks where some distance needs them. Exact for every number. Not safe for concurrent use.
 */
public final class NarrowColumn {

    private final IntColumn low;
    private final IntColumn high;
    private long base;
    private boolean based;

    private NarrowColumn(IntColumn low) {
        this.low = low;
        this.high = IntColumn.sparse();
    }

    /** Creates an empty column of numbers most of which differ; no slot may be read before it was set. */
    public static NarrowColumn dense() {
        return new NarrowColumn(IntColumn.dense());
    }

    /** Creates an empty column of numbers most of which are equal; no slot may be read before it was set. */
    public static NarrowColumn sparse() {
        return new NarrowColumn(IntColumn.sparse());
    }

    NarrowColumn(NarrowColumn other) {
        low = new IntColumn(other.low);
        high = new IntColumn(other.high);
        base = other.base;
        based = other.based;
    }

    /** The number of a slot. */
    public long get(int slot) {
        int lower = low.get(slot);
        return base + ((long) ((lower >> 31) ^ high.get(slot)) << 32 | (lower & 0xffff_ffffL));
    }

    /** Sets the number of a slot. */
    public void set(int slot, long value) {
        if (!based) {
            base = value;
            based = true;
        }
        long distance = value - base;
        int lower = (int) distance;
        low.set(slot, lower);
        high.set(slot, (int) (distance >> 32) ^ (lower >> 31));
    }

    /** Gives the memory of a slot back. */
    public void clear(int slot) {
        low.set(slot, 0);
        high.set(slot, 0);
    }
}
