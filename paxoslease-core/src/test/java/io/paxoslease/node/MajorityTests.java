package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MajorityTests {

    private static final Now START = at(Long.MAX_VALUE / 1_000_000 - 500);

    private static Now at(long millis) {
        return new Now(millis * 1_000_000, 0);
    }

    private static Now after(long millis) {
        return new Now(START.nanos() + millis * 1_000_000, 0);
    }

    private static Cell cell(int size) {
        return new Cell(
                "cell",
                IntStream.range(0, size).mapToObj(i -> "n" + (char) ('a' + i)).toList());
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 7, 26})
    void isNoMoreThanOneAndHasTheNodeInIt(int size) {
        Cell cell = cell(size);
        Set<Long> all = new HashSet<>();
        for (int self = 0; self < size; self++) {
            Majority majority = new Majority(cell, cell.acceptors().get(self));
            assertThat(majority.isEnough(START)).isTrue();
            long acceptors = majority.acceptors();
            assertThat(Long.bitCount(acceptors)).isEqualTo(cell.majority());
            assertThat(acceptors >>> size).isZero();
            assertThat(acceptors >> self & 1).isOne();
            all.add(acceptors);
        }
        assertThat(all).hasSize(size);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void isNotEnoughWhereItIsEverybody(int size) {
        assertThat(new Majority(cell(size), "na").isEnough(START)).isFalse();
    }

    @Test
    void isNotEnoughForANodeThatIsNoAcceptor() {
        assertThat(new Majority(cell(3), "elsewhere").isEnough(START)).isFalse();
    }

    @Test
    void afterSilenceEverybodyIsAskedForASecondAndThenAnother() {
        Majority majority = new Majority(cell(3), "nb");
        assertThat(majority.acceptors()).isEqualTo(0b110);

        majority.noteSilence(START);
        majority.noteSilence(START);
        majority.noteSilence(after(500));
        assertThat(majority.isEnough(after(999))).isFalse();
        assertThat(majority.isEnough(after(1_000))).isTrue();
        assertThat(majority.acceptors()).isEqualTo(0b011);

        majority.noteSilence(after(1_000));
        assertThat(majority.isEnough(after(2_000))).isTrue();
        assertThat(majority.acceptors()).isEqualTo(0b110);
    }

    /** Whichever minority is silent, some majority is found without it, or everybody is asked. */
    @Test
    void comesRound() {
        Majority majority = new Majority(cell(5), "nc");
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            seen.add(majority.acceptors());
            majority.noteSilence(after(i * 1_000L));
            assertThat(majority.isEnough(after(i * 1_000L + 1_000))).isTrue();
        }
        assertThat(seen).isEqualTo(Set.copyOf(List.of(0b11100L, 0b10101L, 0b00111L, 0b01110L)));
    }
}
