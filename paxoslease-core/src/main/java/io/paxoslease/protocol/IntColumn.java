package io.paxoslease.protocol;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A number for each slot of a table, zero where none was set. It grows by chunks and never copies more than one, so that no call takes
 * long; a chunk in which every number is zero takes no memory, but for the last of them. Not safe for concurrent use.
 */
public final class IntColumn {

    private final int bits;
    private final int chunkLength;
    /** By how much the first chunk is shorter than the others. */
    private final int phase;

    private int[] @Nullable [] chunks = new int[1][];
    private int[] others = new int[1];

    /** The chunk that became all zeros last, so that a row that comes and goes does not make and drop one each time. */
    private int @Nullable [] spare;

    private IntColumn(int bits, int chunkLength, int phase) {
        this.bits = bits;
        this.chunkLength = chunkLength;
        this.phase = phase;
    }

    IntColumn(IntColumn other) {
        this(other.bits, other.chunkLength, other.phase);
        chunks = other.chunks.clone();
        others = other.others.clone();
        for (int i = 0; i < chunks.length; i++) {
            int[] chunk = chunks[i];
            chunks[i] = chunk == null ? null : chunk.clone();
        }
    }

    /** Creates a column of zeros, most of which will be set, in long chunks. Only for slots of a {@link ResourceIndex}. */
    public static IntColumn dense() {
        return new IntColumn(Chunks.DENSE_BITS - 2, Chunks.denseLength(Integer.BYTES), Chunks.nextPhase());
    }

    /** Creates a column of zeros, most of which will stay, in short chunks. */
    public static IntColumn sparse() {
        return new IntColumn(Chunks.SPARSE_BITS, 1 << Chunks.SPARSE_BITS, 0);
    }

    /** The number of a slot. */
    public int get(int slot) {
        int index = index(slot);
        int[] chunk = index < chunks.length ? chunks[index] : null;
        int at = at(slot, index);
        return chunk == null || at >= chunk.length ? 0 : chunk[at];
    }

    /** Sets the number of a slot. */
    public void set(int slot, int value) {
        int index = index(slot);
        int at = at(slot, index);
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
            others[index] += value == 0 ? -1 : 1;
            if (others[index] == 0) {
                chunks[index] = null;
                spare = chunk;
            }
        }
    }

    private int index(int slot) {
        return (slot + phase) >>> bits;
    }

    private int at(int slot, int index) {
        return index == 0 ? slot : (slot + phase) & ((1 << bits) - 1);
    }

    private int[] grow(int index, int at) {
        if (index >= chunks.length) {
            int length = Math.max(index + 1, chunks.length * 2);
            chunks = Arrays.copyOf(chunks, length);
            others = Arrays.copyOf(others, length);
        }
        int[] old = chunks[index];
        int length = index > 0 ? chunkLength : Chunks.firstLength(at, chunkLength, phase);
        int[] zeros = spare;
        int[] chunk;
        if (old != null) {
            chunk = Arrays.copyOf(old, length);
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
