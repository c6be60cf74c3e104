package io.paxoslease.spring.boot.transport;

import java.nio.ByteBuffer;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Frames as they are, after their length, to a {@link TcpFrameServer}; numbers are big-endian:
 *
 * <pre>
 *   request   int length, frame
 *   answer    int length, short status, body
 * </pre>
 *
 * Answers come in the order of the requests, and length is that of the frame or body. Status and body mean what they do in HTTP.
 */
final class TcpProtocol extends Protocol {

    static final int REQUEST_HEAD_BYTES = Integer.BYTES;
    static final int REPLY_HEAD_BYTES = Integer.BYTES + Short.BYTES;

    TcpProtocol(MemberUrl url, int maxResponseBytes, Supplier<? extends @Nullable SSLContext> sslContext) {
        super(url, maxResponseBytes, sslContext);
    }

    @Override
    String[] tlsVersions(SSLContext context) {
        return TlsStream.NEWEST;
    }

    @Override
    ByteBuffer request(byte[] frame) {
        return ByteBuffer.allocate(REQUEST_HEAD_BYTES + frame.length)
                .putInt(frame.length)
                .put(frame)
                .flip();
    }

    @Override
    ReplyParser newParser() {
        return new TcpReplyParser(maxResponseBytes);
    }
}
