package io.paxoslease.spring.boot.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/** Bytes as they are. */
final class PlainStream implements ByteStream {

    private final SocketChannel socket;
    private boolean full;

    PlainStream(SocketChannel socket) {
        this.socket = socket;
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        return socket.read(into);
    }

    @Override
    public void write(ByteBuffer from) throws IOException {
        if (from.hasRemaining()) {
            socket.write(from);
        }
        full = from.hasRemaining();
    }

    @Override
    public int interestOps() {
        return full ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException ignored) {
            // it is gone either way
        }
    }
}
