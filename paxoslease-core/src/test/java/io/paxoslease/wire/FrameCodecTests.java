package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a frame is, byte by byte. */
class FrameCodecTests {

    private static final int NO_LIMIT = Integer.MAX_VALUE;
    private static final Ballot BALLOT = new Ballot(1_795_000_000_000_000L, Samples.NODE_1);

    @Nested
    class RoundTrips {

        @ParameterizedTest
        @ValueSource(longs = {1, 2, 3})
        void everyFrameComesBackEqual(long seed) throws Exception {
            RandomGenerator random = Samples.random(seed);
            for (int i = 0; i < 5_000; i++) {
                FrameMac mac = random.nextBoolean() ? Samples.mac(Samples.SECRET) : null;
                RequestFrame asked = Samples.requestFrame(random);
                byte[] question = FrameCodec.encode(asked, mac);
                assertThat(decode(question)).isEqualTo(asked);
                assertThat(FrameCodec.hasMac(question)).isEqualTo(mac != null);

                AnswerFrame answer = Samples.answerFrame(asked, random);
                byte[] bytes = FrameCodec.encode(answer, asked.requests(), mac, NO_LIMIT);
                assertThat(FrameCodec.decodeAnswer(bytes, asked.requests())).isEqualTo(answer);
            }
        }

        @ParameterizedTest
        @ValueSource(longs = {4, 5})
        void aRequestIsNotLongerThanForetold(long seed) {
            RandomGenerator random = Samples.random(seed);
            for (int i = 0; i < 2_000; i++) {
                Request request = Samples.request(Samples.NODE_1, random);
                int empty =
                        FrameCodec.encode(Samples.frame(Samples.NODE_1, Samples.NODE_2, 1, 1, List.of()), null).length;
                int one = FrameCodec.encode(Samples.frame(Samples.NODE_1, Samples.NODE_2, 1, 1, List.of(request)), null)
                        .length;
                assertThat(one - empty).isLessThanOrEqualTo(FrameCodec.mostBytes(request));
            }
        }

        @Test
        void frameIsAsLongAsExpected() {
            List<Request> requests = List.of(
                    new PrepareRequest("leader", BALLOT, 1),
                    new ProposeRequest("a longer name", BALLOT, 1),
                    new ReleaseRequest("r", BALLOT));
            RequestFrame frame = Samples.frame(Samples.NODE_1, Samples.NODE_2, 7, 1, requests);
            assertThat(FrameCodec.encode(frame, null)).hasSize(FrameCodec.expectedBytes(frame));

            List<Request> answered = requests.subList(0, 2);
            AnswerFrame answer = new AnswerFrame(
                    "default",
                    Samples.NODE_2,
                    Samples.NODE_1,
                    7,
                    8,
                    1,
                    AnswerFrame.Status.OK,
                    "a reason",
                    AcceptorState.VOTING,
                    0,
                    List.of(
                            new PrepareResponse("leader", BALLOT, true, BALLOT.counter(), null),
                            new ProposeResponse("a longer name", BALLOT, true, BALLOT.counter(), null)));
            assertThat(FrameCodec.encode(answer, answered, null, NO_LIMIT))
                    .hasSize(FrameCodec.expectedBytes(answer, answered));
        }

        @ParameterizedTest
        @MethodSource("io.paxoslease.wire.FrameCodecTests#kindsOfRequests")
        void everyKindOfRequestHasItsBytes(Class<? extends Request> kind) throws Exception {
            RequestFrame frame = Samples.frame(Samples.NODE_1, Samples.NODE_2, 7, 1, List.of(request(kind)));
            assertThat(decode(FrameCodec.encode(frame, null))).isEqualTo(frame);
        }

        @ParameterizedTest
        @MethodSource("io.paxoslease.wire.FrameCodecTests#kindsOfResponses")
        void everyKindOfResponseHasItsBytes(Class<? extends Response> kind) throws Exception {
            Response response = response(kind);
            Request request = response instanceof PrepareResponse
                    ? new PrepareRequest("leader", BALLOT, 1)
                    : new ProposeRequest("leader", BALLOT, 1);
            AnswerFrame frame = answer(response);
            byte[] bytes = FrameCodec.encode(frame, List.of(request), null, NO_LIMIT);
            assertThat(FrameCodec.decodeAnswer(bytes, List.of(request))).isEqualTo(frame);
        }

