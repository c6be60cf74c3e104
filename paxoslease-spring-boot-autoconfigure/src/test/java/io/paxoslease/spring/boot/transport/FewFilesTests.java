package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.BlockedLog;
import io.paxoslease.spring.OtherJvm;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.Lines;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The process of a member has no file descriptor left for the connections of others. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "opens /dev/null until no more can be had")
class FewFilesTests {

    private static final int ANSWERED = 7;
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final byte[] FRAME = {1, 2, 3};

    /** A process of its own, since everything in it suffers. */
    static final class Node {

        public static void main(String... arguments) throws Exception {
            TcpFrameServer server =
                    new TcpFrameServer("n2", TomcatNode.handler(frame -> new FrameReply(200, frame)), null);
            server.open(InetAddress.getLoopbackAddress(), 0);
            // Loads the classes that are needed, and opens the log, as a node has done by then. Nothing is closed,
            // which could make room later.
            new Lines(System.getLogger(Node.class.getName()), "n2").tell(System.Logger.Level.WARNING, "begins", null);
            BlockedLog blocked = arguments[0].equals("blocked") ? new BlockedLog(TcpFrameServer.class) : null;
            URI url = URI.create("tcp://127.0.0.1:" + server.port());
            FrameChannels.create("n1", Map.of("n2", url), "/paxoslease", 200_000, () -> null)
                    .exchange("n2", FRAME, LONG.toNanos())
                    .toCompletableFuture()
                    .get();
            TcpSender first = new TcpSender(server.port());
            first.exchange(FRAME);
            Deque<InputStream> hoard = openAll();
            hoard.remove().close();
            try (TcpSender second = new TcpSender(server.port())) {
                Thread.sleep(500);
                first.exchange(FRAME);
                for (InputStream file : hoard) {
                    file.close();
                }
                Runtime.getRuntime().halt(second.exchange(FRAME).status() == 200 ? ANSWERED : 1);
            }
        }

        private static Deque<InputStream> openAll() {
            Deque<InputStream> files = new ArrayDeque<>();
            try {
                while (true) {
                    files.add(new FileInputStream("/dev/null"));
                }
            } catch (IOException noMore) {
                return files;
            }
        }
    }

    @Test
    void areReportedOnceAndTheConnectionIsServedWhenThereAreSomeAgain(@TempDir Path directory) throws Exception {
        // Without the option the JVM raises its limit to the most that it may have, which can be a million.
        assertThat(output(directory, "flows"))
                .containsOnlyOnce("The TCP server of n2 cannot accept connections: Too many open files");
    }

    @Test
    void leaveTheOtherConnectionsServedThoughTheLogBlocks(@TempDir Path directory) throws Exception {
        assertThat(output(directory, "blocked")).contains("begins");
    }

    private static String output(Path directory, String log) throws Exception {
        OtherJvm.End end = OtherJvm.run(directory, List.of("-XX:-MaxFDLimit"), Node.class, log);
        assertThat(end.status()).as(end.output()).isEqualTo(ANSWERED);
        return end.output();
    }
}
