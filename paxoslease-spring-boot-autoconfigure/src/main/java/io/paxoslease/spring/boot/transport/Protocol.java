package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** How frames travel on the connections to one member: whether encrypted, and how their ends are told. Safe for any thread. */
abstract class Protocol {

    final MemberUrl url;
    final int maxResponseBytes;
    private final Supplier<? extends @Nullable SSLContext> sslContext;

    /**
     * For one member.
     *
     * @param url where it answers, which says whether connections are encrypted
     * @param maxResponseBytes the largest answer that is read
     * @param sslContext says by now whom to trust, if they are
     */
    Protocol(MemberUrl url, int maxResponseBytes, Supplier<? extends @Nullable SSLContext> sslContext) {
        this.url = url;
        this.maxResponseBytes = maxResponseBytes;
        this.sslContext = sslContext;
    }

    /**
     * The bytes of a new connection, which may not be connected yet.
     *
     * @param calculator runs what a handshake has to calculate
     * @param whenDone called by a thread of the calculator when the stream is no longer busy with that
     */
    ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
        if (!url.isEncrypted()) {
            return new PlainStream(socket);
        }
        SSLContext context = trust();
        if (context == null) {
            throw new SSLException("there is no SSL bundle for it");
        }
        return TlsStream.client(socket, context, url.host(), url.port(), tlsVersions(context), calculator, whenDone);
    }

    /** All addresses that the name of the member leads to by now, at least one. May block for long. */
    List<InetAddress> addresses() throws UnknownHostException {
        return List.of(InetAddress.getAllByName(url.host()));
    }

    /** What says by now whom to trust; a connection that was opened under another one must not be used any more. Null if none is encrypted. */
    final @Nullable SSLContext trust() {
        return url.isEncrypted() ? sslContext.get() : null;
    }

    /** What is idle for longer may have been forgotten by something between the nodes. */
    long maxIdleNanos() {
        return 30_000_000_000L;
    }

    /** Which versions of TLS are offered. */
    abstract String[] tlsVersions(SSLContext context);

    /** All bytes of a request with a frame. */
    abstract ByteBuffer request(byte[] frame);

    /** Reads the answer to one request. */
    abstract ReplyParser newParser();
}