        @Test
        void theSenderIsTheObjectThatIsKeptAnyway() throws Exception {
            RequestFrame frame = Samples.frame(
                    Samples.NODE_1, Samples.NODE_2, 7, 1, List.of(Samples.propose("leader", 1, Samples.NODE_1)));
            RequestFrame decoded = FrameCodec.decodeRequest(FrameCodec.encode(frame, null), sender -> Samples.NODE_1);
            assertThat(decoded.sender()).isSameAs(Samples.NODE_1);
            assertThat(decoded.requests().get(0).ballot().owner()).isSameAs(Samples.NODE_1);
        }

        @Test
        void theOwnersInAnAnswerAreTheObjectsThatAreKeptAnyway() throws Exception {
            Request request = Samples.propose("leader", 1, Samples.NODE_1);
            for (Incarnation owner : List.of(Samples.NODE_1, Samples.NODE_2)) {
                AcceptedLease lease = new AcceptedLease(new Ballot(1, owner), 1);
                AnswerFrame decoded = FrameCodec.decodeAnswer(
                        FrameCodec.encode(
                                answer(new ProposeResponse("leader", request.ballot(), true, 1, lease)),
                                List.of(request),
                                null,
                                NO_LIMIT),
                        List.of(request));
                assertThat(decoded.responses().get(0).lease().ballot().owner())
                        .isSameAs(owner == Samples.NODE_1 ? request.ballot().owner() : decoded.sender());
            }
        }

        @Test
        void responsesThatDoNotFitAreLeftOut() throws Exception {
            List<Request> requests = java.util.stream.IntStream.range(0, 100)
                    .<Request>mapToObj(i -> new PrepareRequest("r" + i, BALLOT, 1))
                    .toList();
            Incarnation other = new Incarnation("x".repeat(255), 1);
            List<Response> responses = requests.stream()
                    .<Response>map(request -> new PrepareResponse(
                            request.resource(), BALLOT, false, 9, new AcceptedLease(new Ballot(9, other), 5)))
                    .toList();
            AnswerFrame answer = new AnswerFrame(
                    "default",
                    Samples.NODE_2,
                    Samples.NODE_1,
                    7,
                    8,
                    1,
                    AnswerFrame.Status.OK,
                    "",
                    AcceptorState.VOTING,
                    0,
                    responses);
            for (int limit = 3_800; limit < 4_100; limit++) {
                byte[] bytes = FrameCodec.encode(answer, requests, Samples.mac(Samples.SECRET), limit);
                assertThat(bytes.length).isBetween(limit - 289, limit);
                List<Response> arrived =
                        FrameCodec.decodeAnswer(bytes, requests).responses();
                int whole = (int)
                        arrived.stream().filter(java.util.Objects::nonNull).count();
                assertThat(whole).isBetween(10, 20);
                assertThat(arrived.subList(0, whole)).isEqualTo(responses.subList(0, whole));
            }
        }
    }

    /** The frames of docs/protocol.md; if one of these tests fails, nodes of two releases cannot talk to each other. */
    @Nested
    class GoldenBytes {

        @Test
        void hello() throws Exception {
            check(Samples.hello(Samples.NODE_1, "node-2", 1), """
                    01 00
                    07 64656661756c74
                    06 6e6f64652d31 1111111111111111
                    06 6e6f64652d32 0000000000000000
                    0000000000000000
                    %s
                    0000000000000001
                    00000002540be400
                    03 06 6e6f64652d31 06 6e6f64652d32 06 6e6f64652d33
                    """.formatted(
                            HexFormat.of().toHexDigits(Samples.CELL.fingerprint())));
        }

        @Test
        void theFingerprintOfTheCell() {
            assertThat(HexFormat.of().toHexDigits(Samples.CELL.fingerprint())).isEqualTo("167843bbc00ee6a3");
        }

