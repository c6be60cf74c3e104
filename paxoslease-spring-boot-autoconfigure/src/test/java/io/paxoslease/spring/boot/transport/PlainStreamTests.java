package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

class PlainStreamTests {

    /** What waits for room and has nothing to write has news without end. */
    @Test
    void waitsForRoomOnlyForWhatIsStillOffered() throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(any);
                SocketChannel socket = SocketChannel.open(server.getLocalAddress())) {
            socket.configureBlocking(false);
            PlainStream stream = new PlainStream(socket);
            stream.write(ByteBuffer.allocate(1));
            assertThat(stream.interestOps()).isEqualTo(SelectionKey.OP_READ);
            stream.write(ByteBuffer.allocate(30_000_000));
            assertThat(stream.interestOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            stream.write(ByteBuffer.allocate(0));
            assertThat(stream.interestOps()).isEqualTo(SelectionKey.OP_READ);
        }
    }
}
