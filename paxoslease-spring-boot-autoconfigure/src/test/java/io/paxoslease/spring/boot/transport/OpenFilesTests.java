package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Nodes run for months: whatever ends gives back its file descriptors. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "counts in /proc")
@Timeout(120)
class OpenFilesTests {

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final int ROUNDS = 20;
    private static final long LONG = Duration.ofSeconds(20).toNanos();

    private interface Round {
        void run() throws Exception;
    }

    private static long count() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    private static void assertLeavesNone(Round round) throws Exception {
        // Opens what stays open for good, as the files of classes.
        round.run();
        long before = count();
        for (int i = 0; i < ROUNDS; i++) {
            round.run();
        }
        await().atMost(Duration.ofSeconds(20)).until(() -> count() < before + ROUNDS);
    }

    private static SocketFrameChannel channel(URI url) {
        return FrameChannels.create("files", Map.of("n2", url), "/paxoslease", 200_000, () -> null);
    }

    private static CompletableFuture<FrameReply> send(SocketFrameChannel channel, int length) {
        return channel.exchange("n2", new byte[length], LONG).toCompletableFuture();
    }

    private static TcpFrameServer server() {
        return new TcpFrameServer("files", TomcatNode.handler(frame -> new FrameReply(200, frame)), null);
    }

    /** With one connection that is idle and one that is not. */
    @Test
    void aChannelThatIsClosedLeavesNone() throws Exception {
        try (PeerServer peer = PeerServer.start(each -> {
            for (PeerServer.Request next = each.request(); next != null; next = each.request()) {
                if (next.body().length == 1) {
                    each.answer(next.body());
                }
            }
        })) {
            assertLeavesNone(() -> {
                SocketFrameChannel channel = channel(peer.url());
                CompletableFuture<FrameReply> unanswered = send(channel, 2);
                assertThat(send(channel, 1).get().status()).isEqualTo(200);
                channel.close();
                assertThat(unanswered.handle((reply, failure) -> reply).get()).isNull();
            });
        }
    }

    @Test
    void connectionsThatAreRefusedLeaveNone() throws Exception {
        int port = FreePorts.take(1)[0];
        try (SocketFrameChannel channel = channel(URI.create("http://127.0.0.1:" + port))) {
            assertLeavesNone(() -> assertThat(send(channel, 1))
                    .failsWithin(Duration.ofNanos(LONG))
                    .withThrowableThat()
                    .withMessageContaining("connection refused"));
        }
    }

    @Test
    void connectionsThatAreNotTrustedLeaveNone() throws Exception {
        try (SocketFrameChannel channel = channel(URI.create("tls://127.0.0.1:1"))) {
            assertLeavesNone(() -> assertThat(send(channel, 1))
                    .failsWithin(Duration.ofNanos(LONG))
                    .withThrowableThat()
                    .withMessageContaining("there is no SSL bundle"));
        }
    }

    @Test
    void aServerThatIsClosedLeavesNone() throws Exception {
        assertLeavesNone(() -> {
            TcpFrameServer server = server();
            server.open(LOOPBACK, 0);
            try (TcpSender sender = new TcpSender(server.port())) {
                sender.exchange(new byte[1]);
                server.close();
            }
        });
    }

    @Test
    void aPortThatCannotBeHadLeavesNone() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, LOOPBACK);
                TcpFrameServer server = server()) {
            assertLeavesNone(
                    () -> assertThatIOException().isThrownBy(() -> server.open(LOOPBACK, taken.getLocalPort())));
        }
    }
}
