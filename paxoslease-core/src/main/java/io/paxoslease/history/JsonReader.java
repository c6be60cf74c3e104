package io.paxoslease.history;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads JSON into maps, lists, strings, {@link BigDecimal}s, booleans and nulls: as much as the checker needs without a library. */
final class JsonReader {

    private static final int DEEPEST = 32;

    private final String text;
    private int at;
    private int depth;

    private JsonReader(String text) {
        this.text = text;
    }

    /** The one value in a text; throws an {@link IllegalArgumentException} that says where it is malformed. */
    static @Nullable Object read(String text) {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value();
        reader.skipBlanks();
        if (reader.at < text.length()) {
            throw reader.malformed("something follows the value");
        }
        return value;
    }

    private @Nullable Object value() {
        skipBlanks();
        char next = peek();
        switch (next) {
            case '{':
                return nested('}', this::object);
            case '[':
                return nested(']', this::array);
            case '"':
                return string();
            default:
                return literal();
        }
    }

    private interface Body {
        Object read(char end);
    }

    private Object nested(char end, Body body) {
        if (++depth > DEEPEST) {
            throw malformed("it is nested too deeply");
        }
        at++;
        Object value = body.read(end);
        at++;
        depth--;
        return value;
    }

    private Object object(char end) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        skipBlanks();
        while (peek() != end) {
            if (!members.isEmpty()) {
                expect(',');
                skipBlanks();
            }
            String name = string();
            skipBlanks();
            expect(':');
            members.put(name, value());
            skipBlanks();
        }
        return members;
    }

    private Object array(char end) {
        List<@Nullable Object> items = new ArrayList<>();
        skipBlanks();
        while (peek() != end) {
            if (!items.isEmpty()) {
                expect(',');
            }
            items.add(value());
            skipBlanks();
        }
        return items;
    }

    private String string() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (peek() != '"') {
            char next = text.charAt(at++);
            string.append(next == '\\' ? escaped() : next);
        }
        at++;
        return string.toString();
    }

    private char escaped() {
        char next = peek();
        at++;
        switch (next) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                if (at + 4 > text.length()) {
                    throw malformed("it ends too early");
                }
                at += 4;
                return (char) Integer.parseInt(text.substring(at - 4, at), 16);
            default:
                return next;
        }
    }

    private @Nullable Object literal() {
        int from = at;
        while (at < text.length()
                && (Character.isLetterOrDigit(text.charAt(at)) || "+-.".indexOf(text.charAt(at)) >= 0)) {
            at++;
        }
        String word = text.substring(from, at);
        switch (word) {
            case "null":
                return null;
            case "true":
                return true;
            case "false":
                return false;
            default:
                try {
                    return new BigDecimal(word);
                } catch (NumberFormatException none) {
                    throw malformed("a value was expected");
                }
        }
    }

    private void expect(char expected) {
        if (peek() != expected) {
            throw malformed("'" + expected + "' was expected");
        }
        at++;
    }

    private char peek() {
        if (at >= text.length()) {
            throw malformed("it ends too early");
        }
        return text.charAt(at);
    }

    private void skipBlanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private IllegalArgumentException malformed(String why) {
        return new IllegalArgumentException("not JSON at character " + at + ": " + why);
    }
}