        @Test
        void requests() throws Exception {
            check(
                    Samples.frame(
                            Samples.NODE_1,
                            Samples.NODE_2,
                            0x5e55105e55105e55L,
                            2,
                            List.of(
                                    new PrepareRequest("leader", BALLOT, 10_000_000_000L),
                                    new ProposeRequest("leader", BALLOT, 10_000_000_000L),
                                    new ReleaseRequest("leader", BALLOT))),
                    """
                    01 00
                    07 64656661756c74
                    06 6e6f64652d31 1111111111111111
                    06 6e6f64652d32 2222222222222222
                    5e55105e55105e55
                    167843bbc00ee6a3
                    0000000000000002
                    0003
                    01 06 6c6561646572 0006608b015f3000 00000002540be400
                    02 06 6c6561646572 0006608b015f3000 00000002540be400
                    03 06 6c6561646572 0006608b015f3000
                    """);
        }

        @Test
        void answer() throws Exception {
            List<Request> requests = List.of(
                    new PrepareRequest("leader", BALLOT, 10_000_000_000L),
                    new ProposeRequest("leader", BALLOT, 10_000_000_000L),
                    new ReleaseRequest("leader", BALLOT));
            Ballot other = new Ballot(1_795_000_000_000_001L, Samples.NODE_3);
            AnswerFrame answer = new AnswerFrame(
                    "default",
                    Samples.NODE_2,
                    Samples.NODE_1,
                    0x5e55105e55105e55L,
                    Samples.CELL.fingerprint(),
                    2,
                    AnswerFrame.Status.OK,
                    "",
                    AcceptorState.VOTING,
                    0,
                    Arrays.asList(
                            new PrepareResponse("leader", BALLOT, false, other.counter(), new AcceptedLease(other, 3)),
                            new ProposeResponse("leader", BALLOT, true, BALLOT.counter(), null),
                            null));
            byte[] bytes = FrameCodec.encode(answer, requests, null, NO_LIMIT);
            assertThat(bytes).isEqualTo(bytes("""
                    01 01
                    07 64656661756c74
                    06 6e6f64652d32 2222222222222222
                    06 6e6f64652d31 1111111111111111
                    5e55105e55105e55
                    167843bbc00ee6a3
                    0000000000000002
                    00 0000
                    02 0000000000000000
                    0003
                    01 02 0006608b015f3001 06 6e6f64652d33 3333333333333333 0006608b015f3001 0000000000000003
                    02 01
                    00
                    """));
            assertThat(FrameCodec.decodeAnswer(bytes, requests)).isEqualTo(answer);
        }

        @Test
        void refusal() throws Exception {
            AnswerFrame answer = new AnswerFrame(
                    "default",
                    Samples.NODE_2,
                    Samples.NODE_1,
                    0,
                    Samples.CELL.fingerprint(),
                    1,
                    AnswerFrame.Status.REFUSED,
                    "no",
                    AcceptorState.QUARANTINED,
                    5,
                    List.of());
            byte[] bytes = FrameCodec.encode(answer, List.of(), null, NO_LIMIT);
            assertThat(bytes).isEqualTo(bytes("""
                    01 01
                    07 64656661756c74
                    06 6e6f64652d32 2222222222222222
                    06 6e6f64652d31 1111111111111111
                    0000000000000000
                    167843bbc00ee6a3
                    0000000000000001
                    02 0002 6e6f
                    01 0000000000000005
                    """));
            assertThat(FrameCodec.decodeAnswer(bytes, List.of())).isEqualTo(answer);
        }

        @Test
        void theMacIsThatOfAllBytesBeforeIt() {
            byte[] frame = FrameCodec.encode(
                    Samples.frame(Samples.NODE_1, Samples.NODE_2, 7, 2, List.of()), Samples.mac(Samples.SECRET));
            assertThat(HexFormat.of().formatHex(frame, frame.length - 32, frame.length))
                    .isEqualTo("d7bcd84dc71d928c219ccf9e90343085cd67f907054a1ad0edffafa3fbcb4c42");
            assertThat(frame[1]).isEqualTo((byte) 2);
        }

        private static void check(RequestFrame frame, String hex) throws Exception {
            byte[] bytes = FrameCodec.encode(frame, null);
            assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(HexFormat.of().formatHex(bytes(hex)));
            assertThat(decode(bytes)).isEqualTo(frame);
        }

