package io.paxoslease.history;

import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One answer of {@code GET /actuator/lease/{name}/history}.
 *
 * @param cell the name of the cell
 * @param members the acceptors of the cell
 * @param lease the name of the lease
 * @param node the node that recorded
 * @param incarnation the life of that node
 * @param dropped how many events it had forgotten
 * @param tenures what it proves about tenures; nothing about one of which only the end is known
 */
record RecordedHistory(
        String cell,
        List<String> members,
        String lease,
        String node,
        String incarnation,
        long dropped,
        List<RecordedTenure> tenures) {

    /** An instant on both clocks of a node. */
    record Time(Duration monotonic, Instant wall) {

        Time earlier(Time other) {
            return monotonic.compareTo(other.monotonic) <= 0 ? this : other;
        }

        Time later(Time other) {
            return monotonic.compareTo(other.monotonic) >= 0 ? this : other;
        }
    }

    /** What happened; see {@code HistoryEvent}. */
    private record Event(
            String kind,
            Time firstAt,
            Time at,
            long token,
            @Nullable Time heldUntil) {}

    /** The histories in a text: one object, or an array of them. Throws an {@link IllegalArgumentException} that says what is wrong. */
    static List<RecordedHistory> read(String json) {
        Object value = JsonReader.read(json);
        List<?> all = value instanceof List<?> list ? list : List.of(value == null ? "null" : value);
        List<RecordedHistory> histories = new ArrayList<>();
        for (Object one : all) {
            histories.add(of(new Fields(one)));
        }
        return histories;
    }

    private static RecordedHistory of(Fields fields) {
        List<String> members = new ArrayList<>();
        fields.list("members").forEach(member -> members.add(String.valueOf(member)));
        String incarnation = fields.text("incarnation");
        return new RecordedHistory(
                fields.text("cell"),
                members,
                fields.text("lease"),
                fields.text("node"),
                incarnation,
                fields.number("dropped"),
                tenures(
                        fields.list("events"),
                        incarnation,
                        fields.get("clock") == null ? null : fields.text("clock"),
                        fields.time("at")));
    }

    private static List<RecordedTenure> tenures(
            List<?> events, String incarnation, @Nullable String clock, Time answered) {
        Map<Long, Sightings> byToken = new LinkedHashMap<>();
        for (Object one : events) {
            Event event = event(new Fields(one));
            if (event.token() > 0) {
                byToken.computeIfAbsent(event.token(), token -> new Sightings()).add(event);
            }
        }
        List<RecordedTenure> tenures = new ArrayList<>();
        byToken.forEach((token, sightings) -> {
            Time from = sightings.first;
            if (from != null) {
                tenures.add(new RecordedTenure(incarnation, clock, token, from, sightings.until(answered)));
            }
        });
        return tenures;
    }

    private static Event event(Fields fields) {
        return new Event(
                fields.text("kind"),
                fields.time("firstAt"),
                fields.time("at"),
                fields.number("fencingToken"),
                fields.get("heldUntil") == null ? null : fields.time("heldUntil"));
    }

    /** Whether the beginning of a tenure was forgotten. */
    boolean isIncomplete() {
        return dropped > 0;
    }

    /** The events of one tenure, put together. */
    private static final class Sightings {
        private @Nullable Time first;
        private @Nullable Time last;
        private @Nullable Time heldUntil;
        private @Nullable Time end;

        void add(Event event) {
            switch (event.kind()) {
                case "ACQUIRED", "EXTENDED", "EXTENSION_FAILED" -> {
                    first = first == null ? event.firstAt() : first;
                    last = event.at();
                    heldUntil = event.heldUntil();
                }
                case "RELEASED" -> end = event.at();
                case "LOST" -> expire(event.at(), event.heldUntil());
                default ->
                    throw new IllegalArgumentException(
                            "not a history: an event of kind '" + event.kind() + "' with a fencing token");
            }
        }

        private void expire(Time noticed, @Nullable Time deadline) {
            // Before the deadline on the monotonic clock: the wall clock ended it, at a moment that was not recorded.
            boolean byWallClock = deadline == null || noticed.monotonic().compareTo(deadline.monotonic()) < 0;
            end = byWallClock ? last : deadline;
        }

        /** A tenure that goes on when the node answers is held at least until then, if its deadline is not before that. */
        Time until(Time answered) {
            Time deadline = heldUntil;
            if (end == null && deadline != null && !answered.wall().isBefore(deadline.wall())) {
                // It is over, and the node has not noticed.
                expire(answered, deadline);
            }
            Time until = end == null ? answered : end;
            return deadline == null ? until : until.earlier(deadline);
        }
    }

    /** The members of a JSON object. */
    private record Fields(Map<?, ?> of) {

        Fields(@Nullable Object value) {
            this(value instanceof Map<?, ?> map ? map : noObject());
        }

        private static Map<?, ?> noObject() {
            throw new IllegalArgumentException("not a history: an object was expected");
        }

        @Nullable
        Object get(String name) {
            return of.get(name);
        }

        String text(String name) {
            if (get(name) instanceof String text) {
                return text;
            }
            throw missing(name, "a text");
        }

        long number(String name) {
            if (get(name) instanceof BigDecimal number) {
                return number.longValueExact();
            }
            throw missing(name, "a number");
        }

        List<?> list(String name) {
            if (get(name) instanceof List<?> list) {
                return list;
            }
            throw missing(name, "an array");
        }

        Time time(String name) {
            Fields time = new Fields(get(name));
            try {
                return new Time(Duration.parse(time.text("monotonic")), Instant.parse(time.text("wall")));
            } catch (DateTimeException wrong) {
                throw missing(name, "a time");
            }
        }

        private static IllegalArgumentException missing(String name, String what) {
            return new IllegalArgumentException("not a history: '" + name + "' should be " + what);
        }
    }
}
