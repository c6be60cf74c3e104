package io.paxoslease.wire;

import org.jspecify.annotations.Nullable;

/** The receiving end of frames. Safe to call from any thread. */
public interface FrameHandler {

    /** The largest frame that is worth reading; larger ones get 413 without being read. */
    int maxFrameBytes();

    /**
     * Handles one frame. Never throws and never blocks, whatever the bytes are.
     *
     * @param frame the bytes as they arrived
     * @param address where they came from, such as an IP address, for messages only; null if that is not known
     * @return the reply
     */
    FrameReply handle(byte[] frame, @Nullable String address);
}
