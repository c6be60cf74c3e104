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
 *   hash of the name --top bits--> segment --low bits--> place     slot   place of the name (4)   users (1)
 *                                  [ 0 | 18 | 0 | 3 | 0 … ]         2      …34 in a NameStore      ACCEPTOR | NODE
 *                  5 bits of the hash, 27 of slot + 1; 0 = empty    17     …578                    ACCEPTOR
 * </pre>
 *
 * <p>About 28 bytes for a name of 16, at ten million. A segment of the open-addressing table doubles on its own, and few names are moved at a
 * time, so no call takes longer than some milliseconds. The bits of the hash in an entry spare a look at other names, which are far
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
    private static final int SMALLEST_SEGMENT = 16;
    /** From which length on segments are in slabs: all of that length fill one. */
    private static final int LONG_SEGMENT = 256;

    private static final int SLAB = Chunks.denseLength(Integer.BYTES);
    private static final int SMALL = 8_192;
    /** For those who cannot be refused. */
    private static final int FEW = 1 << 20;

    private static final int SLOT_BITS = 27;
    private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
    private static final int ENTRY_HASH_SHIFT = 40;
    private static final int MAX_SLOTS = SLOT_MASK - 1;
    /** As many times the bytes of a name that is added or dropped; a third of what is moved is not in use, so three would keep pace. */
    private static final int MOVED_AT_ONCE = 4;

    private static final int MOST_RECENT = 32_768;
    private static final VarHandle EIGHT_BYTES =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private Segment[] segments = {new Segment(new int[SMALLEST_SEGMENT], 0, SMALLEST_SEGMENT)};
    /** Where the next segments are made: they stay, and G1 does not move long arrays. */
    private int[] slab = {};

    private int slabEnd;

    private final ByteColumn users;
    /** Of a slot that is not in use, the next one of those. */
    private final IntColumn places;

    private final NameStore names;
    private int firstFree = NONE;
    private int used;
    private int size;
    private volatile boolean full;

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

    /** A part of the open-addressing table: a power of two of entries, after the last of which comes the first. */
    private static final class Segment {
        final int[] entries;
        final int start;
        final int mask;
        int size;

        Segment(int[] entries, int start, int length) {
            this.entries = entries;
            this.start = start;
            this.mask = length - 1;
        }

        Segment(Segment other) {
            this(Arrays.copyOfRange(other.entries, other.start, other.start + other.mask + 1), 0, other.mask + 1);
            size = other.size;
        }

        int get(int at) {
            return entries[start + (at & mask)];
        }

        void set(int at, int entry) {
            entries[start + (at & mask)] = entry;
        }
    }

    private final long seed;

    /** Creates an empty index for names that nobody chooses to be slow. */
    public ResourceIndex() {
        this(0);
    }

    /**
     * Creates an empty index.
     *
     * @param seed what nobody outside knows: names may come from outside, and who could tell where they lie would choose some that all lie in
     *     one place, so that each call looks at all of them
     */
    public ResourceIndex(long seed) {
        this(seed, NameStore.MAX_SLABS);
    }

    ResourceIndex(long seed, int maxSlabs) {
        this.seed = seed;
        users = ByteColumn.dense();
        places = IntColumn.dense();
        names = new NameStore(maxSlabs);
    }

    ResourceIndex(ResourceIndex other) {
        synchronized (other) {
            seed = other.seed;
            segments = new Segment[other.segments.length];
            Arrays.setAll(segments, i -> new Segment(other.segments[i]));
            users = new ByteColumn(other.users);
            places = new IntColumn(other.places);
            names = new NameStore(other.names);
            firstFree = other.firstFree;
            used = other.used;
            size = other.size;
            full = other.full;
        }
    }

    /** The slot of a name that a user has added, else NONE. */
    public synchronized int find(String name, int user) {
        int at = recentAt(name.hashCode());
        int slot = isRecent(name, at) ? recentSlots[at] : lookUp(name);
        return slot != NONE && (users.get(slot) & user) != 0 ? slot : NONE;
    }

    private int lookUp(String name) {
        if (!encode(name)) {
            return NONE;
        }
        if (next < used && users.get(next) != 0 && isScratch(next)) {
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
        int place = places.get(slot);
        byte[] bytes = names.bytes(place);
        int start = names.start(place);
        int end = start + names.length(place);
        int hashCode = 0;
        for (int i = start; i < end; i++) {
            if (bytes[i] < 0) {
                return name(slot).hashCode();
            }
            hashCode = 31 * hashCode + bytes[i];
        }
        return hashCode;
    }

    /** The slot of a name for a user who gives it back with {@link #remove}. */
    public synchronized int add(String name, int user) {
        int at = recentAt(name.hashCode());
        int slot = isRecent(name, at) ? recentSlots[at] : findOrStore(name);
        users.set(slot, users.get(slot) | user);
        return slot;
    }

    private int findOrStore(String name) {
        if (!encode(name)) {
            throw new IllegalArgumentException("The name of a resource is too long: " + name);
        }
        long hash = hash();
        int slot = lookUp(hash);
        if (slot == NONE) {
            int place = names.add(scratch, 0, scratchLength);
            slot = firstFree != NONE ? popFree() : nextUnused();
            places.set(slot, place);
            insert(hash, slot);
            size++;
            moveSome(scratchLength);
            noteWhetherFull();
        }
        remember(name, slot);
        return slot;
    }

    private int nextUnused() {
        while (!Chunks.isUsable(used)) {
            used++;
        }
        if (used >= MAX_SLOTS) {
            throw new IllegalStateException("There are " + size + " resources, more than an index can number");
        }
        return used++;
    }

    /** Gives a slot back; it is used again when nobody uses it any more. */
    public synchronized void remove(int slot, int user) {
        int before = users.get(slot);
        int left = before & ~user;
        if (left == before) {
            throw new IllegalStateException("Slot " + slot + " is not used by " + user);
        }
        if (left == 0) {
            forget(slot);
            int place = places.get(slot);
            int length = names.length(place);
            erase(hashAt(place), slot);
            names.drop(place);
            places.set(slot, firstFree);
            firstFree = slot;
            size--;
            moveSome(length);
            noteWhetherFull();
        }
        users.set(slot, left);
    }

    /** The name in a slot that is in use. */
    public synchronized String name(int slot) {
        if (slot >= used || users.get(slot) == 0) {
            throw new IllegalStateException("Slot " + slot + " holds no resource");
        }
        int place = places.get(slot);
        String name = new String(names.bytes(place), names.start(place), names.length(place), StandardCharsets.UTF_8);
        remember(name, slot);
        return name;
    }

    /** Whether there is hardly room for more names: at about four gigabytes of them, or 130 million. */
    public boolean isFull() {
        return full;
    }

    private void noteWhetherFull() {
        boolean isFull = names.isFull() || used >= MAX_SLOTS - FEW && firstFree == NONE;
        if (isFull != full) {
            full = isFull;
        }
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
        return hash(seed, scratch, 0, scratchLength);
    }

    private long hashOf(int slot) {
        return hashAt(places.get(slot));
    }

    private long hashAt(int place) {
        return hash(seed, names.bytes(place), names.start(place), names.length(place));
    }

    static long hash(long seed, byte[] name, int start, int length) {
        long factor = (seed ^ seed >>> 32) * 0xbf58476d1ce4e5b9L + 0x9e3779b97f4a7c15L | 1;
        long hash = seed ^ length;
        int at = start;
        int end = start + length;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = mixed(hash ^ (long) EIGHT_BYTES.get(name, at), factor);
        }
        long rest = 0;
        for (; at < end; at++) {
            rest = rest << Byte.SIZE | (name[at] & 0xff);
        }
        return mixed(hash ^ rest, factor) * 0xbf58476d1ce4e5b9L;
    }

    /** Both halves of the product: what it does to a difference depends on all bits of both, so that nobody can undo it without the seed. */
    private static long mixed(long hash, long factor) {
        return Math.multiplyHigh(hash, factor) ^ hash * factor;
    }

    private boolean isScratch(int slot) {
        int place = places.get(slot);
        int start = names.start(place);
        return names.length(place) == scratchLength
                && Arrays.equals(names.bytes(place), start, start + scratchLength, scratch, 0, scratchLength);
    }

    /** Moves more bytes than were just added or dropped, where many are not in use. */
    private void moveSome(int length) {
        int bytes = 0;
        while (bytes < MOVED_AT_ONCE * (1 + length)) {
            long next = names.toMove();
            if (next == NameStore.NONE) {
                return;
            }
            int place = (int) next;
            int moved = names.length(place);
            int slot = slotAt(place);
            if (slot != NONE) {
                places.set(slot, names.add(names.bytes(place), names.start(place), moved));
                names.drop(place);
            }
            bytes += 1 + moved;
        }
    }

    /** The slot whose name is at a place, NONE if that is not in use. */
    private int slotAt(int place) {
        long hash = hashAt(place);
        Segment segment = segments[segmentOf(hash)];
        int bits = hashBits(hash);
        int entry;
        for (int at = (int) hash; (entry = segment.get(at)) != 0; at++) {
            if ((entry & ~SLOT_MASK) == bits && places.get(slotOf(entry)) == place) {
                return slotOf(entry);
            }
        }
        return NONE;
    }

    private int popFree() {
        int slot = firstFree;
        firstFree = places.get(slot);
        return slot;
    }

    // The open-addressing table.

    private int segmentOf(long hash) {
        return segments.length == 1 ? 0 : (int) (hash >>> (64 - SEGMENT_BITS));
    }

    private int lookUp(long hash) {
        Segment segment = segments[segmentOf(hash)];
        int bits = hashBits(hash);
        int entry;
        for (int at = (int) hash; (entry = segment.get(at)) != 0; at++) {
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
        put(hash, slot);
    }

    private void split() {
        Segment old = segments[0];
        segments = new Segment[1 << SEGMENT_BITS];
        Arrays.setAll(segments, i -> makeSegment(SMALLEST_SEGMENT));
        putAll(old);
    }

    private void put(long hash, int slot) {
        int number = segmentOf(hash);
        Segment segment = segments[number];
        if (mustDouble(number, segment)) {
            segments[number] = makeSegment(2 * (segment.mask + 1));
            putAll(segment);
            segment = segments[number];
        }
        int at = (int) hash;
        while (segment.get(at) != 0) {
            at++;
        }
        segment.set(at, hashBits(hash) | (slot + 1));
        segment.size++;
    }

    private void putAll(Segment old) {
        for (int at = 0; at <= old.mask; at++) {
            int entry = old.get(at);
            if (entry != 0) {
                put(hashOf(slotOf(entry)), slotOf(entry));
            }
        }
    }

    /** Segments are filled to 10 to 13 sixteenths, each to another part: all fill alike, and must not double at the same time. */
    private boolean mustDouble(int number, Segment segment) {
        long limit = (10L << SEGMENT_BITS) + 3L * number;
        return (long) segment.size << (4 + SEGMENT_BITS) >= (segment.mask + 1) * limit;
    }

    /** A slab that no segment is in any more is garbage: segments next to each other are made, and given up, one after another. */
    private Segment makeSegment(int length) {
        if (length < LONG_SEGMENT || length > SLAB || segments.length == 1) {
            return new Segment(new int[length], 0, length);
        }
        if (slabEnd + length > slab.length) {
            slab = new int[SLAB];
            slabEnd = 0;
        }
        slabEnd += length;
        return new Segment(slab, slabEnd - length, length);
    }

    /** Takes an entry out and moves those behind it that would not be found any more. */
    private void erase(long hash, int slot) {
        Segment segment = segments[segmentOf(hash)];
        int hole = (int) hash;
        while (slotOf(segment.get(hole)) != slot) {
            hole++;
        }
        int entry;
        for (int at = hole + 1; (entry = segment.get(at)) != 0; at++) {
            int home = (int) hashOf(slotOf(entry));
            if (((at - home) & segment.mask) >= ((at - hole) & segment.mask)) {
                segment.set(hole, entry);
                hole = at;
            }
        }
        segment.set(hole, 0);
        segment.size--;
    }
}
