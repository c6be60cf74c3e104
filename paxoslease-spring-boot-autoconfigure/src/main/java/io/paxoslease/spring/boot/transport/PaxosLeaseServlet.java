package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers the frames of other nodes: {@code POST {base-path}/messages}.
 *
 * <p>Nobody is authenticated before the whole frame is read, so reading is bounded. A frame that has arrived together with its headers, as
 * small ones do, is answered at once by the container's thread. One that trickles in does not hold a thread, has ten seconds in all, and
 * at most 64 of them are taken at the same time; more get 503, which does not touch the small ones.
 *
 * <p>Map it to {@code {base-path}/messages} or to {@code {base-path}/*}, with asynchronous processing supported; where a filter does not
 * support it, slow frames are read by the container's thread within the same bounds.
 */
public final class PaxosLeaseServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";
    private static final int REQUEST_TIMEOUT = 408;

    private final transient Supplier<? extends @Nullable FrameHandler> handlers;
    private final transient Duration bodyTime;
    private final transient Semaphore slowBodies;
    private final transient OriginCheck origin;

    /**
     * Creates a servlet that takes frames from everywhere.
     *
     * @param handlers gives the handler for each request, or null while the node is not ready
     */
    public PaxosLeaseServlet(Supplier<? extends @Nullable FrameHandler> handlers) {
        this(handlers, FrameOrigin.ANYWHERE);
    }

    /**
     * Creates the servlet.
     *
     * @param handlers gives the handler for each request, or null while the node is not ready
     * @param origin where frames may come from; others are refused
     */
    public PaxosLeaseServlet(Supplier<? extends @Nullable FrameHandler> handlers, FrameOrigin origin) {
        this(handlers, origin, Duration.ofSeconds(10), 64);
    }

    PaxosLeaseServlet(
            Supplier<? extends @Nullable FrameHandler> handlers,
            FrameOrigin origin,
            Duration bodyTime,
            int slowBodies) {
        this.handlers = handlers;
        this.bodyTime = bodyTime;
        this.slowBodies = new Semaphore(slowBodies);
        this.origin = new OriginCheck(origin);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) {
        try {
            answer(request, response);
        } catch (IOException gone) {
            // The sender went away, or sent what the container cannot read; there is nobody to tell.
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!isPath(request.getServletPath(), request.getPathInfo())) {
            write(response, refusal(HttpServletResponse.SC_NOT_FOUND, "nothing here"));
        } else if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "POST");
            write(response, refusal(HttpServletResponse.SC_METHOD_NOT_ALLOWED, "only POST"));
        } else if (!FrameChannels.isFrame(request.getContentType())) {
            write(
                    response,
                    refusal(HttpServletResponse.SC_UNSUPPORTED_MEDIA_TYPE, "only " + FrameChannels.CONTENT_TYPE));
        } else {
            answerFrame(request, response);
        }
    }

    private void answerFrame(HttpServletRequest request, HttpServletResponse response) throws IOException {
        FrameHandler handler = handlers.get();
        String strange = strangeness(request);
        if (strange != null) {
            refuseUnread(request, response, refusal(OriginCheck.STATUS, strange));
        } else if (handler == null) {
            write(response, refusal(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "not ready"));
        } else if (request.getContentLengthLong() > handler.maxFrameBytes()) {
            refuseUnread(request, response, handler.oversized());
        } else {
            read(request, response, handler);
        }
    }

    private static boolean isPath(String mapped, @Nullable String rest) {
        return rest == null ? mapped.endsWith(FrameChannels.PATH) : rest.equals(FrameChannels.PATH);
    }

    /** Why the sender may not be a member, null if it may. */
    private @Nullable String strangeness(HttpServletRequest request) throws UnknownHostException {
        return switch (origin.required()) {
            case ANYWHERE -> null;
            case OWN_MACHINE -> origin.refusalByAddress(called(request), request.getHeader("Origin"));
            case CERTIFIED -> origin.refusalByCertificates((Object[]) request.getAttribute(CERTIFICATES));
        };
    }

    /** The container's own word, and an address in digits: nothing is looked up. */
    private static @Nullable InetAddress called(HttpServletRequest request) throws UnknownHostException {
        String address = request.getLocalAddr();
        return address == null || address.isEmpty() ? null : InetAddress.getByName(address);
    }

    private void read(HttpServletRequest request, HttpServletResponse response, FrameHandler handler)
            throws IOException {
        ServletInputStream input = request.getInputStream();
        RequestBody body = new RequestBody(
                input, request.getContentLengthLong(), handler.maxFrameBytes(), request.getRemoteAddr());
        // Of a chunk whose length has not come, some containers call bytes available that they wait behind.
        while (request.getContentLengthLong() >= 0 && !body.isComplete() && input.available() > 0) {
            body.readSome();
        }
        if (body.isComplete()) {
            reply(response, handler, body);
        } else if (!slowBodies.tryAcquire()) {
            refuseUnread(
                    request, response, refusal(HttpServletResponse.SC_SERVICE_UNAVAILABLE, "too many slow senders"));
        } else if (request.isAsyncSupported() && !isReplaced(request, input)) {
            readLater(request, handler, input, body);
        } else {
            try {
                readHere(response, handler, body);
            } finally {
                slowBodies.release();
            }
        }
    }

    private void readLater(
            HttpServletRequest request, FrameHandler handler, ServletInputStream input, RequestBody body) {
        boolean begun = false;
        try {
            AsyncContext async = request.startAsync();
            SlowBody slow = new SlowBody(async, input, response(async), handler, body);
            async.addListener(slow);
            begun = true;
            async.setTimeout(bodyTime.toMillis());
            input.setReadListener(slow);
        } finally {
            if (!begun) {
                // For example because a filter has begun something asynchronous already.
                slowBodies.release();
            }
        }
    }

    /** Whether a filter has put a body of its own in place of the container's: few of those tell when there is more. */
    private static boolean isReplaced(ServletRequest request, ServletInputStream input) throws IOException {
        ServletRequest inner = request;
        while (inner instanceof ServletRequestWrapper wrapper) {
            inner = wrapper.getRequest();
        }
        try {
            return inner != request && inner.getInputStream() != input;
        } catch (IllegalStateException readOtherwise) {
            return true;
        }
    }

    /**
     * The container's own response. What a filter has put in its place may keep the answer back until the servlet returns, and then nobody
     * passes it on.
     */
    private static HttpServletResponse response(AsyncContext async) {
        return (HttpServletResponse) async.getResponse();
    }

    /** Holds the thread, but not much longer than the time for a body: the container bounds each single read. */
    private void readHere(HttpServletResponse response, FrameHandler handler, RequestBody body) throws IOException {
        long start = System.nanoTime();
        while (!body.isComplete()) {
            if (System.nanoTime() - start >= bodyTime.toNanos()) {
                refuseAndClose(response, tooSlow());
                return;
            }
            body.readSome();
        }
        reply(response, handler, body);
    }

    private static void reply(HttpServletResponse response, FrameHandler handler, RequestBody body) throws IOException {
        if (body.isTooLarge()) {
            refuseAndClose(response, handler.oversized());
        } else {
            write(response, handler.handle(body.bytes(), body.address()));
        }
    }

    private static FrameReply refusal(int status, String reason) {
        return new FrameReply(status, reason.getBytes(StandardCharsets.UTF_8));
    }

    private static FrameReply tooSlow() {
        return refusal(REQUEST_TIMEOUT, "too slow");
    }

    /**
     * Refuses a request of which more may come. Tomcat reads the rest of a body before it gives a connection up, and keeps the thread waiting
     * for it, but not where the request is asynchronous.
     */
    private static void refuseUnread(HttpServletRequest request, HttpServletResponse response, FrameReply refusal)
            throws IOException {
        if (!request.isAsyncSupported()) {
            refuseAndClose(response, refusal);
            return;
        }
        AsyncContext async = request.startAsync();
        try {
            refuseAndClose(response(async), refusal);
        } finally {
            async.complete();
        }
    }

    private static void refuseAndClose(HttpServletResponse response, FrameReply refusal) throws IOException {
        response.setHeader("Connection", "close");
        write(response, refusal);
    }

    private static void write(HttpServletResponse response, FrameReply reply) throws IOException {
        response.setStatus(reply.status());
        response.setContentType(FrameChannels.contentType(reply));
        response.setContentLength(reply.body().length);
        response.getOutputStream().write(reply.body());
    }

    /** A body of which not all was there at once; the container calls when there is more. */
    private final class SlowBody implements ReadListener, AsyncListener {

        private final AsyncContext async;
        private final ServletInputStream input;
        private final HttpServletResponse response;
        private final FrameHandler handler;
        private final RequestBody body;
        private boolean answered;

        SlowBody(
                AsyncContext async,
                ServletInputStream input,
                HttpServletResponse response,
                FrameHandler handler,
                RequestBody body) {
            this.async = async;
            this.input = input;
            this.response = response;
            this.handler = handler;
            this.body = body;
        }

        @Override
        public void onDataAvailable() throws IOException {
            while (!body.isComplete() && input.isReady()) {
                body.readSome();
            }
            if (body.isComplete()) {
                answer(() -> reply(response, handler, body));
            }
        }

        @Override
        public void onAllDataRead() {
            answer(() -> reply(response, handler, body));
        }

        @Override
        public void onTimeout(AsyncEvent event) {
            answer(() -> refuseAndClose(response, tooSlow()));
        }

        @Override
        public void onError(Throwable failure) {
            answer(() -> {});
        }

        @Override
        public void onError(AsyncEvent event) {
            answer(() -> {});
        }

        @Override
        public void onComplete(AsyncEvent event) {
            slowBodies.release();
        }

        @Override
        public void onStartAsync(AsyncEvent event) {
            // nobody starts it again
        }

        private synchronized void answer(Answer answer) {
            if (answered) {
                return;
            }
            answered = true;
            try {
                answer.write();
            } catch (IOException gone) {
                // the sender went away
            } finally {
                async.complete();
            }
        }
    }

    private interface Answer {
        void write() throws IOException;
    }
}
