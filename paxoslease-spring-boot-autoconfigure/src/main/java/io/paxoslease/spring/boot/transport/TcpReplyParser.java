package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Reads one answer of a {@link TcpFrameServer}. */
final class TcpReplyParser implements ReplyParser {

    private static final int HTTP = 'H' << 24 | 'T' << 16 | 'T' << 8 | 'P';

    /** How an alert of TLS begins, with which a member that takes encrypted connections only refuses this one. */
    private static final int TLS_ALERT = 0x1503;

    private final int maxBodyBytes;
    private final ByteBuffer head = ByteBuffer.allocate(TcpProtocol.REPLY_HEAD_BYTES);
    private @Nullable FrameBody body;
    private int status;

    TcpReplyParser(int maxBodyBytes) {
        this.maxBodyBytes = maxBodyBytes;
    }

    @Override
    public boolean isStarted() {
        return head.position() > 0;
    }

    @Override
    public boolean keepsAlive() {
        return true;
    }

    @Override
    public @Nullable FrameReply read(ByteBuffer in) throws ProtocolException {
        while (body == null && in.hasRemaining()) {
            head.put(in.get());
            if (!head.hasRemaining()) {
                body = body();
            }
        }
        return body != null && body.read(in) ? new FrameReply(status, body.bytes()) : null;
    }

    private FrameBody body() throws ProtocolException {
        int length = head.getInt(0);
        status = head.getShort(Integer.BYTES);
        if (length == HTTP) {
            throw new ProtocolException("HTTP: this is the port of a web server, not that of paxoslease.tcp.port");
        } else if (length >>> Short.SIZE == TLS_ALERT) {
            throw new ProtocolException("TLS: this member takes encrypted connections only, its URL begins with tls");
        } else if (length < 0 || status < 100 || status > 599) {
            throw new ProtocolException("something that is no answer to a frame");
        } else if (length > maxBodyBytes) {
            throw new ProtocolException("more than " + maxBodyBytes + " bytes");
        }
        return new FrameBody(length);
    }
}
