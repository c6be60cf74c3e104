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
        assertThat(Chunks.denseLength(Long.BYTES) * Long.BYTES).isEqualTo((1 << Chunks.DENSE_BITS) - 24);
        assertThat(Chunks.regionBits(64L << 20)).isEqualTo(20);
        assertThat(Chunks.regionBits(1L << 30)).isEqualTo(20);
        assertThat(Chunks.regionBits(2L << 30)).isEqualTo(20);
        assertThat(Chunks.regionBits(3L << 30)).isEqualTo(21);
        assertThat(Chunks.regionBits(6L << 30)).isEqualTo(22);
        assertThat(Chunks.regionBits(1L << 40)).isEqualTo(22);
    }

    @Test
    void firstChunksDoubleUntilTheyAreALongOne() {
        int stride = 8_192;
        assertThat(Chunks.firstLength(0, 131_069, 0)).isEqualTo(16);
        assertThat(Chunks.firstLength(15, 131_069, 0)).isEqualTo(16);
        assertThat(Chunks.firstLength(16, 131_069, 0)).isEqualTo(32);
        assertThat(Chunks.firstLength(8_191, 131_069, 0)).isEqualTo(8_192);
        assertThat(Chunks.firstLength(8_192, 131_069, 0)).as("an eighth").isEqualTo(131_069);
        assertThat(Chunks.firstLength(0, 131_069, 3 * stride)).isEqualTo(19);
        assertThat(Chunks.firstLength(20_000, 131_069, 3 * stride)).isEqualTo(131_069 - 3 * stride);
        assertThat(Chunks.firstLength(8_000, 131_069, 15 * stride)).isEqualTo(131_069 - 15 * stride);
        assertThat(Chunks.firstLength(16, 128, 0))
                .as("exactly an eighth is short")
                .isEqualTo(128);
        assertThat(Chunks.firstLength(15, 128, 0)).isEqualTo(16);
    }

    @Test
    void columnsBeginTheirLongChunksAtSixteenDifferentSlots() {
        assertThat(Stream.generate(Chunks::nextPhase).limit(16).distinct())
                .hasSize(16)
                .allMatch(phase -> phase % 8_192 == 0 && phase / 8_192 < 16);
    }

    @Test
    void slotsThatArraysHaveNoRoomForAreNotUsed() {
        assertThat(Chunks.isUsable(8_191 - 24)).isTrue();
        assertThat(Chunks.isUsable(8_192 - 24)).isFalse();
        assertThat(Chunks.isUsable(8_191)).isFalse();
        assertThat(Chunks.isUsable(8_192)).isTrue();
    }

    @Test
    void aChunkOfZerosTakesNoMemoryAndIsTheNextOne() {
        LongColumn longs = LongColumn.sparse();
        IntColumn ints = IntColumn.sparse();
        ByteColumn bytes = ByteColumn.sparse();
        for (int slot = 0; slot < 10_240; slot += 512) {
            longs.set(slot, 1);
            longs.set(slot, 2);
            ints.set(slot, -1);
            ints.set(slot, 3);
            bytes.set(slot, 1);
            bytes.set(slot, 2);
        }
        assertThat(TableMemory.chunks(longs)).hasSize(10);
        assertThat(TableMemory.chunks(ints)).hasSize(10);
        assertThat(TableMemory.chunks(bytes)).hasSize(10);
        Object last = TableMemory.chunks(longs).get(9);
        Object lastOfInts = TableMemory.chunks(ints).get(9);
        Object lastOfBytes = TableMemory.chunks(bytes).get(9);
        for (int slot = 0; slot < 10_240; slot += 512) {
            longs.set(slot, 0);
            longs.set(slot, 0);
            ints.set(slot, 0);
            ints.set(slot, 0);
            bytes.set(slot, 0);
            bytes.set(slot, 0);
        }
        assertThat(TableMemory.chunks(longs)).isEmpty();
        assertThat(TableMemory.chunks(ints)).isEmpty();
        assertThat(TableMemory.chunks(bytes)).isEmpty();

        longs.set(5_000, 7);
        ints.set(5_000, 7);
        bytes.set(5_000, 7);
        assertThat(TableMemory.chunks(longs).get(0)).isSameAs(last);
        assertThat(TableMemory.chunks(ints).get(0)).isSameAs(lastOfInts);
        assertThat(TableMemory.chunks(bytes).get(0)).isSameAs(lastOfBytes);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsBehindAnArrayIsZero(boolean dense) {
        LongColumn longs = dense ? LongColumn.dense() : LongColumn.sparse();
        IntColumn ints = dense ? IntColumn.dense() : IntColumn.sparse();
        ByteColumn bytes = dense ? ByteColumn.dense() : ByteColumn.sparse();
        longs.set(0, 1);
        ints.set(0, 1);
        bytes.set(0, 1);
        for (int slot = 1; slot < 5_000; slot++) {
            assertThat(longs.get(slot) + ints.get(slot) + bytes.get(slot)).isZero();
        }
        assertThat(longs.get(Integer.MAX_VALUE / 2)).isZero();
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
