package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameReply;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A channel and a server over real sockets on the loopback interface. */
@Timeout(120)
class TcpFrameChannelTests {

    private static final int MAX_RESPONSE = 200_000;
    private static final long LONG = Duration.ofSeconds(20).toNanos();
    private static final long SHORT = Duration.ofSeconds(2).toNanos();

    private final List<AutoCloseable> closeables = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : closeables) {
            closeable.close();
        }
    }

    private SocketFrameChannel channel(String url, @Nullable SSLContext context) {
        return channel(() -> context, url);
    }

    private SocketFrameChannel channel(Supplier<? extends @Nullable SSLContext> context, String url) {
        SocketFrameChannel channel =
                FrameChannels.create("test", Map.of("n2", URI.create(url)), "", MAX_RESPONSE, context);
        closeables.add(0, channel);
        return channel;
    }

    private TcpFrameServer echo(@Nullable SSLContext context, int port) throws IOException {
        return echo(port, context == null ? null : () -> context);
    }

    private TcpFrameServer echo(int port, @Nullable Supplier<SSLContext> context) throws IOException {
        TcpFrameServer server =
                new TcpFrameServer("test", TomcatNode.handler(frame -> new FrameReply(200, frame)), context);
        closeables.add(server);
        server.open(InetAddress.getLoopbackAddress(), port);
        return server;
    }

    private static CompletableFuture<FrameReply> send(SocketFrameChannel channel, byte[] frame, long nanos) {
        return channel.exchange("n2", frame, nanos).toCompletableFuture();
    }

    private static void assertEchoes(SocketFrameChannel channel, int length) throws Exception {
        byte[] frame = new byte[length];
        new SplittableRandom(length).nextBytes(frame);
        FrameReply reply = send(channel, frame, LONG).get();
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.body()).isEqualTo(frame);
    }

    private static String failure(CompletableFuture<FrameReply> exchange) throws InterruptedException {
        try {
            throw new AssertionError("Answered with " + exchange.get().status());
        } catch (ExecutionException failed) {
            assertThat(failed.getCause()).isExactlyInstanceOf(IOException.class);
            return failed.getCause().getMessage();
        }
    }

    /** A member that answers the first bytes that it gets with these. */
    private String answering(byte[] answer) throws IOException {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        closeables.add(server);
        Thread thread = new Thread(() -> {
            try (Socket socket = server.accept()) {
                assertThat(socket.getInputStream().read()).isNotNegative();
                new DataOutputStream(socket.getOutputStream()).write(answer);
                assertThat(socket.getInputStream().skip(Long.MAX_VALUE)).isNotNegative();
            } catch (IOException ended) {
                // the test looks at the other side
            }
        });
        thread.setDaemon(true);
        thread.start();
        return "tcp://127.0.0.1:" + server.getLocalPort();
    }

    /** A member with a thread for each connection and one more, which answers a frame on it when it is told to. */
    private String echoing(SSLContext context, CountDownLatch arrived, CountDownLatch go) throws IOException {
        ServerSocket server =
                context.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        closeables.add(server);
        for (long i = arrived.getCount(); i >= 0; i--) {
            Thread thread = new Thread(() -> {
                try (Socket socket = server.accept()) {
                    DataInputStream in = new DataInputStream(socket.getInputStream());
                    byte[] frame = in.readNBytes(in.readInt());
                    arrived.countDown();
                    go.await();
                    DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                    out.writeInt(frame.length);
                    out.writeShort(200);
                    out.write(frame);
                    assertThat(in.skip(Long.MAX_VALUE)).isNotNegative();
                } catch (IOException | InterruptedException ended) {
                    // the test looks at the other side
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        return "tls://localhost:" + server.getLocalPort();
    }

    @Test
    void carriesFramesOfAllSizesAndSeveralAtOnce() throws Exception {
        assertCarries(channel("tcp://127.0.0.1:" + echo(null, 0).port(), null));
    }

    private static void assertCarries(SocketFrameChannel channel) throws Exception {
        for (int length : new int[] {0, 1, 100, 4_096, TomcatNode.MAX_FRAME_BYTES}) {
            assertEchoes(channel, length);
        }
        List<CompletableFuture<FrameReply>> replies = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            replies.add(send(channel, new byte[] {(byte) i}, LONG));
        }
        for (int i = 0; i < 50; i++) {
            assertThat(replies.get(i).get().body()).containsExactly(i);
        }
    }

    @Test
    void goesOnWithTheConnectionThatIsThere() throws Exception {
        byte[] answer = HexFormat.of().parseHex("0000000100c807");
        try (ServerSocket member = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            SocketFrameChannel channel = channel("tcp://127.0.0.1:" + member.getLocalPort(), null);
            CompletableFuture<FrameReply> reply = send(channel, new byte[1], LONG);
            try (Socket only = member.accept()) {
                for (int i = 0; i < 3; i++) {
                    assertThat(only.getInputStream().readNBytes(5)).endsWith(0);
                    only.getOutputStream().write(answer);
                    assertThat(reply.get().body()).containsExactly(7);
                    reply = send(channel, new byte[1], LONG);
                }
            }
        }
    }

    @Test
    void connectsAgainToAMemberThatWasRestarted() throws Exception {
        TcpFrameServer before = echo(null, FreePorts.take(1)[0]);
        SocketFrameChannel channel = channel("tcp://127.0.0.1:" + before.port(), null);
        assertEchoes(channel, 10);
        before.close();
        echo(null, before.port());
        assertEchoes(channel, 10);
    }

    @Nested
    class AnAnswer {

        @ParameterizedTest
        @CsvSource({
            "ffffffff00c8, something that is no answer to a frame",
            "00000001000101, something that is no answer to a frame",
            "00000001025801, something that is no answer to a frame",
            "00030d4100c8, more than 200000 bytes",
        })
        void thatCannotBeAcceptedIsNamed(String hex, String words) throws Exception {
            SocketFrameChannel channel = channel(answering(HexFormat.of().parseHex(hex)), null);
            assertThat(failure(send(channel, new byte[10], LONG))).endsWith("answered with " + words);
        }

        @Test
        void mayBeAsLongAsIsAllowed() throws Exception {
            byte[] answer = new byte[TcpProtocol.REPLY_HEAD_BYTES + MAX_RESPONSE];
            ByteBuffer.wrap(answer).putInt(MAX_RESPONSE).putShort((short) 200);
            SocketFrameChannel channel = channel(answering(answer), null);
            assertThat(send(channel, new byte[10], LONG).get().body()).hasSize(MAX_RESPONSE);
        }

        @Test
        void thatEndsTooEarlySaysSo() throws Exception {
            TcpFrameServer server = new TcpFrameServer(
                    "test", TomcatNode.handler(frame -> new FrameReply(200, new byte[150_000])), null);
            server.open(InetAddress.getLoopbackAddress(), 0);
            // The answer does not fit into the buffers of the sockets, and this one does not read on.
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                    ServerSocket middle = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
                SocketFrameChannel channel = channel("tcp://127.0.0.1:" + middle.getLocalPort(), null);
                CompletableFuture<FrameReply> exchange = send(channel, new byte[10], LONG);
                try (Socket caller = middle.accept()) {
                    socket.getOutputStream().write(caller.getInputStream().readNBytes(14));
                    caller.getOutputStream().write(socket.getInputStream().readNBytes(1_000));
                }
                assertThat(failure(exchange)).contains("closed in the middle of an answer");
            }
            server.close();
        }

        @Test
        void ofAWebServerSaysSo() throws Exception {
            SocketFrameChannel channel =
                    channel(answering("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII)), null);
            assertThat(failure(send(channel, new byte[10], LONG)))
                    .contains("answered with HTTP")
                    .contains("paxoslease.tcp.port");
        }

        @Test
        void thatDoesNotComeFailsInTime() throws Exception {
            SocketFrameChannel channel = channel(answering(new byte[0]), null);
            assertThat(failure(send(channel, new byte[10], SHORT))).contains("no answer from tcp://127.0.0.1:");
        }
    }

    @Nested
    class Encrypted {

        @TempDir
        Path directory;

        @Test
        void framesOfAllSizesPassAndSeveralAtOnce() throws Exception {
            SSLContext context = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            assertCarries(channel("tls://localhost:" + echo(context, 0).port(), context));
        }

        @Test
        void aMemberWithAnotherKeyIsNotTrusted() throws Exception {
            SSLContext own = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            SSLContext other = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            String url = "tls://localhost:" + echo(other, 0).port();
            SocketFrameChannel channel = channel(url, own);
            // Often: it shows at a read or at a write.
            for (int i = 0; i < 300; i++) {
                assertThat(failure(send(channel, new byte[10], LONG))).startsWith("no secure connection to " + url);
            }
        }

        /** As one that is far away, or so short of processors that handshakes take longer than an exchange may. */
        @Test
        void aMemberThatOpensSlowlyIsReachedAndGetsNothingLate() throws Exception {
            SSLContext context = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            List<Integer> lengths = new CopyOnWriteArrayList<>();
            TcpFrameServer server = new TcpFrameServer(
                    "test",
                    TomcatNode.handler(frame -> {
                        lengths.add(frame.length);
                        return new FrameReply(200, frame);
                    }),
                    () -> context);
            closeables.add(server);
            server.open(InetAddress.getLoopbackAddress(), 0);
            SocketFrameChannel channel = channel("tls://localhost:" + slowly(server.port()), context);

            int length = 1;
            while (send(channel, new byte[length], SHORT)
                    .handle((reply, late) -> reply == null)
                    .get()) {
                assertThat(++length).isLessThan(6);
            }

            assertThat(length).isGreaterThan(1);
            assertEchoes(channel, 10);
            assertThat(lengths).containsExactly(length, 10);
        }

        /** A port whose connections reach another one, but only after longer than {@link #SHORT}. */
        private int slowly(int port) throws IOException {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            closeables.add(server);
            inBackground(() -> {
                while (true) {
                    Socket near = server.accept();
                    closeables.add(near);
                    inBackground(() -> {
                        Thread.sleep(SHORT / 1_000_000 + 1_000);
                        try (Socket far = new Socket(InetAddress.getLoopbackAddress(), port)) {
                            far.setTcpNoDelay(true);
                            inBackground(() -> near.getInputStream().transferTo(far.getOutputStream()));
                            near.setTcpNoDelay(true);
                            return inPieces(far.getInputStream(), near.getOutputStream());
                        }
                    });
                }
            });
            return server.getLocalPort();
        }

        /** As they come from far away: what is longer than a packet, as tickets of TLS may be, does not come at once. */
        private static long inPieces(InputStream from, OutputStream to) throws Exception {
            byte[] piece = new byte[100];
            long total = 0;
            for (int count = from.read(piece); count >= 0; count = from.read(piece)) {
                to.write(piece, 0, count);
                Thread.sleep(2);
                total += count;
            }
            return total;
        }

        private static void inBackground(Callable<?> work) {
            Thread thread = new Thread(() -> {
                try {
                    work.call();
                } catch (Exception ended) {
                    // the test looks at the other side
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        @Nested
        class WhenTrustIsRenewed {

            private final AtomicReference<SSLContext> caller = new AtomicReference<>();
            private final AtomicReference<SSLContext> member = new AtomicReference<>();
            private Path key;
            private Path other;
            private String url;
            private SocketFrameChannel channel;

            @BeforeEach
            void exchangeOnce() throws Exception {
                key = TestCertificates.keyStore(directory, "localhost");
                other = TestCertificates.keyStore(directory, "localhost");
                caller.set(TestCertificates.context(key));
                member.set(TestCertificates.context(key));
                url = "tls://localhost:" + echo(0, member::get).port();
                channel = channel(caller::get, url);
                assertEchoes(channel, 10);
            }

            @Test
            void nothingIsTakenFromWhomItWasWithdrawn() throws Exception {
                member.set(TestCertificates.trusting(other, key));
                assertThat(failure(send(channel, new byte[10], LONG))).startsWith("no secure connection to " + url);
            }

            @Test
            void nothingIsSentToWhomItWasWithdrawn() throws Exception {
                caller.set(TestCertificates.trusting(other, key));
                assertThat(failure(send(channel, new byte[10], LONG))).startsWith("no secure connection to " + url);
            }

            /** It was asked for before, but nothing has been sent. */
            @Test
            void nothingThatWaitedForAConnectionIsSentEither() throws Exception {
                CountDownLatch arrived = new CountDownLatch(SocketMember.MAX_CONNECTIONS);
                CountDownLatch go = new CountDownLatch(1);
                SocketFrameChannel busy = channel(caller::get, echoing(member.get(), arrived, go));
                List<CompletableFuture<FrameReply>> sent = new ArrayList<>();
                for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                    sent.add(send(busy, new byte[10], LONG));
                }
                arrived.await();
                CompletableFuture<FrameReply> waiting = send(busy, new byte[10], LONG);

                caller.set(TestCertificates.trusting(other, key));
                go.countDown();

                assertThat(failure(waiting)).startsWith("no secure connection");
                assertThat(sent)
                        .allSatisfy(answered -> assertThat(answered)
                                .succeedsWithin(Duration.ofSeconds(20))
                                .returns(200, FrameReply::status));
            }

            @Test
            void noExchangeOfWhoIsTrustedStillIsLost() throws Exception {
                for (int i = 0; i < 100; i++) {
                    (i % 2 == 0 ? caller : member).set(TestCertificates.context(key));
                    assertEchoes(channel, 10);
                }
            }
        }

        @Test
        void aMemberOfAnotherNameIsNotTrusted() throws Exception {
            SSLContext context = TestCertificates.context(TestCertificates.keyStore(directory, "elsewhere.example"));
            String url = "tls://localhost:" + echo(context, 0).port();
            assertThat(failure(send(channel(url, context), new byte[10], LONG)))
                    .startsWith("no secure connection to " + url);
        }

        @Test
        void aCallerWithoutACertificateIsNotAnswered() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            String url =
                    "tls://localhost:" + echo(TestCertificates.context(key), 0).port();
            assertThat(failure(send(channel(url, TestCertificates.trusting(key, null)), new byte[10], LONG)))
                    .startsWith("no secure connection to " + url);
        }

        @Test
        void aPlainCallerIsNotAnswered() throws Exception {
            SSLContext context = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            String url = "tcp://localhost:" + echo(context, 0).port();
            assertThat(failure(send(channel(url, null), new byte[10], LONG)))
                    .startsWith(url + " answered with TLS")
                    .endsWith("its URL begins with tls");
        }

        @Test
        void aPlainMemberIsNotTrusted() throws Exception {
            SSLContext context = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            String url = "tls://localhost:" + echo(null, 0).port();
            assertThat(failure(send(channel(url, context), new byte[10], LONG)))
                    .startsWith("no secure connection to " + url);
        }

        /** As one may that asks over the network whether the certificate was revoked. */
        @Test
        void aTrustManagerThatTakesLongDelaysNobodyElse() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            int slow = echo(TestCertificates.context(key), 0).port();
            int quick = echo(TestCertificates.context(key), 0).port();
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch answered = new CountDownLatch(1);
            SSLContext context = TestCertificates.context(key, new EngineTrust(engine -> {
                if (engine.getPeerPort() == slow) {
                    asked.countDown();
                    awaitUninterruptibly(answered);
                }
            }));
            SocketFrameChannel channel = FrameChannels.create(
                    "test",
                    Map.of("n2", URI.create("tls://localhost:" + slow), "n3", URI.create("tls://localhost:" + quick)),
                    "",
                    MAX_RESPONSE,
                    () -> context);
            closeables.add(0, channel);
            CompletableFuture<FrameReply> late = send(channel, new byte[10], SHORT);
            CompletableFuture<FrameReply> patient = send(channel, new byte[10], LONG);
            asked.await();
            assertThat(channel.exchange("n3", new byte[20], LONG)
                            .toCompletableFuture()
                            .get()
                            .body())
                    .hasSize(20);
            assertThat(failure(late)).contains("no answer from");
            assertThat(patient).isNotDone();
            answered.countDown();
            assertThat(patient.get().body()).hasSize(10);
        }

        @Test
        void whoWaitsForAMemberThatIsNotTrustedHearsOfItToo() throws Exception {
            SSLContext own = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            SSLContext other = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
            String url = "tls://localhost:" + echo(other, 0).port();
            SocketFrameChannel channel = channel(url, own);
            List<CompletableFuture<FrameReply>> replies = new ArrayList<>();
            for (int i = 0; i < 3 * SocketMember.MAX_CONNECTIONS; i++) {
                replies.add(send(channel, new byte[10], LONG));
            }
            for (CompletableFuture<FrameReply> reply : replies) {
                assertThat(failure(reply)).startsWith("no secure connection to " + url);
            }
        }

        @Test
        void asManyHandshakesAtOnceAsConnectionsAreNotTooMany() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            String url =
                    "tls://localhost:" + echo(TestCertificates.context(key), 0).port();
            for (int round = 0; round < 50; round++) {
                SocketFrameChannel channel = channel(url, TestCertificates.context(key));
                List<CompletableFuture<FrameReply>> replies = new ArrayList<>();
                for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                    replies.add(send(channel, new byte[] {1}, LONG));
                }
                for (CompletableFuture<FrameReply> reply : replies) {
                    assertThat(reply.get().status()).isEqualTo(200);
                }
                channel.close();
            }
        }

        @Test
        void aCallerWhoseCertificateTakesLongKeepsNobodyElseOut() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            SSLContext callers = TestCertificates.context(key);
            CountDownLatch asked = new CountDownLatch(1);
            CountDownLatch answered = new CountDownLatch(1);
            AtomicBoolean first = new AtomicBoolean(true);
            String url = "tls://localhost:"
                    + echo(
                                    TestCertificates.context(key, new EngineTrust(engine -> {
                                        if (first.getAndSet(false)) {
                                            asked.countDown();
                                            awaitUninterruptibly(answered);
                                        }
                                    })),
                                    0)
                            .port();
            CompletableFuture<FrameReply> patient = send(channel(url, callers), new byte[10], LONG);
            asked.await();
            assertEchoes(channel(url, callers), 20);
            assertThat(patient).isNotDone();
            answered.countDown();
            assertThat(patient.get().body()).hasSize(10);
        }

        @Test
        void aContextThatCannotBeMadeIsToldToTheCaller() throws Exception {
            SocketFrameChannel channel = FrameChannels.create(
                    "test", Map.of("n2", URI.create("tls://localhost:7411")), "", MAX_RESPONSE, () -> {
                        throw new IllegalStateException("the key store cannot be read");
                    });
            closeables.add(0, channel);
            assertThat(failure(send(channel, new byte[10], LONG))).endsWith("the key store cannot be read");
        }

        private static void awaitUninterruptibly(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        }

        /** What is given up still waits: not one thread more for each attempt. */
        @Test
        void trustManagersThatDoNotAnswerAreNotAskedWithoutEnd() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            String url =
                    "tls://localhost:" + echo(TestCertificates.context(key), 0).port();
            CountDownLatch answered = new CountDownLatch(1);
            AtomicInteger asked = new AtomicInteger();
            SSLContext context = TestCertificates.context(key, new EngineTrust(engine -> {
                asked.incrementAndGet();
                awaitUninterruptibly(answered);
            }));
            SocketFrameChannel channel = channel(url, context);
            // On a busy machine an attempt may end before it comes so far.
            await().atMost(Duration.ofNanos(LONG))
                    .until(() ->
                            failure(send(channel, new byte[10], SHORT / 4)).contains("too many handshakes at once"));
            assertThat(asked).hasValue(SocketMember.MAX_HANDSHAKES);
            answered.countDown();
            // The threads that waited still have to end.
            await().atMost(Duration.ofNanos(LONG))
                    .until(() -> send(channel, new byte[10], LONG)
                            .handle((reply, failure) -> failure == null)
                            .get());
        }

        /** As many as may be new at once. */
        @Test
        void aLateHandshakeKeepsNoOtherOut() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            String url =
                    "tls://localhost:" + echo(TestCertificates.context(key), 0).port();
            CountDownLatch answered = new CountDownLatch(1);
            CountDownLatch asked = new CountDownLatch(SocketMember.MAX_CONNECTIONS + 1);
            SSLContext context = TestCertificates.context(key, new EngineTrust(engine -> {
                asked.countDown();
                awaitUninterruptibly(answered);
            }));
            SocketFrameChannel channel = channel(url, context);
            assertThat(failure(send(channel, new byte[10], SHORT))).startsWith("no ");
            List<CompletableFuture<FrameReply>> others = new ArrayList<>();
            for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                others.add(send(channel, new byte[10], LONG));
            }
            assertThat(asked.await(LONG, TimeUnit.NANOSECONDS)).isTrue();
            answered.countDown();
            for (CompletableFuture<FrameReply> other : others) {
                assertThat(other.get().body()).hasSize(10);
            }
        }

        /** It is this node that has no room for it: where the name led is as good as before. */
        @Test
        void aHandshakeThatFindsNoRoomSaysNothingOfTheMember() throws Exception {
            Path key = TestCertificates.keyStore(directory, "localhost");
            URI url = URI.create(
                    "tls://localhost:" + echo(TestCertificates.context(key), 0).port());
            CountDownLatch answered = new CountDownLatch(1);
            SSLContext context =
                    TestCertificates.context(key, new EngineTrust(engine -> awaitUninterruptibly(answered)));
            AtomicBoolean unknown = new AtomicBoolean();
            SocketFrameChannel channel = FrameChannels.create("test", Map.of(), "", MAX_RESPONSE, () -> context);
            closeables.add(0, channel);
            TcpProtocol frames = new TcpProtocol(MemberUrl.ofSocket("n2", url), MAX_RESPONSE, () -> context);
            channel.add("n2", new Protocol(frames.url, MAX_RESPONSE, () -> context) {
                @Override
                List<InetAddress> addresses() throws UnknownHostException {
                    if (unknown.get()) {
                        throw new UnknownHostException();
                    }
                    return super.addresses();
                }

                @Override
                String[] tlsVersions(SSLContext trusted) {
                    return frames.tlsVersions(trusted);
                }

                @Override
                ByteBuffer request(byte[] frame) {
                    return frames.request(frame);
                }

                @Override
                ReplyParser newParser() {
                    return frames.newParser();
                }
            });
            await().atMost(Duration.ofNanos(LONG))
                    .until(() ->
                            failure(send(channel, new byte[10], SHORT / 4)).contains("too many handshakes at once"));
            unknown.set(true);
            assertThat(failure(send(channel, new byte[10], LONG))).contains("too many handshakes at once");
            answered.countDown();
        }

        @Test
        void withoutABundleNothingIsSent() throws Exception {
            assertThat(failure(send(channel("tls://localhost:" + echo(null, 0).port(), null), new byte[10], LONG)))
                    .contains("there is no SSL bundle");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tcp://localhost",
                "tcp://localhost:65536",
                "tcp://localhost:7411/path",
                "tcp://us_er:7411",
                "tcp://user@localhost:7411",
                "tcp://localhost:7411?a=b"
            })
    void refusesAUrlThatWouldNotDoWhatItSays(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> channel(url, null))
                .withMessageContaining("The URL of member n2")
                .withMessageContaining(url);
    }
}
