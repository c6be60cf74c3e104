package io.paxoslease.spring.boot.transport;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.MeterRegistry;
import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.protocol.Cell;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.FrameServer;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.test.util.ReflectionTestUtils;

/**
 * A stranger against a cell of three whole applications with a shared secret. It reaches every acceptor, knows the format of the frames and the
 * names of cell, nodes and leases, and has recorded what the nodes sent to each other; it does not know the secret. It sends everything to both
 * ports at which a node with a TCP transport takes frames, and is answered alike. Whatever it sends, the leader leads on under the same token, no acceptor knows a lease or a session more, and the next tenure is an ordinary one.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StrangerTests {

    private static final String SECRET = "correct horse battery staple";
    private static final List<String> NODES = List.of("n0", "n1", "n2");
    private static final Cell CELL = new Cell("default", NODES);
    private static final Duration LEASE_TIME = Duration.ofSeconds(10);
    private static final int MAX_FRAME_BYTES = 256 * 1024;
    private static final int MAX_SESSIONS = 1_024;

    /** A frame that arrived. */
    private record Recorded(String receiver, byte[] bytes) {}

    private static final ConcurrentLinkedQueue<Recorded> RECORDED = new ConcurrentLinkedQueue<>();
    private static final List<ConfigurableApplicationContext> APPLICATIONS = new ArrayList<>();
    private static final Map<String, Map<Integer, Integer>> ANSWERS = new TreeMap<>();
    private static int[] ports = {};
    private static int[] tcpPorts = {};

    private final Random random = new Random(20_261_121);
    private final Map<Integer, RawSender> senders = new TreeMap<>();
    private final Map<Integer, TcpSender> tcpSenders = new TreeMap<>();
    private List<String> before = List.of();

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {

        @Bean
        static BeanPostProcessor recorder() {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String name) {
                    return bean instanceof FrameChannel channel ? new RecordingChannel(channel) : bean;
                }
            };
        }
    }

    private record RecordingChannel(FrameChannel channel) implements FrameChannel {

        @Override
        public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
            return channel.exchange(member, frame, timeoutNanos)
                    .whenComplete((reply, failure) -> RECORDED.add(new Recorded(member, frame)));
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    @BeforeAll
    static void startTheCell() throws IOException {
        int[] free = FreePorts.take(2 * NODES.size());
        ports = Arrays.copyOf(free, NODES.size());
        tcpPorts = Arrays.copyOfRange(free, NODES.size(), free.length);
        for (int i = 0; i < ports.length; i++) {
            APPLICATIONS.add(new SpringApplicationBuilder(App.class)
                    .web(WebApplicationType.SERVLET)
                    .run(
                            "--spring.main.banner-mode=off",
                            "--server.port=" + ports[i],
                            "--server.tomcat.max-keep-alive-requests=-1",
                            "--paxoslease.lease-time=" + LEASE_TIME,
                            "--paxoslease.security.shared-secret=" + SECRET,
                            "--paxoslease.node-id=n" + i,
                            "--paxoslease.transport=tcp",
                            "--paxoslease.tcp.port=" + tcpPorts[i],
                            "--paxoslease.members.n0=tcp://localhost:" + tcpPorts[0],
                            "--paxoslease.members.n1=tcp://localhost:" + tcpPorts[1],
                            "--paxoslease.members.n2=tcp://localhost:" + tcpPorts[2]));
        }
        node(0).election("job").start();
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            assertThat(node(0).election("job").isLeader()).isTrue();
            assertThat(state()).allMatch(line -> line.contains("leases 1, sessions 3, problems {}"));
        });
        // Who watches a lease learns its leader from the next extension, and a majority may answer that one before the
        // third node has heard it.
        await().until(() -> node(0).election("job").lease().orElseThrow().extend());
        await().untilAsserted(() -> assertThat(state()).allMatch(line -> line.contains("leader Optional[n0]")));
    }

    @BeforeEach
    void rememberTheCell() {
        before = state();
    }

    @AfterEach
    void nothingHasChanged(CapturedOutput output) throws Exception {
        for (RawSender sender : senders.values()) {
            sender.close();
        }
        for (TcpSender sender : tcpSenders.values()) {
            sender.close();
        }
        assertThat(state()).isEqualTo(before);
        Lease next = node(2).acquire("after", Duration.ofSeconds(5), Duration.ofSeconds(60));
        assertThat(next.fencingToken()).isLessThan(micros(Instant.now().plusSeconds(1)));
        next.release();
        await().untilAsserted(() -> assertThat(state()).isEqualTo(before));
        assertThat(output.getAll()).doesNotContain(SECRET, " ERROR ", "Exception");
    }

    /** Had one of the frames raised a promise, the next token would be above the wall clock that the honest ones follow. */
    @AfterAll
    static void theNextTenureOfTheAttackedLeaseIsAnOrdinaryOne() throws Exception {
        try {
            long token = node(0).election("job").lease().orElseThrow().fencingToken();
            node(0).election("job").stop();
            Lease next = node(1).acquire("job", Duration.ofSeconds(5), Duration.ofSeconds(60));
            assertThat(next.fencingToken())
                    .isBetween(token + 1, micros(Instant.now().plusSeconds(1)));
            ANSWERS.forEach((attack, answers) -> System.out.println("| " + attack + " | "
                    + answers.values().stream().mapToInt(Integer::intValue).sum() + " | " + answers + " |"));
        } finally {
            APPLICATIONS.forEach(ConfigurableApplicationContext::close);
        }
    }

    @Test
    void randomBytes() throws Exception {
        for (int i = 0; i < 3_000; i++) {
            byte[] body = new byte[random.nextInt(4_096)];
            random.nextBytes(body);
            if (i % 3 > 0 && body.length > 1) {
                body[0] = 1;
                body[1] = (byte) (i % 3 == 1 ? 2 : 0);
            }
            assertThat(send("random bytes", i % 3, body)).isIn(400, 401, 409);
        }
        assertThat(ANSWERS.get("random bytes")).doesNotContainKey(200);
    }

    @Test
    void truncatedFrames() throws Exception {
        for (Recorded frame : samples()) {
            for (int length = 0; length < frame.bytes().length; length++) {
                assertThat(send("recorded, cut off", receiver(frame), Arrays.copyOf(frame.bytes(), length)))
                        .isEqualTo(length < 2 ? 400 : 401);
            }
            for (int more = 1; more <= 64; more++) {
                assertThat(send(
                                "recorded, prolonged",
                                receiver(frame),
                                Arrays.copyOf(frame.bytes(), frame.bytes().length + more)))
                        .isEqualTo(401);
            }
        }
    }

    @Test
    void changedFrames() throws Exception {
        for (Recorded frame : samples()) {
            for (int bit = 0; bit < 8 * frame.bytes().length; bit++) {
                byte[] changed = frame.bytes().clone();
                changed[bit / 8] ^= (byte) (1 << bit % 8);
                assertThat(send("recorded, one bit changed", receiver(frame), changed))
                        .isEqualTo(bit < 8 ? 409 : 401);
            }
        }
    }

    @Test
    void replayedFrames() throws Exception {
        List<Recorded> frames = List.copyOf(RECORDED);
        assertThat(frames).hasSizeGreaterThan(10);
        for (Recorded frame : frames) {
            for (int again = 0; again < 20; again++) {
                assertThat(send("recorded, sent again", receiver(frame), frame.bytes()))
                        .isEqualTo(409);
            }
            for (int node = 0; node < 3; node++) {
                if (node != receiver(frame)) {
                    assertThat(send("recorded, sent to another node", node, frame.bytes()))
                            .isEqualTo(409);
                }
            }
        }
    }

    @Test
    void guessedSessions() throws Exception {
        LeaseNode leader = node(0);
        for (int i = 0; i < 3_000; i++) {
            String secret = i % 2 == 0 ? null : "correct horse battery " + i;
            int victim = 1 + i % 2;
            byte[] frame = frame(
                    leader.incarnation().nodeId(),
                    leader.incarnation().nonce(),
                    "n" + victim,
                    node(victim).incarnation().nonce(),
                    random.nextLong(),
                    1L << 40 | i,
                    secret,
                    out -> {
                        out.writeShort(1);
                        out.writeByte(3);
                        text("job", out);
                        out.writeLong(micros(Instant.now()));
                    });
            assertThat(send("release under a guessed session and secret", victim, frame))
                    .isEqualTo(401);
        }
    }

    @Test
    void helloesOfAStranger() throws Exception {
        for (int i = 0; i < 3_000; i++) {
            String secret = i % 2 == 0 ? null : "correct horse battery " + i;
            assertThat(send("hello of a node of its own", i % 3, hello("stranger-" + i, "n" + i % 3, secret)))
                    .isEqualTo(401);
        }
    }

    @Test
    void oversizedFrames() throws Exception {
        String head =
                "POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n" + "Content-Type: application/vnd.paxoslease.v1\r\n";
        for (int i = 0; i < 50; i++) {
            try (RawSender sender = new RawSender(ports[i % 3])) {
                sender.write(
                        head + "Content-Length: " + (MAX_FRAME_BYTES + 1 + (long) i * i * i * 1_000_000) + "\r\n\r\n");
                assertThat(count("too long, as announced", sender.response())).isEqualTo(413);
            }
        }
        String chunk = "8000\r\n" + "x".repeat(0x8000) + "\r\n";
        for (int i = 0; i < 20; i++) {
            try (RawSender sender = new RawSender(ports[i % 3])) {
                sender.write(head + "Transfer-Encoding: chunked\r\n\r\n" + chunk.repeat(8) + "1\r\nx\r\n");
                assertThat(count("too long, in chunks", sender.response())).isEqualTo(413);
            }
        }
        for (int i = 0; i < 50; i++) {
            try (TcpSender sender = new TcpSender(tcpPorts[i % 3])) {
                sender.out.writeInt(i == 0 ? -1 : MAX_FRAME_BYTES + i * i * i * 10_000);
                assertThat(count("too long, as announced over TCP", sender.answer()))
                        .isEqualTo(413);
                assertThat(sender.isClosedByPeer()).isTrue();
            }
        }
        assertThat(APPLICATIONS.stream()
                        .mapToDouble(application -> application
                                .getBean(MeterRegistry.class)
                                .get("paxoslease.messages")
                                .tags("type", "frame", "outcome", "oversized")
                                .counter()
                                .count())
                        .sum())
                .isEqualTo(120);
    }

    @Test
    void slowBodies() throws Exception {
        String head = "POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n"
                + "Content-Type: application/vnd.paxoslease.v1\r\nContent-Length: 2\r\n\r\nx";
        List<RawSender> slow = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                slow.add(new RawSender(ports[1]).write(head));
            }
            assertThat(send(
                            "recorded, sent while bodies do not end",
                            1,
                            replayable().bytes()))
                    .isEqualTo(409);
            for (RawSender sender : slow) {
                assertThat(count("bodies that do not end", sender.response())).isIn(408, 503);
            }
        } finally {
            for (RawSender sender : slow) {
                sender.close();
            }
        }
        assertThat(ANSWERS.get("bodies that do not end")).containsEntry(408, 64).containsEntry(503, 236);
    }

    @Test
    void slowFramesOverTcp() throws Exception {
        List<TcpSender> slow = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                TcpSender sender = new TcpSender(tcpPorts[1]);
                sender.out.writeInt(2);
                sender.out.write('x');
                slow.add(sender);
            }
            assertThat(send(
                            "recorded, sent while frames do not end",
                            1,
                            replayable().bytes()))
                    .isEqualTo(409);
            for (TcpSender sender : slow) {
                assertThat(sender.isClosedByPeer()).isTrue();
            }
        } finally {
            for (TcpSender sender : slow) {
                sender.close();
            }
        }
    }

    /** Not a stranger any more: it shows that the memory for sessions is bounded even then. */
    @Test
    void helloesOfSomebodyWithTheSecret() throws Exception {
        for (int i = 0; i < 3_000; i++) {
            byte[] hello = hello("guest-" + i, "n1", SECRET);
            String attack = "hello with the secret, of 3000 nodes";
            assertThat(i % 2 == 0 ? sendOverHttp(attack, 1, hello) : sendOverTcp(attack, 1, hello))
                    .isEqualTo(200);
            if (i % 500 == 0) {
                await().until(() ->
                        node(0).election("job").lease().orElseThrow().extend());
            }
        }
        assertThat(sessions(1)).isEqualTo(MAX_SESSIONS);
        await().untilAsserted(() -> assertThat(state())
                .isEqualTo(before.stream()
                        .map(line -> line.startsWith("n1")
                                ? line.replaceFirst("sessions \\d+", "sessions " + MAX_SESSIONS)
                                : line)
                        .toList()));
        before = state();
    }

    // The cell.

    private static LeaseNode node(int index) {
        return APPLICATIONS.get(index).getBean(LeaseNode.class);
    }

    /** What no stranger may change: a line for each node. */
    private static List<String> state() {
        return IntStream.range(0, APPLICATIONS.size())
                .mapToObj(i -> node(i).incarnation().nodeId() + ": leader "
                        + node(i).election("job").leader().map(hint -> hint.nodeId()) + ", token "
                        + node(i).election("job").lease().map(Lease::fencingToken) + ", "
                        + node(i).acceptorStatus().state() + ", refusals "
                        + new TreeMap<>(node(i).acceptorStatus().refusals()) + ", leases "
                        + node(i).acceptorStatus().leases() + ", sessions " + sessions(i) + ", problems "
                        + APPLICATIONS.get(i).getBean(FrameServer.class).problems())
                .toList();
    }

    private static int sessions(int index) {
        Object sessions = ReflectionTestUtils.getField(APPLICATIONS.get(index).getBean(FrameServer.class), "sessions");
        return sessions == null ? -1 : (Integer) ReflectionTestUtils.invokeMethod(sessions, "size");
    }

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }

    // The stranger.

    /** The first and the longest frame that each node was sent: a hello, and requests. */
    private static List<Recorded> samples() {
        List<Recorded> samples = new ArrayList<>();
        for (String node : NODES) {
            List<Recorded> received = RECORDED.stream()
                    .filter(frame -> frame.receiver().equals(node))
                    .toList();
            samples.add(received.get(0));
            received.stream()
                    .max((one, other) -> one.bytes().length - other.bytes().length)
                    .ifPresent(samples::add);
        }
        return samples;
    }

    /** A frame that n1 has answered. */
    private static Recorded replayable() {
        return samples().get(2);
    }

    private static int receiver(Recorded frame) {
        return NODES.indexOf(frame.receiver());
    }

    /** Sends it to both ports of a node; answers the status of both. */
    private int send(String attack, int node, byte[] body) throws IOException {
        int status = sendOverHttp(attack, node, body);
        assertThat(sendOverTcp(attack, node, body)).isEqualTo(status);
        return status;
    }

    private int sendOverTcp(String attack, int node, byte[] body) throws IOException {
        TcpSender sender = tcpSenders.get(node);
        if (sender == null) {
            sender = new TcpSender(tcpPorts[node]);
            tcpSenders.put(node, sender);
        }
        return count(attack + ", over TCP", sender.exchange(body));
    }

    private int sendOverHttp(String attack, int node, byte[] body) throws IOException {
        RawSender sender = senders.get(node);
        if (sender == null) {
            sender = new RawSender(ports[node]);
            senders.put(node, sender);
        }
        RawSender.Response response = sender.write("POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n"
                        + "Content-Type: application/vnd.paxoslease.v1\r\nContent-Length: " + body.length + "\r\n\r\n"
                        + new String(body, ISO_8859_1))
                .response();
        if (response.closes()) {
            sender.close();
            senders.remove(node);
        }
        return count(attack, response);
    }

    private static int count(String attack, RawSender.Response response) {
        return count(attack, response.status(), response.head() + response.body(), response.body());
    }

    private static int count(String attack, FrameReply reply) {
        String body = new String(reply.body(), ISO_8859_1);
        return count(attack, reply.status(), body, body);
    }

    private static int count(String attack, int status, String text, String body) {
        ANSWERS.computeIfAbsent(attack, name -> new TreeMap<>()).merge(status, 1, Integer::sum);
        assertThat(text).doesNotContain(SECRET, "Exception", "io.paxoslease");
        assertThat(body).hasSizeLessThan(1_000);
        return status;
    }

    private interface Rest {
        void write(DataOutputStream out) throws IOException;
    }

    private byte[] hello(String sender, String receiver, @Nullable String secret) throws Exception {
        return frame(sender, random.nextLong(), receiver, 0, 0, 1, secret, out -> {
            out.writeLong(LEASE_TIME.toNanos());
            out.writeByte(NODES.size());
            for (String node : NODES) {
                text(node, out);
            }
        });
    }

    /** As {@code docs/protocol.md} specifies it. */
    private static byte[] frame(
            String sender,
            long nonce,
            String receiver,
            long receiverNonce,
            long session,
            long sequence,
            @Nullable String secret,
            Rest rest)
            throws IOException, GeneralSecurityException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeByte(1);
        out.writeByte(secret == null ? 0 : 2);
        text(CELL.name(), out);
        text(sender, out);
        out.writeLong(nonce);
        text(receiver, out);
        out.writeLong(receiverNonce);
        out.writeLong(session);
        out.writeLong(CELL.fingerprint());
        out.writeLong(sequence);
        rest.write(out);
        if (secret != null) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
            out.write(mac.doFinal(bytes.toByteArray()));
        }
        return bytes.toByteArray();
    }

    private static void text(String text, DataOutputStream out) throws IOException {
        out.writeByte(text.length());
        out.write(text.getBytes(UTF_8));
    }
}
