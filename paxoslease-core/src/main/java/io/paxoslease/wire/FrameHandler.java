package io.paxoslease.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/** The receiving end of frames. Safe to call from any thread. */
public interface FrameHandler {

    /** The largest frame that is worth reading; larger ones get {@link #oversized()} without being read. */
    int maxFrameBytes();

    /** The reply to a larger frame; to be called once for each. */
    default FrameReply oversized() {
        return new FrameReply(413, ("reads frames of up to " + maxFrameBytes() + " bytes").getBytes(UTF_8));
    }

    /**
     * Handles one frame. Never throws and never blocks, whatever the bytes are.
     *
     * @param frame the bytes as they arrived
     * @param address where they came from, such as an IP address, for messages only; null if that is not known
     * @return the reply
     */
    FrameReply handle(byte[] frame, @Nullable String address);
}
