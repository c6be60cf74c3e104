package io.paxoslease.benchmarks;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.FrameTransport;
import io.paxoslease.wire.WireListener;
import io.paxoslease.wire.WireSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** What the processes of a cell that {@link CellBenchmark} starts have in common: who its members are, and how a node reaches them. */
final class BenchCell {

    private static final String TRANSPORT = System.getProperty("transport", "http");

    /** Where the {@link DelayLine}s to the members begin, else null. */
    private static final @Nullable String LINES = System.getProperty("lines");

    /** Whether the nodes talk over ports of their own. */
    static final boolean TCP = !TRANSPORT.startsWith("http");

    /** For encrypted connections, else null. */
    final @Nullable SslBundle certificate;

    final WireSettings wire;

    /** What the nodes of this process sent, and how long it and the answers were. */
    final LongAdder frames = new LongAdder();

    final LongAdder bytes = new LongAdder();

    /** Who was sent the last frame. */
    volatile @Nullable String lastMember;

    private final Map<String, URI> members = new LinkedHashMap<>();
    private final int[] ports;
    private final Cell cell;
    private final Timing timing;
    private final Duration leaseTime;
    private final boolean oneRoundTrip;

    /**
     * By the arguments of a process.
     *
     * @param arguments the longest lease time in milliseconds, whether one round trip is tried first, and the ports of the members
     */
    BenchCell(String... arguments) throws IOException, GeneralSecurityException {
        ports = Arrays.stream(arguments).skip(2).mapToInt(Integer::parseInt).toArray();
        int[] reached = LINES == null
                ? ports
                : Arrays.stream(LINES.split(",")).mapToInt(Integer::parseInt).toArray();
        for (int i = 0; i < ports.length; i++) {
            members.put("n" + (i + 1), URI.create(TRANSPORT + "://127.0.0.1:" + reached[i]));
        }
        cell = new Cell("bench", List.copyOf(members.keySet()));
        leaseTime = Duration.ofMillis(Long.parseLong(arguments[0]));
        timing = new Timing(leaseTime.toNanos(), 0.01);
        oneRoundTrip = Boolean.parseBoolean(arguments[1]);
        wire = new WireSettings(cell, timing, Duration.ofSeconds(1), List.of(), WireSettings.DEFAULT_MAX_FRAME_BYTES);
        String keys = System.getProperty("certificate");
        certificate = keys == null ? null : SharedCertificate.bundle(Path.of(keys));
    }

    /** Where a member answers. */
    int port(String nodeId) {
        return ports[Integer.parseInt(nodeId.substring(1)) - 1];
    }

    /** The members but the node itself, which may be none. */
    Map<String, URI> others(String nodeId) {
        Map<String, URI> others = new LinkedHashMap<>(members);
        others.remove(nodeId);
        return others;
    }

    /** A way to members by the client that applications use. */
    FrameChannel channel(String nodeId, Map<String, URI> to, String path) {
        SSLContext context = certificate == null ? null : certificate.createSslContext();
        return FrameChannels.create(nodeId, to, path, wire.maxFrameBytes(), () -> context);
    }

    /** A node that has not been started. */
    LeaseNode node(String nodeId, SecureRandom random) {
        NodeSettings settings = new NodeSettings(
                nodeId, cell, timing, leaseTime, wire.roundTimeout(), false, oneRoundTrip, 1 << 28, Map.of());
        FrameChannel channel = counted(channel(nodeId, others(nodeId), "/paxoslease"));
        return new LeaseNode(settings, new FrameTransport(wire, channel, WireListener.NONE, NodeClock.SYSTEM), random);
    }

    private FrameChannel counted(FrameChannel channel) {
        return new FrameChannel() {
            @Override
            public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
                frames.increment();
                lastMember = member;
                bytes.add(frame.length);
                return channel.exchange(member, frame, timeoutNanos).whenComplete((reply, failure) -> {
                    if (reply != null) {
                        bytes.add(reply.body().length);
                    }
                });
            }

            @Override
            public void close() {
                channel.close();
            }
        };
    }

    /** What a process does with the words of a line. */
    interface Commands {

        String perform(String[] words) throws Exception;
    }

    /** Makes the process, says that it is ready, does what the lines on its standard input say, answers each with one line, and ends with them. */
    static void serve(Callable<Commands> process) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE);
        Commands commands = process.call();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        String line;
        while ((line = in.readLine()) != null) {
            System.out.println(commands.perform(line.split(" ")));
        }
        System.exit(0);
    }
}
