package io.paxoslease.protocol;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Gives each resource name a small number, its slot, by which tables keep their columns. The roles of one node can share an index: then a
 * name is stored once, and its slot is used again when every role has given it back.
 *
 * <pre>
 *   hash of the name --top bits--> segment --low bits--> place     name's chunk (256 slots)
 *                                  [ 0 | 18 | 0 | 3 | 0 … ]        offsets [ 17 | 0 | 34 … ]   users [ 3 | 1 | 0 … ]
 *                  5 bits of the hash, 27 of slot + 1; 0 = empty   bytes   [ 16 lease-0000000001 | 16 lease-… ]
 * </pre>
 *
 * <p>About 27 bytes for a name of 16, at ten million. A segment of the open-addressing table doubles on its own, and names move only within
 * their chunk, so no call takes longer than some milliseconds. The bits of the hash in an entry spare a look at other names, which are far
 * away in memory. Safe for concurrent use: every method is one short step under the index's own lock, which is the innermost one.
 */
public final class ResourceIndex {

    /** What {@link #find} answers for a name without a slot. */
    public static final int NONE = -1;

    /** Who uses a slot. */
    public static final int ACCEPTOR = 1;
    /** Who uses a slot. */
    public static final int PROPOSER = 2;
    /** Who uses a slot. */
    public static final int NODE = 4;

    private static final int SEGMENT_BITS = 10;
    private static final int SMALL = 8_192;
    private static final int SLOT_BITS = 27;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
    private static final int ENTRY_HASH_SHIFT = 40;
    private static final int MAX_SLOTS = SLOT_MASK - 1;
    private static final int CHUNK_BITS = 8;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int MAX_CHUNK_BYTES = 1 << 16;
    private static final char NOWHERE = 0xffff;
    private static final int MOST_RECENT = 32_768;
    private static final VarHandle EIGHT_BYTES =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private int[][] segments = {new int[16]};
    private int[] segmentSizes = {0};
    private byte[] @Nullable [] bytes = new byte[1][];
    private char[] @Nullable [] offsets = new char[1][];
    private byte[] @Nullable [] users = new byte[1][];
    private int[] filled = new int[1];
    private final IntColumn free;
    private int freeCount;
    private int used;
    private int size;

    private byte[] scratch = new byte[0];
    private int scratchLength;

    /**
     * Names that were asked for or told lately, by their hash code: one extension asks some ten times for the same one, many thousands are under
     * way at once, and the tables are far away in memory.
     */
    private @Nullable String[] recent = new @Nullable String[16];

    private int[] recentHashCodes = new int[16];
    private int[] recentSlots = new int[16];

    /** Behind the slot that was looked up last. Who has many leases asks for one after another, in the order in which they were added here. */
    private int next;

    /** Creates an empty index. */
    public ResourceIndex() {
        free = new IntColumn();
    }

    ResourceIndex(ResourceIndex other) {
        synchronized (other) {
            segments = other.segments.clone();
            for (int i = 0; i < segments.length; i++) {
                segments[i] = segments[i].clone();
            }
            segmentSizes = other.segmentSizes.clone();
            bytes = other.bytes.clone();
            offsets = other.offsets.clone();
            users = other.users.clone();
            for (int i = 0; i < bytes.length; i++) {
                byte[] names = bytes[i];
                char[] starts = offsets[i];
                byte[] bits = users[i];
                if (names != null && starts != null && bits != null) {
                    bytes[i] = names.clone();
                    offsets[i] = starts.clone();
                    users[i] = bits.clone();
                }
            }
            filled = other.filled.clone();
            free = new IntColumn(other.free);
            freeCount = other.freeCount;
            used = other.used;
            size = other.size;
        }
    }

    /** The slot of a name that a user has added, else NONE. */
    public synchronized int find(String name, int user) {
        int at = recentAt(name.hashCode());
        int slot = isRecent(name, at) ? recentSlots[at] : lookUp(name);
        return slot != NONE && (users(slot) & user) != 0 ? slot : NONE;
    }

