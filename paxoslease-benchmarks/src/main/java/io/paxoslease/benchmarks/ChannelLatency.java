package io.paxoslease.benchmarks;

import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.spring.boot.transport.PaxosLeaseServlet;
import io.paxoslease.spring.boot.transport.SocketFrameChannel;
import io.paxoslease.wire.FrameHandler;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServer;

/**
 * How long one frame takes to a {@link PaxosLeaseServlet} in Tomcat on the loopback interface and back: with a raw blocking socket (the floor),
 * with {@link SocketFrameChannel} until its callback and until a waiting thread goes on, and with the JDK's HTTP client. All take turns in one
 * JVM, so the ratios hold on a busy machine too.
 *
 * <p>Back to back, a client that asks again within microseconds spares Tomcat a change of threads, which no protocol does; so there are rounds
 * with a pause between two exchanges.
 */
public final class ChannelLatency {

    private static final int WARM_UP = 20_000;
    private static final int BACK_TO_BACK = 20_000;
    private static final int PACED = 4_000;
    private static final long PAUSE_NANOS = 500_000;
    private static final int ROUNDS = 3;
    private static final byte[] FRAME = new byte[200];

    private ChannelLatency() {}

    /** One exchange; returns its nanoseconds. */
    private interface Client {
        long exchange() throws Exception;
    }

    /**
     * Prints median, 99th percentile and processor time (client and server) per exchange.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) throws Exception {
        WebServer server = server();
        URI url = URI.create("http://127.0.0.1:" + server.getPort());
        try (SocketFrameChannel channel =
                        FrameChannels.create("bench", Map.of("peer", url), "/paxoslease", 65_536, () -> null);
                RawSocket raw = new RawSocket(server.getPort())) {
            HttpClient jdk =
                    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
            HttpRequest request = HttpRequest.newBuilder(url.resolve("/paxoslease/messages"))
                    .header("Content-Type", FrameChannels.CONTENT_TYPE)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(FRAME))
                    .build();
            Map<String, Client> clients = new LinkedHashMap<>();
            clients.put("raw socket", timed(raw::exchange));
            clients.put("SocketFrameChannel, callback", () -> untilCallback(channel));
            clients.put(
                    "SocketFrameChannel, thread", timed(() -> exchange(channel).get()));
            clients.put(
                    "java.net.http, thread",
                    timed(() -> jdk.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
                            .get()));
            run("warm-up", clients, WARM_UP, 0);
            for (int round = 1; round <= ROUNDS; round++) {
                run("back to back, round " + round, clients, BACK_TO_BACK, 0);
                run("paced, round " + round, clients, PACED, PAUSE_NANOS);
            }
        } finally {
            server.stop();
            server.destroy();
        }
    }

    private static void run(String title, Map<String, Client> clients, int count, long pauseNanos) throws Exception {
        System.out.println(title);
        double floor = 0;
        for (Map.Entry<String, Client> client : clients.entrySet()) {
            long[] nanos = new long[count];
            int failed = 0;
            long processor = processorNanos();
            for (int i = 0; i < count; i++) {
                try {
                    nanos[i] = client.getValue().exchange();
                } catch (IOException | ExecutionException failure) {
                    nanos[i] = Long.MAX_VALUE;
                    failed++;
                }
                if (pauseNanos > 0) {
                    LockSupport.parkNanos(pauseNanos);
                }
            }
            processor = processorNanos() - processor;
            Arrays.sort(nanos);
            double median = nanos[count / 2] / 1e3;
            floor = floor == 0 ? median : floor;
            System.out.printf(
                    "  %-26s p50 %6.1f us (%4.1f)   p99 %7.1f us   processor %6.1f us%s%n",
                    client.getKey(),
                    median,
                    median / floor,
                    nanos[count / 100 * 99] / 1e3,
                    processor / 1e3 / count,
                    failed == 0 ? "" : "   " + failed + " failed");
        }
    }

    private static Client timed(Callable<?> exchange) {
        return () -> {
            long start = System.nanoTime();
            exchange.call();
            return System.nanoTime() - start;
        };
    }

    private static CompletableFuture<FrameReply> exchange(SocketFrameChannel channel) {
        return channel.exchange("peer", FRAME, 5_000_000_000L).toCompletableFuture();
    }

    private static long untilCallback(SocketFrameChannel channel) throws Exception {
        long start = System.nanoTime();
        return exchange(channel).thenApply(reply -> System.nanoTime() - start).get();
    }

    private static WebServer server() {
        FrameHandler echo = new FrameHandler() {
            @Override
            public int maxFrameBytes() {
                return 65_536;
            }

            @Override
            public FrameReply handle(byte[] frame, @Nullable String address) {
                return new FrameReply(200, frame);
            }
        };
        WebServer server = new TomcatServletWebServerFactory(0)
                .getWebServer(context -> context.addServlet("paxoslease", new PaxosLeaseServlet(() -> echo))
                        .addMapping("/paxoslease/messages"));
        server.start();
        return server;
    }

    private static long processorNanos() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** The least that any client must do; opens a new connection when the server ends one. */
    private static final class RawSocket implements AutoCloseable {
        private final int port;
        private final byte[] request;
        private final byte[] input = new byte[4_096];
        private Socket socket;

        RawSocket(int port) throws IOException {
            this.port = port;
            this.socket = connect();
            byte[] head = ("POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\nContent-Type: "
                            + FrameChannels.CONTENT_TYPE + "\r\nContent-Length: " + FRAME.length + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            request = Arrays.copyOf(head, head.length + FRAME.length);
        }

        private Socket connect() throws IOException {
            Socket connected = new Socket("127.0.0.1", port);
            connected.setTcpNoDelay(true);
            return connected;
        }

        Object exchange() throws IOException {
            try {
                return attempt();
            } catch (IOException idleForTooLong) {
                socket.close();
                socket = connect();
                return attempt();
            }
        }

        private Object attempt() throws IOException {
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            out.write(request);
            int count = 0;
            int bodyStart = 0;
            while (bodyStart == 0 || count < bodyStart + FRAME.length) {
                int read = in.read(input, count, input.length - count);
                if (read < 0) {
                    throw new IOException("closed");
                }
                count += read;
                bodyStart = bodyStart(count);
            }
            String head = new String(input, 0, bodyStart, StandardCharsets.US_ASCII);
            if (head.contains("Connection: close")) {
                socket.close();
                socket = connect();
            }
            return head;
        }

        private int bodyStart(int count) {
            for (int i = 3; i < count; i++) {
                if (input[i] == '\n' && input[i - 2] == '\n') {
                    return i + 1;
                }
            }
            return 0;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
