package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.FullHeap;
import io.paxoslease.spring.OtherJvm;
import io.paxoslease.wire.FrameReply;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The heap is full for a moment, to the last byte, when a thread that carries frames fails: it goes on when there is room again. */
class FullHeapTests {

    private static final Duration LONG = Duration.ofSeconds(60);

    /** Not 0, with which a JVM may end as well whose threads have all died. */
    private static final int ANSWERED = 7;

    /** A process of its own, since everything in it suffers. */
    static final class Node {

        private static final byte[] FRAME = {1, 2, 3};

        public static void main(String... arguments) throws Exception {
            FullHeap.releaseOnceFull();
            boolean answered = arguments[0].equals("server") ? serverAnswers() : channelAnswers();
            Runtime.getRuntime().halt(answered ? ANSWERED : 1);
        }

        private static FrameReply fillHeap(byte[] frame) {
            if (!FullHeap.wasFilled()) {
                FullHeap.fill();
            }
            return new FrameReply(200, frame);
        }

        private static boolean serverAnswers() throws Exception {
            TcpFrameServer server = new TcpFrameServer("n2", TomcatNode.handler(Node::fillHeap), null);
            server.open(InetAddress.getLoopbackAddress(), 0);
            URI url = URI.create("tcp://127.0.0.1:" + server.port());
            return answersAgain(channel(url), reply -> {});
        }

        private static boolean channelAnswers() throws Exception {
            PeerServer peer = PeerServer.start(PeerServer.Peer::echo);
            return answersAgain(channel(peer.url()), reply -> fillHeap(reply.body()));
        }

        private static SocketFrameChannel channel(URI url) {
            return FrameChannels.create("n1", Map.of("n2", url), "/paxoslease", 200_000, () -> null);
        }

        private static boolean answersAgain(SocketFrameChannel channel, Consumer<FrameReply> onReply) throws Exception {
            channel.exchange("n2", FRAME, LONG.toNanos()).thenAccept(onReply);
            FullHeap.awaitRoom();
            return channel.exchange("n2", FRAME, LONG.toNanos())
                            .toCompletableFuture()
                            .get(LONG.toSeconds(), TimeUnit.SECONDS)
                            .status()
                    == 200;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"server", "channel"})
    void endsNoThreadForGood(String which, @TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.run(directory, List.of("-XX:+UseSerialGC", "-Xmx24m"), Node.class, which);
        assertThat(end.status()).as(end.output()).isEqualTo(ANSWERED);
    }
}
