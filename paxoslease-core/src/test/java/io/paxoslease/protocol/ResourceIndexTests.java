package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ResourceIndexTests {

    private static final int[] USERS = {ResourceIndex.ACCEPTOR, ResourceIndex.PROPOSER, ResourceIndex.NODE};

    private final ResourceIndex index = new ResourceIndex();

    /** What {@link ResourceIndex} must look like from outside: for each name its slot and its users. */
    private record Entry(int slot, int users) {}

    /**
     * Names often come from outside, such as the key of a lock. Who knew where they lie chose some that are all in one place: each call looked at
     * all of them, under the lock that acceptor, proposer and node share.
     */
    @Test
    void namesChosenToMeetWithOneSeedDoNotMeetWithAnother() {
        List<byte[]> chosen = new ArrayList<>();
        for (long first = 0; first < 10_000; first++) {
            long mixed = Math.multiplyHigh(16 ^ first, FACTOR) ^ (16 ^ first) * FACTOR;
            // The second word undoes what the first one did.
            chosen.add(ByteBuffer.allocate(16)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(first)
                    .putLong(mixed)
                    .array());
        }
        assertThat(differentHashes(chosen, 0)).as("of who knows the seed").isEqualTo(1);
        for (int seed = 1; seed <= 10; seed++) {
            assertThat(differentHashes(chosen, seed * 0x9e3779b97f4a7c15L)).isEqualTo(chosen.size());
        }
    }

    /** What the seed 0 multiplies with. */
    private static final long FACTOR = 0x9e3779b97f4a7c15L;

    private static long differentHashes(List<byte[]> names, long seed) {
        return names.stream()
                .mapToLong(name -> ResourceIndex.hash(seed, name, 0, name.length))
                .distinct()
                .count();
    }

    @Test
    void agreesWithAMapWhateverIsAddedAndRemoved() {
        Random random = new Random(1);
        Map<String, Entry> expected = new HashMap<>();
        List<String> present = new ArrayList<>();
        int most = 0;
        for (int step = 0; step < 300_000; step++) {
            int user = USERS[random.nextInt(USERS.length)];
            boolean filling = step / 100_000 != 1;
            if (present.isEmpty() || random.nextInt(10) < (filling ? 7 : 2)) {
                String name = name(random);
                Entry before = expected.get(name);
                int slot = index.add(name, user);
                if (before == null) {
                    present.add(name);
                    expected.put(name, new Entry(slot, user));
                } else {
                    assertThat(slot).isEqualTo(before.slot);
                    expected.put(name, new Entry(slot, before.users | user));
                }
            } else {
                int at = random.nextInt(present.size());
                String name = present.get(at);
                Entry entry = expected.get(name);
                int leaving = Integer.lowestOneBit(entry.users);
                index.remove(entry.slot, leaving);
                if (entry.users == leaving) {
                    expected.remove(name);
                    present.set(at, present.get(present.size() - 1));
                    present.remove(present.size() - 1);
                } else {
                    expected.put(name, new Entry(entry.slot, entry.users & ~leaving));
                }
            }
            most = Math.max(most, expected.size());
            assertThat(index.size()).isEqualTo(expected.size());
        }
        assertThat(most).as("more than fits in one segment").isGreaterThan(16_384);
        assertThat(index.used()
                        - IntStream.range(0, index.used())
                                .filter(slot -> !Chunks.isUsable(slot))
                                .count())
                .as("slots are used again")
                .isEqualTo(most);
        assertSame(expected, index);
        assertSame(expected, new ResourceIndex(index));
        assertThat(expected.values().stream().map(Entry::slot).distinct()).hasSize(expected.size());
    }

    /** What tells names apart is at their ends, in fewer than eight bytes. */
    @Test
    void segmentsAreFilledAlikeAndShareLongArrays() {
        for (int i = 0; i < 200_000; i++) {
            index.add("lease-" + (1_000_000 + i), ResourceIndex.NODE);
        }
        Object[] segments = (Object[]) TableMemory.read(index, "segments");
        assertThat(segments).hasSize(1_024);
        Set<int[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
        int[] longest = new int[2];
        for (int number = 0; number < segments.length; number++) {
            int size = (int) TableMemory.read(segments[number], "size");
            int length = 1 + (int) TableMemory.read(segments[number], "mask");
            int start = (int) TableMemory.read(segments[number], "start");
            int[] entries = (int[]) TableMemory.read(segments[number], "entries");
            assertThat(size).isBetween(195 - 80, 195 + 80);
            assertThat(16 * size).isBetween(5 * length, 13 * length + 16);
            arrays.add(entries);
            longest[2 * number / segments.length] += length > 256 ? 1 : 0;
            Set<Integer> hashBits = new HashSet<>();
            int run = 0;
            int longestRun = 0;
            for (int at = start; at < start + length; at++) {
                run = entries[at] == 0 ? 0 : run + 1;
                longestRun = Math.max(longestRun, run);
                if (entries[at] != 0) {
                    hashBits.add(entries[at] >>> 27);
                }
            }
            assertThat(hashBits).hasSizeGreaterThan(20);
            assertThat(longestRun).as("entries to look at").isLessThan(length / 2);
        }
        assertThat(longest[0]).as("some double before others").isGreaterThan(longest[1] + 100);
        assertThat(arrays).hasSizeLessThan(5);
        int wrong = 0;
        for (int i = 0; i < 200_000; i++) {
            int slot = index.find("lease-" + (1_000_000 + i), ResourceIndex.NODE);
            wrong += index.name(slot).equals("lease-" + (1_000_000 + i)) ? 0 : 1;
            index.remove(slot, ResourceIndex.NODE);
        }
        assertThat(wrong).isZero();
        segments = (Object[]) TableMemory.read(index, "segments");
        assertThat(segments).allMatch(segment -> (int) TableMemory.read(segment, "size") == 0);
        assertThat(TableMemory.chunks(index)).hasSizeLessThan(5);
    }

    @Test
    void aNameThatIsTooLongForAnyMessageIsNotAdded() {
        for (String name : List.of("a".repeat(256), "€".repeat(86))) {
            assertThatThrownBy(() -> index.add(name, ResourceIndex.NODE))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("too long");
        }
        assertThat(index.size()).isZero();
        assertThat(index.name(index.add("\u007f\u0080", ResourceIndex.NODE))).isEqualTo("\u007f\u0080");
    }

    /** So long that they do not fit where others were. */
    @Test
    void theLongestNamesDoNotOverwriteEachOther() {
        String longest = "x".repeat(Names.MAX_RESOURCE_BYTES - 4);
        Map<String, Integer> slots = new HashMap<>();
        for (int i = 1000; i < 1256; i++) {
            slots.put(longest + i, index.add(longest + i, ResourceIndex.ACCEPTOR));
        }
        index.remove(slots.get(longest + 1255), ResourceIndex.ACCEPTOR);
        slots.remove(longest + 1255);
        index.remove(index.add("short", ResourceIndex.ACCEPTOR), ResourceIndex.ACCEPTOR);
        slots.put(longest + 2000, index.add(longest + 2000, ResourceIndex.ACCEPTOR));
        slots.forEach((name, slot) -> {
            assertThat(index.find(name, ResourceIndex.ACCEPTOR)).isEqualTo(slot);
            assertThat(index.name(slot)).isEqualTo(name);
        });
    }

    private static void assertSame(Map<String, Entry> expected, ResourceIndex index) {
        expected.forEach((name, entry) -> {
            for (int user : USERS) {
                assertThat(index.find(name, user))
                        .as(name)
                        .isEqualTo((entry.users & user) != 0 ? entry.slot : ResourceIndex.NONE);
            }
            assertThat(index.name(entry.slot)).isEqualTo(name);
        });
        for (int user : USERS) {
            assertThat(index.find("never added", user)).isEqualTo(ResourceIndex.NONE);
        }
    }

    /** From one byte to 255, ASCII and not, with many that begin alike. */
    private static String name(Random random) {
        String number = Integer.toString(random.nextInt(60_000));
        return switch (random.nextInt(12)) {
            case 0 -> "ü€𝄞" + number;
            case 1 -> number.repeat(51);
            case 2 -> number.substring(0, 1);
            default -> "lease-000000" + number;
        };
    }

    @Test
    void aCopyIsIndependent() {
        int slot = index.add("a", ResourceIndex.ACCEPTOR);
        ResourceIndex copy = new ResourceIndex(index);
        index.remove(slot, ResourceIndex.ACCEPTOR);
        index.add("b", ResourceIndex.ACCEPTOR);
        assertThat(copy.find("a", ResourceIndex.ACCEPTOR)).isEqualTo(slot);
        assertThat(copy.find("b", ResourceIndex.ACCEPTOR)).isEqualTo(ResourceIndex.NONE);
        assertThat(copy.name(slot)).isEqualTo("a");
    }

    /** More than are remembered as recent, in the order of their slots, of which some were given back and some of those are used again. */
    @Test
    void namesAreFoundOneAfterAnother() {
        int count = 50_000;
        int[] slots = new int[count];
        for (int i = 0; i < count; i++) {
            slots[i] = index.add("name-" + i, ResourceIndex.ACCEPTOR);
        }
        for (int i = 0; i < count; i += 7) {
            index.remove(slots[i], ResourceIndex.ACCEPTOR);
        }
        Map<Integer, String> others = new HashMap<>();
        for (int i = 0; i < count / 14; i++) {
            String other = i % 2 == 0 ? "name-x" + i : "another-name-" + i;
            others.put(index.add(other, ResourceIndex.PROPOSER), other);
        }
        for (int i = 0; i < count; i++) {
            String name = "name-" + i;
            String other = others.get(slots[i]);
            assertThat(index.find(name, ResourceIndex.ACCEPTOR)).isEqualTo(i % 7 == 0 ? ResourceIndex.NONE : slots[i]);
            assertThat(index.find(name, ResourceIndex.PROPOSER)).isEqualTo(ResourceIndex.NONE);
            if (other != null) {
                assertThat(index.find(other, ResourceIndex.PROPOSER)).isEqualTo(slots[i]);
            }
        }
    }

    @Test
    void aSlotThatOneUserGaveBackIsStillTheOthers() {
        int slot = index.add("a", ResourceIndex.ACCEPTOR);
        assertThat(index.add("a", ResourceIndex.PROPOSER)).isEqualTo(slot);
        index.remove(slot, ResourceIndex.ACCEPTOR);
        assertThat(index.find("a", ResourceIndex.ACCEPTOR)).isEqualTo(ResourceIndex.NONE);
        assertThat(index.find("a", ResourceIndex.PROPOSER)).isEqualTo(slot);
        assertThatThrownBy(() -> index.remove(slot, ResourceIndex.ACCEPTOR)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aNameThatIsTooLongForAnyMessageIsNotFound() {
        assertThat(index.find("x".repeat(256), ResourceIndex.ACCEPTOR)).isEqualTo(ResourceIndex.NONE);
        assertThat(index.find("ü".repeat(128), ResourceIndex.ACCEPTOR)).isEqualTo(ResourceIndex.NONE);
        String longest = "ü".repeat(127) + "x";
        assertThat(index.name(index.add(longest, ResourceIndex.ACCEPTOR))).isEqualTo(longest);
    }
}
