package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads one answer, in pieces of any size, strictly and with bounded memory. */
interface ReplyParser {

    /** Whether any byte of an answer was seen. */
    boolean isStarted();

    /** Whether the member keeps the connection open after this answer. */
    boolean keepsAlive();

    /**
     * Takes the bytes that belong to the answer and leaves what follows it.
     *
     * @return the answer once it is complete, else null
     * @throws ProtocolException if this is no answer that can be accepted; the message completes "answered with …"
     */
    @Nullable
    FrameReply read(ByteBuffer in) throws ProtocolException;
}