        private static byte[] bytes(String hex) {
            return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
        }
    }

    @Nested
    class Strictness {

        private final byte[] frame = FrameCodec.encode(
                Samples.frame(
                        Samples.NODE_1,
                        Samples.NODE_2,
                        7,
                        2,
                        List.of(Samples.propose("leader", 5, Samples.NODE_1), Samples.propose("é", 6, Samples.NODE_1))),
                null);
        private final byte[] hello = FrameCodec.encode(Samples.hello(Samples.NODE_1, "node-2", 2), null);

        @Test
        void refusesEveryTruncation() {
            for (byte[] whole : List.of(frame, hello)) {
                for (int length = 0; length < whole.length; length++) {
                    assertMalformed(Arrays.copyOf(whole, length));
                }
            }
        }

        @Test
        void refusesEveryTruncationOfAnAnswer() {
            List<Request> requests = List.of(new ProposeRequest("leader", BALLOT, 1));
            byte[] whole = FrameCodec.encode(
                    answer(new ProposeResponse("leader", BALLOT, false, 5, new AcceptedLease(BALLOT, 1))),
                    requests,
                    null,
                    NO_LIMIT);
            for (int length = 0; length < whole.length; length++) {
                byte[] part = Arrays.copyOf(whole, length);
                assertThatThrownBy(() -> FrameCodec.decodeAnswer(part, requests))
                        .isInstanceOf(MalformedFrameException.class);
            }
        }

        @Test
        void refusesBytesAfterTheEnd() {
            assertMalformed(Arrays.copyOf(frame, frame.length + 1));
            assertMalformed(Arrays.copyOf(hello, hello.length + 1));
            byte[] noHello = frame.clone();
            noHello[1] |= 4;
            assertMalformed(noHello);
        }

        @Test
        void refusesBytesAfterTheEndOfAnAnswer() {
            List<Request> requests = List.of(new ProposeRequest("leader", BALLOT, 1));
            byte[] whole = acceptance(requests);
            assertThatThrownBy(() -> FrameCodec.decodeAnswer(Arrays.copyOf(whole, whole.length + 1), requests))
                    .isInstanceOf(MalformedFrameException.class);
        }

        @Test
        void whatItTakesHasNoOtherEncoding() throws Exception {
            for (byte[] whole : List.of(frame, hello)) {
                for (int bit = 0; bit < whole.length * 8; bit++) {
                    byte[] flipped = flip(whole, bit);
                    try {
                        assertThat(FrameCodec.encode(decode(flipped), null)).isEqualTo(flipped);
                    } catch (MalformedFrameException refused) {
                        assertThat(refused.getMessage()).startsWith("The").doesNotContain("Exception");
                    }
                }
            }
        }

        @Test
        void refusesAnAnswerWhereARequestIsExpectedAndTheOtherWayRound() {
            byte[] answer = FrameCodec.encode(answer(null), List.of(new ReleaseRequest("r", BALLOT)), null, NO_LIMIT);
            assertMalformed(answer);
            assertThatThrownBy(() -> FrameCodec.decodeAnswer(frame, List.of()))
                    .isInstanceOf(MalformedFrameException.class);
        }

        @Test
        void refusesAnUnknownType() {
            assertMalformed(replaced("02066c6561646572", "04066c6561646572"));
        }

        @Test
        void refusesCountersOutOfBounds() {
            assertMalformed(replaced("6c65616465720000000000000005", "6c65616465720000000000000000"));
            assertMalformed(replaced("6c65616465720000000000000005", "6c65616465720020000000000000"));
            assertMalformed(replaced("6c65616465720000000000000005", "6c6561646572ffffffffffffffff"));
        }

