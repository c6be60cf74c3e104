package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.paxoslease.wire.FrameReply;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.reactor.netty.NettyReactiveWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/** In a real reactive server; the senders write their bytes by hand. */
@Timeout(60)
class PaxosLeaseWebFilterTests {

    private static final String START = "POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n";
    private static final String TYPE = "Content-Type: application/vnd.paxoslease.v1\r\n";

    private WebServer server;

    @AfterEach
    void stop() {
        server.stop();
        server.destroy();
    }

    private RawSender sender() throws Exception {
        return new RawSender(server.getPort());
    }

    private void start(WebFilter filter) {
        server = new NettyReactiveWebServerFactory(0)
                .getWebServer(WebHttpHandlerBuilder.webHandler(exchange -> {
                            exchange.getResponse().getHeaders().setContentLength(5);
                            return exchange.getResponse()
                                    .writeWith(Mono.fromSupplier(() -> exchange.getResponse()
                                            .bufferFactory()
                                            .wrap("other".getBytes(StandardCharsets.UTF_8))));
                        })
                        .filter(filter)
                        .build());
        server.start();
    }

    private void echo(Duration bodyTime, int largeBodies) {
        start(echoing(bodyTime, largeBodies));
    }

    private static PaxosLeaseWebFilter echoing(Duration bodyTime, int largeBodies) {
        return new PaxosLeaseWebFilter(
                "/paxoslease/messages",
                TomcatNode.handler(frame -> new FrameReply(200, frame)),
                exchange -> true,
                FrameOrigin.ANYWHERE,
                bodyTime,
                largeBodies);
    }

    /** A sender of a large frame that the server has begun to read. */
    private RawSender begun() throws Exception {
        return begun("Content-Length: 50000");
    }

    private RawSender begun(String length) throws Exception {
        String goOn = "HTTP/1.1 100 Continue\r\n\r\n";
        RawSender sender = sender();
        sender.write(START + TYPE + "Expect: 100-continue\r\n" + length + "\r\n\r\n");
        assertThat(sender.in.readNBytes(goOn.length()))
                .asString(StandardCharsets.UTF_8)
                .isEqualTo(goOn);
        return sender;
    }

    private static String post(String body) {
        return START + TYPE + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    }

    @Test
    void answersFramesOnOneConnection() throws Exception {
        echo(Duration.ofSeconds(10), 64);
        try (RawSender sender = sender()) {
            for (int i = 0; i < 50; i++) {
                RawSender.Response response = sender.write(post("frame " + i)).response();
                assertThat(response.status()).isEqualTo(200);
                assertThat(response.body()).isEqualTo("frame " + i);
                assertThat(response.head()).contains("application/vnd.paxoslease.v1");
            }
        }
    }

    private static MockServerWebExchange exchangeOfUnknownLength() {
        return MockServerWebExchange.from(MockServerHttpRequest.post("/paxoslease/messages")
                .header(HttpHeaders.CONTENT_TYPE, FrameChannels.CONTENT_TYPE)
                .body("x"));
    }

    /** Else a few strangers who read nothing could keep the large frames of members out for as long as they like. */
    @Test
    void aSenderThatTakesNoAnswerKeepsNoPlace() {
        PaxosLeaseWebFilter filter = echoing(Duration.ofSeconds(10), 1);
        start(filter);
        MockServerWebExchange untaken = exchangeOfUnknownLength();
        untaken.getResponse().setWriteHandler(body -> Mono.never());
        filter.filter(untaken, next -> Mono.empty()).subscribe();
        assertThat(untaken.getResponse().getStatusCode()).isEqualTo(HttpStatus.OK);

        MockServerWebExchange next = exchangeOfUnknownLength();
        filter.filter(next, further -> Mono.empty()).block();
        assertThat(next.getResponse().getStatusCode()).isEqualTo(HttpStatus.OK);
    }

