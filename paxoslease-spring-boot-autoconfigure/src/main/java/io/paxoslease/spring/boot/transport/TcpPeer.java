package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A connection that came in, of whoever. It is answered before more is read from it. Used by the thread of the server only. */
final class TcpPeer {

    private final SocketChannel socket;
    private final @Nullable SSLContext trust;
    private final ByteStream stream;
    private final FrameHandler handler;
    private final String address;
    private final TcpFrameServer.Limits limits;

    private final ByteBuffer head = ByteBuffer.allocate(TcpProtocol.REQUEST_HEAD_BYTES);
    private @Nullable FrameBody body;
    private ByteBuffer unwritten = ByteBuffer.allocate(0);

    private boolean proven;
    private long sinceNanos = System.nanoTime();
    private @Nullable SelectionKey key;

    TcpPeer(
            SocketChannel socket,
            @Nullable SSLContext trust,
            Function<Runnable, ByteStream> stream,
            FrameHandler handler,
            TcpFrameServer.Limits limits,
            Consumer<TcpPeer> resume) {
        this.socket = socket;
        this.trust = trust;
        this.stream = stream.apply(() -> resume.accept(this));
        this.handler = handler;
        this.address = socket.socket().getInetAddress().getHostAddress();
        this.limits = limits;
    }

    void register(Selector selector) throws IOException {
        key = socket.register(selector, SelectionKey.OP_READ, this);
    }

    /** Whether it brought a frame that was accepted, so that it is no stranger. */
    boolean isProven() {
        return proven;
    }

    /** Whether a part of a frame has come. */
    boolean isUnfinished() {
        return head.position() > 0;
    }

    /** Whether it came in under what says by now whom to trust. */
    boolean isAcceptedUnder(@Nullable SSLContext current) {
        return trust == current;
    }

    /** How long ago its last frame began. */
    long idleNanos() {
        return System.nanoTime() - sinceNanos;
    }

    /** Whether it takes too long with a frame and its answer, its first one included, or is idle for too long. */
    boolean isOverdue() {
        boolean busy = !proven || isUnfinished() || unwritten.hasRemaining();
        return idleNanos() > (busy ? limits.busyTime() : limits.idleTime()).toNanos();
    }

    /**
     * Writes the rest of an answer, else reads and answers what has come.
     *
     * @throws IOException if the connection is of no more use
     */
    void serve(ByteBuffer input) throws IOException {
        if (!unwritten.hasRemaining()) {
            input.clear();
            int count = stream.read(input);
            input.flip();
            while (input.hasRemaining() && !unwritten.hasRemaining()) {
                read(input);
            }
            if (count < 0 || input.hasRemaining()) {
                throw new IOException("ended, or did not wait for its answer");
            }
        }
        // Also for what the stream itself has to send, as in a handshake.
        stream.write(unwritten);
        if (key != null) {
            listen(key);
        }
    }

    private void read(ByteBuffer input) throws IOException {
        if (!isUnfinished()) {
            sinceNanos = System.nanoTime();
        }
        while (body == null && input.hasRemaining()) {
            head.put(input.get());
            if (!head.hasRemaining()) {
                int length = head.getInt(0);
                if (length < 0 || length > handler.maxFrameBytes()) {
                    answer(handler.oversized());
                    throw new IOException("more than " + handler.maxFrameBytes() + " bytes");
                }
                body = new FrameBody(length);
            }
        }
        if (body != null && body.read(input)) {
            FrameReply reply = handler.handle(body.bytes(), address);
            proven |= reply.status() == FrameChannels.OK;
            answer(reply);
        }
    }

    private void answer(FrameReply reply) throws IOException {
        head.clear();
        body = null;
        unwritten = ByteBuffer.allocate(TcpProtocol.REPLY_HEAD_BYTES + reply.body().length)
                .putInt(reply.body().length)
                .putShort((short) reply.status())
                .put(reply.body())
                .flip();
        stream.write(unwritten);
    }

    /** While an answer waits nothing is read, so that nobody can have answers piled up. */
    private void listen(SelectionKey key) {
        int interest = stream.interestOps();
        interest &= unwritten.hasRemaining() ? ~SelectionKey.OP_READ : ~0;
        if (key.interestOps() != interest) {
            key.interestOps(interest);
        }
    }

    void close() {
        stream.close();
    }
}
