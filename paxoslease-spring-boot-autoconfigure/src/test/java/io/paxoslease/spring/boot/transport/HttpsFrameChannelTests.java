package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.paxoslease.spring.boot.transport.PeerServer.Behaviour;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.cert.CertificateExpiredException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.web.server.Ssl;

/** With self-signed certificates of this run. */
@Timeout(240)
class HttpsFrameChannelTests {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofSeconds(4);

    @TempDir
    private static Path directory;

    private static Path keyStore;
    private static SSLContext context;
    private static SSLContext stranger;

    private final List<AutoCloseable> closeables = new ArrayList<>();

    @BeforeAll
    static void makeKeys() throws Exception {
        keyStore = TestCertificates.keyStore(directory, "localhost");
        context = TestCertificates.context(keyStore);
        stranger = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : closeables) {
            closeable.close();
        }
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        closeables.add(0, closeable);
        return closeable;
    }

    private PeerServer server(SSLContext identity, Behaviour behaviour) throws IOException {
        ServerSocket socket =
                identity.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        return closing(PeerServer.on(socket, "https", behaviour));
    }

    private PeerServer server(Behaviour behaviour) throws IOException {
        return server(context, behaviour);
    }

    private FrameChannel channel(URI url, Supplier<SSLContext> contexts) {
        return closing(FrameChannels.create("n1", Map.of("n2", url), "/paxoslease", 200_000, contexts));
    }

    private FrameChannel channel(URI url) {
        return channel(url, () -> context);
    }

    private TomcatNode tomcat(Path keys) {
        return closing(TomcatNode.start(
                new PaxosLeaseServlet(() -> TomcatNode.handler(frame -> new FrameReply(200, frame))),
                true,
                factory -> {
                    Ssl ssl = new Ssl();
                    ssl.setKeyStore(keys.toUri().toString());
                    ssl.setKeyStorePassword(TestCertificates.PASSWORD);
                    factory.setSsl(ssl);
                },
                servletContext -> {}));
    }

    private static CompletableFuture<FrameReply> send(FrameChannel channel, byte[] frame, Duration timeout) {
        return channel.exchange("n2", frame, timeout.toNanos()).toCompletableFuture();
    }

    private static byte[] echoed(FrameChannel channel, String frame) throws Exception {
        FrameReply reply = send(channel, frame.getBytes("UTF-8"), LONG).get();
        assertThat(reply.status()).isEqualTo(200);
        return reply.body();
    }

    private static String failure(Future<FrameReply> stage) throws InterruptedException {
        try {
            throw new AssertionError("Answered with " + stage.get().status());
        } catch (ExecutionException failed) {
            assertThat(failed.getCause()).isExactlyInstanceOf(IOException.class);
            return failed.getCause().getMessage();
        }
    }

    private static String timelyFailure(FrameChannel channel, Duration timeout) throws InterruptedException {
        long start = System.nanoTime();
        String message = failure(send(channel, new byte[10], timeout));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(timeout.plusSeconds(10));
        return message;
    }

    @Test
    void carriesFramesToTomcatAlsoWhenItClosesEveryHundredRequests() throws Exception {
        FrameChannel channel = channel(tomcat(keyStore).url());
        for (int i = 0; i < 250; i++) {
            assertThat(echoed(channel, "frame " + i)).asString().isEqualTo("frame " + i);
        }
        assertThat(send(channel, new byte[TomcatNode.MAX_FRAME_BYTES + 1], LONG)
                        .get()
                        .status())
                .isEqualTo(413);
    }

    @Test
    void servesManyCallersAtOnceAndBoundsThem() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        PeerServer server = server(peer -> {
            go.await();
            peer.echo();
        });
        FrameChannel channel = channel(server.url());
        List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
        for (int i = 0; i < SocketMember.MAX_CONNECTIONS + SocketMember.MAX_WAITING; i++) {
            stages.add(send(channel, new byte[1], LONG));
        }
        assertThat(failure(send(channel, new byte[1], LONG))).contains("too many exchanges with https://");
        go.countDown();
        for (CompletableFuture<FrameReply> stage : stages) {
            assertThat(stage.get().status()).isEqualTo(200);
        }
        assertThat(send(channel, new byte[1], LONG).get().status()).isEqualTo(200);
    }

    /** Such a server may ask for another handshake before it answers. */
    @Test
    void callsServersThatKnowOnlyAnOlderVersion() throws Exception {
        SSLServerSocket socket = (SSLServerSocket)
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getByName("127.0.0.1"));
        socket.setEnabledProtocols(new String[] {"TLSv1.2"});
        PeerServer server = closing(PeerServer.on(socket, "https", peer -> {
            while (true) {
                byte[] frame = peer.request().body();
                ((SSLSocket) peer.socket).startHandshake();
                peer.answer(frame);
            }
        }));
        FrameChannel channel = channel(server.url());
        for (int i = 0; i < 200; i++) {
            assertThat(echoed(channel, "frame " + i)).asString().isEqualTo("frame " + i);
        }
    }

    /** A server may have a certificate for each name, also for one without a dot. */
    @Test
    void tellsTheServerWhichNameItCalls() throws Exception {
        List<String> told = new CopyOnWriteArrayList<>();
        PeerServer server = server(peer -> {
            ExtendedSSLSession session = (ExtendedSSLSession) ((SSLSocket) peer.socket).getSession();
            told.add(session.getRequestedServerNames().toString());
            peer.echo();
        });
        int port = server.url().getPort();
        echoed(channel(URI.create("https://localhost:" + port)), "a");
        echoed(channel(server.url()), "b");
        // Its dot is for the resolver.
        MemberUrl dotted = MemberUrl.of("n2", URI.create("https://localhost.:" + port), "/paxoslease");
        SocketFrameChannel channel =
                closing(FrameChannels.create("n1", Map.of(), "/paxoslease", 200_000, () -> context));
        channel.add("n2", new HttpProtocol(dotted, 200_000, () -> context) {
            @Override
            List<InetAddress> addresses() {
                return List.of(InetAddress.getLoopbackAddress());
            }
        });
        echoed(channel, "c");
        String name = "[type=host_name (0), value=localhost]";
        assertThat(told).containsExactly(name, "[]", name);
    }

    /** Jetty answers 400 where the name in the request is not that in the handshake, and so does Tomcat where that one has its own certificate. */
    @ParameterizedTest
    @CsvSource({
        "https://node-1.test.:8443, node-1.test:8443",
        "https://node-1.test., node-1.test",
        "https://NODE-1.test:8443/app, NODE-1.test:8443",
        "https://10.0.0.1:8443, 10.0.0.1:8443",
        "https://[::1]:8443, [::1]:8443"
    })
    void namesTheSameHostInTheRequestAsInTheHandshake(URI base, String host) {
        MemberUrl url = MemberUrl.of("n2", base, "/paxoslease");
        byte[] request =
                new HttpProtocol(url, 1000, () -> context).request(new byte[0]).array();
        assertThat(new String(request, StandardCharsets.US_ASCII)).contains("\r\nHost: " + host + "\r\n");
        assertThat(url.host()).isEqualTo(base.getHost());
    }

    @Test
    void refusesAStranger() throws Exception {
        PeerServer server = server(stranger, PeerServer.Peer::echo);
        FrameChannel channel = channel(server.url());
        for (int i = 0; i <= SocketMember.MAX_CONNECTIONS; i++) {
            assertThat(timelyFailure(channel, LONG))
                    .startsWith("no secure connection to " + server.url() + "/paxoslease/messages: ");
        }
        assertThat(server.requests).isEmpty();
    }

    /** Where the name is not found any more. */
    @Test
    void doesNotGoBackToAStranger() throws Exception {
        PeerServer server = server(stranger, PeerServer.Peer::echo);
        MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
        SocketFrameChannel channel =
                closing(FrameChannels.create("n1", Map.of(), "/paxoslease", 200_000, () -> context));
        channel.add("n2", new HttpProtocol(url, 200_000, () -> context) {
            @Override
            List<InetAddress> addresses() throws UnknownHostException {
                if (server.connections.get() > 0) {
                    throw new UnknownHostException();
                }
                return super.addresses();
            }
        });
        assertThat(timelyFailure(channel, LONG)).startsWith("no secure connection to ");
        assertThat(timelyFailure(channel, LONG)).startsWith("unknown host 127.0.0.1 in ");
    }

    /** What the JDK says first of a certificate that has expired is "validity check failed". */
    @Test
    void namesTheRootOfWhatIsWrong() throws Exception {
        Exception expired = new CertificateExpiredException("NotAfter: long ago");
        FrameChannel channel = channel(URI.create("https://localhost:1"), () -> {
            throw new IllegalStateException("no path", new IOException("validity check failed", expired));
        });
        assertThat(timelyFailure(channel, LONG))
                .endsWith("/messages: no path (java.security.cert.CertificateExpiredException: NotAfter: long ago)");
    }

    @Test
    void refusesACertificateForAnotherHost() throws Exception {
        SSLContext other = TestCertificates.context(TestCertificates.keyStore(directory, "other.example"));
        PeerServer server = server(other, PeerServer.Peer::echo);
        assertThat(timelyFailure(channel(server.url(), () -> other), LONG)).contains("no secure connection to ");
        assertThat(server.requests).isEmpty();
    }

    @Test
    void usesAReplacedContextFromTheNextExchangeOn() throws Exception {
        AtomicReference<SSLContext> current = new AtomicReference<>(context);
        PeerServer before = server(PeerServer.Peer::echo);
        FrameChannel channel = channel(before.url(), current::get);
        echoed(channel, "\001a");
        echoed(channel, "\001b");
        assertThat(before.connections).hasValue(1);
        current.set(stranger);
        assertThat(timelyFailure(channel, LONG)).contains("no secure connection to ");
        current.set(TestCertificates.context(keyStore));
        assertThat(echoed(channel, "c")).asString().isEqualTo("c");
    }

    @Test
    void failsIfThereIsNoContext() throws Exception {
        FrameChannel channel = channel(URI.create("https://localhost:1"), () -> {
            throw new IllegalStateException("bundle is broken");
        });
        assertThat(timelyFailure(channel, LONG))
                .isEqualTo("no secure connection to https://localhost:1/paxoslease/messages: bundle is broken");
    }

    /** As where the JVM's trust store cannot be read: what was refused for that is not kept, and no other member waits longer. */
    @Test
    void keepsNothingOfWhatFailsBecauseThereIsNoContext() throws Exception {
        PeerServer silent = closing(PeerServer.start(peer -> Thread.sleep(30_000)));
        Map<String, URI> members = new LinkedHashMap<>();
        members.put("n2", URI.create("https://localhost:1"));
        members.put("n3", silent.url());
        FrameChannel channel = closing(FrameChannels.create("n1", members, "/paxoslease", 1000, () -> {
            throw new IllegalStateException("bundle is broken");
        }));
        for (int i = 0; i <= SocketMember.MAX_WAITING; i++) {
            assertThat(timelyFailure(channel, LONG)).contains("bundle is broken");
        }
        send(channel, new byte[1], Duration.ofMillis(100));
        CompletableFuture<FrameReply> stage =
                channel.exchange("n3", new byte[1], SHORT.toNanos()).toCompletableFuture();
        assertThat(failure(stage.orTimeout(LONG.toSeconds(), TimeUnit.SECONDS))).contains("no answer from ");
    }

    /** As where the security settings of the JVM leave no version of TLS: nobody could say so later. */
    @Test
    void saysAtOnceThatNoHandshakeCanBegin() throws Exception {
        PeerServer server = server(PeerServer.Peer::echo);
        MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
        SocketFrameChannel channel =
                closing(FrameChannels.create("n1", Map.of(), "/paxoslease", 200_000, () -> context));
        channel.add("n2", new HttpProtocol(url, 200_000, () -> context) {
            @Override
            String[] tlsVersions(SSLContext context) {
                return new String[] {"SSLv3"};
            }
        });
        assertThat(timelyFailure(channel, LONG))
                .startsWith("no secure connection to " + server.url() + "/paxoslease/messages: ")
                .contains("No appropriate protocol");
    }

    @Test
    void trustsWhatTheJvmTrustsByDefault() throws Exception {
        PeerServer server = server(PeerServer.Peer::echo);
        assertThat(timelyFailure(channel(server.url(), () -> null), LONG))
                .contains("no secure connection to ")
                .endsWith(" (trusted is what paxoslease.ssl.bundle trusts, without it what the JVM does)");
    }

    @Test
    void namesWhatIsWrongWithTheConnection() throws Exception {
        int port = FreePorts.take(1)[0];
        assertThat(timelyFailure(channel(URI.create("https://localhost:" + port)), LONG))
                .isEqualTo("connection refused by https://localhost:" + port + "/paxoslease/messages");
        assertThat(timelyFailure(channel(URI.create("https://no-such-host.invalid")), LONG))
                .isEqualTo(
                        "unknown host no-such-host.invalid in " + "https://no-such-host.invalid/paxoslease/messages");
        PeerServer plain = closing(PeerServer.start(PeerServer.Peer::echo));
        assertThat(timelyFailure(
                        channel(URI.create("https://127.0.0.1:" + plain.url().getPort())), SHORT))
                .contains("/paxoslease/messages");
    }

    /** Some of them say so in an alert, others just close. */
    @Test
    void asksWhetherAServerThatIsCalledInPlainTextWantsTls() throws Exception {
        PeerServer alerting = server(PeerServer.Peer::echo);
        assertThat(timelyFailure(
                        channel(URI.create("http://localhost:" + alerting.url().getPort())), LONG))
                .contains("/paxoslease/messages answered with something that is not HTTP: ")
                .endsWith(" (does it expect https?)");
        PeerServer closing = closing(PeerServer.start(PeerServer.Peer::request));
        assertThat(timelyFailure(channel(closing.url()), LONG))
                .contains("/paxoslease/messages was lost: ")
                .endsWith(" (does it expect https?)");
    }

    @Test
    void namesTheTimeWithoutAnswer() throws Exception {
        PeerServer server = server(peer -> {
            peer.request();
            Thread.sleep(30_000);
        });
        assertThat(timelyFailure(channel(server.url()), SHORT))
                .isEqualTo(
                        "no answer from " + server.url() + "/paxoslease/messages within " + SHORT.toMillis() + " ms");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nX: ",
                "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n"
            })
    void failsInTimeForAnAnswerThatTricklesInAndDropsTheConnection(String start) throws Exception {
        CountDownLatch dropped = new CountDownLatch(1);
        PeerServer server = server(peer -> {
            peer.request();
            try {
                peer.write(start);
                while (true) {
                    Thread.sleep(20);
                    peer.write("x");
                }
            } finally {
                dropped.countDown();
            }
        });
        assertThat(timelyFailure(channel(server.url()), SHORT)).contains("no answer from ");
        assertThat(dropped.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 104857600\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n6400000\r\n"})
    void boundsTheAnswer(String rest) throws Exception {
        PeerServer server = server(peer -> {
            peer.request();
            peer.write("HTTP/1.1 200 OK\r\n" + rest);
            String block = "x".repeat(1 << 20);
            for (int i = 0; i < 100; i++) {
                peer.write(block);
            }
        });
        assertThat(timelyFailure(channel(server.url()), LONG))
                .isEqualTo(server.url() + "/paxoslease/messages answered with more than 200000 bytes");
    }

    @Test
    void failsForAnAnswerThatIsNotHttp() throws Exception {
        PeerServer server = server(peer -> {
            peer.request();
            peer.write("SSH-2.0-OpenSSH\r\n\r\n");
        });
        assertThat(timelyFailure(channel(server.url()), LONG)).contains("/paxoslease/messages");
    }

    @Test
    void closingFailsWhatIsUnderWay() throws Exception {
        PeerServer server = server(peer -> Thread.sleep(30_000));
        FrameChannel channel = channel(server.url());
        CompletableFuture<FrameReply> stage = send(channel, new byte[1], LONG);
        channel.close();
        assertThat(failure(stage)).endsWith("because this node shuts down");
        assertThat(failure(send(channel, new byte[1], LONG))).endsWith("because this node shuts down");
    }

    @Test
    void membersWithAndWithoutTlsAreServedByOneChannel() throws Exception {
        PeerServer plain = closing(PeerServer.start(PeerServer.Peer::echo));
        PeerServer secure = server(PeerServer.Peer::echo);
        FrameChannel channel = closing(FrameChannels.create(
                "n1", Map.of("n2", plain.url(), "n3", secure.url()), "/paxoslease", 1000, () -> context));
        assertThat(channel.exchange("n2", new byte[2], LONG.toNanos())
                        .toCompletableFuture()
                        .get()
                        .body())
                .hasSize(2);
        assertThat(channel.exchange("n3", new byte[3], LONG.toNanos())
                        .toCompletableFuture()
                        .get()
                        .body())
                .hasSize(3);
        assertThat(failure(channel.exchange("n4", new byte[3], LONG.toNanos()).toCompletableFuture()))
                .isEqualTo("no URL is known for it");
        assertThat(plain.connections).hasValue(1);
        assertThat(secure.connections).hasValue(1);
        channel.close();
        assertThat(failure(channel.exchange("n2", new byte[2], LONG.toNanos()).toCompletableFuture()))
                .endsWith("because this node shuts down");
        assertThat(failure(channel.exchange("n3", new byte[2], LONG.toNanos()).toCompletableFuture()))
                .endsWith("because this node shuts down");
    }

    @Test
    void refusesOtherUrls() {
        Supplier<SSLContext> contexts = () -> context;
        FrameChannel alone = closing(FrameChannels.create("n1", Map.of(), "/x", 1, contexts));
        assertThat(alone.exchange("a", new byte[1], 1).toCompletableFuture()).isCompletedExceptionally();
        closing(FrameChannels.create("n1", Map.of("a", URI.create("HTTPS://a")), "/x", 1, contexts));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FrameChannels.create("n1", Map.of("a", URI.create("ftp://a")), "/x", 1, contexts))
                .withMessage("The URL of member a must begin with http:// or https://, but is ftp://a");
    }
}
