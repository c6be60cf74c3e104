package io.paxoslease.protocol;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Gives each resource name a small number, its slot, by which tables keep their columns. Slots of removed names are used again.
 */
final class ResourceIndex {

    /** What {@link #find} answers for a name without a slot. */
    static final int NONE = -1;

    private final Map<String, Integer> slots;
    private @Nullable String[] names;
    private int[] free;
    private int freeCount;
    private int used;

    ResourceIndex() {
        this.slots = new HashMap<>();
        this.names = new @Nullable String[16];
        this.free = new int[16];
    }

    ResourceIndex(ResourceIndex other) {
        this.slots = new HashMap<>(other.slots);
        this.names = other.names.clone();
        this.free = other.free.clone();
        this.freeCount = other.freeCount;
        this.used = other.used;
    }

    int find(String resource) {
        Integer slot = slots.get(resource);
        return slot == null ? NONE : slot;
    }

    /** Gives a new name a slot, below {@link #capacity()} after the call. */
    int add(String resource) {
        int slot = freeCount > 0 ? free[--freeCount] : used++;
        if (slot == names.length) {
            names = java.util.Arrays.copyOf(names, slot * 2);
        }
        names[slot] = resource;
        slots.put(resource, slot);
        return slot;
    }

    void remove(int slot) {
        slots.remove(name(slot));
        names[slot] = null;
        if (freeCount == free.length) {
            free = java.util.Arrays.copyOf(free, freeCount * 2);
        }
        free[freeCount++] = slot;
    }

    /** The name in a slot, null if the slot is free. */
    @Nullable
    String nameOrNull(int slot) {
        return names[slot];
    }

    String name(int slot) {
        String name = names[slot];
        if (name == null) {
            throw new IllegalStateException("Slot " + slot + " holds no resource");
        }
        return name;
    }

    /** How many names have a slot. */
    int size() {
        return slots.size();
    }

    /** Every slot is below this. */
    int used() {
        return used;
    }

    /** How long columns must be to hold every slot. */
    int capacity() {
        return names.length;
    }
}
