package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.wire.Sessions.Entry;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionsTests {

    /** Against a plain set of the numbers that were used up. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everyNumberIsUsedUpOnce(long seed) {
        RandomGenerator random = Samples.random(seed);
        Sessions sessions = new Sessions(1, true, random);
        long id = sessions.open(Samples.NODE_1, null, 1, 0).id();
        Set<Long> used = new HashSet<>(Set.of(0L));
        long highest = 0;
        for (int i = 0; i < 20_000; i++) {
            long number = Math.max(0, highest - 80 + random.nextInt(random.nextInt(100) == 0 ? 300 : 85));
            boolean isNew = number > highest - 64 && used.add(number);
            highest = Math.max(highest, number);
            assertThat(sessions.enter(Samples.NODE_1, id, 1, number))
                    .as("number %d after %d", number, highest)
                    .isEqualTo(isNew ? Entry.ENTERED : Entry.REPLAYED);
        }
    }

    /** Whoever knows the secret may come under any number of names. */
    @Test
    void nothingIsKeptOfAnIncarnationThatMadeRoom() {
        RandomGenerator sameId = () -> 1;
        Sessions sessions = new Sessions(1, true, sameId);
        sessions.open(new Incarnation("first", 1), null, 1, 0);
        sessions.open(Samples.NODE_1, null, 1, 0);
        Sessions withoutTheFirst = new Sessions(1, true, sameId);
        withoutTheFirst.open(Samples.NODE_1, null, 1, 0);
        assertThat(sessions).usingRecursiveComparison().isEqualTo(withoutTheFirst);
    }

    @Test
    void aSessionThatIsOpenedAnewTakesNoRoomFromAnother() {
        Sessions sessions = new Sessions(2, false, Samples.random(1));
        sessions.open(Samples.NODE_1, null, 1, 1L << 40);
        long other = sessions.open(Samples.NODE_3, null, 1, 0).id();
        sessions.open(Samples.NODE_1, null, 1, 1);
        assertThat(sessions.enter(Samples.NODE_3, other, 1, 1)).isEqualTo(Entry.ENTERED);
    }

    @Test
    void noSessionHasTheNumberThatStandsForNone() {
        Iterator<Long> drawn = List.of(RequestFrame.NO_SESSION, 7L).iterator();
        Sessions sessions = new Sessions(1, true, drawn::next);
        assertThat(sessions.open(Samples.NODE_1, null, 1, 0).id()).isEqualTo(7);
    }

    @Test
    void equalIncarnationsShareOneObject() {
        Sessions sessions = new Sessions(1, true, Samples.random(1));
        Incarnation stranger = new Incarnation("first", 1);
        assertThat(sessions.known(stranger)).isSameAs(stranger);
        sessions.open(stranger, null, 1, 0);
        assertThat(sessions.known(new Incarnation("first", 1))).isSameAs(stranger);
    }
}
