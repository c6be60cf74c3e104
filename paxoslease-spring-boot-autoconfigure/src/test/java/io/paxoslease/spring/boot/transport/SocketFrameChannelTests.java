package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.paxoslease.spring.BlockedLog;
import io.paxoslease.spring.boot.transport.PeerServer.Behaviour;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Real sockets on the loopback interface; times are upper bounds with room for a busy machine. */
@Timeout(240)
class SocketFrameChannelTests {

    private static final int MAX_RESPONSE = 200_000;
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofSeconds(2);

    private static final AtomicInteger CHANNELS = new AtomicInteger();

    /** Of its own for each test: the thread of a closed channel may live a little longer. */
    private final String name = "test" + CHANNELS.incrementAndGet();

    private final List<AutoCloseable> closeables = new ArrayList<>();

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

    private PeerServer server(Behaviour behaviour) throws IOException {
        return closing(PeerServer.start(behaviour));
    }

    private SocketFrameChannel channel(URI url) {
        return channel(Map.of("n2", url));
    }

    private SocketFrameChannel channel(Map<String, URI> members) {
        return closing(FrameChannels.create(name, members, "/paxoslease", MAX_RESPONSE, () -> null));
    }

    /** To a member whose name has these addresses. */
    private SocketFrameChannel channel(URI base, String... addresses) throws IOException {
        List<InetAddress> found = new ArrayList<>();
        for (String address : addresses) {
            found.add(InetAddress.getByName(address));
        }
        return channel(base, () -> found);
    }

    /** To a member whose name is looked up like this. */
    private SocketFrameChannel channel(URI base, Callable<List<InetAddress>> lookUp) {
        SocketFrameChannel channel = channel(Map.of());
        channel.add("n2", new HttpProtocol(MemberUrl.of("n2", base, "/paxoslease"), MAX_RESPONSE, () -> null) {
            @Override
            List<InetAddress> addresses() throws UnknownHostException {
                try {
                    return lookUp.call();
                } catch (UnknownHostException unknown) {
                    throw unknown;
                } catch (Exception failure) {
                    throw new AssertionError(failure);
                }
            }
        });
        return channel;
    }

    private static CompletableFuture<FrameReply> send(SocketFrameChannel channel, byte[] frame, Duration timeout) {
        return channel.exchange("n2", frame, timeout.toNanos()).toCompletableFuture();
    }

    private static byte[] frame(int length) {
        byte[] frame = new byte[length];
        new SplittableRandom(length).nextBytes(frame);
        if (length > 0) {
            frame[0] = 1;
        }
        return frame;
    }

    private static byte[] echoed(SocketFrameChannel channel, byte[] frame) throws Exception {
        FrameReply reply = send(channel, frame, LONG).get();
        assertThat(reply.status()).isEqualTo(200);
        return reply.body();
    }

    private static String failure(Future<FrameReply> stage) throws InterruptedException {
        try {
            FrameReply reply = stage.get();
            throw new AssertionError("Answered with " + reply.status());
        } catch (ExecutionException failed) {
            assertThat(failed.getCause()).isExactlyInstanceOf(IOException.class);
            return failed.getCause().getMessage();
        }
    }

    /** Fails within its time limit and a little. */
    private static String timelyFailure(SocketFrameChannel channel, Duration timeout) throws InterruptedException {
        long start = System.nanoTime();
        String message = failure(send(channel, frame(10), timeout));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(timeout.plusSeconds(10));
        return message;
    }

