package io.paxoslease.wire;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.List;

/**
 * What both ends of the wire are told.
 *
 * @param cell the acceptors of the cell
 * @param timing the bounds of the cell; peers with another maximum lease time are refused
 * @param roundTimeout how long one exchange may take at most
 * @param secrets the shared secrets that are accepted, the first one is used for sending; empty if frames are not authenticated
 * @param maxFrameBytes the largest frame that is sent or read
 */
public record WireSettings(Cell cell, Timing timing, Duration roundTimeout, List<Secret> secrets, int maxFrameBytes) {

    /** The default for {@code maxFrameBytes}: room for some thousand messages. */
    public static final int DEFAULT_MAX_FRAME_BYTES = 256 * 1024;

    /** A shared secret, at least 16 bytes of UTF-8. Its text never shows in a message or a log. */
    public static final class Secret {
        private final byte[] bytes;

        /**
         * Keeps a secret.
         *
         * @param text the secret
         * @throws IllegalArgumentException if it is shorter than 16 bytes
         */
        public Secret(String text) {
            this.bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
            if (bytes.length < 16) {
                throw new IllegalArgumentException(
                        "The shared secret must have at least 16 bytes, but has " + bytes.length);
            }
        }

        byte[] bytes() {
            return bytes.clone();
        }

        @Override
        public String toString() {
            return "Secret[hidden]";
        }
    }

    public WireSettings {
        secrets = List.copyOf(secrets);
        int least = Math.max(4_096, FrameCodec.helloBytes(cell));
        if (maxFrameBytes < least) {
            throw new IllegalArgumentException(
                    "Frames must be allowed " + least + " bytes at least, not " + maxFrameBytes);
        }
    }
}
