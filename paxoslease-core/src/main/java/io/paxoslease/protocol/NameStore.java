package io.paxoslease.protocol;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of names, one after another in slabs, each behind its length:
 *
 * <pre>
 *   slab 0   [ 16 lease-0000000001 | 16 lease-0000000002 | … ]     place of a name: number of its slab, offset
 *   slab 1   [ 16 lease-0000061681 | …                       ]
 * </pre>
 *
 * <p>Names are added behind the last one. Where many were dropped, those that are left in the emptiest slab are moved by their user, a few with each
 * name that is added or dropped ({@link #toMove}): so what is not in use comes down to half of what is, and two slabs, and no call takes long. A slab
 * is as long as what is stored, up to the length at which G1 does not move it ({@link Chunks}), and not much shorter than the others, because their
 * numbers are few. Not safe for concurrent use.
 */
final class NameStore {

    /** What {@link #toMove} answers where nothing is to be moved. */
    static final long NONE = -1;

    private static final int BITS = Chunks.DENSE_BITS;
    private static final int SLAB = Chunks.denseLength(Byte.BYTES);
    /** As many as a place has numbers for. */
    static final int MAX_SLABS = 1 << (Integer.SIZE - BITS);

    private static final int SMALLEST = 1 + Names.MAX_RESOURCE_BYTES;

    private byte[] @Nullable [] slabs = {new byte[SMALLEST]};
    /** Up to where each slab was filled. */
    private int[] ends = new int[1];
    /** How many bytes of each slab are in use. */
    private int[] live = new int[1];

    private int filling;
    private int emptying = -1;
    private int emptiedTo;
    private long liveBytes;
    private long allBytes = SMALLEST;
    private int slabCount = 1;
    private final int maxSlabs;

    NameStore(int maxSlabs) {
        this.maxSlabs = maxSlabs;
    }

    NameStore(NameStore other) {
        slabs = other.slabs.clone();
        for (int i = 0; i < slabs.length; i++) {
            byte[] slab = slabs[i];
            slabs[i] = slab == null ? null : slab.clone();
        }
        ends = other.ends.clone();
        live = other.live.clone();
        filling = other.filling;
        emptying = other.emptying;
        emptiedTo = other.emptiedTo;
        liveBytes = other.liveBytes;
        allBytes = other.allBytes;
        slabCount = other.slabCount;
        maxSlabs = other.maxSlabs;
    }

    /** Stores a name and returns its place. */
    int add(byte[] source, int start, int length) {
        byte[] slab = slab(filling);
        if (ends[filling] + 1 + length > slab.length) {
            slab = open();
        }
        int at = ends[filling];
        slab[at] = (byte) length;
        System.arraycopy(source, start, slab, at + 1, length);
        ends[filling] = at + 1 + length;
        count(filling, 1 + length);
        return filling << BITS | at;
    }

    /** Gives the place of a name back. */
    void drop(int place) {
        int number = number(place);
        count(number, -1 - length(place));
        if (live[number] == 0) {
            if (number == filling) {
                ends[number] = 0;
            } else {
                close(number);
            }
        }
    }

    /** The array in which the name at a place is. */
    byte[] bytes(int place) {
        return slab(number(place));
    }

    /** Where in its array the name at a place begins. */
    int start(int place) {
        return offset(place) + 1;
    }

    int length(int place) {
        return bytes(place)[offset(place)] & 0xff;
    }

    /** A place that is to be given back if the name there is still in use, after it was added again; NONE if nothing is to be moved. */
    long toMove() {
        if (isFull() && ends[filling] + SMALLEST > slab(filling).length) {
            return NONE;
        }
        if (emptying < 0) {
            emptying = emptiest();
            emptiedTo = 0;
        }
        if (emptying < 0) {
            return NONE;
        }
        int place = emptying << BITS | emptiedTo;
        emptiedTo += 1 + length(place);
        return Integer.toUnsignedLong(place);
    }

    /** Whether the last slab is being filled; it is for those who cannot be refused. */
    boolean isFull() {
        return slabCount >= maxSlabs;
    }

    /** How many bytes are taken, for names and for what was left of them. */
    long allBytes() {
        return allBytes;
    }

    private int emptiest() {
        int emptiest = -1;
        if (2 * allBytes > 3 * liveBytes + 4L * slab(filling).length) {
            int most = 0;
            for (int i = 0; i < slabs.length; i++) {
                if (i != filling && slabs[i] != null && ends[i] - live[i] > most) {
                    most = ends[i] - live[i];
                    emptiest = i;
                }
            }
        }
        return emptiest;
    }

    private byte[] open() {
        int number = 0;
        while (number < slabs.length && slabs[number] != null) {
            number++;
        }
        if (slabCount == maxSlabs) {
            throw new IllegalStateException(
                    "The names of resources take " + allBytes + " bytes, more than an index can number");
        }
        if (number == slabs.length) {
            slabs = Arrays.copyOf(slabs, number * 2);
            ends = Arrays.copyOf(ends, number * 2);
            live = Arrays.copyOf(live, number * 2);
        }
        byte[] slab = new byte[(int) Math.max(SMALLEST, Math.min(SLAB, Math.max(liveBytes, allBytes / 8)))];
        slabs[number] = slab;
        ends[number] = 0;
        allBytes += slab.length;
        slabCount++;
        filling = number;
        return slab;
    }

    private void close(int number) {
        allBytes -= slab(number).length;
        slabs[number] = null;
        slabCount--;
        if (number == emptying) {
            emptying = -1;
        }
    }

    private void count(int number, int bytes) {
        live[number] += bytes;
        liveBytes += bytes;
    }

    private byte[] slab(int number) {
        byte[] slab = slabs[number];
        if (slab == null) {
            throw new IllegalStateException("No name is stored in slab " + number);
        }
        return slab;
    }

    private static int number(int place) {
        return place >>> BITS;
    }

    private static int offset(int place) {
        return place & ((1 << BITS) - 1);
    }
}
