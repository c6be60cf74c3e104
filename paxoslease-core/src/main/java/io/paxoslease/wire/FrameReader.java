package io.paxoslease.wire;

import io.paxoslease.protocol.Ballot;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Takes apart what {@link FrameWriter} put together, and believes nothing: every read is checked against the bytes that are there. */
final class FrameReader {

    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final byte[] bytes;
    private final int end;
    private int position;

    /** Reads the bytes from {@code position} to before {@code end}. */
    FrameReader(byte[] bytes, int position, int end) {
        this.bytes = bytes;
        this.position = position;
        this.end = end;
    }

    int remaining() {
        return end - position;
    }

    int u8(String what) throws MalformedFrameException {
        require(1, what);
        return bytes[position++] & 0xff;
    }

    int u16(String what) throws MalformedFrameException {
        require(2, what);
        return (bytes[position++] & 0xff) << 8 | (bytes[position++] & 0xff);
    }

    long i64(String what) throws MalformedFrameException {
        require(8, what);
        long value = (long) LONG.get(bytes, position);
        position += 8;
        return value;
    }

    /** A duration or number that is not negative. */
    long natural(String what) throws MalformedFrameException {
        long value = i64(what);
        if (value < 0) {
            throw new MalformedFrameException("The " + what + " is negative: " + value);
        }
        return value;
    }

    /** A ballot counter. */
    long counter(String what, long least) throws MalformedFrameException {
        long value = i64(what);
        if (value < least || value > Ballot.MAX_COUNTER) {
            throw new MalformedFrameException("The " + what + " is out of bounds: " + value);
        }
        return value;
    }

    /** A text of 1 to 255 bytes of UTF-8. */
    String text(String what) throws MalformedFrameException {
        int length = u8(what);
        if (length == 0) {
            throw new MalformedFrameException("The " + what + " is empty");
        }
        return utf8(length, what);
    }

    /** A text of up to 65535 bytes of UTF-8. */
    String longText(String what) throws MalformedFrameException {
        return utf8(u16(what), what);
    }

    private String utf8(int length, String what) throws MalformedFrameException {
        require(length, what);
        int start = position;
        position += length;
        for (int i = start; i < position; i++) {
            if (bytes[i] < 0) {
                return decoded(start, length, what);
            }
        }
        return new String(bytes, start, length, StandardCharsets.ISO_8859_1);
    }

    private String decoded(int start, int length, String what) throws MalformedFrameException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, start, length))
                    .toString();
        } catch (CharacterCodingException malformed) {
            throw new MalformedFrameException("The " + what + " is not UTF-8");
        }
    }

    void requireEnd() throws MalformedFrameException {
        if (position != end) {
            throw new MalformedFrameException("The frame goes on for " + remaining() + " bytes after its end");
        }
    }

    private void require(int count, String what) throws MalformedFrameException {
        if (remaining() < count) {
            throw new MalformedFrameException("The frame ends within the " + what);
        }
    }
}
