package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;
import java.util.List;
import org.junit.jupiter.api.Test;

class MajorityTests {

    private static final List<String> IDS = List.of("n1", "n2", "n3", "n4", "n5");

    private final Majority majority = majority(3, "n2");

    private static Majority majority(int size, String self) {
        return new Majority(new Cell("cell", IDS.subList(0, size)), self);
    }

    /** The clock overflows within the first seconds. */
    private static Now at(long millis) {
        return new Now(Long.MAX_VALUE - 1_000_000_000L + millis * 1_000_000, 0);
    }

    @Test
    void isWhoDecidedLastForTenSeconds() {
        assertThat(majority.isKnown(at(0))).isFalse();

        majority.learn(0b110, at(0));
        assertThat(majority.isKnown(at(9_999))).isTrue();
        assertThat(majority.acceptors()).isEqualTo(0b110);

        majority.learn(0b011, at(5_000));
        assertThat(majority.acceptors()).isEqualTo(0b011);
        assertThat(majority.isKnown(at(14_999))).isTrue();
        assertThat(majority.isKnown(at(15_000))).isFalse();
    }

    @Test
    void isForgottenWhenOneIsSilent() {
        majority.learn(0b110, at(0));
        majority.forget();
        assertThat(majority.isKnown(at(0))).isFalse();
    }

    @Test
    void hasTheNodeInIt() {
        majority.learn(0b101, at(0));
        assertThat(majority.isKnown(at(0))).isFalse();
    }

    @Test
    void isNoMoreAndNoLess() {
        majority.learn(0b010, at(0));
        majority.learn(0b111, at(0));
        assertThat(majority.isKnown(at(0))).isFalse();
    }

    @Test
    void isNotLearnedInAnEvenCellNorByANodeThatIsNoAcceptor() {
        Majority even = majority(4, "n2");
        even.learn(0b111, at(0));
        assertThat(even.isKnown(at(0))).isFalse();

        Majority outside = majority(3, "n5");
        outside.learn(0b011, at(0));
        assertThat(outside.isKnown(at(0))).isFalse();
    }

    @Test
    void isLearnedInAnOddCell() {
        Majority five = majority(5, "n5");
        five.learn(0b10101, at(0));
        assertThat(five.isKnown(at(0))).isTrue();
    }
}
