package io.paxoslease.spring.boot.transport;

import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A frame is one HTTP/1.1 POST. */
final class HttpProtocol implements Protocol {

    private final byte[] requestHead;
    private final int maxResponseBytes;

    HttpProtocol(MemberUrl url, int maxResponseBytes) {
        this.maxResponseBytes = maxResponseBytes;
        this.requestHead = ("POST " + url.url().getRawPath() + " HTTP/1.1\r\nHost: "
                        + withoutZone(url.url().getRawAuthority()) + "\r\nContent-Type: " + FrameChannels.CONTENT_TYPE
                        + "\r\nContent-Length: ")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Which interface an address of this machine's link is reached by is nobody else's business, and Tomcat refuses to hear it. */
    private static String withoutZone(String authority) {
        return authority.replaceFirst("%[^]]*]", "]");
    }

    @Override
    public ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) {
        return new PlainStream(socket);
    }

    @Override
    public ByteBuffer request(byte[] frame) {
        byte[] length = (frame.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(requestHead.length + length.length + frame.length)
                .put(requestHead)
                .put(length)
                .put(frame)
                .flip();
    }

    @Override
    public ReplyParser newParser() {
        return new ResponseParser(maxResponseBytes);
    }
}
