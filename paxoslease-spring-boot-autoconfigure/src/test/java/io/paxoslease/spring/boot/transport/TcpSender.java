package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A {@link RawSender} that knows where frames and answers end. */
final class TcpSender implements Closeable {

    final RawSender raw;
    private final DataInputStream in;
    final DataOutputStream out;

    TcpSender(int port) throws IOException {
        raw = new RawSender(port);
        in = new DataInputStream(raw.in);
        out = new DataOutputStream(raw.socket.getOutputStream());
    }

    void write(byte[] frame) throws IOException {
        out.write(ByteBuffer.allocate(Integer.BYTES + frame.length)
                .putInt(frame.length)
                .put(frame)
                .array());
    }

    FrameReply answer() throws IOException {
        int length = in.readInt();
        int status = in.readShort();
        return new FrameReply(status, in.readNBytes(length));
    }

    FrameReply exchange(byte[] frame) throws IOException {
        write(frame);
        return answer();
    }

    boolean isClosedByPeer() throws IOException {
        return raw.isClosedByPeer();
    }

    @Override
    public void close() throws IOException {
        raw.close();
    }
}
