package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** How frames travel on the connections to one member: whether encrypted, and how their ends are told. Safe for any thread. */
interface Protocol {

    /**
     * The bytes of a new connection, which may not be connected yet.
     *
     * @param calculator runs what a handshake has to calculate
     * @param whenDone called by a thread of the calculator when the stream is no longer busy with that
     */
    ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException;

    /** All bytes of a request with a frame. */
    ByteBuffer request(byte[] frame);

    /** Reads the answer to one request. */
    ReplyParser newParser();
}
