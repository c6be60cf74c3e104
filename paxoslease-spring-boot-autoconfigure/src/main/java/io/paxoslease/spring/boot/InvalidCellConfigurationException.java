package io.paxoslease.spring.boot;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Thrown at start-up for a setting that cannot work: names the property, its value, the rule it breaks and the remedy. */
public class InvalidCellConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final int MOST_LETTERS = 120;

    private static final Pattern CONTROL = Pattern.compile("\\p{Cc}");

    private final String property;
    private final @Nullable String value;
    private final String remedy;

    /**
     * Creates the exception.
     *
     * @param property the full name of the property
     * @param value its value, null if it is not set or must not be shown
     * @param rule the rule that it breaks, a sentence
     * @param remedy what to do, a sentence
     */
    public InvalidCellConfigurationException(String property, @Nullable String value, String rule, String remedy) {
        super(escaped("Property " + property + (value == null ? "" : " = '" + shortened(value) + "'") + ": " + rule));
        this.property = property;
        this.value = value;
        this.remedy = remedy;
    }

    private static String shortened(String value) {
        return value.length() <= MOST_LETTERS ? value : value.substring(0, MOST_LETTERS) + "...";
    }

    /** In one line, where a character that nobody sees may be what is wrong. */
    private static String escaped(String message) {
        return CONTROL.matcher(message)
                .replaceAll(control ->
                        String.format("\\\\u%04x", (int) control.group().charAt(0)));
    }

    /** The full name of the property. */
    public String property() {
        return property;
    }

    /** Its value, null if it is not set or must not be shown. */
    public @Nullable String value() {
        return value;
    }

    /** What to do. */
    public String remedy() {
        return remedy;
    }
}
