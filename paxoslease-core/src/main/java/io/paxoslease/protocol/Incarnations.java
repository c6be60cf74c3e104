package io.paxoslease.protocol;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Gives incarnations small numbers from 1 on, so that tables need four bytes for one. A number that no row uses any more is used again. */
final class Incarnations {

    private final Map<Incarnation, Integer> ids;
    private @Nullable Incarnation[] known;
    private int[] uses;

    /** Rows of one owner are often used one after another. */
    private int last;

    Incarnations() {
        ids = new HashMap<>();
        known = new @Nullable Incarnation[4];
        uses = new int[4];
    }

    Incarnations(Incarnations other) {
        ids = new HashMap<>(other.ids);
        known = other.known.clone();
        uses = other.uses.clone();
    }

    /** The incarnation with a number, null for 0. */
    @Nullable
    Incarnation get(int id) {
        return known[id];
    }

    /** Whether a number is that of an incarnation. */
    boolean is(int id, Incarnation incarnation) {
        return incarnation.equals(known[id]);
    }

    /** The number of an incarnation for one more row. */
    @SuppressWarnings("ReferenceEquality") // an equal one is looked up
    int use(Incarnation incarnation) {
        if (known[last] != incarnation) {
            Integer id = ids.get(incarnation);
            last = id == null ? add(incarnation) : id;
        }
        uses[last]++;
        return last;
    }

    /** One row less; nothing for 0. */
    void drop(int id) {
        Incarnation incarnation = known[id];
        if (incarnation != null && --uses[id] == 0) {
            ids.remove(incarnation);
            known[id] = null;
        }
    }

    int size() {
        return ids.size();
    }

    private int add(Incarnation incarnation) {
        int id = 1;
        while (id < known.length && known[id] != null) {
            id++;
        }
        if (id == known.length) {
            known = Arrays.copyOf(known, id * 2);
            uses = Arrays.copyOf(uses, id * 2);
        }
        known[id] = incarnation;
        ids.put(incarnation, id);
        return id;
    }
}
