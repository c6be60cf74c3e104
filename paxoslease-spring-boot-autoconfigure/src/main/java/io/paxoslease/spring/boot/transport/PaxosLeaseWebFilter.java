package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferLimitException;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.SslInfo;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Answers the frames of other nodes in an application without servlets: {@code POST {base-path}/messages}. All other requests go on.
 *
 * <p>It comes before Spring Security, which would want a user and a CSRF token; frames authenticate themselves. Nobody is
 * authenticated before the whole frame is read, so reading is bounded: in size, to ten seconds, and to 64 bodies above 4 KiB at
 * a time; more get 503, which does not touch the small ones.
 */
public final class PaxosLeaseWebFilter implements WebFilter, Ordered {

    private static final byte[] EMPTY = {};
    private static final int SMALL = 4_096;

    private final String path;
    private final FrameHandler handler;
    private final Predicate<ServerWebExchange> here;
    private final Duration bodyTime;
    private final Semaphore largeBodies;
    private final OriginCheck origin;

    /**
     * Creates the filter.
     *
     * @param path where frames are posted to, within the application
     * @param handler handles the frames
     * @param context the application in whose server it answers; in Actuator's own server the filters of the application run too
     * @param origin where frames may come from; others are refused
     */
    public PaxosLeaseWebFilter(String path, FrameHandler handler, ApplicationContext context, FrameOrigin origin) {
        this(
                path,
                handler,
                exchange -> exchange.getApplicationContext() == context,
                origin,
                Duration.ofSeconds(10),
                64);
    }

    PaxosLeaseWebFilter(
            String path,
            FrameHandler handler,
            Predicate<ServerWebExchange> here,
            FrameOrigin origin,
            Duration bodyTime,
            int largeBodies) {
        this.path = path;
        this.handler = handler;
        this.here = here;
        this.bodyTime = bodyTime;
        this.largeBodies = new Semaphore(largeBodies);
        this.origin = new OriginCheck(origin);
    }

    /** Before Spring Security's filter, which has order -100. */
    @Override
    public int getOrder() {
        return -200;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        ServerHttpRequest request = exchange.getRequest();
        ServerHttpResponse response = exchange.getResponse();
        if (!request.getPath().pathWithinApplication().value().equals(path) || !here.test(exchange)) {
            return chain.filter(exchange);
        }
        if (request.getMethod() != HttpMethod.POST) {
            response.getHeaders().add("Allow", "POST");
            return refuse(response, HttpStatus.METHOD_NOT_ALLOWED, "only POST");
        }
        if (!FrameChannels.isFrame(request.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE))) {
            return refuse(response, HttpStatus.UNSUPPORTED_MEDIA_TYPE, "only " + FrameChannels.CONTENT_TYPE);
        }
        String strange = strangeness(request);
        if (strange != null) {
            return refuseAndClose(response, HttpStatusCode.valueOf(OriginCheck.STATUS), strange);
        }
        long length = request.getHeaders().getContentLength();
        if (length > handler.maxFrameBytes()) {
            return refuseTooLarge(response);
        }
        if (length >= 0 && length <= SMALL) {
            return answer(body(request), request, response);
        }
        if (!largeBodies.tryAcquire()) {
            return refuseAndClose(response, HttpStatus.SERVICE_UNAVAILABLE, "too many large frames at a time");
        }
        // Until the body is read and handled: how long the sender takes over the answer is its own affair.
        return answer(body(request).doFinally(signal -> largeBodies.release()), request, response);
    }

    /** Why the sender may not be a member, null if it may. */
    private @Nullable String strangeness(ServerHttpRequest request) {
        return switch (origin.required()) {
            case ANYWHERE -> null;
            case OWN_MACHINE ->
                origin.refusalByAddress(called(request), request.getHeaders().getOrigin());
            case CERTIFIED -> {
                SslInfo ssl = request.getSslInfo();
                yield origin.refusalByCertificates(ssl == null ? null : ssl.getPeerCertificates());
            }
        };
    }

    /** Not known where a header may have changed it, as Reactor Netty lets proxies do; members send none of these. */
    private static @Nullable InetAddress called(ServerHttpRequest request) {
        HttpHeaders headers = request.getHeaders();
        boolean forwarded = headers.containsHeader("Forwarded") || headers.containsHeader("X-Forwarded-Host");
        InetSocketAddress address = forwarded ? null : request.getLocalAddress();
        return address == null ? null : address.getAddress();
    }

    private Mono<byte[]> body(ServerHttpRequest request) {
        return DataBufferUtils.join(request.getBody(), handler.maxFrameBytes())
                .map(PaxosLeaseWebFilter::bytes)
                .defaultIfEmpty(EMPTY)
                .timeout(bodyTime);
    }

    private Mono<Void> answer(Mono<byte[]> read, ServerHttpRequest request, ServerHttpResponse response) {
        return read
                // The sender went away: there is nobody to tell, and nothing to log.
                .onErrorComplete(failure ->
                        !(failure instanceof DataBufferLimitException || failure instanceof TimeoutException))
                .flatMap(body -> reply(response, body, address(request.getRemoteAddress())))
                .onErrorResume(DataBufferLimitException.class, tooLarge -> refuseTooLarge(response))
                .onErrorResume(
                        TimeoutException.class,
                        tooSlow -> refuseAndClose(response, HttpStatus.REQUEST_TIMEOUT, "too slow"));
    }

    private static byte[] bytes(DataBuffer buffer) {
        try {
            byte[] bytes = new byte[buffer.readableByteCount()];
            buffer.read(bytes);
            return bytes;
        } finally {
            DataBufferUtils.release(buffer);
        }
    }

    private static @Nullable String address(@Nullable InetSocketAddress sender) {
        InetAddress address = sender == null ? null : sender.getAddress();
        return address == null ? null : address.getHostAddress();
    }

    private Mono<Void> reply(ServerHttpResponse response, byte[] body, @Nullable String address) {
        return write(response, handler.handle(body, address));
    }

    private Mono<Void> refuseTooLarge(ServerHttpResponse response) {
        response.getHeaders().add("Connection", "close");
        return write(response, handler.oversized());
    }

    private static Mono<Void> refuseAndClose(ServerHttpResponse response, HttpStatusCode status, String reason) {
        response.getHeaders().add("Connection", "close");
        return refuse(response, status, reason);
    }

    private static Mono<Void> refuse(ServerHttpResponse response, HttpStatusCode status, String reason) {
        return write(response, new FrameReply(status.value(), reason.getBytes(StandardCharsets.UTF_8)));
    }

    private static Mono<Void> write(ServerHttpResponse response, FrameReply reply) {
        response.setRawStatusCode(reply.status());
        response.getHeaders().set(HttpHeaders.CONTENT_TYPE, FrameChannels.contentType(reply));
        response.getHeaders().setContentLength(reply.body().length);
        // The sender went away, or sent what the server cannot read and has refused by itself: nobody to tell, and
        // nothing to log.
        return response.writeWith(
                        Mono.fromSupplier(() -> response.bufferFactory().wrap(reply.body())))
                .onErrorComplete();
    }
}
