package io.paxoslease.spring.boot;

import io.paxoslease.protocol.Names;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What all settings have in common: how they are shown, and what no text among them may be. Their names leave out the prefix. */
final class Settings {

    static final String PREFIX = "paxoslease.";

    private static final Pattern PLACEHOLDER = Pattern.compile("(?s)\\$\\{.*}");

    /** Also of the kinds that Java does not strip, such as those that do not break a line. */
    private static final Pattern WHITE_SPACE_AROUND = Pattern.compile("^[\\s\\p{Z}]|[\\s\\p{Z}]\\z");

    private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

    private Settings() {}

    /** The refusal of a setting; its value is null if it is not set or must not be shown. */
    static InvalidCellConfigurationException invalid(String name, @Nullable Object value, String rule, String remedy) {
        String shown = value instanceof Duration time ? words(time) : value == null ? null : value.toString();
        return new InvalidCellConfigurationException(PREFIX + name, shown, rule, remedy);
    }

    /** Spring leaves a placeholder without a value as it is: the same text on all nodes, and no secret. */
    static void requireResolved(String name, @Nullable String shown, String text) {
        if (hasPlaceholder(text)) {
            throw unresolved(name, shown);
        }
    }

    static boolean hasPlaceholder(String text) {
        return PLACEHOLDER.matcher(text).find();
    }

    static InvalidCellConfigurationException unresolved(String name, @Nullable String shown) {
        return invalid(
                name,
                shown,
                "it has a placeholder ${...} without a value",
                "Set the property or the environment variable that the placeholder names.");
    }

    /** Fails unless a text can be a name between nodes, and returns it. */
    static String requireName(String name, String text) {
        return requireName(name, "it", text);
    }

    /** The same where the text is a part of the setting only. */
    static String requireName(String name, String part, String text) {
        requireVisible(name, part, text);
        try {
            return Names.require(name, text, 255);
        } catch (IllegalArgumentException wrong) {
            throw invalid(name, text, part + said(wrong, name), "Choose a short name.");
        }
    }

    /** Fails if a name has what nobody sees where it is written, and what makes it another name than the one that was meant. */
    static void requireVisible(String name, String part, String text) {
        requireResolved(name, text, text);
        if (WHITE_SPACE_AROUND.matcher(text).find()) {
            throw invalid(
                    name,
                    text,
                    part + " begins or ends with white space, which makes it another name",
                    "Remove it. In a file of properties a blank at the end of the line belongs to the value.");
        }
        if (CONTROL.matcher(text).find()) {
            throw invalid(
                    name,
                    text,
                    part + " has a control character, which makes it another name",
                    "Remove it. In double quotes YAML takes \\t, \\n and the like for one.");
        }
    }

    /** What is wrong, without naming the property and its value once more. */
    private static String said(IllegalArgumentException wrong, String name) {
        return String.valueOf(wrong.getMessage()).replaceFirst("^The " + name + "( '.*?')?", "");
    }

    /** A duration as it is written in a property, in the largest unit of which it is a whole number. */
    static String words(Duration time) {
        if (time.toNanosPart() != 0) {
            return time.toNanosPart() % 1_000_000 == 0 ? time.toMillis() + "ms" : time.toString();
        }
        if (time.isZero() || time.toSecondsPart() != 0) {
            return time.toSeconds() + "s";
        }
        return time.toMinutesPart() != 0
                ? time.toMinutes() + "m"
                : time.toHoursPart() != 0 ? time.toHours() + "h" : time.toDays() + "d";
    }
}
