package io.paxoslease.spring.boot.transport;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import java.net.URI;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServer;

/** A {@link PaxosLeaseServlet} in a real Tomcat on an ephemeral port. */
final class TomcatNode implements AutoCloseable {

    static final int MAX_FRAME_BYTES = 100_000;

    private final WebServer server;
    private final String scheme;

    private TomcatNode(WebServer server, String scheme) {
        this.server = server;
        this.scheme = scheme;
        server.start();
    }

    /** Answers frames with their own bytes. */
    static TomcatNode echo() {
        return start(new PaxosLeaseServlet(() -> handler(frame -> new FrameReply(200, frame))));
    }

    static TomcatNode start(PaxosLeaseServlet servlet) {
        return start(servlet, true, factory -> {}, context -> {});
    }

    static TomcatNode start(
            PaxosLeaseServlet servlet,
            boolean async,
            Consumer<TomcatServletWebServerFactory> settings,
            Consumer<ServletContext> more) {
        TomcatServletWebServerFactory factory = new TomcatServletWebServerFactory(0);
        settings.accept(factory);
        WebServer server = factory.getWebServer(context -> {
            ServletRegistration.Dynamic registration = context.addServlet("paxoslease", servlet);
            registration.addMapping("/paxoslease/*");
            registration.setAsyncSupported(async);
            more.accept(context);
        });
        return new TomcatNode(server, factory.getSsl() == null ? "http" : "https");
    }

    static FrameHandler handler(Function<byte[], FrameReply> function) {
        return handler((frame, address) -> function.apply(frame));
    }

    static FrameHandler handler(BiFunction<byte[], @Nullable String, FrameReply> function) {
        return new FrameHandler() {
            @Override
            public int maxFrameBytes() {
                return MAX_FRAME_BYTES;
            }

            @Override
            public FrameReply handle(byte[] frame, @Nullable String address) {
                return function.apply(frame, address);
            }
        };
    }

    /** Answers with the address of whoever calls. */
    static FrameHandler mirror() {
        return handler(
                (frame, address) -> new FrameReply(200, String.valueOf(address).getBytes(UTF_8)));
    }

    int port() {
        return server.getPort();
    }

    URI url() {
        return URI.create(scheme + "://localhost:" + port());
    }

    @Override
    public void close() {
        server.stop();
        server.destroy();
    }
}