        @Test
        void refusesACounterOfALeaseThatIsOutOfBounds() {
            List<Request> requests = List.of(new ProposeRequest("leader", BALLOT, 1));
            Ballot held = new Ballot(0x11223344556677L, Samples.NODE_3);
            byte[] answer = FrameCodec.encode(
                    answer(new ProposeResponse("leader", BALLOT, false, 5, new AcceptedLease(held, 1))),
                    requests,
                    null,
                    NO_LIMIT);
            for (String counter : List.of("0000000000000000", "0020000000000000", "ffffffffffffffff")) {
                assertThatThrownBy(
                                () -> FrameCodec.decodeAnswer(replaced(answer, "0011223344556677", counter), requests))
                        .isInstanceOf(MalformedFrameException.class);
            }
        }

        @Test
        void refusesNegativeNumbers() {
            long number = 0x1122334455667788L;
            List<Request> requests =
                    List.of(new PrepareRequest("leader", BALLOT, number), new ProposeRequest("leader", BALLOT, number));
            List<byte[]> frames = negated(
                    FrameCodec.encode(Samples.frame(Samples.NODE_1, Samples.NODE_2, 7, number, requests), null));
            assertThat(frames).hasSize(3).allSatisfy(FrameCodecTests::assertMalformed);

            RequestFrame hello =
                    Samples.hello(Samples.CELL, Duration.ofNanos(number), Samples.NODE_1, "node-2", number);
            assertThat(negated(FrameCodec.encode(hello, null))).hasSize(2).allSatisfy(FrameCodecTests::assertMalformed);

            List<Request> asked = requests.subList(0, 1);
            AnswerFrame answer = new AnswerFrame(
                    "default",
                    Samples.NODE_2,
                    Samples.NODE_1,
                    7,
                    8,
                    number,
                    AnswerFrame.Status.OK,
                    "",
                    AcceptorState.VOTING,
                    number,
                    List.of(new PrepareResponse(
                            "leader", BALLOT, true, BALLOT.counter(), new AcceptedLease(BALLOT, number))));
            assertThat(negated(FrameCodec.encode(answer, asked, null, NO_LIMIT)))
                    .hasSize(3)
                    .allSatisfy(bytes -> assertThatThrownBy(() -> FrameCodec.decodeAnswer(bytes, asked))
                            .isInstanceOf(MalformedFrameException.class));
        }

        /** The frame with each of the numbers 0x1122334455667788 in turn made negative. */
        private static List<byte[]> negated(byte[] frame) {
            List<byte[]> all = new ArrayList<>();
            String hex = HexFormat.of().formatHex(frame);
            for (int at = hex.indexOf("1122334455667788"); at >= 0; at = hex.indexOf("1122334455667788", at + 1)) {
                all.add(flip(frame, at / 2 * 8 + 7));
            }
            return all;
        }

        @Test
        void refusesTextsThatAreNotUtf8() {
            assertMalformed(replaced("02c3a9", "02c3c3"));
            assertMalformed(replaced("02c3a9", "02c080"));
            assertMalformed(replaced("02c3a9", "028080"));
        }

        @Test
        void refusesMoreOrFewerRequestsThanCounted() {
            assertMalformed(replaced("00000000000000020002", "00000000000000020001"));
            assertMalformed(replaced("00000000000000020002", "00000000000000020003"));
        }

        @Test
        void refusesMembersThatAreNotThoseOfTheFingerprint() {
            assertMalformed(replaced(hello, "6e6f64652d33", "6e6f64652d34"));
            assertMalformed(replaced(hello, "6e6f64652d33", "6e6f64652d32"));
            assertMalformed(replaced(hello, "6e6f64652d32066e6f64652d33", "6e6f64652d33066e6f64652d32"));
        }

        @Test
        void refusesUnknownFlagsOfAResponse() {
            List<Request> requests = List.of(new ProposeRequest("leader", BALLOT, 1));
            byte[] answer = acceptance(requests);
            assertThat(answer).endsWith(2, 1);
            answer[answer.length - 1] |= 4;
            assertThatThrownBy(() -> FrameCodec.decodeAnswer(answer, requests))
                    .isInstanceOf(MalformedFrameException.class)
                    .hasMessageContaining("flags 5");
        }

