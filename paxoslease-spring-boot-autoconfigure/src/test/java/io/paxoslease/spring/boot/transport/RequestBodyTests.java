package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestBodyTests {

    private static final int MAX = 100_000;

    /** Without end; brings at most so many bytes at a time, and remembers for how many there was room. */
    private static final class Trickle extends InputStream {

        private final int most;
        private int room;

        Trickle(int most) {
            this.most = most;
        }

        @Override
        public int read() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int read(byte[] buffer, int offset, int length) {
            room = length;
            int count = Math.min(length, most);
            Arrays.fill(buffer, offset, offset + count, (byte) 1);
            return count;
        }
    }

    /** Strangers may promise much, and send it byte by byte. */
    @ParameterizedTest
    @ValueSource(ints = {-1, 50_000, MAX})
    void takesMemoryForWhatHasCome(int length) throws IOException {
        Trickle input = new Trickle(1);
        RequestBody body = new RequestBody(input, length, MAX, null);
        for (int count = 0; !body.isComplete(); count++) {
            body.readSome();
            assertThat(input.room).isBetween(1, Math.max(2048, count));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2048, 2049, 50_000, MAX})
    void takesNoMoreThanWasAnnounced(int length) throws IOException {
        RequestBody body = new RequestBody(new Trickle(7_000), length, MAX, null);
        while (!body.isComplete()) {
            body.readSome();
        }
        assertThat(body.isTooLarge()).isFalse();
        assertThat(body.bytes()).hasSize(length);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2048, 2049, MAX})
    void endsWhereItEndsIfNothingWasAnnounced(int length) throws IOException {
        RequestBody body = new RequestBody(new ByteArrayInputStream(new byte[length]), -1, MAX, null);
        while (!body.isComplete()) {
            body.readSome();
        }
        assertThat(body.isTooLarge()).isFalse();
        assertThat(body.bytes()).hasSize(length);
    }
}