    private int lookUp(String name) {
        if (!encode(name)) {
            return NONE;
        }
        if (next < used && users(next) != 0 && isScratch(next)) {
            return next++;
        }
        int slot = lookUp(hash());
        if (slot != NONE) {
            remember(name, slot);
            next = slot + 1;
        }
        return slot;
    }

    /** Looks at the name, which may be far away in memory, only if its hash code is the same. */
    private boolean isRecent(String name, int at) {
        return recentHashCodes[at] == name.hashCode() && name.equals(recent[at]);
    }

    private int recentAt(int hashCode) {
        return (hashCode ^ hashCode >>> 15) & (recent.length - 1);
    }

    private void remember(String name, int slot) {
        if (4 * size > recent.length && recent.length < MOST_RECENT) {
            recent = new @Nullable String[recent.length * 2];
            recentHashCodes = new int[recent.length];
            recentSlots = new int[recent.length];
        }
        int at = recentAt(name.hashCode());
        recent[at] = name;
        recentHashCodes[at] = name.hashCode();
        recentSlots[at] = slot;
    }

    private void forget(int slot) {
        int at = recentAt(hashCodeOf(slot));
        if (recentSlots[at] == slot) {
            recent[at] = null;
        }
    }

    /** That of the name as a string. */
    private int hashCodeOf(int slot) {
        byte[] names = part(bytes, slot);
        int start = start(slot) + 1;
        int end = start + (names[start - 1] & 0xff);
        int hashCode = 0;
        for (int i = start; i < end; i++) {
            if (names[i] < 0) {
                return name(slot).hashCode();
            }
            hashCode = 31 * hashCode + names[i];
        }
        return hashCode;
    }

    /** The slot of a name for a user who gives it back with {@link #remove}. */
    public synchronized int add(String name, int user) {
        int at = recentAt(name.hashCode());
        int slot = isRecent(name, at) ? recentSlots[at] : findOrStore(name);
        part(users, slot)[slot & (CHUNK - 1)] |= (byte) user;
        return slot;
    }

    private int findOrStore(String name) {
        if (!encode(name)) {
            throw new IllegalArgumentException("The name of a resource is too long: " + name);
        }
        long hash = hash();
        int slot = lookUp(hash);
        if (slot == NONE) {
            slot = freeCount > 0 ? popFree() : nextUnused();
            store(slot);
            insert(hash, slot);
            size++;
        }
        remember(name, slot);
        return slot;
    }

    private int nextUnused() {
        if (used == MAX_SLOTS) {
            throw new IllegalStateException("There are " + used + " resources, more than an index can number");
        }
        return used++;
    }

    /** Gives a slot back; it is used again when nobody uses it any more. */
    public synchronized void remove(int slot, int user) {
        byte[] chunk = part(users, slot);
        int at = slot & (CHUNK - 1);
        int left = chunk[at] & ~user;
        if (left == chunk[at]) {
            throw new IllegalStateException("Slot " + slot + " is not used by " + user);
        }
        if (left == 0) {
            forget(slot);
            erase(hashOf(slot), slot);
            free.set(freeCount++, slot);
            size--;
        }
        chunk[at] = (byte) left;
    }

    /** The name in a slot that is in use. */
    public synchronized String name(int slot) {
        if (slot >= used || users(slot) == 0) {
            throw new IllegalStateException("Slot " + slot + " holds no resource");
        }
        byte[] names = part(bytes, slot);
        int start = start(slot);
        String name = new String(names, start + 1, names[start] & 0xff, StandardCharsets.UTF_8);
        remember(name, slot);
        return name;
    }

    /** How many names have a slot. */
    public synchronized int size() {
        return size;
    }

    /** Every slot is below this. */
    public synchronized int used() {
        return used;
    }

    // Names.

    private boolean encode(String name) {
        int length = name.length();
        if (length > Names.MAX_RESOURCE_BYTES) {
            return false;
        }
        if (scratch.length < length) {
            scratch = new byte[Math.max(32, length)];
        }
        byte[] target = scratch;
        for (int i = 0; i < length; i++) {
            char unit = name.charAt(i);
            if (unit >= 0x80) {
                return encodeWide(name);
            }
            target[i] = (byte) unit;
        }
        scratchLength = length;
        return true;
    }

