package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** One connection to a member, with at most one exchange on it. Guarded by the monitor of its member. */
final class SocketConnection {

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketMember member;
    private final SocketChannel socket;
    private final ByteStream stream;
    private final @Nullable SSLContext trust;
    private final SelectionKey key;
    private final List<InetAddress> otherAddresses;

    private @Nullable Exchange exchange;
    private ReplyParser reply;
    private ByteBuffer unwritten = NOTHING;
    private boolean reused;
    private boolean opensOnly;
    private final int firstAddress;
    private long idleSinceNanos;

    private SocketConnection(
            SocketMember member,
            SocketChannel socket,
            Selector selector,
            Protocol protocol,
            Exchange exchange,
            List<InetAddress> otherAddresses,
            int firstAddress)
            throws IOException {
        this.member = member;
        this.socket = socket;
        // Before it is used: renewed in between, it counts as the old one.
        this.trust = protocol.trust();
        this.stream = protocol.stream(socket, member::calculate, () -> member.resume(this));
        this.exchange = exchange;
        this.opensOnly = exchange.late;
        this.reply = protocol.newParser();
        this.otherAddresses = otherAddresses;
        this.firstAddress = firstAddress;
        this.key = socket.register(selector, SelectionKey.OP_CONNECT, this);
    }

    /** Begins to connect to the first address; the exchange is sent once {@link #finishConnect} says so. */
    static SocketConnection open(
            SocketMember member,
            Exchange exchange,
            List<InetAddress> addresses,
            int firstAddress,
            int port,
            Selector selector,
            Protocol protocol)
            throws IOException {
        SocketChannel socket = SocketChannel.open();
        try {
            socket.configureBlocking(false);
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            socket.connect(new InetSocketAddress(addresses.get(0), port));
            return new SocketConnection(
                    member, socket, selector, protocol, exchange, addresses.subList(1, addresses.size()), firstAddress);
        } catch (IOException | RuntimeException | OutOfMemoryError failure) {
            socket.close();
            throw failure;
        }
    }

    SocketMember member() {
        return member;
    }

    @Nullable
    Exchange exchange() {
        return exchange;
    }

    /** The addresses to try if this one does not connect. */
    List<InetAddress> otherAddresses() {
        return otherAddresses;
    }

    /** What was the member's first address when this one was opened. */
    int firstAddress() {
        return firstAddress;
    }

    boolean isConnecting() {
        return !socket.isConnected();
    }

    /** Whether nobody has answered on it yet. */
    boolean isNew() {
        return !reused && !reply.isStarted();
    }

    /** Goes on with an exchange for whose answer nobody waits any more. What was not sent of it stays here: later ones may have overtaken it. */
    void goOnLate(Exchange late) {
        exchange = late;
        if (unwritten.position() == 0) {
            opensOnly = true;
            unwritten = NOTHING;
        }
    }

    /** Whether it has opened, late and without an exchange, so that it can serve one now. */
    boolean hasOpened() {
        return opensOnly && !isConnecting() && stream.isQuiet() && !reply.isStarted();
    }

    /** Whether the exchange failed only because the member had closed the idle connection before. */
    boolean wasDead() {
        return reused && !reply.isStarted();
    }

    /** Whether it was opened under what says by now whom to trust. */
    boolean isOpenedUnder(@Nullable SSLContext current) {
        return trust == current;
    }

    boolean isIdleSince(long nanos) {
        return idleSinceNanos - nanos >= 0;
    }

    void finishConnect() throws IOException {
        socket.finishConnect();
    }

    /**
     * Puts an exchange on the connection. A connection that is lost shows that when it is read.
     *
     * @return whether the selector waits for the right thing already
     * @throws SSLException if no handshake can begin
     */
    boolean send(Exchange next, ByteBuffer request, ReplyParser answer) throws SSLException {
        exchange = next;
        reply = answer;
        unwritten = opensOnly ? NOTHING : request;
        return write();
    }

    private boolean write() throws SSLException {
        int interest = SelectionKey.OP_READ;
        try {
            stream.write(unwritten);
            interest = stream.interestOps();
        } catch (SSLException untrusted) {
            throw untrusted;
        } catch (IOException lost) {
            // Perhaps after an early answer, which can still be read.
        }
        boolean changed = key.interestOps() != interest;
        if (changed) {
            key.interestOps(interest);
        }
        return !changed;
    }

    /**
     * Reads and writes as much as the socket has and takes, but reads only once, so that no member can keep the thread.
     *
     * @return the answer, or null while it is incomplete
     * @throws java.net.ProtocolException if the answer is not acceptable
     * @throws IOException if the connection is lost
     */
    @Nullable
    FrameReply transfer(ByteBuffer input) throws IOException {
        input.clear();
        // Whatever the selector said: after a calculation the stream may have something to read that it does not tell.
        if (stream.read(input) < 0) {
            throw new EOFException(
                    reply.isStarted() ? "closed in the middle of an answer" : "closed without an answer");
        }
        FrameReply complete = reply.read(input.flip());
        if (complete == null) {
            write();
        }
        return complete;
    }

    /** Ends the exchange after {@link #transfer}; says whether the connection can serve another one. */
    boolean becomeIdle(ByteBuffer input, long nowNanos) {
        becomeIdle(nowNanos);
        // Before TLS 1.3 a server may ask for another handshake at any time, and one that has begun goes on only while
        // an answer is read.
        return reply.keepsAlive() && !input.hasRemaining() && !unwritten.hasRemaining() && stream.isQuiet();
    }

    /** Ends the exchange after {@link #hasOpened}. */
    void becomeIdle(long nowNanos) {
        exchange = null;
        reused = true;
        opensOnly = false;
        idleSinceNanos = nowNanos;
    }

    /** Whether it is still idle after news of the selector: what came was for the stream alone, as are the tickets of TLS or parts of them. */
    boolean staysIdle(ByteBuffer input) {
        try {
            input.clear();
            boolean nothing = stream.read(input) == 0;
            write();
            return nothing && !stream.isHandshaking();
        } catch (IOException lost) {
            return false;
        }
    }

    void close() {
        exchange = null;
        stream.close();
    }
}
