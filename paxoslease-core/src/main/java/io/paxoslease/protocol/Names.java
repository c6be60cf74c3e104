package io.paxoslease.protocol;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** The one check of names that travel in messages, and how they are shown. */
public final class Names {

    /** The most bytes of UTF-8 that the name of a resource may have. */
    public static final int MAX_RESOURCE_BYTES = 255;

    private static final Pattern CONTROLS = Pattern.compile("\\p{Cc}");

    private Names() {}

    /**
     * Requires that a text is not empty, at most {@code maxBytes} long in UTF-8, and has no half of a surrogate pair: such a half has no
     * UTF-8, so that two names would become one on the way.
     *
     * @param what what the text is, for the message
     * @param text the text
     * @param maxBytes the most bytes allowed
     * @return the text
     * @throws IllegalArgumentException if it is empty, too long or not encodable
     */
    public static String require(String what, String text, int maxBytes) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("The " + what + " must not be empty");
        }
        if (text.length() > maxBytes || utf8Length(text) > maxBytes) {
            throw new IllegalArgumentException("The " + what + " '" + text.substring(0, Math.min(40, text.length()))
                    + "…' is longer than " + maxBytes + " bytes of UTF-8");
        }
        requireEncodable(what, text);
        return text;
    }

    /**
     * A text with names in it as one line of a log, with a question mark for each control character: applications make names of what their users
     * write, and ids of nodes come from elsewhere.
     *
     * @param text the text
     */
    public static String printable(String text) {
        return CONTROLS.matcher(text).replaceAll("?");
    }

    private static void requireEncodable(String what, String text) {
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (Character.isSurrogate(unit)) {
                if (Character.isLowSurrogate(unit)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    throw new IllegalArgumentException(
                            "The " + what + " '" + text + "' has half of a surrogate pair at index " + i);
                }
                i++;
            }
        }
    }

    private static int utf8Length(String text) {
        if (text.length() * 3L <= MAX_RESOURCE_BYTES) {
            return text.length();
        }
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
