package io.paxoslease.protocol;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What the columns of a table have allocated, which no rule asks for and nobody but a test needs to know. */
final class TableMemory {

    private static final Set<Class<?>> COLUMNS =
            Set.of(LongColumn.class, IntColumn.class, ByteColumn.class, NarrowColumn.class);

    private TableMemory() {}

    /** The arrays that a column has, or all columns of a table, without those that are kept for later. */
    static List<Object> chunks(Object owner) {
        List<Object> found = new ArrayList<>();
        for (Field field : owner.getClass().getDeclaredFields()) {
            if (field.getName().equals("chunks")) {
                Object chunks = read(field, owner);
                for (int i = 0; i < Array.getLength(chunks); i++) {
                    if (Array.get(chunks, i) != null) {
                        found.add(Array.get(chunks, i));
                    }
                }
            } else if (COLUMNS.contains(field.getType())) {
                found.addAll(chunks(read(field, owner)));
            }
        }
        return found;
    }

    static Object read(Object owner, String field) {
        try {
            return read(owner.getClass().getDeclaredField(field), owner);
        } catch (NoSuchFieldException e) {
            throw new AssertionError(e);
        }
    }

    private static Object read(Field field, Object owner) {
        try {
            field.setAccessible(true);
            return field.get(owner);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
