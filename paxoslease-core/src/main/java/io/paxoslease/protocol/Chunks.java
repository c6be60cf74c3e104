package io.paxoslease.protocol;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long the chunks of columns are. Memory that stays is best not handed to a garbage collector's young generation, which copies it, to pages that were
 * perhaps never touched before, while it stops everybody: G1 puts an array that is longer than half of one of its regions in regions of its own,
 * and never moves it. So a chunk of a column that is used throughout fills one region, or several if regions are smaller than is assumed here.
 *
 * <p>It is as many bytes as a region has but for {@link #HEADER_BYTES}. So that a slot is found by its bits nevertheless, as many slots are not used
 * at the end of each {@link #STRIDE}.
 */
final class Chunks {

    /** Of a column in which most numbers are zero, so that its chunks are often all zeros and take no memory. */
    static final int SPARSE_BITS = 10;

    /** Of as many bytes as a region has. */
    static final int DENSE_BITS = regionBits(Runtime.getRuntime().maxMemory());

    /** An array's, at most, with any options. */
    private static final int HEADER_BYTES = 24;

    private static final int STRIDE = 8_192;
    private static final int STRIDES = 16;
    private static final int SMALLEST = STRIDES;
    /** An array is short up to an eighth of a long chunk. */
    private static final int SHORT_BITS = 3;

    private static final AtomicInteger PHASE = new AtomicInteger();

    private Chunks() {}

    /** How many elements of so many bytes a region has room for in one array. */
    static int denseLength(int elementBytes) {
        return ((1 << DENSE_BITS) - HEADER_BYTES) / elementBytes;
    }

    /** Whether columns have room for a slot. */
    static boolean isUsable(int slot) {
        return (slot & (STRIDE - 1)) < STRIDE - HEADER_BYTES;
    }

    /** Long chunks take a while to clear. Columns begin theirs at different slots, so that no row waits for those of all its columns. */
    static int nextPhase() {
        return STRIDE * Math.floorMod(PHASE.getAndIncrement(), STRIDES);
    }

    /** How long a first chunk with room for {@code at} is: it doubles, in each column at other lengths, while it is short. */
    static int firstLength(int at, int chunkLength, int phase) {
        int length = SMALLEST + phase / STRIDE;
        while (length <= at) {
            length *= 2;
        }
        int longest = chunkLength - phase;
        return length <= chunkLength >> SHORT_BITS ? Math.min(length, longest) : longest;
    }

    /**
     * G1 divides its heap into some 2,048 regions of a power of two. Clearing more than four mebibytes would take long itself; so with more than
     * eight gigabytes of heap chunks are moved like other arrays.
     */
    static int regionBits(long heapBytes) {
        int bits = 20;
        while (1 << bits < heapBytes / 2048 && bits < 22) {
            bits++;
        }
        return bits;
    }
}
