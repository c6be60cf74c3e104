package io.paxoslease.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Appends numbers (big-endian) and short texts to a growing array. */
final class FrameWriter {

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private byte[] bytes;
    private int length;

    FrameWriter(int expectedLength) {
        this.bytes = new byte[expectedLength];
    }

    int length() {
        return length;
    }

    void u8(int value) {
        reserve(1);
        bytes[length++] = (byte) value;
    }

    void u16(int value) {
        reserve(2);
        bytes[length++] = (byte) (value >>> 8);
        bytes[length++] = (byte) value;
    }

    void i64(long value) {
        reserve(8);
        LONG.set(bytes, length, value);
        length += 8;
    }

    void raw(byte[] value) {
        reserve(value.length);
        System.arraycopy(value, 0, bytes, length, value.length);
        length += value.length;
    }

    /** A text of at most 255 bytes, after one byte with its length. */
    void text(String text) {
        int chars = text.length();
        reserve(1 + chars);
        byte[] target = bytes;
        int start = length + 1;
        for (int i = 0; i < chars; i++) {
            char unit = text.charAt(i);
            if (unit >= 0x80) {
                encoded(text.getBytes(StandardCharsets.UTF_8));
                return;
            }
            target[start + i] = (byte) unit;
        }
        target[length] = (byte) lengthByte(chars);
        length = start + chars;
    }

    /** A text of at most 65535 bytes, after two bytes with its length. */
    void longText(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (utf8.length > 0xffff) {
            throw new IllegalArgumentException("A long text of a frame may have 65535 bytes, not " + utf8.length);
        }
        u16(utf8.length);
        raw(utf8);
    }

    private void encoded(byte[] utf8) {
        u8(lengthByte(utf8.length));
        raw(utf8);
    }

    private static int lengthByte(int count) {
        if (count > 255) {
            throw new IllegalArgumentException("A text of a frame may have 255 bytes, not " + count);
        }
        return count;
    }

    /** The array itself, of which the first {@link #length()} bytes count. */
    byte[] array() {
        return bytes;
    }

    byte[] toByteArray() {
        return bytes.length == length ? bytes : Arrays.copyOf(bytes, length);
    }

    private void reserve(int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + count));
        }
    }
}
