package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ColumnTests {

    private static final long[] LONGS = {
        0,
        1,
        -1,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 31,
        -(1L << 31) - 1,
        1L << 32,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    /** Now and then in other chunks, also the longest. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyNumberIsKeptExactlyWhateverWasSetBefore(boolean dense) {
        for (long base : LONGS) {
            NarrowColumn narrow = dense ? NarrowColumn.dense() : NarrowColumn.sparse();
            narrow.set(0, base);
            Random random = new Random(base);
            LongColumn longs = dense ? LongColumn.dense() : LongColumn.sparse();
            IntColumn ints = dense ? IntColumn.dense() : IntColumn.sparse();
            ByteColumn bytes = dense ? ByteColumn.dense() : ByteColumn.sparse();
            Map<Integer, Long> expected = new HashMap<>();
            for (int step = 0; step < 50_000; step++) {
                int within = random.nextInt(16) == 0 ? 2_200_000 : random.nextBoolean() ? 20 : 5_000;
                int slot = 1 + random.nextInt(within);
                if (dense && !Chunks.isUsable(slot)) {
                    continue;
                }
                long value = base + LONGS[random.nextInt(LONGS.length)] + random.nextInt(3);
                expected.put(slot, value);
                narrow.set(slot, value);
                longs.set(slot, value);
                ints.set(slot, (int) value);
                bytes.set(slot, (byte) value);
            }
            NarrowColumn narrowCopy = new NarrowColumn(narrow);
            LongColumn longsCopy = new LongColumn(longs);
            expected.forEach((slot, value) -> {
                assertThat(narrow.get(slot)).isEqualTo(value);
                assertThat(longs.get(slot)).isEqualTo(value);
                assertThat(ints.get(slot)).isEqualTo(value.intValue());
                assertThat(bytes.get(slot)).isEqualTo(value.byteValue());
                narrow.clear(slot);
                longs.set(slot, 0);
            });
            expected.forEach((slot, value) -> {
                assertThat(longs.get(slot)).isZero();
                assertThat(narrow.get(slot)).isEqualTo(base);
                assertThat(narrowCopy.get(slot)).isEqualTo(value);
                assertThat(longsCopy.get(slot)).isEqualTo(value);
            });
        }
    }

    /** In columns that begin their long chunks at each of the slots at which one may. */
    @Test
    void everySlotThatAnIndexGivesHasRoom() {
        ResourceIndex index = new ResourceIndex();
        List<LongColumn> columns = Stream.generate(LongColumn::dense).limit(16).toList();
        int kept = 0;
        for (int i = 1; i <= 300_000; i++) {
            int slot = index.add("name-" + i, ResourceIndex.NODE);
            for (LongColumn column : columns) {
                column.set(slot, i);
                kept += column.get(slot) == i ? 1 : 0;
            }
        }
        assertThat(kept).isEqualTo(16 * 300_000);
    }

    @Test
    void longChunksFillRegionsOfTheCollector() {
        assertThat(Chunks.regionBits(64L << 20)).isEqualTo(20);
        assertThat(Chunks.regionBits(1L << 30)).isEqualTo(20);
        assertThat(Chunks.regionBits(6L << 30)).isEqualTo(22);
        assertThat(Chunks.regionBits(1L << 40)).isEqualTo(22);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSlotThatWasNeverSetIsZero(boolean dense) {
        LongColumn column = dense ? LongColumn.dense() : LongColumn.sparse();
        assertThat(column.get(1_000_000)).isZero();
        column.set(1_000_000, 5);
        assertThat(column.get(999_999)).isZero();
        assertThat(column.get(1_000_000)).isEqualTo(5);
        assertThat(column.get(2_000_000)).isZero();
    }
}
