package io.paxoslease.spring.boot.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** A frame is one HTTP/1.1 POST. */
class HttpProtocol extends Protocol {

    private final byte[] requestHead;

    HttpProtocol(MemberUrl url, int maxResponseBytes, Supplier<? extends @Nullable SSLContext> sslContext) {
        super(url, maxResponseBytes, () -> orDefault(sslContext.get()));
        this.requestHead = ("POST " + url.url().getRawPath() + " HTTP/1.1\r\nHost: "
                        + asServersHearIt(url.url().getRawAuthority()) + "\r\nContent-Type: "
                        + FrameChannels.CONTENT_TYPE
                        + "\r\nContent-Length: ")
                .getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * Which interface an address of this machine's link is reached by is nobody else's business, and Tomcat refuses to hear it. The dot that
     * ends a name is for the resolver: TLS tells the name without it, and servers that compare the two refuse the request.
     */
    private static String asServersHearIt(String authority) {
        return authority.replaceFirst("%[^]]*]", "]").replaceFirst("\\.(:\\d*)?$", "$1");
    }

    private static SSLContext orDefault(@Nullable SSLContext context) {
        try {
            return context == null ? SSLContext.getDefault() : context;
        } catch (NoSuchAlgorithmException unusable) {
            throw new IllegalStateException("the SSL settings of the JVM cannot be used: " + unusable, unusable);
        }
    }

    /** Whatever the JVM allows: what a web server knows is its own affair. */
    @Override
    String[] tlsVersions(SSLContext context) {
        return context.getDefaultSSLParameters().getProtocols();
    }

    @Override
    ByteBuffer request(byte[] frame) {
        byte[] length = (frame.length + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(requestHead.length + length.length + frame.length)
                .put(requestHead)
                .put(length)
                .put(frame)
                .flip();
    }

    @Override
    ReplyParser newParser() {
        return new ResponseParser(maxResponseBytes);
    }
}
