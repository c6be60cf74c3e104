package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.paxoslease.wire.FrameReply;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseParserTests {

    private static final int MAX = 1000;

    private final ResponseParser parser = new ResponseParser(MAX);

    private FrameReply read(String response) throws ProtocolException {
        return parser.read(bytes(response));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String text(FrameReply reply) {
        return reply.status() + " " + new String(reply.body(), StandardCharsets.ISO_8859_1);
    }

    @Test
    void readsABodyWithALength() throws ProtocolException {
        assertThat(text(read("HTTP/1.1 200 OK\r\nServer: x\r\ncontent-LENGTH:  5 \r\n\r\nhello")))
                .isEqualTo("200 hello");
        assertThat(parser.keepsAlive()).isTrue();
    }

    @Test
    void readsABodyInChunks() throws ProtocolException {
        ByteBuffer in = bytes("HTTP/1.1 409 \r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "5;ext=\"a\"\r\nhello\r\n00001\r\n!\r\nA \r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nHTTP");
        assertThat(text(parser.read(in))).isEqualTo("409 hello!0123456789");
        assertThat(in.remaining()).isEqualTo(4);
        assertThat(parser.keepsAlive()).isTrue();
    }

    @Test
    void leavesWhatFollowsTheResponse() throws ProtocolException {
        ByteBuffer in = bytes("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP");
        assertThat(text(parser.read(in))).isEqualTo("200 a");
        assertThat(in.remaining()).isEqualTo(4);
    }

    @Test
    void readsTheSameWhereverTheBytesAreCut() throws ProtocolException {
        String response = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                + "Connection: keep-alive, Close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 500; round++) {
            ResponseParser each = new ResponseParser(MAX);
            int at = 0;
            FrameReply reply = null;
            while (reply == null) {
                int next = Math.min(response.length(), at + (round == 0 ? 1 : random.nextInt(1, 20)));
                reply = each.read(bytes(response.substring(at, next)));
                at = next;
                assertThat(reply == null).isEqualTo(at < response.length());
            }
            assertThat(text(reply)).isEqualTo("200 abcde");
            assertThat(each.keepsAlive()).isFalse();
        }
    }

    @Test
    void skipsInterimResponses() throws ProtocolException {
        assertThat(text(read(
                        "HTTP/1.1 100 Continue\r\nContent-Length: 3\r\n\r\nHTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")))
                .isEqualTo("200 ok");
    }

    /** Whatever their headers say: whoever waits for one gets no answer. */
    @ParameterizedTest
    @CsvSource({
        "204, X: y",
        "304, X: y",
        "204, Content-Length: 5",
        "304, Content-Length: 5000",
        "204, Transfer-Encoding: chunked"
    })
    void knowsThatSomeResponsesHaveNoBody(int status, String header) throws ProtocolException {
        assertThat(text(read("HTTP/1.1 " + status + " None\r\n" + header + "\r\n\r\n")))
                .isEqualTo(status + " ");
    }

    @Test
    void takesWhatTheLastResponseSaysOfTheConnection() throws ProtocolException {
        read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n");
        assertThat(parser.keepsAlive()).isFalse();
    }

    @Test
    void staysStartedWhenNothingComes() throws ProtocolException {
        assertThat(read("")).isNull();
        assertThat(parser.isStarted()).isFalse();
        assertThat(read("H")).isNull();
        assertThat(read("")).isNull();
        assertThat(parser.isStarted()).isTrue();
    }

    @Test
    void readsAnEmptyBody() throws ProtocolException {
        assertThat(text(read("HTTP/1.1 503\r\nContent-Length: 0\r\n\r\n"))).isEqualTo("503 ");
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 502})
    void doesNotWaitForABodyThatLastsUntilTheConnectionEnds(int status) throws ProtocolException {
        assertThat(text(read("HTTP/1.1 " + status + " \r\nServer: x\r\n\r\n<html>")))
                .isEqualTo(status + " ");
        assertThat(parser.keepsAlive()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP/1.1, x, true",
        "HTTP/1.1, keep-alive, true",
        "HTTP/1.1, close, false",
        "HTTP/1.0, keep-alive, false"
    })
    void knowsWhetherTheConnectionStaysOpen(String version, String connection, boolean expected)
            throws ProtocolException {
        read(version + " 200 OK\r\nConnection: " + connection + "\r\nContent-Length: 0\r\n\r\n");
        assertThat(parser.keepsAlive()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage",
                "\0",
                "\r\nHTTP/1.1 200 OK\r\n",
                "HTTP/2 200 OK\r\n",
                "HTTP/1.2 200 OK\r\n",
                "HTTP/1.1 20\r\n",
                "HTTP/1.1 20 OK\r\n",
                "HTTP/1.1-200 OK\r\n",
                "HTTP/1.1 099 OK\r\n",
                "HTTP/1.1 2000 OK\r\n",
                "HTTP/1.1  200 OK\r\n",
                "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
                "HTTP/1.1 200 OK\rContent-Length: 0\r\r",
                "HTTP/1.1 101 Switching Protocols\r\n\r\n",
                "HTTP/1.1 200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\n: x\r\n",
                "HTTP/1.1 200 OK\r\nno colon\r\n",
                "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\n",
                "HTTP/1.1 200 OK\r\nA: b\r\n folded: c\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: \r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1111111111111111\r\n",
            })
    void refusesWhatIsNotHttp(String response) {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> read(response))
                .withMessageStartingWith("something that is not HTTP: ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 999999999999999999\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 4294967297\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3E9\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffe\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n3E8\r\n"
            })
    void refusesABodyThatIsTooLargeBeforeItComes(String response) {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> read(response))
                .withMessage("more than 1000 bytes");
    }

    @Test
    void takesABodyAsLargeAsAllowed() throws ProtocolException {
        String body = "x".repeat(MAX);
        assertThat(read("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + body)
                        .body())
                .hasSize(MAX);
        assertThat(new ResponseParser(MAX)
                        .read(bytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3E8\r\n" + body
                                + "\r\n0\r\n\r\n"))
                        .body())
                .hasSize(MAX);
    }

    @Test
    void takesABodyInManySmallChunks() throws ProtocolException {
        String chunk = "1;name=" + "x".repeat(20) + "\r\na\r\n";
        assertThat(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk.repeat(MAX) + "0\r\n\r\n")
                        .body())
                .hasSize(MAX);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 ",
                "HTTP/1.1 200 OK\r\nX: ",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: "
            })
    void refusesALineThatDoesNotEnd(String start) {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> read(start + "x".repeat(20_000)))
                .withMessageContaining("bytes of headers");
    }

    @Test
    void refusesHeadersWithoutEnd() {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> read("HTTP/1.1 200 OK\r\n" + "X: y\r\n".repeat(3_000)))
                .withMessageContaining("bytes of headers");
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> new ResponseParser(MAX).read(bytes("HTTP/1.1 100 Continue\r\n\r\n".repeat(700))))
                .withMessageContaining("bytes of headers");
    }

    @Test
    void survivesAnyBytes() {
        SplittableRandom random = new SplittableRandom(11);
        String valid = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = valid.getBytes(StandardCharsets.ISO_8859_1);
            for (int change = random.nextInt(4); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                FrameReply reply = new ResponseParser(MAX).read(ByteBuffer.wrap(bytes));
                assertThat(reply == null || reply.body().length <= MAX).isTrue();
            } catch (ProtocolException refused) {
                assertThat(refused).hasMessageNotContaining("null");
            }
        }
    }
}
