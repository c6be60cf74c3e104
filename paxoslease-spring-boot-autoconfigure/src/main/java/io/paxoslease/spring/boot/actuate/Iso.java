package io.paxoslease.spring.boot.actuate;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** ISO-8601 texts, made here so that no setting of a JSON library changes them. */
final class Iso {

    private Iso() {}

    static String millis(Duration duration) {
        return duration.truncatedTo(ChronoUnit.MILLIS).toString();
    }

    static @Nullable String millisOrNull(@Nullable Duration duration) {
        return duration == null ? null : millis(duration);
    }

    static @Nullable String microsOrNull(@Nullable Duration duration) {
        return duration == null ? null : duration.truncatedTo(ChronoUnit.MICROS).toString();
    }

    static @Nullable String instantOrNull(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }
}
