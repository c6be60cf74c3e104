package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NameStoreTests {

    private static final int SLAB = 1 << 20;

    private final NameStore store = new NameStore(40);
    private final List<String> names = new ArrayList<>();
    private final Map<String, Integer> places = new HashMap<>();
    private final Map<Integer, String> namesAt = new HashMap<>();
    private long liveBytes;
    private int moves;

    /** Long and short names in turns, from none to megabytes and back. */
    @Test
    void keepsEveryNameAndLittleElse() {
        Random random = new Random(1);
        long most = 0;
        for (int step = 0; step < 600_000; step++) {
            boolean filling = step / 100_000 % 2 == 0;
            if (names.isEmpty() || random.nextInt(10) < (filling ? 7 : 4)) {
                String name = (step / 20_000 % 2 == 0 ? "" : "x".repeat(random.nextInt(200))) + step;
                names.add(name);
                put(name);
                liveBytes += 1 + name.length();
                most = Math.max(most, liveBytes);
                moveSome(4 * (1 + name.length()));
                assertThat(store.allBytes()).isLessThan(liveBytes + liveBytes / 2 + 4 * SLAB);
            } else {
                int at = random.nextInt(names.size());
                String name = names.set(at, names.get(names.size() - 1));
                names.remove(names.size() - 1);
                liveBytes -= 1 + name.length();
                drop(name);
                moveSome(4 * (1 + name.length()));
            }
        }
        assertThat(moves).isGreaterThan(10_000);
        assertThat(most).isGreaterThan(3 * SLAB);
        places.forEach((name, place) -> assertThat(name(store, place)).isEqualTo(name));
        names.forEach(this::drop);
        assertThat(store.allBytes()).as("the slab that was being filled").isLessThanOrEqualTo(SLAB);
    }

    @Test
    void aCopyIsIndependent() {
        put("a");
        NameStore copy = new NameStore(store);
        int place = places.get("a");
        drop("a");
        put("b");
        assertThat(name(copy, place)).isEqualTo("a");
    }

    @Test
    void whoNeverStoresMoreThanOneNameNeedsNoMoreRoom() {
        long before = store.allBytes();
        for (int i = 0; i < 10_000; i++) {
            put("name-" + i);
            drop("name-" + i);
        }
        assertThat(store.allBytes()).isEqualTo(before);
    }

    @Test
    void isAboutAsLongAsItsNames() {
        for (int i = 0; i < 4_000; i++) {
            String name = "name-" + i;
            put(name);
            liveBytes += 1 + name.length();
            assertThat(store.allBytes()).isBetween(liveBytes, 2 * liveBytes + 512);
        }
    }

    @Test
    void whereThereIsNoRoomNothingIsMoved() {
        NameStore small = new NameStore(3);
        byte[] name = "x".repeat(100).getBytes(StandardCharsets.UTF_8);
        List<Integer> stored = new ArrayList<>();
        assertThatIllegalStateException()
                .isThrownBy(() -> {
                    while (stored.size() < 10_000) {
                        stored.add(small.add(name, 0, name.length));
                    }
                })
                .withMessageContaining("more than an index can number");
        assertThat(small.isFull()).isTrue();
        int first = stored.get(0);
        stored.removeIf(place -> {
            boolean dropped = place != first && small.bytes(place) == small.bytes(first);
            if (dropped) {
                small.drop(place);
            }
            return dropped;
        });
        for (int place : stored.subList(1, stored.size() - 1)) {
            small.drop(place);
            assertThat(small.toMove()).isEqualTo(NameStore.NONE);
            if (!small.isFull()) {
                return;
            }
        }
    }

    private void put(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        int place = store.add(bytes, 0, bytes.length);
        assertThat(namesAt.put(place, name)).isNull();
        places.put(name, place);
    }

    private void drop(String name) {
        int place = places.remove(name);
        namesAt.remove(place);
        store.drop(place);
    }

    /** As an index does. */
    private void moveSome(int bytes) {
        int moved = 0;
        while (moved < bytes) {
            long next = store.toMove();
            if (next == NameStore.NONE) {
                return;
            }
            int place = (int) next;
            moved += 1 + store.length(place);
            String name = namesAt.get(place);
            if (name != null) {
                put(name);
                namesAt.remove(place);
                store.drop(place);
                moves++;
            }
        }
    }

    private static String name(NameStore store, int place) {
        return new String(store.bytes(place), store.start(place), store.length(place), StandardCharsets.UTF_8);
    }
}
