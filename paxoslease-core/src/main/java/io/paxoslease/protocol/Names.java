package io.paxoslease.protocol;

import java.nio.charset.StandardCharsets;

/** The one check of names that travel in messages. */
public final class Names {

    /** The most bytes of UTF-8 that the name of a resource may have. */
    public static final int MAX_RESOURCE_BYTES = 255;

    private Names() {}

    /**
     * Requires that a text is not empty and at most {@code maxBytes} long in UTF-8.
     *
     * @param what what the text is, for the message
     * @param text the text
     * @param maxBytes the most bytes allowed
     * @return the text
     * @throws IllegalArgumentException if it is empty or too long
     */
    public static String require(String what, String text, int maxBytes) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("The " + what + " must not be empty");
        }
        if (text.length() > maxBytes || utf8Length(text) > maxBytes) {
            throw new IllegalArgumentException("The " + what + " '" + text.substring(0, Math.min(40, text.length()))
                    + "…' is longer than " + maxBytes + " bytes of UTF-8");
        }
        return text;
    }

    private static int utf8Length(String text) {
        if (text.length() * 3L <= MAX_RESOURCE_BYTES) {
            return text.length();
        }
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
