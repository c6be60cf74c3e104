package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
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
final class TcpProtocol implements Protocol {

    static final int REQUEST_HEAD_BYTES = Integer.BYTES;
    static final int REPLY_HEAD_BYTES = Integer.BYTES + Short.BYTES;

    private final MemberUrl url;
    private final int maxResponseBytes;
    private final Supplier<? extends @Nullable SSLContext> sslContext;

    TcpProtocol(MemberUrl url, int maxResponseBytes, Supplier<? extends @Nullable SSLContext> sslContext) {
        this.url = url;
        this.maxResponseBytes = maxResponseBytes;
        this.sslContext = sslContext;
    }

    @Override
    public ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
        if (!url.isEncrypted()) {
            return new PlainStream(socket);
        }
        SSLContext context = trust();
        if (context == null) {
            throw new SSLException("there is no SSL bundle for it");
        }
        return TlsStream.client(socket, context, url.host(), url.port(), calculator, whenDone);
    }

    @Override
    public @Nullable SSLContext trust() {
        return url.isEncrypted() ? sslContext.get() : null;
    }

    @Override
    public ByteBuffer request(byte[] frame) {
        return ByteBuffer.allocate(REQUEST_HEAD_BYTES + frame.length)
                .putInt(frame.length)
                .put(frame)
                .flip();
    }

    @Override
    public ReplyParser newParser() {
        return new TcpReplyParser(maxResponseBytes);
    }
}
