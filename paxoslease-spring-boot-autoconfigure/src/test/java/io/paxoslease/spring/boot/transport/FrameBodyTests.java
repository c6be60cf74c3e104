package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class FrameBodyTests {

    private static final int LENGTH = 100_000;

    /** Strangers may promise much, and send it byte by byte. */
    @Test
    void takesMemoryForWhatHasComeAndMovesItSeldom() {
        FrameBody body = new FrameBody(LENGTH);
        byte[] last = body.bytes();
        int moves = 0;
        for (int count = 1; count < LENGTH; count++) {
            assertThat(body.read(ByteBuffer.allocate(1))).isFalse();
            assertThat(body.bytes().length).isLessThanOrEqualTo(2 * count);
            moves += body.bytes() == last ? 0 : 1;
            last = body.bytes();
        }
        assertThat(body.read(ByteBuffer.allocate(1))).isTrue();
        assertThat(body.bytes()).hasSize(LENGTH);
        assertThat(moves).isLessThan(20);
    }

    @Test
    void leavesWhatFollows() {
        ByteBuffer in = ByteBuffer.wrap(new byte[] {1, 2, 3});
        FrameBody body = new FrameBody(2);
        assertThat(body.read(in)).isTrue();
        assertThat(body.bytes()).containsExactly(1, 2);
        assertThat(in.remaining()).isEqualTo(1);
    }
}
