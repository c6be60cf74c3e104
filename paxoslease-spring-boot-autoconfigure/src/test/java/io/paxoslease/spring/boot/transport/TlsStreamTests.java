package io.paxoslease.spring.boot.transport;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** On real sockets of this machine, client and server in one thread. */
@Timeout(120)
class TlsStreamTests {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Type and length of a record, but not the version between them, which has no meaning (RFC 8446, 5.1). */
    private static final int[] MEANINGFUL_IN_HEADER = {0, 3, 4};

    @TempDir
    private static Path directory;

    private static SSLContext member;
    private static SSLContext stranger;
    private static SSLContext withoutCertificate;
    private static SSLContext withoutKey;
    private static SSLContext otherHost;

    private final List<AutoCloseable> closeables = new ArrayList<>();
    private SocketChannel clientSocket;
    private SocketChannel serverSocket;

    @BeforeAll
    static void makeKeys() throws Exception {
        Path keyStore = TestCertificates.keyStore(directory, "localhost");
        member = TestCertificates.context(keyStore);
        withoutCertificate = TestCertificates.trusting(keyStore, null);
        withoutKey = TestCertificates.trusting(keyStore, TestCertificates.trustStore(keyStore));
        stranger = TestCertificates.context(TestCertificates.keyStore(directory, "localhost"));
        otherHost = TestCertificates.context(TestCertificates.keyStore(directory, "other.example"));
    }

