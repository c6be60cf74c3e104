package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.net.ConnectException;
import java.net.ProtocolException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Carries frames over https with the JDK's HTTP client, which checks the name in the member's certificate. Slower than
 * {@link SocketFrameChannel}, but what encrypts and authenticates should not be our own.
 *
 * <p>Stages complete on threads of the client, or on the JVM's timer: what depends on them must be short and must not block. A frame whose
 * connection was lost is sent once more, so a member may see it twice.
 */
public final class HttpsFrameChannel implements FrameChannel {

    /** The client opens a connection for each of them if it must. */
    static final int MAX_EXCHANGES_PER_MEMBER = 16;

    /** For all members at once, and not for each answer of one that goes on refusing. */
    private static final long SHORTEST_USE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Map<String, Member> members = new LinkedHashMap<>();
    private final int maxResponseBytes;
    private final Supplier<? extends @Nullable SSLContext> sslContext;
    private final long shortestUseNanos;
    private final Executor executor;
    private final Set<CompletableFuture<FrameReply>> underWay = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Client client;
    private volatile boolean closed;

    private record Member(MemberUrl url, Semaphore permits, AtomicInteger refusals) {}

    private record Client(@Nullable SSLContext context, HttpClient http, long sinceNanos) {}

    /**
     * Prepares the channel; neither thread nor connection exists before the first exchange.
     *
     * @param name names the threads, usually the node id
     * @param members the base URL of each member, {@code https://host[:port][/context]}
     * @param basePath the path below it where acceptors answer, for example {@code /paxoslease}
     * @param maxResponseBytes the largest answer that is read
     * @param sslContext asked before each exchange; must be quick; a new context is used for new connections from then on; null means the
     *     default context of the JVM
     * @throws IllegalArgumentException if a URL cannot be used, with the reason
     */
    public HttpsFrameChannel(
            String name,
            Map<String, URI> members,
            String basePath,
            int maxResponseBytes,
            Supplier<? extends @Nullable SSLContext> sslContext) {
        this(name, members, basePath, maxResponseBytes, sslContext, SHORTEST_USE_NANOS);
    }

    HttpsFrameChannel(
            String name,
            Map<String, URI> members,
            String basePath,
            int maxResponseBytes,
            Supplier<? extends @Nullable SSLContext> sslContext,
            long shortestUseNanos) {
        members.forEach((member, base) -> this.members.put(
                member,
                new Member(
                        MemberUrl.of(member, base, basePath, "https"),
                        new Semaphore(MAX_EXCHANGES_PER_MEMBER),
                        new AtomicInteger())));
        this.maxResponseBytes = maxResponseBytes;
        this.sslContext = sslContext;
        this.shortestUseNanos = shortestUseNanos;
        this.executor =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "paxoslease-" + name + "-https");
                    thread.setDaemon(true);
                    return thread;
                });
    }

    @Override
    public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
        Member receiver = members.get(member);
        if (receiver == null) {
            return FrameChannels.notAMember(member);
        }
        MemberUrl url = receiver.url();
        if (!receiver.permits().tryAcquire()) {
            return CompletableFuture.failedFuture(url.tooBusy());
        }
        Exchange exchange = new Exchange(frame, timeoutNanos, System.nanoTime());
        CompletableFuture<FrameReply> outcome = new CompletableFuture<>();
        underWay.add(outcome);
        outcome.whenComplete((reply, failure) -> {
            underWay.remove(outcome);
            receiver.permits().release();
        });
        try {
            outcome.orTimeout(exchange.timeoutNanos, TimeUnit.NANOSECONDS);
        } catch (OutOfMemoryError noThread) {
            outcome.completeExceptionally(noThread);
        }
        if (closed) {
            outcome.completeExceptionally(url.closed());
        } else {
            send(receiver, exchange, outcome);
        }
        return outcome.handle((reply, failure) -> {
            if (failure != null) {
                throw new CompletionException(inWords(failure, url, exchange));
            }
            return reply;
        });
    }

    private void send(Member receiver, Exchange exchange, CompletableFuture<FrameReply> outcome) {
        try {
            HttpRequest request = HttpRequest.newBuilder(receiver.url().url())
                    .header("Content-Type", FrameChannels.CONTENT_TYPE)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(exchange.frame))
                    .build();
            CompletableFuture<HttpResponse<byte[]>> sent =
                    client().sendAsync(request, head -> new BoundedBody(maxResponseBytes));
            outcome.whenComplete((reply, failure) -> sent.cancel(true));
            sent.whenComplete((response, thrown) -> {
                Throwable failure = thrown instanceof CompletionException wrapped ? wrapped.getCause() : thrown;
                if (failure == null) {
                    noteStatus(receiver, response.statusCode());
                    outcome.complete(new FrameReply(response.statusCode(), response.body()));
                } else if (exchange.retried || outcome.isDone() || !mayHaveBeenDead(failure)) {
                    outcome.completeExceptionally(failure);
                } else {
                    exchange.retried = true;
                    send(receiver, exchange, outcome);
                }
            });
        } catch (RuntimeException | OutOfMemoryError failure) {
            // no thread or no memory left
            outcome.completeExceptionally(failure);
        }
    }

    /** The client does not say whether a connection was reused, so any loss counts that is not plainly something else. */
    private static boolean mayHaveBeenDead(Throwable failure) {
        return failure instanceof IOException
                && !(failure instanceof ConnectException)
                && !(failure instanceof SSLException)
                && !(failure instanceof ProtocolException);
    }

    private HttpClient client() {
        SSLContext context = sslContext.get();
        Client current = client;
        return current != null && current.context() == context ? current.http() : replaceClient(context);
    }

    /** The replaced client closes its connections when they have been idle for some time. */
    private synchronized HttpClient replaceClient(@Nullable SSLContext context) {
        Client current = client;
        if (current != null && current.context() == context) {
            return current.http();
        }
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .proxy(HttpClient.Builder.NO_PROXY)
                .executor(executor);
        HttpClient http = (context == null ? builder : builder.sslContext(context)).build();
        client = new Client(context, http, System.nanoTime());
        return http;
    }

    /** Less and less often while a member goes on refusing: what is left may stay until a garbage collection. */
    private void noteStatus(Member member, int status) {
        if (status == FrameChannels.OK) {
            member.refusals().set(0);
        } else if (Integer.bitCount(member.refusals().incrementAndGet()) == 1) {
            leaveOldConnections();
        }
    }

    /** Who refuses may be somebody else who has the member's address by now, or had it; only a new client forgets where it is connected to. */
    private synchronized void leaveOldConnections() {
        Client current = client;
        if (current != null && System.nanoTime() - current.sinceNanos() > shortestUseNanos) {
            client = null;
        }
    }

    private IOException inWords(Throwable failure, MemberUrl url, Exchange exchange) {
        if (closed) {
            return url.closed();
        } else if (failure instanceof TimeoutException) {
            return url.noAnswer(exchange);
        } else if (failure instanceof ConnectException connect) {
            boolean unknown = connect.getCause() instanceof UnresolvedAddressException
                    || connect.getCause() instanceof ConnectException inner
                            && inner.getCause() instanceof UnresolvedAddressException;
            return unknown ? url.unknownHost() : url.noConnection(connect);
        } else if (failure instanceof ProtocolException unacceptable) {
            return url.answeredWith(unacceptable);
        } else if (failure instanceof SSLException untrusted) {
            return url.notTrusted(untrusted);
        }
        return url.lost(failure);
    }

    @Override
    public void close() {
        closed = true;
        underWay.forEach(outcome -> outcome.completeExceptionally(new CancellationException()));
        client = null;
    }
}
