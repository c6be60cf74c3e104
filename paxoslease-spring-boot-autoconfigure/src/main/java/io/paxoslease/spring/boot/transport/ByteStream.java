package io.paxoslease.spring.boot.transport;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The bytes of one connected, non-blocking socket, as they are or encrypted. One thread at a time. */
interface ByteStream extends Closeable {

    /** The least room that {@link #read} must be given. */
    int MIN_ROOM = 32 * 1024;

    /**
     * Reads once from the socket and hands over all that this completes.
     *
     * @param into has {@link #MIN_ROOM} left
     * @return how many bytes were added, 0 if there is nothing yet, -1 at the end
     * @throws IOException if the connection is lost or the other side is not trusted
     */
    int read(ByteBuffer into) throws IOException;

    /**
     * Writes what it took before and takes as many bytes as there is room for. What is left must be offered again when the selector has news.
     *
     * @throws IOException if the connection is lost or the other side is not trusted
     */
    void write(ByteBuffer from) throws IOException;

    /**
     * What the selector has to wait for after the last {@link #read} or {@link #write}: to read, and to write if the socket took less than it
     * was given; 0 while the stream is busy and will tell itself.
     */
    int interestOps();

    /** Whether nothing is under way that the stream began by itself. */
    default boolean isQuiet() {
        return true;
    }

    /** Whether the two sides agree anew, which goes on only while this is read and written. */
    default boolean isHandshaking() {
        return false;
    }

    /** Closes the socket; never fails. */
    @Override
    void close();
}