    @BeforeEach
    void connect() throws Exception {
        SocketChannel[] ends = connected();
        clientSocket = ends[0];
        serverSocket = ends[1];
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : closeables) {
            closeable.close();
        }
    }

    // What is for each other.

    @ParameterizedTest
    @ValueSource(ints = {10, 300_000})
    void aRequestAndItsAnswerPass(int length) throws Exception {
        End client = client(member);
        End server = server(member);
        for (int i = 0; i < 3; i++) {
            byte[] request = randomBytes(i, length);
            client.send(request);
            until(() -> server.received.size() == length, client, server);
            assertThat(server.take()).isEqualTo(request);

            byte[] answer = randomBytes(-i, length);
            server.send(answer);
            until(() -> client.received.size() == length, client, server);
            assertThat(client.take()).isEqualTo(answer);
        }
    }

    @Test
    void bothSidesMaySendAtOnce() throws Exception {
        End client = client(member);
        End server = server(member);
        client.send(randomBytes(1, 300_000));
        server.send(randomBytes(2, 300_000));
        until(() -> server.received.size() + client.received.size() == 600_000, client, server);
        assertThat(server.take()).isEqualTo(randomBytes(1, 300_000));
        assertThat(client.take()).isEqualTo(randomBytes(2, 300_000));
    }

    @Test
    void whatIsWrittenBeforeTheHandshakeIsOverIsNotLost() throws Exception {
        End client = client(member);
        End server = server(member);
        ByteBuffer early = ByteBuffer.wrap("early".getBytes(US_ASCII));
        client.stream.write(early);
        client.stream.write(early);
        assertThat(early.remaining()).isEqualTo(5);
        client.unwritten = early;
        until(() -> server.received.size() == 5, client, server);
        assertThat(server.take()).asString().isEqualTo("early");
    }

    /** Whoever has more to write and is not called when there is room waits for ever. */
    @Test
    void whatIsLeftOfAWriteWaitsForRoomHoweverFastTheOtherSideReads() throws Exception {
        End client = client(member);
        End server = server(member);
        client.send(randomBytes(1, 10));
        until(() -> server.received.size() == 10, client, server);
        serverSocket.configureBlocking(true);
        CompletableFuture<Void> reading = CompletableFuture.runAsync(() -> {
            try {
                while (serverSocket.read(ByteBuffer.allocate(9_000)) >= 0) {
                    Thread.onSpinWait();
                }
            } catch (IOException closed) {
                // It is no longer needed.
            }
        });
        byte[] frame = randomBytes(2, 300_000);
        int forgotten = 0;
        for (int i = 0; i < 300; i++) {
            ByteBuffer unwritten = ByteBuffer.wrap(frame);
            while (unwritten.hasRemaining()) {
                client.stream.write(unwritten);
                if (unwritten.hasRemaining() && (client.stream.interestOps() & SelectionKey.OP_WRITE) == 0) {
                    forgotten++;
                }
            }
        }
        clientSocket.close();
        reading.get();
        assertThat(forgotten).isZero();
    }

    @Test
    void nothingPassesInTheClear() throws Exception {
        End client = client(member);
        End server = server(member);
        handshake(client, server);
        client.stream.write(ByteBuffer.wrap(new byte[10_000]));
        byte[] sent = readRaw(serverSocket, 10_000);
        assertThat(sent).hasSizeGreaterThan(10_000);
        assertThat(new String(sent, US_ASCII)).doesNotContain("\0".repeat(20));
    }

    @Test
    void waitsToReadAndOnlyWhileTheSocketIsFullToWrite() throws Exception {
        clientSocket.setOption(StandardSocketOptions.SO_SNDBUF, 65_536);
        End client = client(member);
        End server = server(member);
        assertThat(client.stream.interestOps()).isEqualTo(SelectionKey.OP_READ);
        client.stream.write(ByteBuffer.wrap(new byte[1]));
        assertThat(client.stream.interestOps()).isEqualTo(SelectionKey.OP_READ);
        handshake(client, server);
        assertThat(client.stream.interestOps()).isEqualTo(SelectionKey.OP_READ);

        client.unwritten = ByteBuffer.allocate(5_000_000);
        client.stream.write(client.unwritten);
        assertThat(client.stream.interestOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        await(() -> {
            int offered = client.unwritten.remaining();
            client.stream.write(client.unwritten);
            return client.unwritten.remaining() == offered;
        });
        assertThat(client.unwritten.remaining()).isPositive();

        until(() -> server.received.size() == 5_000_000, client, server);
        assertThat(client.stream.interestOps()).isEqualTo(SelectionKey.OP_READ);
    }

    @Test
    void anAnswerIsReadThoughNothingCanBeSentAnyMore() throws Exception {
        End client = client(member);
        End server = server(member);
        handshake(client, server);
        client.stream.write(ByteBuffer.allocate(30_000_000));
        assertThat(client.stream.interestOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        server.stream.write(ByteBuffer.wrap("too long".getBytes(US_ASCII)));
        clientSocket.shutdownOutput();

        ByteBuffer into = ByteBuffer.allocate(ByteStream.MIN_ROOM);
        await(() -> client.stream.read(into) > 0);
        assertThat(into.flip()).isEqualTo(ByteBuffer.wrap("too long".getBytes(US_ASCII)));
        assertThatIOException().isThrownBy(() -> client.stream.write(NOTHING));
    }

    // The end.

    @Test
    void theEndIsReadWhenTheOtherSideSaysSo() throws Exception {
        SocketChannel[] before = connected();
        SocketChannel[] behind = connected();
        Relay relay = new Relay(before[1], behind[0]);
        End client = closing(new End(TlsStream.client(
                before[0], member, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {})));
        End server = closing(new End(TlsStream.server(behind[1], member, TlsStreamTests::calculate, () -> {})));
        handshake(client, server, relay);
        server.stream.write(ByteBuffer.wrap("bye".getBytes(US_ASCII)));
        server.stream.close();
        until(() -> client.ended, relay, client);
        assertThat(client.take()).asString().isEqualTo("bye");
        assertThat(before[1].isOpen()).isTrue();
        assertThat(client.read()).isEqualTo(-1);
    }

    @Test
    void theEndOfTheConnectionIsTheEnd() throws Exception {
        End client = client(member);
        End server = server(member);
        handshake(client, server);
        serverSocket.close();
        until(() -> client.ended, client);
        assertThat(client.failure).isNull();
    }

    @Test
    void theEndOfTheConnectionIsTheEndBeforeTheHandshakeToo() throws Exception {
        End server = server(member);
        clientSocket.close();
        until(() -> server.ended, server);
        assertThat(server.failure).isNull();
    }

    /** Such a server finds out only after its hello, so that all comes at once: the hello, the reason and the end. */
    @Test
    void whyAServerWithoutAKeyClosedIsReadThoughATaskRunsMeanwhile() throws Exception {
        Queue<Runnable> tasks = new ArrayDeque<>();
        End client = closing(new End(TlsStream.client(
                clientSocket,
                member,
                "localhost",
                1,
                TlsStream.NEWEST,
                (calculation, giveBack) -> tasks.add(() -> calculate(calculation, giveBack)),
                () -> {})));
        End server = server(withoutKey);
        client.stream.write(NOTHING);
        until(() -> server.failure != null, server);
        server.close();
        until(
                () -> {
                    if (!tasks.isEmpty()) {
                        tasks.remove().run();
                    }
                    return client.failure != null || client.ended;
                },
                client);
        assertThat(client.failure).isInstanceOf(SSLException.class).hasMessageContaining("Received fatal alert");
    }

    @Test
    void closingNeverFailsAndClosesTheSocket() throws Exception {
        End client = client(member);
        End server = server(member);
        handshake(client, server);
        assertThatCode(client.stream::close).doesNotThrowAnyException();
        assertThatCode(client.stream::close).doesNotThrowAnyException();
        assertThat(clientSocket.isOpen()).isFalse();
        assertThatIOException().isThrownBy(client::read);
        assertThatIOException().isThrownBy(() -> client.stream.write(ByteBuffer.allocate(1)));

        SocketChannel[] unused = connected();
        TlsStream neverBegun = TlsStream.client(
                unused[0], member, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {});
        assertThatCode(neverBegun::close).doesNotThrowAnyException();
        assertThat(unused[0].isOpen()).isFalse();
        assertThat(readRaw(unused[1], 1)).isEmpty();

        SocketChannel[] broken = connected();
        TlsStream begun = TlsStream.client(
                broken[0], member, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {});
        begun.write(NOTHING);
        broken[0].close();
        assertThatCode(begun::close).doesNotThrowAnyException();
    }

    // Who is trusted.

    @Test
    void aClientRefusesTheCertificateOfAnotherHost() throws Exception {
        End client = client(otherHost);
        End server = server(otherHost);
        untilBothFail(client, server);
        assertThat(client.failure).isInstanceOf(SSLException.class).hasMessageContaining("localhost");
        assertThat(server.failure).isInstanceOf(SSLException.class).hasMessageContaining("alert");
    }

    @Test
    void aClientAcceptsTheCertificateOfTheHostItCalls() throws Exception {
        End client = closing(new End(TlsStream.client(
                clientSocket, otherHost, "other.example", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {})));
        handshake(client, server(otherHost));
    }

    private static void calculate(Runnable calculation, Runnable giveBack) {
        calculation.run();
        giveBack.run();
    }

    private static void calculateElsewhere(Runnable calculation, Runnable giveBack) {
        new Thread(() -> calculate(calculation, giveBack)).start();
    }

    private static void breakOnPurpose(SSLEngine engine) {
        throw new IllegalStateException("broken on purpose for " + engine.getPeerHost());
    }

    @ParameterizedTest
    @ValueSource(strings = {"::1", "[::1]"})
    void theBracketsOfAnAddressAreNotPartOfTheName(String host) throws Exception {
        SSLContext broken = SSLContext.getInstance("TLS");
        broken.init(null, new TrustManager[] {new EngineTrust(TlsStreamTests::breakOnPurpose)}, null);
        End client = closing(new End(TlsStream.client(
                clientSocket, broken, host, 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {})));
        End server = server(member);
        until(() -> client.failure != null, client, server);
        assertThat(client.failure).hasStackTraceContaining("broken on purpose for ::1\n");
    }

    @Test
    void aClientRefusesACertificateItDoesNotTrustAndSaysSo() throws Exception {
        End client = client(member);
        End server = server(stranger);
        client.send(new byte[100]);
        untilBothFail(client, server);
        assertThat(client.failure).isInstanceOf(SSLException.class);
        assertThat(server.failure).isInstanceOf(SSLException.class).hasMessageContaining("Received fatal alert");
        assertThat(server.received.size()).isZero();
    }

    @Test
    void aServerRefusesAClientWithoutACertificateAndSaysSo() throws Exception {
        End client = client(withoutCertificate);
        End server = server(member);
        client.send(new byte[100]);
        untilBothFail(client, server);
        assertThat(server.failure).isInstanceOf(SSLException.class);
        assertThat(client.failure).isInstanceOf(SSLException.class).hasMessageContaining("alert");
        assertThat(server.received.size()).isZero();
    }

    @Test
    void aServerRefusesACertificateItDoesNotTrust() throws Exception {
        Path clientKey = TestCertificates.keyStore(directory, "localhost");
        Path serverKey = TestCertificates.keyStore(directory, "localhost");
        End client = client(TestCertificates.trusting(serverKey, clientKey));
        End server = server(TestCertificates.trusting(serverKey, serverKey));
        client.send(new byte[100]);
        untilBothFail(client, server);
        assertThat(server.failure).isInstanceOf(SSLException.class);
        assertThat(client.failure).isInstanceOf(SSLException.class).hasMessageContaining("alert");
        assertThat(server.received.size()).isZero();
    }

    @Test
    void aServerThatKnowsOnlyAnOlderVersionIsRefused() throws Exception {
        SSLEngine engine = member.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setEnabledProtocols(new String[] {"TLSv1.2"});
        End server = closing(new End(new TlsStream(serverSocket, engine, TlsStreamTests::calculate, () -> {})));
        End client = client(member);
        untilBothFail(client, server);
    }

    /** Before TLS 1.3 a server may ask for another handshake at any time. */
    @Test
    void isQuietOnlyWhenNoHandshakeGoesOn() throws Exception {
        String[] older = {"TLSv1.2"};
        SSLEngine engine = member.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setEnabledProtocols(older);
        End server = closing(new End(new TlsStream(serverSocket, engine, TlsStreamTests::calculate, () -> {})));
        End client = closing(new End(
                TlsStream.client(clientSocket, member, "localhost", 1, older, TlsStreamTests::calculate, () -> {})));
        handshake(client, server);
        assertThat(client.stream.isQuiet()).isTrue();
        engine.beginHandshake();
        until(() -> !client.stream.isQuiet(), client, server);
        client.send(new byte[10]);
        until(() -> server.received.size() == 10, client, server);
        until(client.stream::isQuiet, client, server);
    }

    /** What follows may be a part of another answer. */
    @Test
    void isQuietOnlyBetweenRecords() throws Exception {
        SocketChannel[] behind = connected();
        Relay relay = new Relay(serverSocket, behind[0]);
        End client = client(member);
        End server = closing(new End(TlsStream.server(behind[1], member, TlsStreamTests::calculate, () -> {})));
        handshake(client, server, relay);
        until(client.stream::isQuiet, relay, client);
        server.stream.write(ByteBuffer.allocate(10_000));
        await(() -> {
            relay.back.step();
            assertThat(client.read()).isZero();
            return !client.stream.isQuiet();
        });
        until(() -> client.received.size() == 10_000, relay, client);
        assertThat(client.stream.isQuiet()).isTrue();
    }

    @Test
    void aClientThatKnowsOnlyAnOlderVersionIsRefused() throws Exception {
        SSLEngine engine = member.createSSLEngine("localhost", 1);
        engine.setUseClientMode(true);
        engine.setEnabledProtocols(new String[] {"TLSv1.2"});
        End client = closing(new End(new TlsStream(clientSocket, engine, TlsStreamTests::calculate, () -> {})));
        End server = server(member);
        untilBothFail(client, server);
    }

    @Test
    void aTrustManagerThatBreaksIsAnSslException() throws Exception {
        SSLContext broken = SSLContext.getInstance("TLS");
        broken.init(null, new TrustManager[] {new EngineTrust(TlsStreamTests::breakOnPurpose)}, null);
        End client = client(broken);
        End server = server(member);
        until(() -> client.failure != null, client, server);
        assertThat(client.failure).isInstanceOf(SSLException.class).hasStackTraceContaining("broken on purpose");
    }

    // What nobody should send.

    static Stream<byte[]> garbage() {
        byte[] longRecord = new byte[40_000];
        System.arraycopy(new byte[] {23, 3, 3, 0x48, 0}, 0, longRecord, 0, 5);
        byte[] longHello = longRecord.clone();
        longHello[0] = 22;
        return Stream.of(
                "POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(US_ASCII),
                new byte[5],
                new byte[50_000],
                randomBytes(1, 100),
                randomBytes(2, 100_000),
                longRecord,
                longHello,
                new byte[] {21, 3, 3, 0, 2, 2, 40},
                new byte[] {22, 3, 3, 0, 4, 1, 0, 0, 0});
    }

    @ParameterizedTest
    @MethodSource("garbage")
    void garbageInsteadOfAHelloIsAnSslException(byte[] garbage) throws Exception {
        End server = server(member);
        ByteBuffer sent = ByteBuffer.wrap(garbage);
        until(
                () -> {
                    if (server.failure == null) {
                        clientSocket.write(sent);
                    }
                    return server.failure != null;
                },
                server);
        assertThat(server.failure).isInstanceOf(SSLException.class);
        assertThat(server.received.size()).isZero();
    }

    @Test
    void aChangedHelloNeverBreaksTheServer() throws Exception {
        client(member).stream.write(NOTHING);
        byte[] hello = readRaw(serverSocket, 100);
        Random random = new Random(1);
        int refused = 0;
        for (int i = 0; i < 300; i++) {
            byte[] changed = hello.clone();
            for (int change = 0; change <= i % 3; change++) {
                changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(8));
            }
            SocketChannel[] ends = connected();
            ends[0].write(ByteBuffer.wrap(changed));
            ends[0].shutdownOutput();
            End server = closing(new End(TlsStream.server(ends[1], member, TlsStreamTests::calculate, () -> {})));
            until(() -> server.ended || server.failure != null, server);
            if (server.failure != null) {
                assertThat(server.failure).isInstanceOf(SSLException.class);
                refused++;
            }
            ends[0].close();
            server.close();
        }
        assertThat(refused).isBetween(30, 299);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aByteChangedOnTheWayIsAnIOExceptionAndNothingElse(boolean toServer) throws Exception {
        Random random = new Random(2);
        byte[] message = randomBytes(3, 60_000);
        for (int i = 0; i < 60; i++) {
            SocketChannel[] before = connected();
            SocketChannel[] behind = connected();
            Relay relay = new Relay(before[1], behind[0]);
            End client = closing(new End(TlsStream.client(
                    before[0], member, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {})));
            End server = closing(new End(TlsStream.server(behind[1], member, TlsStreamTests::calculate, () -> {})));
            handshake(client, server, relay);

            int place = i < 24 ? MEANINGFUL_IN_HEADER[i % 3] : 5 + random.nextInt(20_000);
            (toServer ? relay.forth : relay.back).change(place, 1 << i % 8);
            End sender = toServer ? client : server;
            End receiver = toServer ? server : client;
            sender.send(message);
            until(() -> receiver.failure != null, relay, sender, receiver);
            assertThat(receiver.ended).isFalse();
            byte[] accepted = receiver.take();
            assertThat(accepted).hasSizeLessThan(40_000).isEqualTo(Arrays.copyOf(message, accepted.length));
            client.close();
            server.close();
        }
    }

    // New keys.

    @Test
    void newKeysAreAnsweredAtOnce() throws Exception {
        SSLEngine engine = clientEngine();
        End client = closing(new End(new TlsStream(clientSocket, engine, TlsStreamTests::calculate, () -> {})));
        End server = server(member);
        handshake(client, server);
        client.send(new byte[1]);
        until(() -> server.received.size() == 1, client, server);
        server.take();
        assertThat(readRaw(clientSocket, 0)).isEmpty();

        for (int i = 0; i < 20; i++) {
            engine.beginHandshake();
            client.stream.write(NOTHING);
            await(() -> {
                assertThat(server.read()).isZero();
                return clientSocket.read(ByteBuffer.allocate(1_000)) > 0;
            });
        }
    }

    @Test
    void newKeysDoNotDisturbWhatPasses() throws Exception {
        SSLEngine engine = clientEngine();
        End client = closing(new End(new TlsStream(clientSocket, engine, TlsStreamTests::calculate, () -> {})));
        End server = server(member);
        handshake(client, server);
        for (int i = 0; i < 20; i++) {
            engine.beginHandshake();
            client.send(randomBytes(i, 50_000));
            server.send(randomBytes(-i, 50_000));
            until(() -> server.received.size() + client.received.size() == 100_000, client, server);
            assertThat(server.take()).isEqualTo(randomBytes(i, 50_000));
            assertThat(client.take()).isEqualTo(randomBytes(-i, 50_000));
        }
    }

    @Test
    void whoDemandsAnswersWithoutReadingThemIsNotReadAnyMore() throws Exception {
        SocketChannel[] behind = connected();
        behind[1].setOption(StandardSocketOptions.SO_SNDBUF, 65_536);
        SSLEngine engine = clientEngine();
        End client = closing(new End(new TlsStream(clientSocket, engine, TlsStreamTests::calculate, () -> {})));
        End server = closing(new End(TlsStream.server(behind[1], member, TlsStreamTests::calculate, () -> {})));
        Relay relay = new Relay(serverSocket, behind[0]);
        handshake(client, server, relay);

        await(() -> {
            demandAnswers(engine, client, relay);
            assertThat(server.read()).isZero();
            return server.stream.interestOps() == SelectionKey.OP_WRITE;
        });
        byte[] message = randomBytes(1, 50_000);
        client.send(message);
        for (int i = 0; i < 2_000; i++) {
            client.stream.write(client.unwritten);
            relay.forth.step();
            assertThat(server.read()).isZero();
        }
        assertThat(server.stream.interestOps()).isEqualTo(SelectionKey.OP_WRITE);

        until(() -> server.received.size() == message.length, relay, client, server);
        assertThat(server.take()).isEqualTo(message);
        assertThat(server.stream.interestOps()).isEqualTo(SelectionKey.OP_READ);
    }

    private static void demandAnswers(SSLEngine engine, End client, Relay relay) throws IOException {
        for (int i = 0; i < 100 && client.stream.interestOps() == SelectionKey.OP_READ; i++) {
            engine.beginHandshake();
            client.stream.write(NOTHING);
        }
        relay.forth.step();
    }

    // Who runs the expensive steps.

    @Test
    void whileItsTasksRunTheServerIsBusy() throws Exception {
        Queue<Runnable> tasks = new ArrayDeque<>();
        List<String> doneBy = new ArrayList<>();
        End client = client(member);
        End server = closing(new End(TlsStream.server(
                serverSocket,
                member,
                (calculation, giveBack) -> tasks.add(() -> calculate(calculation, giveBack)),
                () -> doneBy.add(Thread.currentThread().getName()))));
        byte[] request = randomBytes(1, 1_000);
        client.send(request);
        int handedOver = 0;
        while (server.received.size() < 1_000) {
            until(() -> !tasks.isEmpty() || server.received.size() == 1_000, client, server);
            if (tasks.isEmpty()) {
                break;
            }
            handedOver++;
            assertThat(tasks).hasSize(1);
            ByteBuffer unwritten = ByteBuffer.allocate(10);
            for (int i = 0; i < 10; i++) {
                client.step();
                assertThat(server.read()).isZero();
                server.stream.write(unwritten);
                assertThat(server.stream.interestOps()).isZero();
            }
            assertThat(unwritten.position()).isZero();
            assertThat(doneBy).hasSize(handedOver - 1);
            Thread executor = new Thread(tasks.remove(), "executor");
            executor.start();
            executor.join();
            assertThat(doneBy).hasSize(handedOver).containsOnly("executor");
            assertThat(server.stream.interestOps()).isNotZero();
        }
        assertThat(handedOver).isPositive();
        assertThat(server.take()).isEqualTo(request);
    }

    @Test
    void aBusyServerDoesNotTouchTheSocketUnlessItIsClosed() throws Exception {
        Queue<Runnable> tasks = new ArrayDeque<>();
        End server = closing(new End(TlsStream.server(
                serverSocket,
                member,
                (calculation, giveBack) -> tasks.add(() -> calculate(calculation, giveBack)),
                () -> {})));
        client(member).stream.write(NOTHING);
        until(() -> !tasks.isEmpty(), server);
        clientSocket.close();
        for (int i = 0; i < 100; i++) {
            assertThat(server.read()).isZero();
        }
        server.stream.close();
        assertThat(serverSocket.isOpen()).isFalse();
        tasks.remove().run();
        assertThatIOException().isThrownBy(server::read);
    }

    /** The engine itself answers nothing before the task is over, which may have to ask others over the network. */
    @Test
    void nobodyWaitsForATaskThatTakesLong() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        SSLContext slow = SSLContext.getInstance("TLS");
        slow.init(
                null,
                new TrustManager[] {
                    new EngineTrust(engine -> {
                        begun.countDown();
                        try {
                            mayEnd.await(20, TimeUnit.SECONDS);
                        } catch (InterruptedException impossible) {
                            throw new AssertionError(impossible);
                        }
                        ended.set(true);
                    })
                },
                null);
        End client = closing(new End(TlsStream.client(
                clientSocket, slow, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculateElsewhere, () -> {})));
        End server = server(member);
        until(() -> begun.getCount() == 0, client, server);
        assertThat(client.stream.isHandshaking()).isTrue();
        client.stream.close();
        assertThat(ended).isFalse();
        mayEnd.countDown();
    }

    @Test
    void tasksOfManyThreadsDoNotMeetTheOwner() throws Exception {
        for (int i = 0; i < 30; i++) {
            SocketChannel[] ends = connected();
            End client = closing(new End(TlsStream.client(
                    ends[0], member, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {})));
            End server =
                    closing(new End(TlsStream.server(ends[1], member, TlsStreamTests::calculateElsewhere, () -> {})));
            handshake(client, server);
            client.close();
            server.close();
        }
    }

    @Test
    void aFullExecutorIsAnIOException() throws Exception {
        End client = client(member);
        End server = closing(new End(TlsStream.server(
                serverSocket,
                member,
                (calculation, giveBack) -> {
                    throw new RejectedExecutionException("full");
                },
                () -> {})));
        until(() -> server.failure != null, client, server);
        assertThat(server.failure).hasMessage("too many handshakes at once");
        assertThat(server.stream.interestOps()).as("it was given back").isNotZero();
        assertThatCode(server.stream::close).doesNotThrowAnyException();
    }

    // Others who speak TLS.

    @Test
    void aSocketOfTheJdkIsServed() throws Exception {
        Socket plain;
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0))) {
            plain = closing(new Socket(LOOPBACK, listener.socket().getLocalPort()));
            serverSocket = closing(listener.accept());
        }
        serverSocket.configureBlocking(false);
        End server = server(member);
        server.echoes = true;
        CompletableFuture<String> client = CompletableFuture.supplyAsync(() -> {
            try (SSLSocket socket = (SSLSocket) member.getSocketFactory().createSocket(plain, "localhost", 1, true)) {
                socket.setSoTimeout(10_000);
                for (int round = 0; round < 6; round++) {
                    byte[] message = randomBytes(round, 30_000);
                    socket.getOutputStream().write(message);
                    assertThat(socket.getInputStream().readNBytes(message.length))
                            .isEqualTo(message);
                    if (round % 2 == 1) {
                        socket.startHandshake();
                    }
                }
                return socket.getSession().getProtocol();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        });
        until(() -> client.isDone() && server.ended, server);
        assertThat(client.join()).isEqualTo("TLSv1.3");
    }

    @Test
    void aServerSocketOfTheJdkIsCalled() throws Exception {
        try (SSLServerSocket listener =
                (SSLServerSocket) member.getServerSocketFactory().createServerSocket(0, 1, LOOPBACK)) {
            listener.setNeedClientAuth(true);
            clientSocket = closing(SocketChannel.open(listener.getLocalSocketAddress()));
            clientSocket.configureBlocking(false);
            CompletableFuture<Void> server = CompletableFuture.runAsync(() -> {
                try (Socket socket = listener.accept()) {
                    socket.setSoTimeout(10_000);
                    for (int round = 0; round < 5; round++) {
                        socket.getOutputStream().write(socket.getInputStream().readNBytes(30_000));
                    }
                } catch (IOException failure) {
                    throw new UncheckedIOException(failure);
                }
            });
            End client = client(member);
            for (int round = 0; round < 5; round++) {
                client.send(randomBytes(round, 30_000));
                until(() -> client.received.size() == 30_000, client);
                assertThat(client.take()).isEqualTo(randomBytes(round, 30_000));
            }
            until(() -> client.ended, client);
            server.join();
        }
    }

    // Both ends and what is between them.

    /** Does with its stream what an owner does. */
    private static final class End implements AutoCloseable {

        final TlsStream stream;
        final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private final ByteBuffer into = ByteBuffer.allocate(ByteStream.MIN_ROOM);
        ByteBuffer unwritten = NOTHING;
        boolean echoes;
        boolean ended;

        @Nullable
        IOException failure;

        End(TlsStream stream) {
            this.stream = stream;
        }

        void send(byte[] message) {
            assertThat(unwritten.hasRemaining()).isFalse();
            unwritten = ByteBuffer.wrap(message);
        }

        int read() throws IOException {
            int count = stream.read(into.clear());
            assertThat(into.position()).isEqualTo(Math.max(count, 0));
            received.write(into.array(), 0, into.position());
            return count;
        }

        byte[] take() {
            byte[] all = received.toByteArray();
            received.reset();
            return all;
        }

        void step() {
            if (ended || failure != null) {
                return;
            }
            try {
                int ops = stream.interestOps();
                if ((ops & SelectionKey.OP_READ) != 0) {
                    ended = read() < 0;
                }
                if (echoes && !unwritten.hasRemaining()) {
                    send(take());
                }
                if (ops != 0) {
                    stream.write(unwritten);
                }
            } catch (IOException thrown) {
                failure = thrown;
            }
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    /** Carries bytes between two connections. */
    private static final class Relay {

        final Direction forth;
        final Direction back;

        Relay(SocketChannel one, SocketChannel other) {
            forth = new Direction(one, other);
            back = new Direction(other, one);
        }

        void step() throws IOException {
            forth.step();
            back.step();
        }
    }

    /** Carries bytes as they are, or with one of them changed. */
    private static final class Direction {

        private final SocketChannel from;
        private final SocketChannel to;
        private final ByteBuffer carried = ByteBuffer.allocate(4_096);
        private int untilChange = Integer.MAX_VALUE;
        private byte bits;

        Direction(SocketChannel from, SocketChannel to) {
            this.from = from;
            this.to = to;
        }

        void change(int distance, int bits) {
            untilChange = distance;
            this.bits = (byte) bits;
        }

        void step() throws IOException {
            int before = carried.position();
            from.read(carried);
            int count = carried.position() - before;
            if (untilChange >= 0 && untilChange < count) {
                carried.array()[before + untilChange] ^= bits;
            }
            untilChange -= count;
            to.write(carried.flip());
            carried.compact();
        }
    }

    private interface Condition {
        boolean holds() throws Exception;
    }

    private static void await(Condition condition) {
        long start = System.nanoTime();
        try {
            while (!condition.holds()) {
                assertThat(System.nanoTime() - start).as("nanoseconds waited").isLessThan(PATIENCE_NANOS);
                Thread.onSpinWait();
            }
        } catch (RuntimeException thrown) {
            throw thrown;
        } catch (Exception thrown) {
            throw new AssertionError(thrown);
        }
    }

    private static void until(Condition condition, End... ends) {
        await(() -> {
            for (End end : ends) {
                end.step();
            }
            return condition.holds();
        });
    }

    private static void until(Condition condition, Relay relay, End... ends) {
        until(
                () -> {
                    relay.step();
                    return condition.holds();
                },
                ends);
    }

    private static void untilBothFail(End client, End server) {
        until(() -> client.failure != null && server.failure != null, client, server);
    }

    private static void handshake(End client, End server) {
        begin(client, server);
        until(() -> isOver(client, server), client, server);
        end(client, server);
    }

    private static void handshake(End client, End server, Relay relay) {
        begin(client, server);
        until(() -> isOver(client, server), relay, client, server);
        end(client, server);
    }

    private static void begin(End client, End server) {
        client.send(new byte[1]);
        server.send(new byte[1]);
    }

    private static boolean isOver(End client, End server) {
        assertThat(client.failure).isNull();
        assertThat(server.failure).isNull();
        return client.received.size() == 1 && server.received.size() == 1;
    }

    private static void end(End client, End server) {
        client.take();
        server.take();
    }

    private End client(SSLContext context) {
        return closing(new End(TlsStream.client(
                clientSocket, context, "localhost", 1, TlsStream.NEWEST, TlsStreamTests::calculate, () -> {})));
    }

    private End server(SSLContext context) {
        return closing(new End(TlsStream.server(serverSocket, context, TlsStreamTests::calculate, () -> {})));
    }

    /** For those who want new keys. */
    private static SSLEngine clientEngine() {
        SSLEngine engine = member.createSSLEngine("localhost", 1);
        engine.setUseClientMode(true);
        return engine;
    }

    private SocketChannel[] connected() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0))) {
            SocketChannel client = closing(SocketChannel.open(listener.getLocalAddress()));
            SocketChannel server = closing(listener.accept());
            for (SocketChannel end : List.of(client, server)) {
                end.configureBlocking(false);
                end.setOption(StandardSocketOptions.TCP_NODELAY, true);
            }
            return new SocketChannel[] {client, server};
        }
    }

    /** At least so many bytes, as they are on the way, or all until the end. */
    private static byte[] readRaw(SocketChannel socket, int least) {
        ByteBuffer bytes = ByteBuffer.allocate(100_000);
        await(() -> socket.read(bytes) < 0 || bytes.position() >= least);
        return Arrays.copyOf(bytes.array(), bytes.position());
    }

    private static byte[] randomBytes(int seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        closeables.add(0, closeable);
        return closeable;
    }
}
