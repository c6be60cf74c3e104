package io.paxoslease.protocol;

/** A set of 64-bit fingerprints in one open-addressing array: nothing but 8 to 16 bytes per state. */
final class Fingerprints {

    private long[] table = new long[1 << 16];
    private long size;

    /** Adds a fingerprint; answers whether it was new. */
    boolean add(long fingerprint) {
        long key = fingerprint == 0 ? 1 : fingerprint;
        if (size * 4 >= table.length * 3L) {
            grow();
        }
        if (!insert(table, key)) {
            return false;
        }
        size++;
        return true;
    }

    long size() {
        return size;
    }

    private void grow() {
        long[] larger = new long[table.length * 2];
        for (long key : table) {
            if (key != 0) {
                insert(larger, key);
            }
        }
        table = larger;
    }

    private static boolean insert(long[] table, long key) {
        int mask = table.length - 1;
        int at = (int) (key >>> 20) & mask;
        while (table[at] != 0) {
            if (table[at] == key) {
                return false;
            }
            at = (at + 1) & mask;
        }
        table[at] = key;
        return true;
    }

    /** Spreads the bits of a number (the finaliser of SplitMix64). */
    static long mix(long bits) {
        long z = bits + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    static long mix(long hash, long bits) {
        return mix(hash * 31 + bits);
    }
}
