package io.paxoslease.node;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * For each slot of a table the claim that holds it, or what remembers that claim, or nothing. A map would now and then move all its entries at
 * once, which takes long when there are hundreds of thousands; this one never moves any.
 */
final class ClaimColumn {

    private static final int CHUNK_BITS = 8;
    private static final int CHUNK = 1 << CHUNK_BITS;

    private @Nullable Object[] @Nullable [] chunks = new @Nullable Object[1][];
    private short[] used = new short[1];

    @Nullable
    Object get(int slot) {
        int index = slot >>> CHUNK_BITS;
        @Nullable Object[] chunk = index < chunks.length ? chunks[index] : null;
        return chunk == null ? null : chunk[slot & (CHUNK - 1)];
    }

    void set(int slot, @Nullable Object claim) {
        int index = slot >>> CHUNK_BITS;
        @Nullable Object[] chunk = index < chunks.length ? chunks[index] : null;
        if (chunk == null) {
            if (claim == null) {
                return;
            }
            chunk = makeChunk(index);
        }
        int at = slot & (CHUNK - 1);
        if ((chunk[at] == null) != (claim == null)) {
            used[index] += (short) (claim == null ? -1 : 1);
        }
        chunk[at] = claim;
        if (used[index] == 0) {
            chunks[index] = null;
        }
    }

    private @Nullable Object[] makeChunk(int index) {
        if (index >= chunks.length) {
            int length = Math.max(index + 1, chunks.length * 2);
            chunks = Arrays.copyOf(chunks, length);
            used = Arrays.copyOf(used, length);
        }
        @Nullable Object[] chunk = new @Nullable Object[CHUNK];
        chunks[index] = chunk;
        return chunk;
    }
}