    private boolean encodeWide(String name) {
        byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
        scratch = utf8;
        scratchLength = utf8.length;
        return utf8.length <= Names.MAX_RESOURCE_BYTES;
    }

    private long hash() {
        return hash(scratch, 0, scratchLength);
    }

    private long hashOf(int slot) {
        byte[] names = part(bytes, slot);
        int start = start(slot);
        return hash(names, start + 1, names[start] & 0xff);
    }

    private static long hash(byte[] name, int start, int length) {
        long hash = length;
        int at = start;
        int end = start + length;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = mixed(hash ^ (long) EIGHT_BYTES.get(name, at));
        }
        long rest = 0;
        for (; at < end; at++) {
            rest = rest << Byte.SIZE | (name[at] & 0xff);
        }
        hash = mixed(hash ^ rest) * 0xbf58476d1ce4e5b9L;
        return hash ^ (hash >>> 32);
    }

    private static long mixed(long hash) {
        long product = hash * 0x9e3779b97f4a7c15L;
        return product ^ (product >>> 29);
    }

    private boolean isScratch(int slot) {
        byte[] names = part(bytes, slot);
        int start = start(slot);
        int length = names[start] & 0xff;
        return length == scratchLength
                && Arrays.equals(names, start + 1, start + 1 + length, scratch, 0, scratchLength);
    }

    private int start(int slot) {
        return part(offsets, slot)[slot & (CHUNK - 1)];
    }

    private int users(int slot) {
        return part(users, slot)[slot & (CHUNK - 1)];
    }

    private void store(int slot) {
        int chunk = slot >>> CHUNK_BITS;
        makeChunk(chunk);
        byte[] names = part(bytes, slot);
        char[] starts = part(offsets, slot);
        int at = slot & (CHUNK - 1);
        int start = starts[at];
        if (start == NOWHERE || (names[start] & 0xff) < scratchLength) {
            starts[at] = NOWHERE;
            if (filled[chunk] + 1 + scratchLength > names.length) {
                names = repack(chunk, 1 + scratchLength);
            }
            start = filled[chunk];
            starts[at] = (char) start;
            filled[chunk] += 1 + scratchLength;
        }
        names[start] = (byte) scratchLength;
        System.arraycopy(scratch, 0, names, start + 1, scratchLength);
    }

    private void makeChunk(int chunk) {
        if (chunk >= bytes.length) {
            int length = bytes.length * 2;
            bytes = Arrays.copyOf(bytes, length);
            offsets = Arrays.copyOf(offsets, length);
            users = Arrays.copyOf(users, length);
            filled = Arrays.copyOf(filled, length);
        }
        if (bytes[chunk] == null) {
            bytes[chunk] = new byte[64];
            users[chunk] = new byte[CHUNK];
            char[] starts = new char[CHUNK];
            Arrays.fill(starts, NOWHERE);
            offsets[chunk] = starts;
        }
    }

    /** Moves the names of a chunk together, into an array with room for one more, and for as many more of that kind as it will have. */
    private byte[] repack(int chunk, int room) {
        int first = chunk << CHUNK_BITS;
        byte[] names = part(bytes, first);
        char[] starts = part(offsets, first);
        byte[] bits = part(users, first);
        int needed = room;
        int count = 1;
        for (int i = 0; i < CHUNK; i++) {
            if (bits[i] != 0) {
                needed += 1 + (names[starts[i]] & 0xff);
                count++;
            }
        }
        int all = Math.min(MAX_CHUNK_BYTES, needed + needed / count * (CHUNK - count));
        byte[] packed = new byte[Math.max(needed, Math.min(all, needed * 2))];
        int end = 0;
        for (int i = 0; i < CHUNK; i++) {
            if (bits[i] != 0) {
                int length = 1 + (names[starts[i]] & 0xff);
                System.arraycopy(names, starts[i], packed, end, length);
                starts[i] = (char) end;
                end += length;
            } else {
                starts[i] = NOWHERE;
            }
        }
        bytes[chunk] = packed;
        filled[chunk] = end;
        return packed;
    }

    private int popFree() {
        int slot = free.get(--freeCount);
        free.set(freeCount, 0);
        return slot;
    }

    // The open-addressing table.

    private int segmentOf(long hash) {
        return segments.length == 1 ? 0 : (int) (hash >>> (64 - SEGMENT_BITS));
    }

    private int lookUp(long hash) {
        int[] segment = segments[segmentOf(hash)];
        int mask = segment.length - 1;
        int bits = hashBits(hash);
        for (int at = (int) hash & mask; segment[at] != 0; at = (at + 1) & mask) {
            int entry = segment[at];
            if ((entry & ~SLOT_MASK) == bits && isScratch(slotOf(entry))) {
                return slotOf(entry);
            }
        }
        return NONE;
    }

    /** Bits of a hash that neither choose the segment nor the place, where an entry has them. */
    private static int hashBits(long hash) {
        return (int) (hash >>> ENTRY_HASH_SHIFT) << SLOT_BITS;
    }

    private static int slotOf(int entry) {
        return (entry & SLOT_MASK) - 1;
    }

    private void insert(long hash, int slot) {
        if (size == SMALL && segments.length == 1) {
            split();
        }
        int number = segmentOf(hash);
        if (segmentSizes[number] * 4 >= segments[number].length * 3) {
            grow(number);
        }
        put(number, hash, slot);
    }

    private void put(int number, long hash, int slot) {
        int[] segment = segments[number];
        int mask = segment.length - 1;
        int at = (int) hash & mask;
        while (segment[at] != 0) {
            at = (at + 1) & mask;
        }
        segment[at] = hashBits(hash) | (slot + 1);
        segmentSizes[number]++;
    }

    private void grow(int number) {
        int[] old = segments[number];
        segments[number] = new int[old.length * 2];
        segmentSizes[number] = 0;
        for (int entry : old) {
            if (entry != 0) {
                put(number, hashOf(slotOf(entry)), slotOf(entry));
            }
        }
    }

    private void split() {
        int[] old = segments[0];
        segments = new int[1 << SEGMENT_BITS][];
        segmentSizes = new int[1 << SEGMENT_BITS];
        Arrays.setAll(segments, i -> new int[16]);
        for (int entry : old) {
            if (entry != 0) {
                long hash = hashOf(slotOf(entry));
                int number = segmentOf(hash);
                if (segmentSizes[number] * 4 >= segments[number].length * 3) {
                    grow(number);
                }
                put(number, hash, slotOf(entry));
            }
        }
    }

    /** Takes an entry out and moves those behind it that would not be found any more. */
    private void erase(long hash, int slot) {
        int number = segmentOf(hash);
        int[] segment = segments[number];
        int mask = segment.length - 1;
        int hole = (int) hash & mask;
        while (slotOf(segment[hole]) != slot) {
            hole = (hole + 1) & mask;
        }
        for (int at = (hole + 1) & mask; segment[at] != 0; at = (at + 1) & mask) {
            int home = (int) hashOf(slotOf(segment[at])) & mask;
            if (((at - home) & mask) >= ((at - hole) & mask)) {
                segment[hole] = segment[at];
                hole = at;
            }
        }
        segment[hole] = 0;
        segmentSizes[number]--;
    }

    private static byte[] part(byte[] @Nullable [] chunks, int slot) {
        byte[] chunk = chunks[slot >>> CHUNK_BITS];
        if (chunk == null) {
            throw new IllegalStateException("Slot " + slot + " was never used");
        }
        return chunk;
    }

    private static char[] part(char[] @Nullable [] chunks, int slot) {
        char[] chunk = chunks[slot >>> CHUNK_BITS];
        if (chunk == null) {
            throw new IllegalStateException("Slot " + slot + " was never used");
        }
        return chunk;
    }
}
