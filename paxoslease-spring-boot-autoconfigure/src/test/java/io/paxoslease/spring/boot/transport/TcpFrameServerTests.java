package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.BlockedLog;
import io.paxoslease.spring.boot.transport.TcpFrameServer.Limits;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import java.io.Closeable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Real sockets on the loopback interface; times are upper bounds with room for a busy machine. A write to a server that does not read
 * cannot be interrupted, so each test has a thread of its own, which can be left.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class TcpFrameServerTests {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    /** Longer than any test: none may pass by it. */
    private static final Duration LONG = Duration.ofMinutes(10);

    private static final Limits PATIENT = new Limits(16, 4, LONG, LONG);
    private static final int TOO_LARGE = 413;
    private static final int NOT_VALID = 401;

    private final List<Closeable> closeables = new ArrayList<>();
    private final AtomicInteger handled = new AtomicInteger();

    /** Sends each frame back and says that it is valid if its first byte is not zero. */
    private final FrameHandler echo = TomcatNode.handler(frame -> {
        handled.incrementAndGet();
        return new FrameReply(frame.length > 0 && frame[0] == 0 ? NOT_VALID : 200, frame);
    });

    @AfterEach
    void closeAll() throws IOException {
        for (Closeable closeable : closeables) {
            closeable.close();
        }
    }

    private TcpFrameServer server(Limits limits) throws IOException {
        return server(echo, limits);
    }

    private TcpFrameServer server(FrameHandler handler, Limits limits) throws IOException {
        TcpFrameServer server = new TcpFrameServer("test", handler, null, limits);
        closeables.add(server::close);
        server.open(LOOPBACK, 0);
        return server;
    }

    private TcpSender sender(TcpFrameServer server) throws IOException {
        TcpSender sender = new TcpSender(server.port());
        closeables.add(0, sender);
        return sender;
    }

    private static byte[] frame(int length) {
        byte[] frame = new byte[length];
        new SplittableRandom(length).nextBytes(frame);
        if (length > 0) {
            frame[0] = 1;
        }
        return frame;
    }

    @Nested
    class AFrame {

        @Test
        void isAnsweredOnTheSameConnectionAgainAndAgain() throws Exception {
            TcpSender sender = sender(server(PATIENT));
            for (int length : new int[] {0, 1, 100, 5_000, TomcatNode.MAX_FRAME_BYTES}) {
                FrameReply reply = sender.exchange(frame(length));
                assertThat(reply.status()).isEqualTo(200);
                assertThat(reply.body()).isEqualTo(frame(length));
            }
        }

        @Test
        void isHandedOnWithWhereItComesFrom() throws Exception {
            TcpSender sender = sender(server(TomcatNode.mirror(), PATIENT));
            assertThat(sender.exchange(frame(1)).body()).asString().isEqualTo("127.0.0.1");
        }

        @Test
        void mayComeByteByByte() throws Exception {
            TcpSender sender = sender(server(PATIENT));
            sender.out.writeInt(300);
            sender.out.flush();
            for (byte next : frame(300)) {
                sender.out.write(next);
            }
            assertThat(sender.answer().body()).isEqualTo(frame(300));
        }

        @Test
        void mayComeTogetherWithTheNext() throws Exception {
            TcpSender sender = sender(server(PATIENT));
            sender.out.write(new byte[] {0, 0, 0, 1, 7, 0, 0, 0, 2, 8, 9});
            assertThat(sender.answer().body()).containsExactly(7);
            assertThat(sender.answer().body()).containsExactly(8, 9);
        }

        @Test
        void isRefusedUnreadIfItIsTooLong() throws Exception {
            TcpSender sender = sender(server(PATIENT));
            sender.out.writeInt(TomcatNode.MAX_FRAME_BYTES + 1);
            FrameReply reply = sender.answer();
            assertThat(reply.status()).isEqualTo(TOO_LARGE);
            assertThat(new String(reply.body(), StandardCharsets.UTF_8))
                    .contains(Integer.toString(TomcatNode.MAX_FRAME_BYTES));
            assertThat(sender.isClosedByPeer()).isTrue();
            assertThat(handled).hasValue(0);
        }

        @Test
        void isRefusedIfItsLengthIsNegative() throws Exception {
            TcpSender sender = sender(server(PATIENT));
            sender.out.writeInt(-1);
            assertThat(sender.answer().status()).isEqualTo(TOO_LARGE);
            assertThat(sender.isClosedByPeer()).isTrue();
        }

        @Test
        void isNotHandledIfItsEndDoesNotCome() throws Exception {
            TcpFrameServer server = server(PATIENT);
            TcpSender sender = sender(server);
            sender.out.writeInt(100);
            sender.out.write(frame(99));
            sender.raw.socket.shutdownOutput();
            assertThat(sender.isClosedByPeer()).isTrue();
            assertThat(sender(server).exchange(frame(10)).status()).isEqualTo(200);
            assertThat(handled).hasValue(1);
        }

        /** The log may block. */
        @Test
        void ofAHandlerThatFailsCostsItsConnectionOnly() throws Exception {
            TcpFrameServer server = server(
                    TomcatNode.handler(frame -> {
                        if (frame.length == 7) {
                            throw new IllegalStateException("impossible");
                        }
                        return new FrameReply(200, frame);
                    }),
                    PATIENT);
            TcpSender other = sender(server);
            assertThat(other.exchange(frame(3)).status()).isEqualTo(200);
            TcpSender failing = sender(server);
            try (BlockedLog blocked = new BlockedLog(TcpFrameServer.class)) {
                failing.write(frame(7));
                assertThat(failing.isClosedByPeer()).isTrue();
                assertThat(other.exchange(frame(3)).status()).isEqualTo(200);
            }
        }

        @Test
        void ofAHandlerThatFailsAgainAndAgainIsToldOfOnce() throws Exception {
            TcpFrameServer server = server(
                    TomcatNode.handler(frame -> {
                        throw new IllegalStateException("impossible");
                    }),
                    PATIENT);
            try (BlockedLog log = new BlockedLog(TcpFrameServer.class)) {
                for (int i = 0; i < 5; i++) {
                    TcpSender failing = sender(server);
                    failing.write(frame(7));
                    assertThat(failing.isClosedByPeer()).isTrue();
                }
                assertThat(log.flow().poll(20, TimeUnit.SECONDS))
                        .isEqualTo("The TCP server of test goes on after a failure");
                assertThat(log.flow().poll(200, TimeUnit.MILLISECONDS)).isNull();
            }
        }

        /** It is neither read nor looked at again and again. */
        @Test
        void waitsWhileTheAnswerBeforeItIsNotTaken() throws Exception {
            byte[] answer = new byte[20_000_000];
            TcpSender sender = sender(server(
                    TomcatNode.handler(frame -> {
                        handled.incrementAndGet();
                        return new FrameReply(200, answer);
                    }),
                    PATIENT));
            sender.write(frame(1));
            await().until(() -> handled.get() == 1);
            sender.write(frame(2));
            Thread.sleep(500);
            long before = serverCpuNanos();
            Thread.sleep(1_000);
            assertThat(serverCpuNanos() - before).isLessThan(50_000_000);
            assertThat(handled).hasValue(1);
            assertThat(sender.answer().body()).hasSameSizeAs(answer);
            assertThat(sender.answer().body()).hasSameSizeAs(answer);
        }

        private static long serverCpuNanos() {
            return Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("paxoslease-test-tcp-server"))
                    .mapToLong(thread -> ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()))
                    .sum();
        }

        @Test
        void thatDoesNotWaitForTheAnswersBeforeItEndsTheConnection() throws Exception {
            TcpFrameServer server = server(
                    TomcatNode.handler(frame -> new FrameReply(200, new byte[TomcatNode.MAX_FRAME_BYTES])), PATIENT);
            TcpSender greedy = sender(server);
            // So many at once that more has come than the frame whose answer cannot be written.
            ByteBuffer frames = ByteBuffer.allocate(10_000 * Integer.BYTES);
            while (frames.hasRemaining()) {
                frames.putInt(0);
            }
            assertThatIOException().isThrownBy(() -> {
                for (int i = 0; i < 1_000; i++) {
                    greedy.out.write(frames.array());
                }
            });
        }
    }

    @Nested
    class Limit {

        @Test
        void ofAWebClientThatLostItsWay() throws Exception {
            TcpSender lost = sender(server(PATIENT));
            lost.raw.write("POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n\r\n");
            assertThat(lost.answer().status()).isEqualTo(TOO_LARGE);
            assertThat(lost.isClosedByPeer()).isTrue();
        }

        @Test
        void ofConnectionsClosesTheOneThatWasIdleForLongest() throws Exception {
            TcpFrameServer server = server(PATIENT);
            List<TcpSender> all = new ArrayList<>();
            for (int i = 0; i < PATIENT.connections(); i++) {
                all.add(sender(server));
                all.get(i).exchange(frame(5));
            }
            all.get(0).exchange(frame(5));
            TcpSender oneMore = sender(server);
            assertThat(oneMore.exchange(frame(5)).status()).isEqualTo(200);
            assertThat(all.get(1).isClosedByPeer()).isTrue();
            assertThat(all.get(0).exchange(frame(5)).status()).isEqualTo(200);
            assertThat(all.get(2).exchange(frame(5)).status()).isEqualTo(200);
        }

        @Test
        void ofConnectionsCountsOnlyThoseThatAreThere() throws Exception {
            TcpFrameServer server = server(PATIENT);
            for (int i = 0; i < PATIENT.connections(); i++) {
                try (TcpSender gone = new TcpSender(server.port())) {
                    assertThat(gone.exchange(frame(5)).status()).isEqualTo(200);
                }
            }
            TcpSender first = sender(server);
            assertThat(sender(server).exchange(frame(5)).status()).isEqualTo(200);
            assertThat(first.exchange(frame(5)).status()).isEqualTo(200);
        }

        /** Strangers can push out each other, but nobody who brought a valid frame. */
        @Test
        void ofConnectionsClosesThoseOfStrangersFirst() throws Exception {
            TcpFrameServer server = server(PATIENT);
            TcpSender member = sender(server);
            assertThat(member.exchange(frame(5)).status()).isEqualTo(200);
            assertThat(member.exchange(new byte[5]).status()).isEqualTo(NOT_VALID);
            TcpSender stranger = sender(server);
            assertThat(stranger.exchange(new byte[5]).status()).isEqualTo(NOT_VALID);
            for (int i = 0; i < 3 * PATIENT.connections(); i++) {
                sender(server);
            }
            assertThat(stranger.isClosedByPeer()).isTrue();
            assertThat(member.exchange(frame(5)).status()).isEqualTo(200);
        }

        /** Strangers can push out each other, but nobody who brought a valid frame. */
        @Test
        void ofUnfinishedFramesClosesTheOldestOfAStranger() throws Exception {
            TcpFrameServer server = server(PATIENT);
            TcpSender member = sender(server);
            assertThat(member.exchange(frame(5)).status()).isEqualTo(200);
            member.out.writeInt(10);
            awaitRead(server);
            List<TcpSender> strangers = new ArrayList<>();
            for (int i = 0; i < PATIENT.unfinished(); i++) {
                strangers.add(0, sender(server));
            }
            for (TcpSender lastToConnectFirst : strangers) {
                lastToConnectFirst.out.writeInt(10);
                lastToConnectFirst.out.write(1);
                awaitRead(server);
            }
            assertThat(strangers.get(0).isClosedByPeer()).isTrue();
            member.out.write(frame(10));
            assertThat(member.answer().status()).isEqualTo(200);
            strangers.get(1).out.write(new byte[9]);
            assertThat(strangers.get(1).answer().status()).isEqualTo(200);
        }

        @Test
        void ofUnfinishedFramesDoesNotCloseAMemberThatComesLast() throws Exception {
            TcpFrameServer server = server(PATIENT);
            TcpSender member = sender(server);
            assertThat(member.exchange(frame(5)).status()).isEqualTo(200);
            for (int i = 0; i < PATIENT.unfinished(); i++) {
                sender(server).out.write(0);
            }
            awaitRead(server);
            member.out.writeInt(10);
            awaitRead(server);
            member.out.write(frame(10));
            assertThat(member.answer().status()).isEqualTo(200);
        }

        @Test
        void ofUnfinishedFramesClosesAStrangerWhereAllOthersAreMembers() throws Exception {
            TcpFrameServer server = server(PATIENT);
            List<TcpSender> members = new ArrayList<>();
            for (int i = 0; i < PATIENT.unfinished(); i++) {
                members.add(sender(server));
                assertThat(members.get(i).exchange(frame(5)).status()).isEqualTo(200);
                members.get(i).out.writeInt(10);
            }
            awaitRead(server);
            TcpSender stranger = sender(server);
            stranger.out.write(0);
            assertThat(stranger.isClosedByPeer()).isTrue();
            members.get(0).out.write(frame(10));
            assertThat(members.get(0).answer().status()).isEqualTo(200);
        }

        /** What was written before is read before. */
        private void awaitRead(TcpFrameServer server) throws IOException {
            try (TcpSender last = new TcpSender(server.port())) {
                assertThat(last.exchange(frame(5)).status()).isEqualTo(200);
            }
        }

        @Test
        void ofTimeForAPartOfAFrame() throws Exception {
            TcpFrameServer server = server(new Limits(16, 4, Duration.ofSeconds(1), LONG));
            TcpSender slow = sender(server);
            assertThat(slow.exchange(frame(5)).status()).isEqualTo(200);
            slow.out.write(0);
            assertThat(slow.isClosedByPeer()).isTrue();
        }

        /** However often a byte of it comes. */
        @Test
        void ofTimeForAFrameThatTricklesIn() throws Exception {
            TcpFrameServer server = server(new Limits(16, 4, Duration.ofSeconds(2), LONG));
            TcpSender slow = sender(server);
            assertThat(slow.exchange(frame(5)).status()).isEqualTo(200);
            slow.out.writeInt(TomcatNode.MAX_FRAME_BYTES);
            assertThatIOException().isThrownBy(() -> {
                for (int i = 0; i < 2_000; i++) {
                    slow.out.write(0);
                    slow.out.flush();
                    Thread.sleep(5);
                }
            });
        }

        @Test
        void ofTimeUntilTheFirstValidFrame() throws Exception {
            TcpFrameServer server = server(new Limits(16, 4, Duration.ofMillis(200), LONG));
            assertThat(sender(server).isClosedByPeer()).isTrue();
        }

        /** Also for a member. */
        @Test
        void ofTimeForTakingAnAnswer() throws Exception {
            byte[] answer = new byte[20_000_000];
            TcpFrameServer server = server(
                    TomcatNode.handler(frame -> new FrameReply(200, answer)),
                    new Limits(16, 4, Duration.ofMillis(500), LONG));
            TcpSender deaf = sender(server);
            deaf.write(frame(10));
            assertThatIOException().isThrownBy(() -> {
                for (int i = 0; i < 2_000; i++) {
                    // Is not read, so it does not end the connection as a frame that did not wait would.
                    deaf.out.write(0);
                    Thread.sleep(5);
                }
            });
        }

        @Test
        void ofIdleTimeClosesTheConnection() throws Exception {
            TcpFrameServer server = server(new Limits(16, 4, Duration.ofSeconds(1), Duration.ofSeconds(4)));
            TcpSender sender = sender(server);
            assertThat(sender.exchange(frame(5)).status()).isEqualTo(200);
            Thread.sleep(2_000);
            assertThat(sender.exchange(frame(5)).status()).isEqualTo(200);
            assertThat(sender.isClosedByPeer()).isTrue();
        }
    }

    @Nested
    class ThePort {

        @Test
        void isTakenOnce() throws Exception {
            TcpFrameServer first = server(PATIENT);
            TcpFrameServer second = new TcpFrameServer("second", echo, null);
            assertThatIOException()
                    .isThrownBy(() -> second.open(LOOPBACK, first.port()))
                    .isInstanceOf(BindException.class);
            second.open(LOOPBACK, 0);
            assertThatIllegalStateException().isThrownBy(() -> second.open(LOOPBACK, 0));
            assertThat(sender(second).exchange(frame(1)).status()).isEqualTo(200);
            second.close();
        }

        @Test
        void isFreeAgainAfterClosing() throws Exception {
            TcpFrameServer first = new TcpFrameServer("first", echo, null);
            first.open(LOOPBACK, FreePorts.take(1)[0]);
            TcpSender sender = sender(first);
            sender.exchange(frame(1));
            first.close();
            assertThat(sender.isClosedByPeer()).isTrue();
            TcpFrameServer next = new TcpFrameServer("next", echo, null);
            next.open(LOOPBACK, first.port());
            assertThat(sender(next).exchange(frame(1)).status()).isEqualTo(200);
            next.close();
            await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .doesNotContain("paxoslease-next-tcp-server"));
        }

        @ParameterizedTest
        @ValueSource(booleans = {true, false})
        void closesAConnectionThatItCannotServe(boolean broken) throws Exception {
            TcpFrameServer server = new TcpFrameServer("test", echo, () -> {
                if (broken) {
                    throw new IllegalStateException("as the test wants it");
                }
                return null;
            });
            closeables.add(server::close);
            server.open(LOOPBACK, 0);
            assertThat(sender(server).isClosedByPeer()).isTrue();
        }

        @Test
        void staysClosed() throws Exception {
            TcpFrameServer server = new TcpFrameServer("test", echo, null);
            server.close();
            assertThatIllegalStateException().isThrownBy(() -> server.open(LOOPBACK, 0));
        }
    }
}