    private static boolean isThreadAlive(String name) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals(name));
    }

    @Nested
    class AnExchange {

        @Test
        void isOneExactPost() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            SocketFrameChannel channel = closing(FrameChannels.create(
                    name, Map.of("n2", URI.create(server.url() + "/ctx/")), "paxoslease/", MAX_RESPONSE, () -> null));
            assertThat(echoed(channel, frame(300))).isEqualTo(frame(300));
            assertThat(server.requests).hasSize(1);
            assertThat(server.requests.get(0).head())
                    .isEqualTo("POST /ctx/paxoslease/messages HTTP/1.1\r\n"
                            + "Host: 127.0.0.1:" + server.url().getPort() + "\r\n"
                            + "Content-Type: application/vnd.paxoslease.v1\r\n"
                            + "Content-Length: 300\r\n\r\n");
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2, 8_000, 70_000, 200_000})
        void carriesFramesOfAnySize(int length) throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            SocketFrameChannel channel = channel(server.url());
            for (int i = 0; i < 3; i++) {
                assertThat(echoed(channel, frame(length))).isEqualTo(frame(length));
            }
            assertThat(server.connections).hasValue(1);
        }

        @Test
        void writesAFrameThatDoesNotFitIntoTheSocket() throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                go.await();
                peer.answer(Integer.toString(peer.request().body().length).getBytes(StandardCharsets.US_ASCII));
            });
            CompletableFuture<FrameReply> stage = send(channel(server.url()), frame(30_000_000), LONG);
            go.countDown();
            assertThat(new String(stage.get().body(), StandardCharsets.US_ASCII))
                    .isEqualTo("30000000");
        }

        @Test
        void goesOnWithAFrameThatDoesNotFitIntoAnIdleConnection() throws Exception {
            PeerServer server = server(peer -> {
                for (PeerServer.Request next = peer.request(); next != null; next = peer.request()) {
                    peer.answer(("\001" + next.body().length).getBytes(StandardCharsets.US_ASCII));
                }
            });
            SocketFrameChannel channel = channel(server.url());
            // No time limit wakes the thread of the channel.
            Duration never = Duration.ofHours(1);
            send(channel, frame(10), never).get();
            FrameReply reply = send(channel, frame(30_000_000), never).get(LONG.toSeconds(), TimeUnit.SECONDS);
            assertThat(new String(reply.body(), StandardCharsets.US_ASCII)).isEqualTo("\00130000000");
            assertThat(server.connections).hasValue(1);
        }

        @Test
        void passesOnAnyStatusAndAsksAgainWhereTheMemberIs() throws Exception {
            PeerServer server = server(peer -> {
                peer.request();
                peer.write(
                        peer.number == 1
                                ? "HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\nwho"
                                : "HTTP/1.1 503 x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsoon\r\n0\r\n\r\n");
                peer.request();
            });
            SocketFrameChannel channel = channel(server.url());
            FrameReply first = send(channel, frame(1), LONG).get();
            FrameReply second = send(channel, frame(1), LONG).get();
            assertThat(first.status()).isEqualTo(401);
            assertThat(first.body()).asString().isEqualTo("who");
            assertThat(second.status()).isEqualTo(503);
            assertThat(second.body()).asString().isEqualTo("soon");
            assertThat(server.connections).hasValue(2);
            assertThat(server.requests).hasSize(2);
        }

        /** Who has the member's address by now may answer whatever comes with a page, for as long as it is asked. */
        @ParameterizedTest
        @ValueSource(strings = {"<html>", "\n<html>", "\ufeff<html>", ""})
        void asksAgainWhereTheMemberIsAfterAPage(String page) throws Exception {
            byte[] body = page.getBytes(StandardCharsets.UTF_8);
            PeerServer server = server(peer -> {
                while (peer.request() != null) {
                    peer.answer(body);
                }
            });
            SocketFrameChannel channel = channel(server.url());
            for (int i = 1; i <= 3; i++) {
                assertThat(send(channel, frame(1), LONG).get().body()).isEqualTo(body);
                assertThat(server.connections).hasValue(i);
            }
        }

        @Test
        void worksWhenTheCallingThreadIsInterrupted() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            SocketFrameChannel channel = channel(server.url());
            echoed(channel, frame(1));
            Thread.currentThread().interrupt();
            CompletableFuture<FrameReply> stage = send(channel, frame(2), LONG);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(stage.get().body()).isEqualTo(frame(2));
            assertThat(server.connections).hasValue(1);
        }

        @Test
        void completesOnTheThreadOfTheChannelAndMayBeginTheNextOneThere() throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                go.await();
                peer.echo();
            });
            SocketFrameChannel channel = channel(server.url());
            AtomicReference<String> thread = new AtomicReference<>();
            CompletableFuture<FrameReply> last = send(channel, frame(1), LONG)
                    .thenCompose(reply -> send(channel, frame(2), LONG))
                    .thenCompose(reply -> send(channel, frame(3), LONG))
                    .whenComplete((r, f) -> thread.set(Thread.currentThread().getName()));
            go.countDown();
            assertThat(last.get().body()).isEqualTo(frame(3));
            assertThat(thread).hasValue("paxoslease-" + name + "-channel");
            assertThat(server.connections).hasValue(1);
        }

        @Test
        void survivesACallbackThatThrows() throws Exception {
            SocketFrameChannel channel = channel(server(PeerServer.Peer::echo).url());
            send(channel, frame(1), LONG).whenComplete((reply, failure) -> {
                throw new IllegalStateException("thrown by a test");
            });
            assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
        }

        @Test
        void goOnAfterADefectWhileTheLogBlocks() throws Exception {
            SocketFrameChannel channel = channel(server(PeerServer.Peer::echo).url());
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
            try (BlockedLog blocked = new BlockedLog(SocketFrameChannel.class)) {
                channel.settle(() -> {
                    throw new IllegalStateException("thrown by a test");
                });
                assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
            }
        }

        /** As where memory is short: a trace at each of a hundred turns a second would fill the disk. */
        @Test
        void tellOfFailuresThatFollowEachOtherOnce() throws Exception {
            SocketFrameChannel channel = channel(server(PeerServer.Peer::echo).url());
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
            try (BlockedLog log = new BlockedLog(SocketFrameChannel.class)) {
                CountDownLatch turns = new CountDownLatch(5);
                while (turns.getCount() > 0) {
                    channel.settle(() -> {
                        turns.countDown();
                        throw new IllegalStateException("thrown by a test");
                    });
                    turns.await(1, TimeUnit.MILLISECONDS);
                }
                assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
                assertThat(log.flow().poll(LONG.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo("The channel of " + name + " goes on after a failure");
                assertThat(log.flow().poll(200, TimeUnit.MILLISECONDS)).isNull();
            }
        }

        @Test
        void withAStrangerFails() throws Exception {
            SocketFrameChannel channel = channel(Map.of());
            assertThat(failure(channel.exchange("n9", frame(1), 1).toCompletableFuture()))
                    .isEqualTo("no URL is known for it");
            assertThat(isThreadAlive("paxoslease-" + name + "-channel")).isFalse();
        }
    }

    @Nested
    class Connections {

        @Test
        void areOnlyMadeWhenNeeded() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            SocketFrameChannel channel = channel(server.url());
            assertThat(server.connections).hasValue(0);
            assertThat(isThreadAlive("paxoslease-" + name + "-channel")).isFalse();
            echoed(channel, frame(1));
            assertThat(isThreadAlive("paxoslease-" + name + "-channel")).isTrue();
        }

        @Test
        void areBoundedPerMember() throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                go.await();
                peer.echo();
            });
            SocketFrameChannel channel = channel(server.url());
            List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
            for (int i = 1; i <= SocketMember.MAX_CONNECTIONS + SocketMember.MAX_WAITING; i++) {
                stages.add(send(channel, frame(i), LONG));
            }
            assertThat(failure(send(channel, frame(1), LONG)))
                    .isEqualTo("too many exchanges with " + server.url() + "/paxoslease/messages at once");
            go.countDown();
            for (int i = 1; i <= stages.size(); i++) {
                assertThat(stages.get(i - 1).get().body()).isEqualTo(frame(i));
            }
            assertThat(server.connections).hasValue(SocketMember.MAX_CONNECTIONS);
        }

        @Test
        void serveManyCallersAtOnce() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            SocketFrameChannel channel = channel(server.url());
            ExecutorService callers = Executors.newFixedThreadPool(8);
            try {
                List<Future<?>> done = new ArrayList<>();
                for (int caller = 0; caller < 8; caller++) {
                    int base = 1000 * caller + 1;
                    done.add(callers.submit(() -> {
                        for (int i = 0; i < 300; i++) {
                            assertThat(echoed(channel, frame(base + i))).isEqualTo(frame(base + i));
                        }
                        return null;
                    }));
                }
                for (Future<?> each : done) {
                    each.get();
                }
            } finally {
                callers.shutdownNow();
            }
            assertThat(server.connections.get()).isLessThanOrEqualTo(SocketMember.MAX_CONNECTIONS);
            assertThat(server.requests).hasSize(2400);
        }

        @Test
        void areGivenUpWhenTheMemberSaysClose() throws Exception {
            PeerServer server = server(peer -> {
                peer.request();
                peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx");
                peer.request();
            });
            SocketFrameChannel channel = channel(server.url());
            for (int i = 1; i <= 5; i++) {
                assertThat(echoed(channel, frame(1))).asString().isEqualTo("x");
                assertThat(server.connections).hasValue(i);
                // Nor was one tried in vain, as one that died idle.
                assertThat(server.requests).hasSize(i);
            }
        }

        @Test
        void areGivenUpWhenMoreComesThanAnAnswer() throws Exception {
            PeerServer server = server(peer -> {
                peer.request();
                peer.write(
                        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ny");
                peer.request();
            });
            SocketFrameChannel channel = channel(server.url());
            assertThat(echoed(channel, frame(1))).asString().isEqualTo("x");
            assertThat(echoed(channel, frame(1))).asString().isEqualTo("x");
            assertThat(server.connections).hasValue(2);
            assertThat(server.requests).hasSize(2);
        }

        /** It would be taken for the answer to the next frame. */
        @Test
        void areGivenUpWhenSomethingComesWhileTheyAreIdle() throws Exception {
            CountDownLatch idle = new CountDownLatch(1);
            CountDownLatch givenUp = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                peer.answer(peer.request().body());
                idle.await();
                peer.answer(new byte[5]);
                if (peer.request() == null) {
                    givenUp.countDown();
                }
            });
            SocketFrameChannel channel = channel(server.url());
            echoed(channel, frame(1));
            idle.countDown();
            assertThat(givenUp.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
        }

        /** What was over and stayed would have news for the selector without end. */
        @Test
        void areGivenUpWhenTheMemberEndsThemWhileTheyAreIdle() throws Exception {
            CountDownLatch givenUp = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                peer.answer(peer.request().body());
                peer.socket.shutdownOutput();
                if (peer.request() == null) {
                    givenUp.countDown();
                }
            });
            SocketFrameChannel channel = channel(server.url());
            echoed(channel, frame(1));
            assertThat(givenUp.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
        }

        /** A firewall between the nodes may have forgotten them without telling anybody, which would cost a time-out. */
        @Test
        void areNotUsedAnyMoreWhenTheyWereIdleForTooLong() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
            SocketFrameChannel channel = channel(Map.of());
            channel.add("n2", new HttpProtocol(url, MAX_RESPONSE, () -> null) {
                @Override
                long maxIdleNanos() {
                    return 0;
                }
            });
            for (int i = 1; i <= 3; i++) {
                assertThat(echoed(channel, frame(i))).isEqualTo(frame(i));
                assertThat(server.connections).hasValue(i);
            }
        }

        @Test
        void thatDiedIdleAreReplacedWithoutTheCallerNoticing() throws Exception {
            PeerServer server = server(peer -> {
                peer.answer(peer.request().body());
                if (peer.number % 2 == 1) {
                    // Takes the next request and closes, as a server does whose time for idle connections is over.
                    peer.request();
                } else {
                    peer.echo();
                }
            });
            SocketFrameChannel channel = channel(server.url());
            echoed(channel, frame(1));
            assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
            assertThat(server.connections).hasValue(2);
            assertThat(server.requests).hasSize(3);
        }

        @Test
        void thatDieAgainFailTheExchange() throws Exception {
            PeerServer server = server(peer -> {
                peer.request();
                if (peer.number == 1) {
                    peer.answer(new byte[1]);
                    peer.request();
                }
            });
            SocketFrameChannel channel = channel(server.url());
            echoed(channel, frame(1));
            assertThat(failure(send(channel, frame(1), LONG)))
                    .isEqualTo("the connection to " + server.url()
                            + "/paxoslease/messages was lost: closed without an answer (does it expect https?)");
            assertThat(server.connections).hasValue(2);
            assertThat(server.requests).hasSize(3);
        }

        @Test
        void areNotTriedTwiceOnceAnAnswerBegan() throws Exception {
            PeerServer server = server(peer -> {
                peer.answer(peer.request().body());
                peer.request();
                peer.write("HTTP/1.1 200 OK\r\n");
            });
            SocketFrameChannel channel = channel(server.url());
            echoed(channel, frame(1));
            assertThat(failure(send(channel, frame(1), LONG))).endsWith("was lost: closed in the middle of an answer");
            assertThat(server.connections).hasValue(1);
        }

        @Test
        void surviveARestartOfTheMember() throws Exception {
            int port = FreePorts.take(1)[0];
            InetAddress address = InetAddress.getByName("127.0.0.1");
            PeerServer first =
                    closing(PeerServer.on(new ServerSocket(port, 50, address), "http", PeerServer.Peer::echo));
            URI url = first.url();
            SocketFrameChannel channel = channel(url);
            echoed(channel, frame(1));
            first.close();
            for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                assertThat(timelyFailure(channel, LONG))
                        .isEqualTo("connection refused by " + url + "/paxoslease/messages");
            }
            closing(PeerServer.on(new ServerSocket(port, 50, address), "http", PeerServer.Peer::echo));
            assertThat(echoed(channel, frame(3))).isEqualTo(frame(3));
        }

        @ParameterizedTest
        @CsvSource({"127.0.0.1, 127.0.0.2", "127.0.0.2, 127.0.0.1", "255.255.255.255, 127.0.0.1"})
        void tryAllAddressesOfAName(String first, String second) throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            SocketFrameChannel channel = channel(server.url(), first, second);
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
        }

        @Test
        void passOverAnAddressThatConnectsAndIsSilent() throws Exception {
            PeerServer silent = server(peer -> Thread.sleep(30_000));
            InetAddress other = InetAddress.getByName("127.0.0.2");
            closing(PeerServer.on(new ServerSocket(silent.url().getPort(), 50, other), "http", PeerServer.Peer::echo));
            SocketFrameChannel channel = channel(silent.url(), "127.0.0.1", "127.0.0.2");
            // The second finds out only what the first has found out already.
            CompletableFuture<FrameReply> first = send(channel, frame(1), SHORT);
            CompletableFuture<FrameReply> second = send(channel, frame(1), SHORT.plusSeconds(1));
            assertThat(failure(first)).contains("no answer from ");
            assertThat(failure(second)).contains("no answer from ");
            assertThat(send(channel, frame(1), SHORT).get().status()).isEqualTo(200);
        }

        /** As another machine that has one of the member's addresses by now. */
        @ParameterizedTest
        @ValueSource(strings = {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "SSH-2.0-x\r\n\r\n", ""})
        void passOverAnAddressOfAStranger(String answer) throws Exception {
            PeerServer stranger = server(peer -> {
                peer.request();
                peer.write(answer);
            });
            InetAddress other = InetAddress.getByName("127.0.0.2");
            closing(PeerServer.on(
                    new ServerSocket(stranger.url().getPort(), 50, other), "http", PeerServer.Peer::echo));
            SocketFrameChannel channel = channel(stranger.url(), "127.0.0.1", "127.0.0.2");
            send(channel, frame(1), LONG).handle((reply, failure) -> failure).get();
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
            assertThat(stranger.connections).hasValue(1);
        }

        /** It may be slow for once. */
        @Test
        void stayWithAnAddressThatHasAnswered() throws Exception {
            PeerServer first = server(peer -> {
                peer.answer(peer.request().body());
                peer.request();
                peer.request();
            });
            InetAddress other = InetAddress.getByName("127.0.0.2");
            PeerServer second = closing(
                    PeerServer.on(new ServerSocket(first.url().getPort(), 50, other), "http", PeerServer.Peer::echo));
            SocketFrameChannel channel = channel(first.url(), "127.0.0.1", "127.0.0.2");
            echoed(channel, frame(1));
            assertThat(timelyFailure(channel, SHORT)).contains("no answer from ");
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
            assertThat(second.connections).hasValue(0);
        }

        /** As one that is far away, or so short of processors that its handshakes take longer than an exchange may. */
        @Test
        void areMadeAlsoToAMemberThatTakesLongerForThemThanAnExchangeMay() throws Exception {
            PeerServer server = server(peer -> {
                Thread.sleep(SHORT.plusSeconds(1).toMillis());
                peer.echo();
            });
            SocketFrameChannel channel = channel(server.url());
            assertThat(timelyFailure(channel, SHORT)).contains("no answer from ");
            // Whoever comes next may be too early as well.
            int attempts = 1;
            while (send(channel, frame(2), SHORT)
                    .handle((reply, late) -> reply == null)
                    .get()) {
                assertThat(++attempts).isLessThan(5);
            }
            assertThat(echoed(channel, frame(3))).isEqualTo(frame(3));
        }

        @Test
        void sendNothingLateToAnotherAddressEither() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            int port = server.url().getPort();
            InetAddress other = InetAddress.getByName("127.0.0.2");
            SocketFrameChannel channel = channel(server.url(), "127.0.0.2", "127.0.0.1");
            // A full backlog drops further connects, until they are sent again and nobody listens any more.
            try (ServerSocket full = new ServerSocket(port, 1, other)) {
                for (int i = 0; i < 4; i++) {
                    SocketChannel filler = closing(SocketChannel.open());
                    filler.configureBlocking(false);
                    filler.connect(new InetSocketAddress(other, port));
                }
                assertThat(timelyFailure(channel, Duration.ofMillis(200))).contains("no connection to ");
            }
            while (server.connections.get() == 0) {
                Thread.sleep(10);
            }
            Thread.sleep(200);
            assertThat(echoed(channel, frame(3))).isEqualTo(frame(3));
            assertThat(server.requests).hasSize(1);
            assertThat(server.connections).hasValue(1);
        }

        @Test
        void thatAreLateTakeNoPlaceOfOthers() throws Exception {
            CountDownLatch all = new CountDownLatch(SocketMember.MAX_CONNECTIONS);
            PeerServer server = server(peer -> {
                byte[] frame = peer.request().body();
                if (frame.length == 1) {
                    all.countDown();
                    all.await();
                    peer.answer(frame);
                }
                peer.request();
            });
            SocketFrameChannel channel = channel(server.url());
            while (!failure(send(channel, frame(2), Duration.ofMillis(200))).contains("no answer from ")) {
                // a busy machine did not even connect
            }
            List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
            for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                stages.add(send(
                        channel,
                        frame(1),
                        Duration.ofNanos(SocketMember.MAX_LATE_NANOS).minusSeconds(1)));
            }
            for (CompletableFuture<FrameReply> stage : stages) {
                assertThat(stage.get().body()).isEqualTo(frame(1));
            }
        }

        @Test
        void areGivenUpWhenTheyTakeMuchTooLongAndAllButOneAtOnce() throws Exception {
            CountDownLatch givenUp = new CountDownLatch(3);
            CountDownLatch all = new CountDownLatch(4);
            PeerServer server = server(peer -> {
                peer.request();
                peer.request();
                givenUp.countDown();
                all.countDown();
            });
            SocketFrameChannel channel = channel(server.url());
            List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                stages.add(send(channel, frame(1), SHORT));
            }
            for (CompletableFuture<FrameReply> stage : stages) {
                assertThat(failure(stage)).contains("no answer from ");
            }
            long start = System.nanoTime();
            givenUp.await();
            assertThat(System.nanoTime() - start).isLessThan(SocketMember.MAX_LATE_NANOS / 2);
            all.await();
            assertThat(System.nanoTime() - start).isGreaterThan(SocketMember.MAX_LATE_NANOS / 2);
        }

        /** As one whose queue of connections is full: they come about when it accepts again. */
        @Test
        void thatAMemberAcceptsLateBringNothingLate() throws Exception {
            ServerSocket full = closing(new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1")));
            int others = fill(full);
            SocketFrameChannel channel = channel(URI.create("http://127.0.0.1:" + full.getLocalPort()));
            assertThat(timelyFailure(channel, SHORT)).contains("no connection to ");
            PeerServer server = closing(PeerServer.on(full, "http", PeerServer.Peer::echo));
            echoed(channel, frame(20));
            long start = System.nanoTime();
            while (server.connections.get() < others + 2) {
                assertThat(System.nanoTime() - start).isLessThan(SocketMember.MAX_LATE_NANOS);
                TimeUnit.MILLISECONDS.sleep(5);
            }
            List<CompletableFuture<FrameReply>> stages =
                    List.of(send(channel, frame(20), LONG), send(channel, frame(20), LONG));
            for (CompletableFuture<FrameReply> stage : stages) {
                assertThat(stage.get().body()).isEqualTo(frame(20));
            }
            assertThat(server.requests).hasSize(3).allMatch(request -> request.body().length == 20);
        }

        /** Connects until the queue is full; says how often. */
        private int fill(ServerSocket server) throws IOException {
            int others = 0;
            try {
                while (true) {
                    closing(new Socket()).connect(server.getLocalSocketAddress(), 500);
                    others++;
                }
            } catch (SocketTimeoutException isFull) {
                return others;
            }
        }

        /** It looks for memory for what it would not send. */
        @Test
        void thatOpenLateWithoutMemoryAreGivenUp() throws Exception {
            ServerSocket full = closing(new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1")));
            fill(full);
            SocketFrameChannel channel = channel(Map.of());
            URI url = URI.create("http://127.0.0.1:" + full.getLocalPort());
            AtomicInteger requests = new AtomicInteger();
            channel.add("n2", new HttpProtocol(MemberUrl.of("n2", url, "/paxoslease"), MAX_RESPONSE, () -> null) {
                @Override
                ByteBuffer request(byte[] frame) {
                    if (requests.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("as the test wants it");
                    }
                    return super.request(frame);
                }
            });
            assertThat(timelyFailure(channel, SHORT)).contains("no connection to ");
            closing(PeerServer.on(full, "http", PeerServer.Peer::echo));
            while (requests.get() == 0) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
        }

        /** As with TLS, while its handshake goes on. */
        @ParameterizedTest
        @ValueSource(strings = {"", "HTTP/1.1 408 Request Timeout\r\n"})
        void thatOpenLateServeOthersOnlyWhenNothingIsUnderWayOnThem(String unasked) throws Exception {
            CountDownLatch open = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                if (peer.number == 1) {
                    Thread.sleep(SHORT.plusSeconds(1).toMillis());
                    for (String part : List.of("!", "!", "!" + unasked)) {
                        peer.write(part);
                        Thread.sleep(200);
                    }
                    open.countDown();
                }
                peer.echo();
            });
            SocketFrameChannel channel = channel(Map.of());
            MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
            AtomicInteger streams = new AtomicInteger();
            channel.add("n2", new HttpProtocol(url, MAX_RESPONSE, () -> null) {
                @Override
                ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
                    ByteStream plain = super.stream(socket, calculator, whenDone);
                    return streams.incrementAndGet() > 1 ? plain : new ThreeBytesFirst(plain);
                }
            });
            assertThat(timelyFailure(channel, SHORT)).contains("no answer from ");
            open.await();
            assertThat(echoed(channel, frame(3))).isEqualTo(frame(3));
            assertThat(server.connections).hasValue(unasked.isEmpty() ? 1 : 2);
        }

        /** Its handshake is three bytes of the member. */
        private static final class ThreeBytesFirst extends Forwarding {

            private int missing = 3;

            ThreeBytesFirst(ByteStream stream) {
                super(stream);
            }

            @Override
            public int read(ByteBuffer into) throws IOException {
                int count = super.read(into);
                int skipped = Math.min(missing, Math.max(count, 0));
                missing -= skipped;
                into.flip().position(skipped).compact();
                return count - skipped;
            }

            @Override
            public void write(ByteBuffer from) throws IOException {
                if (!isHandshaking()) {
                    super.write(from);
                }
            }

            @Override
            public boolean isQuiet() {
                return !isHandshaking();
            }

            @Override
            public boolean isHandshaking() {
                return missing > 0;
            }
        }

        @Test
        void endAFrameThatWasBegunInTime() throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            CompletableFuture<Integer> length = new CompletableFuture<>();
            PeerServer server = server(peer -> {
                go.await();
                length.complete(peer.request().body().length);
            });
            SocketFrameChannel channel = channel(server.url());
            assertThat(failure(send(channel, frame(30_000_000), SHORT))).contains("no answer from ");
            go.countDown();
            assertThat(length).succeedsWithin(LONG).isEqualTo(30_000_000);
        }

        @Test
        void goToAnAddressInBrackets() throws Exception {
            ServerSocket socket;
            try {
                socket = new ServerSocket(0, 50, InetAddress.getByName("::1"));
            } catch (IOException none) {
                assumeTrue(false, "no IPv6 here");
                return;
            }
            PeerServer server = closing(PeerServer.on(socket, "http", PeerServer.Peer::echo));
            // The interface by which an address is reached is not for the server to hear.
            String zone = "%"
                    + NetworkInterface.getByInetAddress(InetAddress.getByName("::1"))
                            .getName();
            for (String address : List.of("::1", "::1" + zone)) {
                SocketFrameChannel channel = channel(
                        URI.create("http://[" + address + "]:" + server.url().getPort()));
                assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
            }
            assertThat(server.requests)
                    .hasSize(2)
                    .allMatch(request -> request.head()
                            .contains("\r\nHost: [::1]:" + server.url().getPort() + "\r\n"));
        }

        @ParameterizedTest
        @ValueSource(ints = {200, 413})
        void readAnEarlyAnswerToALargeFrameAndAreGivenUp(int status) throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                peer.write("HTTP/1.1 " + status + " Early\r\nContent-Length: 1\r\n\r\n\001");
                go.await();
            });
            SocketFrameChannel channel = channel(server.url());
            assertThat(send(channel, frame(30_000_000), LONG).get().status()).isEqualTo(status);
            assertThat(send(channel, frame(30_000_000), LONG).get().status()).isEqualTo(status);
            assertThat(server.connections).hasValue(2);
            go.countDown();
        }
    }

    /** Members close each connection after one answer, so that every exchange asks for their address. */
    @Nested
    class WhereNamesAreNotFoundAnyMore {

        private final List<InetAddress> found = List.of(InetAddress.getLoopbackAddress());
        private final AtomicReference<Callable<List<InetAddress>>> service = new AtomicReference<>(() -> found);
        private final AtomicInteger lookUps = new AtomicInteger();

        private PeerServer server(String answer) throws IOException {
            return SocketFrameChannelTests.this.server(peer -> {
                peer.request();
                peer.write("HTTP/1.1 " + answer + "\r\nConnection: close\r\nContent-Length: 1\r\n\r\n\001");
            });
        }

        private SocketFrameChannel channel(PeerServer server) {
            URI url = URI.create("http://n2.test:" + server.url().getPort());
            return SocketFrameChannelTests.this.channel(url, () -> {
                lookUps.incrementAndGet();
                return service.get().call();
            });
        }

        private void loseNames() {
            service.set(() -> {
                throw new UnknownHostException();
            });
        }

        /** Also after the answer to a frame of a session that the member does not know any more. */
        @ParameterizedTest
        @ValueSource(strings = {"200 OK", "409 Conflict"})
        void goToTheAddressThatWasKnown(String answer) throws Exception {
            SocketFrameChannel channel = channel(server(answer));
            send(channel, frame(1), LONG).get();
            loseNames();
            for (int i = 2; i <= 5; i++) {
                assertThat(send(channel, frame(1), LONG).get().body())
                        .asString()
                        .isEqualTo("\001");
                assertThat(lookUps).hasValue(i);
            }
        }

        @Test
        void nameTheUnknownHostIfNobodyIsThere() throws Exception {
            PeerServer server = server("200 OK");
            SocketFrameChannel channel = channel(server);
            echoed(channel, frame(1));
            loseNames();
            server.close();
            assertThat(timelyFailure(channel, LONG)).startsWith("unknown host n2.test in http://n2.test:");
            service.set(() -> found);
            assertThat(timelyFailure(channel, LONG)).startsWith("connection refused by http://n2.test:");
        }

        /** Look-ups need one too. */
        @Test
        void doNotHideThatThereIsNoSocketToBeHad() throws Exception {
            PeerServer server = server("200 OK");
            URI url = URI.create("http://n2.test:" + server.url().getPort());
            AtomicBoolean exhausted = new AtomicBoolean();
            SocketFrameChannel channel = SocketFrameChannelTests.this.channel(Map.of());
            channel.add("n2", new HttpProtocol(MemberUrl.of("n2", url, "/paxoslease"), MAX_RESPONSE, () -> null) {
                @Override
                List<InetAddress> addresses() throws UnknownHostException {
                    if (exhausted.get()) {
                        throw new UnknownHostException("n2.test: System error");
                    }
                    return found;
                }

                @Override
                ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
                    if (exhausted.get()) {
                        throw new SocketException("Too many open files");
                    }
                    return super.stream(socket, calculator, whenDone);
                }
            });
            echoed(channel, frame(1));
            exhausted.set(true);
            assertThat(timelyFailure(channel, LONG))
                    .startsWith("cannot connect to http://n2.test:")
                    .endsWith(": Too many open files");
        }

        @Test
        void nameTheUnknownHostToAllThatWait() throws Exception {
            CountDownLatch end = new CountDownLatch(1);
            service.set(() -> {
                end.await();
                throw new UnknownHostException();
            });
            SocketFrameChannel channel = channel(server("200 OK"));
            List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
            for (int i = 0; i < 3 * SocketMember.MAX_CONNECTIONS; i++) {
                stages.add(send(channel, frame(1), LONG));
            }
            end.countDown();
            for (CompletableFuture<FrameReply> stage : stages) {
                assertThat(failure(stage)).startsWith("unknown host n2.test in ");
            }
        }

        @Test
        void causeNothingWhenALookUpEndsAfterTheChannelWasClosed() throws Exception {
            CountDownLatch end = new CountDownLatch(1);
            service.set(() -> {
                end.await();
                return found;
            });
            PeerServer server = server("200 OK");
            SocketFrameChannel channel = channel(server);
            List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
            for (int i = 0; i <= SocketMember.MAX_CONNECTIONS; i++) {
                stages.add(send(channel, frame(1), LONG));
            }
            channel.close();
            for (CompletableFuture<FrameReply> stage : stages) {
                assertThat(failure(stage)).endsWith("because this node shuts down");
            }
            List<Throwable> uncaught = new CopyOnWriteArrayList<>();
            Thread lookUp = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("paxoslease-" + name + "-dns"))
                    .findFirst()
                    .orElseThrow();
            lookUp.setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
            end.countDown();
            lookUp.join(LONG.toMillis());
            assertThat(uncaught).isEmpty();
            assertThat(server.connections).hasValue(0);
        }

        @ParameterizedTest
        @ValueSource(strings = {"404 Not Found", "HTP"})
        void doNotGoBackToAStranger(String answer) throws Exception {
            PeerServer server = server(answer);
            SocketFrameChannel channel = channel(server);
            send(channel, frame(1), LONG).handle((reply, failure) -> failure).get();
            loseNames();
            assertThat(timelyFailure(channel, LONG)).startsWith("unknown host n2.test in http://n2.test:");
            assertThat(server.connections).hasValue(1);
        }

        /** Each new connection needs one, also to an address in digits. */
        @Test
        void goToTheAddressThatWasKnownWhereThereIsNoThreadForALookUp() throws Exception {
            SocketFrameChannel channel = channel(server("200 OK"));
            send(channel, frame(1), LONG).get();
            ThreadPoolExecutor resolver = (ThreadPoolExecutor) channel.resolver();
            resolver.setThreadFactory(task -> {
                throw new OutOfMemoryError("as where no more threads may be had");
            });
            resolver.setKeepAliveTime(0, TimeUnit.NANOSECONDS);
            while (resolver.getPoolSize() > 0) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < 3; i++) {
                assertThat(send(channel, frame(1), LONG).get().status()).isEqualTo(200);
            }
            assertThat(lookUps).hasValue(1);
        }

        @Test
        void waitOnceForALookUpThatHangs() throws Exception {
            PeerServer server = server("200 OK");
            SocketFrameChannel channel = channel(server);
            PeerServer silent = SocketFrameChannelTests.this.server(peer -> Thread.sleep(30_000));
            MemberUrl other = MemberUrl.of("n3", silent.url(), "/paxoslease");
            channel.add("n3", new HttpProtocol(other, MAX_RESPONSE, () -> null));
            echoed(channel, frame(1));
            CountDownLatch end = new CountDownLatch(1);
            service.set(() -> {
                end.await();
                throw new UnknownHostException();
            });
            assertThat(timelyFailure(channel, SHORT)).startsWith("no connection to http://n2.test:");
            // No time limit wakes the thread of the channel earlier.
            channel.exchange("n3", frame(1), LONG.toNanos());
            long start = System.nanoTime();
            for (int i = 0; i < 3; i++) {
                assertThat(send(channel, frame(1), LONG.plus(LONG)).get().status())
                        .isEqualTo(200);
                // Whatever becomes of exchanges with others.
                failure(channel.exchange("n3", frame(1), 0).toCompletableFuture());
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONG.dividedBy(2));
            assertThat(lookUps).hasValue(2);
            end.countDown();
            echoed(channel, frame(1));
        }

        @Test
        void waitForTheFirstLookUpThoughOthersDidSoInVain() throws Exception {
            CountDownLatch end = new CountDownLatch(1);
            service.set(() -> {
                end.await();
                return found;
            });
            SocketFrameChannel channel = channel(server("200 OK"));
            CompletableFuture<FrameReply> later = send(channel, frame(1), SHORT.plusSeconds(1));
            String lookUp = " within 2000 ms: the look-up of host n2.test has not ended for [1-9][0-9]{3,} ms";
            assertThat(timelyFailure(channel, SHORT)).matches("no connection to http://n2.test:.*" + lookUp);
            assertThat(failure(later.orTimeout(LONG.toSeconds() / 2, TimeUnit.SECONDS)))
                    .contains("no connection to ");
            CompletableFuture<FrameReply> next = send(channel, frame(1), LONG);
            end.countDown();
            assertThat(next.get().status()).isEqualTo(200);
        }

        /** Else a member that has moved would be called at its old address first, for ever. */
        @Test
        void waitForLookUpsAgainOnceOneHasSucceeded() throws Exception {
            PeerServer server = server("200 OK");
            InetAddress moved = InetAddress.getByName("127.0.0.2");
            PeerServer other = closing(
                    PeerServer.on(new ServerSocket(server.url().getPort(), 50, moved), "http", PeerServer.Peer::echo));
            SocketFrameChannel channel = channel(server);
            echoed(channel, frame(1));
            CountDownLatch end = new CountDownLatch(1);
            service.set(() -> {
                end.await();
                return found;
            });
            assertThat(timelyFailure(channel, SHORT)).startsWith("no connection to http://n2.test:");
            end.countDown();
            while (lookUps.get() < 3) {
                echoed(channel, frame(1));
            }
            service.set(() -> List.of(moved));
            assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
            assertThat(other.connections).hasValue(1);
        }
    }

    @Nested
    class Failures {

        /** As after a power failure: nobody says that the connections are of no use. */
        @Test
        void costOneTimeOutForAllConnectionsToAMemberThatIsGone() throws Exception {
            CountDownLatch both = new CountDownLatch(2);
            CountDownLatch all = new CountDownLatch(SocketMember.MAX_CONNECTIONS);
            PeerServer server = server(peer -> {
                boolean gone = peer.number <= 2;
                for (PeerServer.Request next = peer.request(); next != null; next = peer.request()) {
                    CountDownLatch together = gone ? both : all;
                    if (together.getCount() > 0) {
                        together.countDown();
                        together.await();
                        peer.answer(next.body());
                    }
                }
            });
            SocketFrameChannel channel = channel(server.url());
            List<CompletableFuture<FrameReply>> replies =
                    List.of(send(channel, frame(1), LONG), send(channel, frame(2), LONG));
            for (CompletableFuture<FrameReply> reply : replies) {
                assertThat(reply.get().status()).isEqualTo(200);
            }
            assertThat(timelyFailure(channel, SHORT)).contains("no answer from ");
            // None of them takes a place any more.
            List<CompletableFuture<FrameReply>> next = new ArrayList<>();
            for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                next.add(send(channel, frame(3), LONG));
            }
            for (CompletableFuture<FrameReply> reply : next) {
                assertThat(reply.get().body()).isEqualTo(frame(3));
            }
            assertThat(server.connections).hasValue(2 + SocketMember.MAX_CONNECTIONS);
        }

        @Test
        void nameTheMemberThatRefuses() throws Exception {
            int port = FreePorts.take(1)[0];
            assertThat(timelyFailure(channel(URI.create("http://localhost:" + port)), LONG))
                    .isEqualTo("connection refused by http://localhost:" + port + "/paxoslease/messages");
        }

        @Test
        void nameTheUnknownHost() throws Exception {
            assertThat(timelyFailure(channel(URI.create("http://no-such-host.invalid:8080")), LONG))
                    .isEqualTo("unknown host no-such-host.invalid in "
                            + "http://no-such-host.invalid:8080/paxoslease/messages");
        }

        @Test
        void nameTheTimeWithoutAnswer() throws Exception {
            PeerServer server = server(peer -> Thread.sleep(30_000));
            SocketFrameChannel channel = channel(server.url());
            assertThat(timelyFailure(channel, SHORT))
                    .isEqualTo("no answer from " + server.url() + "/paxoslease/messages within " + SHORT.toMillis()
                            + " ms");
        }

        @Test
        void nameTheTimeWithoutConnection() throws Exception {
            // A full backlog drops further connects, as a dead host does.
            try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
                SocketFrameChannel channel = channel(URI.create("http://127.0.0.1:" + full.getLocalPort()));
                List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    stages.add(send(channel, frame(1), SHORT));
                }
                List<String> messages = new ArrayList<>();
                for (CompletableFuture<FrameReply> stage : stages) {
                    messages.add(failure(stage));
                }
                assertThat(messages)
                        .contains("no connection to http://127.0.0.1:" + full.getLocalPort()
                                + "/paxoslease/messages within " + SHORT.toMillis() + " ms");
            }
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "SSH-2.0-OpenSSH_9.2\r\n",
                    "<html>",
                    "HTTP/1.1 200 OK\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"
                })
        void sayThatTheAnswerIsNotHttpAndDropTheConnection(String answer) throws Exception {
            CountDownLatch dropped = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                peer.request();
                peer.write(answer);
                try {
                    peer.request();
                } finally {
                    dropped.countDown();
                }
            });
            assertThat(timelyFailure(channel(server.url()), LONG))
                    .startsWith(server.url() + "/paxoslease/messages answered with something that is not HTTP: ");
            assertThat(dropped.await(LONG.toSeconds() / 2, TimeUnit.SECONDS)).isTrue();
        }

        @Test
        void comeAtOnceForAnAnswerThatIsTooLarge() throws Exception {
            PeerServer server = server(peer -> {
                peer.request();
                peer.write("HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n");
                String block = "x".repeat(1 << 20);
                for (int i = 0; i < 100; i++) {
                    peer.write(block);
                }
            });
            assertThat(timelyFailure(channel(server.url()), LONG))
                    .isEqualTo(server.url() + "/paxoslease/messages answered with more than 200000 bytes");
        }

        @Test
        void comeAtOnceForHeadersWithoutEnd() throws Exception {
            PeerServer server = server(peer -> {
                peer.request();
                peer.write("HTTP/1.1 200 OK\r\n");
                while (true) {
                    peer.write("X: " + "y".repeat(1000) + "\r\n");
                }
            });
            assertThat(timelyFailure(channel(server.url()), LONG)).endsWith("more than 16384 bytes of headers");
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "HTTP/1.1 200 OK\r\nX: ",
                    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n"
                })
        void comeInTimeForAnAnswerThatTricklesInAndDropTheConnection(String start) throws Exception {
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
            // It is not late: somebody has answered on it.
            assertThat(dropped.await(SocketMember.MAX_LATE_NANOS / 2, TimeUnit.NANOSECONDS))
                    .isTrue();
        }

        @ParameterizedTest
        @ValueSource(ints = {ShortOfMemory.TOO_LONG, ShortOfMemory.MUCH_TOO_LONG})
        void comeAtOnceForARequestThatFindsNoMemory(int length) throws Exception {
            CountDownLatch closed = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                peer.answer(peer.request().body());
                if (peer.request() == null) {
                    closed.countDown();
                }
            });
            SocketFrameChannel channel =
                    closing(FrameChannels.create(name, Map.of(), "/paxoslease", MAX_RESPONSE, () -> null));
            MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
            channel.add("n2", new ShortOfMemory(url));
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
            assertThat(failure(send(channel, frame(length), LONG))).contains("as the test wants it");
            assertThat(closed.await(LONG.toSeconds() / 2, TimeUnit.SECONDS)).isTrue();
        }

        /** Its streams find no memory to write so many bytes at once, and for even more it finds none to begin with. */
        private static final class ShortOfMemory extends HttpProtocol {

            static final int TOO_LONG = 100_000;
            static final int MUCH_TOO_LONG = 200_000;

            ShortOfMemory(MemberUrl url) {
                super(url, MAX_RESPONSE, () -> null);
            }

            @Override
            ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
                return new Forwarding(super.stream(socket, calculator, whenDone)) {
                    @Override
                    public void write(ByteBuffer from) throws IOException {
                        if (from.remaining() > TOO_LONG) {
                            throw new OutOfMemoryError("as the test wants it");
                        }
                        super.write(from);
                    }
                };
            }

            @Override
            ByteBuffer request(byte[] frame) {
                if (frame.length >= MUCH_TOO_LONG) {
                    throw new OutOfMemoryError("as the test wants it");
                }
                return super.request(frame);
            }
        }

        @Test
        void comeAtOnceWithoutTime() throws Exception {
            CountDownLatch mayAnswer = new CountDownLatch(1);
            PeerServer server = server(peer -> {
                mayAnswer.await();
                peer.echo();
            });
            SocketFrameChannel channel = channel(server.url());
            assertThat(timelyFailure(channel, Duration.ZERO)).endsWith("within 0 ms");
            assertThat(timelyFailure(channel, Duration.ofNanos(-5))).endsWith("within 0 ms");
            mayAnswer.countDown();
            assertThat(send(channel, frame(1), Duration.ofNanos(Long.MAX_VALUE))
                            .get()
                            .status())
                    .isEqualTo(200);
        }

        @Test
        void comeAtTheTimeLimitWhateverTheOthersAre() throws Exception {
            SocketFrameChannel channel =
                    channel(server(peer -> Thread.sleep(30_000)).url());
            List<CompletableFuture<Long>> early = new ArrayList<>();
            for (int millis : new int[] {900, 300, 600, 1}) {
                long end = System.nanoTime() + Duration.ofMillis(millis).toNanos();
                early.add(send(channel, frame(1), Duration.ofMillis(millis))
                        .handle((reply, failure) -> end - System.nanoTime()));
            }
            send(channel, frame(1), LONG);
            for (CompletableFuture<Long> each : early) {
                assertThat(each.get()).isBetween(-LONG.toNanos() / 2, -1L);
            }
        }

        @Test
        void comeInTimeToThoseThatWaitForAConnection() throws Exception {
            SocketFrameChannel channel =
                    channel(server(peer -> Thread.sleep(30_000)).url());
            for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                send(channel, frame(1), LONG);
            }
            CompletableFuture<FrameReply> later = send(channel, frame(1), SHORT.plusSeconds(1));
            assertThat(timelyFailure(channel, SHORT)).contains("no connection to ");
            assertThat(failure(later.orTimeout(LONG.toSeconds() / 2, TimeUnit.SECONDS)))
                    .contains("no connection to ");
        }

        @Test
        void makePlaceForThoseThatWait() throws Exception {
            PeerServer server = server(peer -> {
                if (peer.number <= SocketMember.MAX_CONNECTIONS) {
                    Thread.sleep(30_000);
                }
                peer.echo();
            });
            SocketFrameChannel channel = channel(server.url());
            for (int i = 0; i < SocketMember.MAX_CONNECTIONS; i++) {
                send(channel, frame(1), SHORT);
            }
            assertThat(echoed(channel, frame(2))).isEqualTo(frame(2));
        }

        @Test
        void ofOneMemberLeaveTheOthersAlone() throws Exception {
            PeerServer hostile = server(peer -> {
                while (true) {
                    peer.write("HTTP/1.1 100 Continue\r\n\r\n");
                }
            });
            PeerServer silent = server(peer -> Thread.sleep(30_000));
            PeerServer good = server(PeerServer.Peer::echo);
            Map<String, URI> members = new HashMap<>();
            members.put("hostile", hostile.url());
            members.put("silent", silent.url());
            members.put("n2", good.url());
            SocketFrameChannel channel = channel(members);
            List<Future<FrameReply>> bad = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                bad.add(channel.exchange("hostile", frame(i), LONG.toNanos()).toCompletableFuture());
                bad.add(channel.exchange("silent", frame(i), SHORT.toNanos()).toCompletableFuture());
                assertThat(echoed(channel, frame(i))).isEqualTo(frame(i));
            }
            for (Future<FrameReply> each : bad) {
                failure(each);
            }
        }

        @Test
        void leaveNothingBehind() throws Exception {
            AtomicInteger count = new AtomicInteger();
            PeerServer server = server(peer -> {
                if (count.incrementAndGet() <= 8) {
                    Thread.sleep(30_000);
                }
                peer.echo();
            });
            SocketFrameChannel channel = channel(server.url());
            for (int i = 0; i < 2; i++) {
                List<Future<FrameReply>> stages = new ArrayList<>();
                for (int j = 0; j < 4; j++) {
                    stages.add(send(channel, frame(j), SHORT));
                }
                for (Future<FrameReply> stage : stages) {
                    assertThat(failure(stage)).contains("no answer");
                }
            }
            assertThat(echoed(channel, frame(3))).isEqualTo(frame(3));
        }
    }

    @Nested
    class Closing {

        @Test
        void failsWhatIsUnderWayAndEndsTheThread() throws Exception {
            PeerServer server = server(peer -> Thread.sleep(30_000));
            SocketFrameChannel channel = channel(server.url());
            List<Future<FrameReply>> stages = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                stages.add(send(channel, frame(i), LONG));
            }
            while (server.connections.get() < SocketMember.MAX_CONNECTIONS) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
            // By then the thread of the channel has nothing to do.
            TimeUnit.MILLISECONDS.sleep(200);
            long start = System.nanoTime();
            channel.close();
            for (Future<FrameReply> stage : stages) {
                assertThat(failure(stage)).endsWith("because this node shuts down");
            }
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONG.dividedBy(2));
            assertThat(failure(send(channel, frame(1), LONG))).endsWith("because this node shuts down");
            while (isThreadAlive("paxoslease-" + name + "-channel")) {
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
                TimeUnit.MILLISECONDS.sleep(5);
            }
            channel.close();
        }

        @Test
        void takesNoMoreAlsoWhileAConnectionIsIdle() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            for (int round = 0; round < 50; round++) {
                SocketFrameChannel channel = channel(server.url());
                echoed(channel, frame(1));
                channel.close();
                assertThat(failure(send(channel, frame(1), LONG))).endsWith("because this node shuts down");
            }
        }

        @Test
        void whileOthersBeginExchangesLeavesNoneOpen() throws Exception {
            PeerServer server = server(PeerServer.Peer::echo);
            for (int round = 0; round < 30; round++) {
                SocketFrameChannel channel = FrameChannels.create(
                        "race", Map.of("n2", server.url()), "/paxoslease", MAX_RESPONSE, () -> null);
                CountDownLatch begun = new CountDownLatch(1);
                ExecutorService caller = Executors.newSingleThreadExecutor();
                Future<List<CompletableFuture<FrameReply>>> sent = caller.submit(() -> {
                    List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
                    for (int i = 0; i < 50; i++) {
                        stages.add(send(channel, frame(10), LONG));
                        begun.countDown();
                    }
                    return stages;
                });
                begun.await();
                channel.close();
                for (CompletableFuture<FrameReply> stage : sent.get()) {
                    stage.handle((reply, failure) -> null).get(20, TimeUnit.SECONDS);
                }
                caller.shutdown();
            }
        }

        /** As what began while the channel was closed. */
        @Test
        void refusesWhatComesAfterwards() {
            MemberUrl url = MemberUrl.of("n2", URI.create("http://127.0.0.1:1"), "/paxoslease");
            SocketMember member = new SocketMember(channel(Map.of()), new HttpProtocol(url, MAX_RESPONSE, () -> null));
            member.close();
            assertThatIOException()
                    .isThrownBy(() -> member.start(new Exchange(frame(1), LONG.toNanos(), System.nanoTime())))
                    .withMessageEndingWith("because this node shuts down");
        }

        /** What could not begin takes no place for ever. */
        @Test
        void rejectsCalculations() throws Exception {
            URI url = server(PeerServer.Peer::echo).url();
            SocketFrameChannel channel = channel(url);
            echoed(channel, frame(1));
            channel.close();
            while (isThreadAlive("paxoslease-" + name + "-channel")) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
            SocketMember member = new SocketMember(
                    channel, new HttpProtocol(MemberUrl.of("n2", url, "/paxoslease"), MAX_RESPONSE, () -> null));
            for (int i = 0; i <= SocketMember.MAX_HANDSHAKES; i++) {
                assertThatExceptionOfType(RejectedExecutionException.class)
                        .isThrownBy(() -> member.calculate(() -> {}, () -> {}))
                        .withMessageNotContaining("handshakes");
            }
        }

        @Test
        void beforeTheFirstExchangeIsFine() throws Exception {
            SocketFrameChannel channel = channel(URI.create("http://127.0.0.1:1"));
            channel.close();
            assertThat(failure(send(channel, frame(1), LONG))).endsWith("because this node shuts down");
            assertThat(isThreadAlive("paxoslease-" + name + "-channel")).isFalse();
        }
    }

    @Nested
    class WithTomcat {

        @Test
        void nobodyNoticesThatItClosesEveryHundredRequests() throws Exception {
            SocketFrameChannel channel = channel(closing(TomcatNode.echo()).url());
            for (int i = 0; i < 500; i++) {
                assertThat(echoed(channel, frame(i))).isEqualTo(frame(i));
            }
        }

        @Test
        void manyCallersAtOnceAreServed() throws Exception {
            SocketFrameChannel channel = channel(closing(TomcatNode.echo()).url());
            List<CompletableFuture<FrameReply>> stages = new ArrayList<>();
            for (int round = 0; round < 5; round++) {
                for (int i = 0; i < 60; i++) {
                    stages.add(send(channel, frame(i), LONG));
                }
                for (int i = 0; i < 60; i++) {
                    assertThat(stages.get(i).get().body()).isEqualTo(frame(i));
                }
                stages.clear();
            }
        }

        @Test
        void largeFramesArriveWhole() throws Exception {
            SocketFrameChannel channel = channel(closing(TomcatNode.echo()).url());
            for (int length : new int[] {8_192, 50_000, TomcatNode.MAX_FRAME_BYTES}) {
                assertThat(echoed(channel, frame(length))).isEqualTo(frame(length));
            }
        }

        @Test
        void aFrameThatIsTooLargeIsRefused() throws Exception {
            SocketFrameChannel channel = channel(closing(TomcatNode.echo()).url());
            assertThat(send(channel, frame(TomcatNode.MAX_FRAME_BYTES + 1), LONG)
                            .get()
                            .status())
                    .isEqualTo(413);
            assertThat(echoed(channel, frame(5))).isEqualTo(frame(5));
        }
    }

    /** For streams that differ from another one in one thing. */
    private static class Forwarding implements ByteStream {

        private final ByteStream stream;

        Forwarding(ByteStream stream) {
            this.stream = stream;
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            return stream.read(into);
        }

        @Override
        public void write(ByteBuffer from) throws IOException {
            stream.write(from);
        }

        @Override
        public int interestOps() {
            return stream.interestOps();
        }

        @Override
        public void close() {
            stream.close();
        }
    }

    /** As where the server asked for another handshake while it answered. */
    @ParameterizedTest
    @CsvSource({"true, 1", "false, 2"})
    void usesAConnectionAgainOnlyIfItsStreamIsQuiet(boolean quiet, int connections) throws Exception {
        PeerServer server = closing(PeerServer.start(PeerServer.Peer::echo));
        MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
        SocketFrameChannel channel = channel(Map.of());
        channel.add("n2", new HttpProtocol(url, MAX_RESPONSE, () -> null) {
            @Override
            ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
                return new Forwarding(super.stream(socket, calculator, whenDone)) {
                    @Override
                    public boolean isQuiet() {
                        return quiet;
                    }
                };
            }
        });
        for (int i = 0; i < 2; i++) {
            assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
        }
        assertThat(server.connections).hasValue(connections);
    }

    /** As where the server asks for another handshake: nobody would carry it on. */
    @Test
    void givesUpAnIdleConnectionWhoseStreamIsHandshaking() throws Exception {
        CountDownLatch idle = new CountDownLatch(1);
        CountDownLatch givenUp = new CountDownLatch(1);
        PeerServer server = closing(PeerServer.start(peer -> {
            peer.answer(peer.request().body());
            idle.await();
            peer.write("!");
            if (peer.request() == null) {
                givenUp.countDown();
            }
        }));
        MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
        SocketFrameChannel channel = channel(Map.of());
        channel.add("n2", new HttpProtocol(url, MAX_RESPONSE, () -> null) {
            @Override
            ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
                return new Forwarding(super.stream(socket, calculator, whenDone)) {
                    private boolean asked;

                    @Override
                    public int read(ByteBuffer into) throws IOException {
                        int count = super.read(into);
                        asked |= count == 1;
                        into.position(asked ? 0 : into.position());
                        return asked ? 0 : count;
                    }

                    @Override
                    public boolean isHandshaking() {
                        return asked;
                    }
                };
            }
        });
        assertThat(echoed(channel, frame(1))).isEqualTo(frame(1));
        idle.countDown();
        assertThat(givenUp.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    /** As where TLS keeps a rest of the request when the answer is early: else there would be news without end. */
    @Test
    void waitsForRoomOnAnIdleConnectionOnlyWhileItsStreamDoes() throws Exception {
        PeerServer server = closing(PeerServer.start(PeerServer.Peer::echo));
        AtomicInteger reads = new AtomicInteger();
        SocketFrameChannel channel = channel(Map.of());
        MemberUrl url = MemberUrl.of("n2", server.url(), "/paxoslease");
        channel.add("n2", new HttpProtocol(url, MAX_RESPONSE, () -> null) {
            @Override
            ByteStream stream(SocketChannel socket, Calculator calculator, Runnable whenDone) throws IOException {
                return new Forwarding(super.stream(socket, calculator, whenDone)) {
                    private boolean answered;
                    private boolean rest = true;

                    @Override
                    public int read(ByteBuffer into) throws IOException {
                        reads.incrementAndGet();
                        int count = super.read(into);
                        rest &= !answered;
                        answered |= count > 0;
                        return count;
                    }

                    @Override
                    public int interestOps() {
                        return rest ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
                    }
                };
            }
        });
        echoed(channel, frame(1));
        AtomicInteger before = new AtomicInteger();
        await().pollInterval(Duration.ofMillis(500)).until(() -> {
            int now = reads.get();
            return before.getAndSet(now) == now;
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ftp://n2",
                "n2:8080",
                "http:///x",
                "http://my_host:8080",
                "http://u:p@n2",
                "http://n2?a",
                "http://n2#a"
            })
    void refusesUrlsThatItCannotUse(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> channel(URI.create(url)))
                .withMessageStartingWith("The URL of member n2 ")
                .withMessageEndingWith(url);
    }
}
