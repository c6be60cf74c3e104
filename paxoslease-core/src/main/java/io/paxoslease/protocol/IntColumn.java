package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A number for each slot of a table, zero where none was set. It grows by chunks and never copies more than one, so that no call takes
 * long; a chunk in which every number is zero takes no memory. Not safe for concurrent use.
 */
public final class IntColumn {

    /** Chunks are small enough for every garbage collector's young generation. */
    private static final int CHUNK_BITS = 10;

    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int SMALLEST = 8;

    private int[] @Nullable [] chunks = new int[1][];
    private short[] others = new short[1];

    /** The chunk that became all zeros last, so that a row that comes and goes does not make and drop one each time. */
    private int @Nullable [] spare;

    /** Creates a column of zeros. */
    public IntColumn() {}

    IntColumn(IntColumn other) {
        chunks = other.chunks.clone();
        others = other.others.clone();
        for (int i = 0; i < chunks.length; i++) {
            int[] chunk = chunks[i];
            chunks[i] = chunk == null ? null : chunk.clone();
        }
    }

    /** The number of a slot. */
    public int get(int slot) {
        int index = slot >>> CHUNK_BITS;
        int[] chunk = index < chunks.length ? chunks[index] : null;
        int at = slot & (CHUNK - 1);
        return chunk == null || at >= chunk.length ? 0 : chunk[at];
    }

    /** Sets the number of a slot. */
    public void set(int slot, int value) {
        int index = slot >>> CHUNK_BITS;
        int at = slot & (CHUNK - 1);
        int[] chunk = index < chunks.length ? chunks[index] : null;
        if (chunk == null || at >= chunk.length) {
            if (value == 0) {
                return;
            }
            chunk = grow(index, at);
        }
        int before = chunk[at];
        chunk[at] = value;
        if ((before == 0) != (value == 0)) {
            others[index] += (short) (value == 0 ? -1 : 1);
            if (others[index] == 0) {
                chunks[index] = null;
                spare = chunk;
            }
        }
    }

    private int[] grow(int index, int at) {
        if (index >= chunks.length) {
            int length = Math.max(index + 1, chunks.length * 2);
            chunks = java.util.Arrays.copyOf(chunks, length);
            others = java.util.Arrays.copyOf(others, length);
        }
        int[] old = chunks[index];
        int length = index > 0 ? CHUNK : Math.min(CHUNK, Math.max(SMALLEST, Integer.highestOneBit(at) * 2));
        int[] zeros = spare;
        int[] chunk;
        if (old != null) {
            chunk = java.util.Arrays.copyOf(old, length);
        } else if (zeros != null && zeros.length >= length) {
            chunk = zeros;
            spare = null;
        } else {
            chunk = new int[length];
        }
        chunks[index] = chunk;
        return chunk;
    }
}
