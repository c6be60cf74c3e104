package io.paxoslease.wire;

import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Turns values, and texts from elsewhere, into words for logs and dashboards. */
final class Words {

    private static final int MAX_CHARS = 300;

    private Words() {}

    /** A text of foreign origin, cut to a line of some hundred plain characters with less than 1000 bytes of UTF-8. */
    static String clean(@Nullable String text) {
        if (text == null) {
            return "";
        }
        StringBuilder clean = new StringBuilder(Math.min(text.length(), MAX_CHARS + 1));
        int codePoint;
        for (int i = 0; i < text.length(); i += Character.charCount(codePoint)) {
            if (clean.length() >= MAX_CHARS) {
                return clean.append('…').toString();
            }
            codePoint = text.codePointAt(i);
            clean.appendCodePoint(isPlain(codePoint) ? codePoint : '?');
        }
        return clean.toString();
    }

    private static boolean isPlain(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    /** What went wrong, by the innermost of the failures that only wrap others. */
    static String of(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        return message == null || message.isBlank() ? cause.getClass().getSimpleName() : clean(message);
    }

    /** What is wrong where a node has another list of members (X9) that is in use. */
    static String otherMajority(String nodeId) {
        return "Node " + clean(nodeId) + " has another list of members, of which a majority votes";
    }

    /** A duration in the largest unit of which it is a whole number, for example {@code 20s}. */
    static String duration(long nanos) {
        if (nanos % 1_000_000_000L == 0) {
            return nanos / 1_000_000_000L + "s";
        }
        return nanos % 1_000_000L == 0 ? nanos / 1_000_000L + "ms" : nanos + "ns";
    }
}