        @Test
        void refusesAnswersToOtherRequests() {
            Request propose = new ProposeRequest("leader", BALLOT, 1);
            byte[] answer = acceptance(List.of(propose));
            for (List<Request> others : List.<List<Request>>of(
                    List.of(),
                    List.of(propose, propose),
                    List.of(new PrepareRequest("leader", BALLOT, 1)),
                    List.of(new ReleaseRequest("leader", BALLOT)))) {
                assertThatThrownBy(() -> FrameCodec.decodeAnswer(answer, others))
                        .isInstanceOf(MalformedFrameException.class);
            }
        }

        private static byte[] acceptance(List<Request> requests) {
            return FrameCodec.encode(
                    answer(new ProposeResponse("leader", BALLOT, true, BALLOT.counter(), null)),
                    requests,
                    null,
                    NO_LIMIT);
        }

        private byte[] replaced(String from, String to) {
            return replaced(frame, from, to);
        }

        private byte[] replaced(byte[] frame, String from, String to) {
            String hex = HexFormat.of().formatHex(frame);
            assertThat(hex).contains(from);
            int last = hex.lastIndexOf(from);
            return HexFormat.of().parseHex(hex.substring(0, last) + to + hex.substring(last + from.length()));
        }
    }

    @Nested
    class Allocation {

        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        @Test
        void isBoundedByTheBytesThatAreThere() {
            byte[] many = FrameCodec.encode(Samples.frame(Samples.NODE_1, Samples.NODE_2, 7, 2, List.of()), null);
            many[many.length - 2] = (byte) 0xff;
            many[many.length - 1] = (byte) 0xff;
            byte[] members = FrameCodec.encode(
                    Samples.hello(new Cell("default", List.of("a")), Samples.MAX_LEASE_TIME, Samples.NODE_1, "b", 1),
                    null);
            members[members.length - 3] = (byte) 0xff;
            for (byte[] malicious : List.of(many, members)) {
                assertMalformed(malicious);
                long before =
                        threads.getThreadAllocatedBytes(Thread.currentThread().getId());
                for (int i = 0; i < 100; i++) {
                    assertRefused(malicious);
                }
                long bytes =
                        threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
                assertThat(bytes / 100).isLessThan(4_000);
            }
        }

        private static void assertRefused(byte[] bytes) {
            try {
                decode(bytes);
                throw new AssertionError("Not refused");
            } catch (MalformedFrameException expected) {
                // as it should be
            }
        }
    }

    static Stream<Class<?>> kindsOfRequests() {
        return Arrays.stream(Request.class.getPermittedSubclasses());
    }

    static Stream<Class<?>> kindsOfResponses() {
        return Arrays.stream(Response.class.getPermittedSubclasses());
    }

    private static Request request(Class<? extends Request> kind) {
        if (kind == PrepareRequest.class) {
            return new PrepareRequest("leader", BALLOT, 1);
        } else if (kind == ProposeRequest.class) {
            return new ProposeRequest("leader", BALLOT, 1);
        } else if (kind == ReleaseRequest.class) {
            return new ReleaseRequest("leader", BALLOT);
        }
        throw new AssertionError("Teach the codec and this test about " + kind);
    }

    private static Response response(Class<? extends Response> kind) {
        if (kind == PrepareResponse.class) {
            return new PrepareResponse("leader", BALLOT, true, BALLOT.counter(), null);
        } else if (kind == ProposeResponse.class) {
            return new ProposeResponse("leader", BALLOT, true, BALLOT.counter(), null);
        }
        throw new AssertionError("Teach the codec and this test about " + kind);
    }

    private static AnswerFrame answer(Response response) {
        return new AnswerFrame(
                "default",
                Samples.NODE_2,
                Samples.NODE_1,
                7,
                8,
                1,
                AnswerFrame.Status.OK,
                "",
                AcceptorState.VOTING,
                0,
                Arrays.asList(response));
    }

    static byte[] flip(byte[] bytes, int bit) {
        byte[] flipped = bytes.clone();
        flipped[bit / 8] ^= (byte) (1 << bit % 8);
        return flipped;
    }

    private static RequestFrame decode(byte[] bytes) throws MalformedFrameException {
        return FrameCodec.decodeRequest(bytes, UnaryOperator.identity());
    }

    private static void assertMalformed(byte[] bytes) {
        assertThatThrownBy(() -> decode(bytes)).isInstanceOf(MalformedFrameException.class);
    }
}
