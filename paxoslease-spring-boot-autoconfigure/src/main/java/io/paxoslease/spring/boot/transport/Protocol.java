package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** How frames travel on the connections to one member: whether encrypted, and how their ends are told. Safe for any thread. */
interface Protocol {

    /**
     * The bytes of a new connection, which may not be connected yet.
     *
     * @param calculator runs what a handshake has to calculate
     * @param whenDone called by a thread of the calculator when the stream is no longer busy with that
     */
    ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException;

    /** What says by now whom to trust; a connection that was opened under another one must not be used any more. Null if none is encrypted. */
    default @Nullable SSLContext trust() {
        return null;
    }

    /** All bytes of a request with a frame. */
    ByteBuffer request(byte[] frame);

    /** Reads the answer to one request. */
    ReplyParser newParser();
}
