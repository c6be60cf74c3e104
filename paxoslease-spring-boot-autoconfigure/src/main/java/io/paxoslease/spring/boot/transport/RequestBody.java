package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The body of a request as it comes in. Takes memory for what has come, not for what is announced. */
final class RequestBody {

    private static final int FIRST_BYTES = 2048;

    private final InputStream input;
    private final long length;
    private final int maxBytes;
    private final @Nullable String address;
    private byte[] buffer;
    private int count;
    private boolean ended;

    /**
     * Begins with nothing.
     *
     * @param input where the bytes come from
     * @param length how many there will be, -1 if the sender does not say
     * @param maxBytes how many are accepted
     * @param address of the sender, null if it is not known
     */
    RequestBody(InputStream input, long length, int maxBytes, @Nullable String address) {
        this.address = address;
        this.input = input;
        this.length = length;
        this.maxBytes = maxBytes;
        this.buffer = new byte[(int) Math.min(length < 0 ? FIRST_BYTES : length, FIRST_BYTES)];
    }

    /** From where it comes, null if that is not known. */
    @Nullable
    String address() {
        return address;
    }

    /** Whether there is nothing more to read, because all is there or too much. */
    boolean isComplete() {
        return ended || isTooLarge() || count == length;
    }

    boolean isTooLarge() {
        return count > maxBytes;
    }

    /** Reads once. */
    void readSome() throws IOException {
        if (count == buffer.length) {
            int limit = length < 0 ? maxBytes + 1 : (int) length;
            buffer = Arrays.copyOf(buffer, Math.min(limit, 2 * count));
        }
        int read = input.read(buffer, count, buffer.length - count);
        if (read < 0) {
            ended = true;
        } else {
            count += read;
        }
    }

    byte[] bytes() {
        return count == buffer.length ? buffer : Arrays.copyOf(buffer, count);
    }
}