    /** Of the server's memory, which no garbage collector frees. */
    @Test
    void keepsNothingOfAFrame() {
        PaxosLeaseWebFilter filter = echoing(Duration.ofSeconds(10), 64);
        start(filter);
        NettyDataBuffer body = new NettyDataBufferFactory(UnpooledByteBufAllocator.DEFAULT).allocateBuffer(5);
        body.write(new byte[5]);
        MockServerWebExchange exchange = MockServerWebExchange.from(MockServerHttpRequest.post("/paxoslease/messages")
                .header(HttpHeaders.CONTENT_TYPE, FrameChannels.CONTENT_TYPE)
                .contentLength(5)
                .body(Flux.just(body)));
        filter.filter(exchange, next -> Mono.empty()).block();
        assertThat(exchange.getResponse().getStatusCode()).isEqualTo(HttpStatus.OK);
        assertThat(body.isAllocated()).isFalse();
    }

    @Test
    void tellsTheHandlerWhereAFrameComesFrom() throws Exception {
        start(new PaxosLeaseWebFilter(
                "/paxoslease/messages",
                TomcatNode.mirror(),
                exchange -> true,
                FrameOrigin.ANYWHERE,
                Duration.ofSeconds(10),
                64));
        try (RawSender sender = sender()) {
            assertThat(sender.write(post("x")).response().body()).isEqualTo("127.0.0.1");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 409, 413, 503})
    void passesOnTheReplyOfTheHandler(int status) throws Exception {
        start(new PaxosLeaseWebFilter(
                "/paxoslease/messages",
                TomcatNode.handler(frame -> new FrameReply(status, "reason".getBytes(StandardCharsets.UTF_8))),
                exchange -> true,
                FrameOrigin.ANYWHERE,
                Duration.ofSeconds(10),
                64));
        try (RawSender sender = sender()) {
            RawSender.Response response = sender.write(post("x")).response();
            assertThat(response.status()).isEqualTo(status);
            assertThat(response.body()).isEqualTo("reason");
            assertThat(response.head()).contains("text/plain");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST / HTTP/1.1",
                "POST /paxoslease HTTP/1.1",
                "POST /paxoslease/messages/ HTTP/1.1",
                "GET /paxoslease/other HTTP/1.1"
            })
    void allOtherRequestsGoOn(String line) throws Exception {
        echo(Duration.ofSeconds(10), 64);
        try (RawSender sender = sender()) {
            RawSender.Response response = sender.write(line + "\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                    .response();
            assertThat(response.body()).isEqualTo("other");
        }
    }

    @Test
    void takesOnlyPostedFrames() throws Exception {
        echo(Duration.ofSeconds(10), 64);
        try (RawSender sender = sender()) {
            RawSender.Response response = sender.write("GET /paxoslease/messages HTTP/1.1\r\nHost: x\r\n\r\n")
                    .response();
            assertThat(response.status()).isEqualTo(405);
            assertThat(response.head()).containsIgnoringCase("Allow: POST\r\n");
        }
        for (String type : new String[] {"", "Content-Type: text/plain\r\n", "Content-Type: ///\r\n"}) {
            try (RawSender sender = sender()) {
                assertThat(sender.write(START + type + "Content-Length: 1\r\n\r\nx")
                                .response()
                                .status())
                        .isEqualTo(415);
            }
        }
    }

    @Test
    void refusesALargeBodyByItsLengthBeforeItComes() throws Exception {
        echo(Duration.ofSeconds(10), 64);
        try (RawSender sender = sender()) {
            RawSender.Response response = sender.write(
                            START + TYPE + "Content-Length: " + (TomcatNode.MAX_FRAME_BYTES + 1) + "\r\n\r\n")
                    .response();
            assertThat(response.status()).isEqualTo(413);
            assertThat(response.closes()).isTrue();
        }
    }

    @Test
    void stopsReadingABodyOfUnknownLength() throws Exception {
        echo(Duration.ofSeconds(10), 64);
        try (RawSender sender = sender()) {
            String chunk = "1000\r\n" + "x".repeat(4_096) + "\r\n";
            sender.write(START + TYPE + "Transfer-Encoding: chunked\r\n\r\n");
            sender.write(chunk.repeat(TomcatNode.MAX_FRAME_BYTES / 4_096 + 1));
            assertThat(sender.response().status()).isEqualTo(413);
        }
    }

    @Test
    void givesUpASlowSender() throws Exception {
        echo(Duration.ofMillis(300), 64);
        try (RawSender sender = sender()) {
            RawSender.Response response =
                    sender.write(START + TYPE + "Content-Length: 20\r\n\r\nx").response();
            assertThat(response.status()).isEqualTo(408);
            assertThat(response.closes()).isTrue();
        }
    }

    @Test
    void slowSendersOfLargeFramesDoNotStopSmallOnes() throws Exception {
        echo(Duration.ofSeconds(30), 2);
        try (RawSender first = begun();
                RawSender second = begun()) {
            try (RawSender third = sender()) {
                assertThat(third.write(post("x".repeat(50_000))).response().status())
                        .isEqualTo(503);
            }
            try (RawSender small = sender()) {
                assertThat(small.write(post("hello")).response().body()).isEqualTo("hello");
            }
            for (RawSender each : new RawSender[] {first, second}) {
                assertThat(each.write("x".repeat(50_000)).response().status()).isEqualTo(200);
            }
        }
    }

    @Test
    void aFrameOfUnknownLengthCountsAsALargeOne() throws Exception {
        echo(Duration.ofSeconds(30), 1);
        try (RawSender unknown = begun("Transfer-Encoding: chunked");
                RawSender large = sender()) {
            assertThat(large.write(post("x".repeat(50_000))).response().status())
                    .isEqualTo(503);
            assertThat(unknown.write("1\r\nx\r\n0\r\n\r\n").response().body()).isEqualTo("x");
        }
    }

    @Test
    void answersTheLargestFrame() throws Exception {
        echo(Duration.ofSeconds(30), 64);
        String largest = "x".repeat(TomcatNode.MAX_FRAME_BYTES);
        try (RawSender sender = sender()) {
            assertThat(sender.write(post(largest)).response().body()).isEqualTo(largest);
        }
    }

    @Test
    void answersAnEmptyFrame() throws Exception {
        start(new PaxosLeaseWebFilter(
                "/paxoslease/messages",
                TomcatNode.handler(frame -> new FrameReply(400, new byte[] {'0'})),
                exchange -> true,
                FrameOrigin.ANYWHERE,
                Duration.ofSeconds(10),
                64));
        try (RawSender sender = sender()) {
            assertThat(sender.write(post("")).response().status()).isEqualTo(400);
        }
    }

    @Test
    void aSenderThatGoesAwayGivesItsPlaceBack() throws Exception {
        echo(Duration.ofSeconds(30), 1);
        begun().write("x").close();
        int status;
        do {
            try (RawSender sender = sender()) {
                status = sender.write(post("x".repeat(50_000))).response().status();
            }
        } while (status == 503);
        assertThat(status).isEqualTo(200);
    }

    /** The server refuses it by itself; a failure would be logged with its stack trace, for whoever sends such a thing. */
    @ParameterizedTest
    @ValueSource(strings = {"zzz\r\n", "-5\r\n", "5\r\nabcdefgh\r\n"})
    void aBodyThatTheServerCannotReadIsNoFailure(String chunk) throws Exception {
        PaxosLeaseWebFilter filter = echoing(Duration.ofSeconds(10), 64);
        CompletableFuture<Signal<Void>> end = new CompletableFuture<>();
        start((exchange, chain) -> filter.filter(exchange, chain)
                .materialize()
                .doOnNext(end::complete)
                .dematerialize());
        try (RawSender sender = sender()) {
            sender.write(START + TYPE + "Transfer-Encoding: chunked\r\n\r\n" + chunk);
            assertThat(end.get().getThrowable()).isNull();
        }
    }
}
