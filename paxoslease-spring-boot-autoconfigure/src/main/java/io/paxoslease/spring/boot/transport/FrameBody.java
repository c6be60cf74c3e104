package io.paxoslease.spring.boot.transport;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes whose number was announced. Takes memory for those that have come, not for those that were promised. */
final class FrameBody {

    private static final byte[] NOTHING = {};

    private final int length;
    private byte[] bytes = NOTHING;
    private int count;

    FrameBody(int length) {
        this.length = length;
    }

    /** Takes what belongs to it and leaves what follows; says whether all has come. */
    boolean read(ByteBuffer in) {
        int more = Math.min(length - count, in.remaining());
        if (count + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.min(length, Math.max(2 * bytes.length, count + more)));
        }
        in.get(bytes, count, more);
        count += more;
        return count == length;
    }

    /** All of them, once they have come. */
    byte[] bytes() {
        return bytes;
    }
}
