package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.net.URI;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Makes the channel that fits the members' URLs. */
public final class FrameChannels {

    /** The media type of a frame. */
    public static final String CONTENT_TYPE = "application/vnd.paxoslease.v1";

    /** Where frames are posted to, below the base path. */
    public static final String PATH = "/messages";

    private static final String TEXT = "text/plain;charset=UTF-8";

    /** The status of a frame that was accepted. */
    static final int OK = 200;

    /** The status of an answer in a frame to one that was not accepted. */
    static final int NOT_ACCEPTED = 409;

    /** Frames begin with their version, which is below; texts begin with a letter, white space or a byte order mark. */
    private static final int FIRST_TEXT_BYTE = '\t';

    private FrameChannels() {}

    /** Whether the content type of a request, which may be missing, says that its body is a frame. */
    public static boolean isFrame(@Nullable String contentType) {
        String type = contentType == null ? "" : contentType.split(";", 2)[0].strip();
        return type.equalsIgnoreCase(CONTENT_TYPE);
    }

    /** The media type of a reply's body: 200 is answered with a frame, 409 too unless it begins like a text, all else in words. */
    static String contentType(FrameReply reply) {
        return reply.status() == OK || isFrame(reply) ? CONTENT_TYPE : TEXT;
    }

    /** Whether a member answered, and not in words, or somebody else with whatever. */
    static boolean isFrame(FrameReply reply) {
        byte[] body = reply.body();
        boolean canBe = reply.status() == OK || reply.status() == NOT_ACCEPTED;
        return canBe && body.length > 0 && (body[0] & 0xff) < FIRST_TEXT_BYTE;
    }

    /**
     * Makes a channel to all members. Nothing is connected and no thread is started before the first exchange.
     *
     * @param name names the threads, usually the node id
     * @param members the base URL of each member, {@code http[s]://host[:port][/context]}, {@code tcp://host:port} or {@code tls://host:port}
     * @param basePath the path below it where acceptors answer, for example {@code /paxoslease}
     * @param maxResponseBytes the largest answer that is read
     * @param sslContext asked before each exchange with an https or tls member; must be quick; after a new context nothing is sent on
     *     connections of the one before; null means the default context of the JVM for https, and none for tls
     * @return the channel
     * @throws IllegalArgumentException if a URL cannot be used, with the reason
     */
    public static SocketFrameChannel create(
            String name,
            Map<String, URI> members,
            String basePath,
            int maxResponseBytes,
            Supplier<? extends @Nullable SSLContext> sslContext) {
        SocketFrameChannel channel = new SocketFrameChannel(name);
        members.forEach(
                (member, base) -> channel.add(member, protocol(member, base, basePath, maxResponseBytes, sslContext)));
        return channel;
    }

    private static Protocol protocol(
            String member,
            URI base,
            String basePath,
            int maxResponseBytes,
            Supplier<? extends @Nullable SSLContext> sslContext) {
        return switch (String.valueOf(base.getScheme()).toLowerCase(Locale.ROOT)) {
            case "tcp", "tls" -> new TcpProtocol(MemberUrl.ofSocket(member, base), maxResponseBytes, sslContext);
            default -> new HttpProtocol(MemberUrl.of(member, base, basePath), maxResponseBytes, sslContext);
        };
    }
}
