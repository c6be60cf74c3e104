package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.wire.FrameReply;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.web.util.ContentCachingResponseWrapper;

/** In a real Tomcat; the senders write their bytes by hand. */
@Timeout(240)
class PaxosLeaseServletTests {

    private static final String START = "POST /paxoslease/messages HTTP/1.1\r\nHost: x\r\n";
    private static final String TYPE = "Content-Type: application/vnd.paxoslease.v1\r\n";

    private final AtomicInteger requests = new AtomicInteger();
    private final List<AutoCloseable> closeables = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable closeable : closeables) {
            closeable.close();
        }
    }

    private TomcatNode echo(Duration bodyTime, int slowBodies, boolean async) {
        PaxosLeaseServlet servlet = new PaxosLeaseServlet(
                () -> {
                    requests.incrementAndGet();
                    return TomcatNode.handler(frame -> new FrameReply(200, frame));
                },
                FrameOrigin.ANYWHERE,
                bodyTime,
                slowBodies);
        return closing(TomcatNode.start(servlet, async, PaxosLeaseServletTests::withFewThreads, context -> {}));
    }

    private static void withFewThreads(TomcatServletWebServerFactory factory) {
        factory.addConnectorCustomizers(connector -> connector.setProperty("maxThreads", "2"));
    }

    private <T extends AutoCloseable> T closing(T closeable) {
        closeables.add(0, closeable);
        return closeable;
    }

    private RawSender sender(TomcatNode node) throws IOException {
        return closing(new RawSender(node.port()));
    }

    private RawSender.Response send(String request) throws IOException {
        return sender(closing(TomcatNode.echo())).write(request).response();
    }

    private static String post(String body) {
        return START + TYPE + "Content-Length: " + body.length() + "\r\n\r\n" + body;
    }

    @Test
    void answersAFrameWithoutMoreThanNeeded() throws Exception {
        RawSender.Response response = send(post("hello"));
        assertThat(response.status()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("hello");
        assertThat(response.head())
                .contains("Content-Type: application/vnd.paxoslease.v1\r\n")
                .doesNotContain("Set-Cookie")
                .doesNotContain("Connection");
    }

    @Test
    void keepsTheConnection() throws Exception {
        RawSender sender = sender(closing(TomcatNode.echo()));
        for (int i = 0; i < 50; i++) {
            assertThat(sender.write(post("frame " + i)).response().body()).isEqualTo("frame " + i);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 409, 413, 503})
    void passesOnTheReplyOfTheHandler(int status) throws Exception {
        PaxosLeaseServlet servlet = new PaxosLeaseServlet(() ->
                TomcatNode.handler(frame -> new FrameReply(status, "reason".getBytes(StandardCharsets.UTF_8))));
        RawSender.Response response =
                sender(closing(TomcatNode.start(servlet))).write(post("x")).response();
        assertThat(response.status()).isEqualTo(status);
        assertThat(response.body()).isEqualTo("reason");
        assertThat(response.head()).contains("Content-Type: text/plain;charset=UTF-8\r\n");
    }

    @Test
    void saysThatAFrameAnswersAFrameThatWasNotAccepted() throws Exception {
        PaxosLeaseServlet servlet =
                new PaxosLeaseServlet(() -> TomcatNode.handler(frame -> new FrameReply(409, new byte[] {1, 1})));
        RawSender.Response response =
                sender(closing(TomcatNode.start(servlet))).write(post("x")).response();
        assertThat(response.status()).isEqualTo(409);
        assertThat(response.head()).contains("Content-Type: application/vnd.paxoslease.v1\r\n");
    }

    @Test
    void tellsTheHandlerWhereAFrameComesFrom() throws Exception {
        RawSender sender = sender(closing(TomcatNode.start(new PaxosLeaseServlet(TomcatNode::mirror))));
        assertThat(sender.write(post("x")).response().body()).isEqualTo("127.0.0.1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 0\r\n", ""})
    void answersAnEmptyFrame(String length) throws Exception {
        assertThat(send(START + TYPE + length + "\r\n").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "PUT", "DELETE", "OPTIONS", "PATCH", "FROBNICATE", "post"})
    void refusesOtherMethods(String method) throws Exception {
        RawSender.Response response =
                send(method + " /paxoslease/messages HTTP/1.1\r\nHost: x\r\n" + TYPE + "Content-Length: 0\r\n\r\n");
        assertThat(response.status()).isEqualTo(405);
        assertThat(response.head()).contains("Allow: POST\r\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/other", "/messages/", "/messages/x", "/x/messages"})
    void refusesOtherPaths(String path) throws Exception {
        assertThat(send(post("x").replace("/messages", path)).status()).isEqualTo(404);
    }

    @Test
    void answersWhereItIsMappedExactly() throws Exception {
        PaxosLeaseServlet servlet =
                new PaxosLeaseServlet(() -> TomcatNode.handler(frame -> new FrameReply(200, frame)));
        TomcatNode node = closing(TomcatNode.start(new PaxosLeaseServlet(() -> null), true, factory -> {}, context -> {
            ServletRegistration.Dynamic exact = context.addServlet("exact", servlet);
            exact.addMapping("/x/messages");
            exact.addMapping("/y");
            exact.setAsyncSupported(true);
        }));
        String request = post("x");
        assertThat(sender(node)
                        .write(request.replace("/paxoslease/messages", "/x/messages"))
                        .response()
                        .status())
                .isEqualTo(200);
        assertThat(sender(node)
                        .write(request.replace("/paxoslease/messages", "/y"))
                        .response()
                        .status())
                .isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Content-Type: application/json\r\n",
                "Content-Type: application/x-www-form-urlencoded\r\n",
                "Content-Type: application/vnd.paxoslease.v2\r\n",
                "Content-Type: ;\r\n"
            })
    void refusesOtherTypes(String type) throws Exception {
        assertThat(send(post("x").replace(TYPE, type)).status()).isEqualTo(415);
    }

    @Test
    void allowsParametersOfTheType() throws Exception {
        assertThat(send(post("x").replace(TYPE, "Content-Type: Application/Vnd.PaxosLease.V1 ; a=b\r\n"))
                        .status())
                .isEqualTo(200);
    }

    @Test
    void isNotReadyWithoutAHandler() throws Exception {
        PaxosLeaseServlet servlet = new PaxosLeaseServlet(() -> null);
        RawSender sender = sender(closing(TomcatNode.start(servlet)));
        assertThat(sender.write(post("x")).response().status()).isEqualTo(503);
    }

    @Test
    void refusesATooLargeFrameWithoutWaitingForIt() throws Exception {
        RawSender sender = sender(closing(TomcatNode.echo()));
        RawSender.Response response = sender.write(
                        START + TYPE + "Content-Length: " + (TomcatNode.MAX_FRAME_BYTES + 1) + "\r\n\r\nxx")
                .response();
        assertThat(response.status()).isEqualTo(413);
        assertThat(response.closes()).isTrue();
        assertThat(response.body()).isEqualTo("reads frames of up to 100000 bytes");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void takesChunks(boolean async) throws Exception {
        RawSender sender = sender(echo(Duration.ofSeconds(10), 64, async));
        String chunked = START + TYPE + "Transfer-Encoding: chunked\r\n\r\n";
        assertThat(sender.write(chunked + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                        .response()
                        .body())
                .isEqualTo("abcde");
        assertThat(sender.write(chunked + "0\r\n\r\n").response().body()).isEmpty();
        sender.write(chunked + "3\r\nabc\r\n");
        Thread.sleep(100);
        assertThat(sender.write("1\r\nd\r\n0\r\n\r\n").response().body()).isEqualTo("abcd");
        String large = "x".repeat(TomcatNode.MAX_FRAME_BYTES);
        assertThat(sender.write(chunked + Integer.toHexString(large.length()) + "\r\n" + large + "\r\n0\r\n\r\n")
                        .response()
                        .body())
                .isEqualTo(large);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusesTooManyChunks(boolean async) throws Exception {
        RawSender sender = sender(echo(Duration.ofSeconds(10), 64, async));
        String chunk = "2710\r\n" + "x".repeat(10_000) + "\r\n";
        RawSender.Response response = sender.write(
                        START + TYPE + "Transfer-Encoding: chunked\r\n\r\n" + chunk.repeat(11))
                .response();
        assertThat(response.status()).isEqualTo(413);
        assertThat(response.closes()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void takesAFrameThatComesInPieces(boolean async) throws Exception {
        RawSender sender = sender(echo(Duration.ofSeconds(10), 64, async));
        for (int round = 0; round < 3; round++) {
            sender.write(START + TYPE + "Content-Length: 30\r\n\r\n").trickle(30, 5);
            assertThat(sender.response().body()).isEqualTo("x".repeat(30));
        }
        assertThat(sender.write(post("small")).response().body()).isEqualTo("small");
    }

    @Test
    void asksForTheBodyOfACautiousRawSender() throws Exception {
        RawSender sender = sender(closing(TomcatNode.echo()))
                .write(START + TYPE + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
        byte[] interim = sender.in.readNBytes("HTTP/1.1 100 \r\n\r\n".length());
        assertThat(new String(interim, StandardCharsets.US_ASCII)).startsWith("HTTP/1.1 100");
        assertThat(sender.write("ok").response().body()).isEqualTo("ok");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givesUpASlowRawSender(boolean async) throws Exception {
        RawSender sender = sender(echo(Duration.ofMillis(500), 64, async));
        long start = System.nanoTime();
        sender.write(START + TYPE + "Content-Length: 10000\r\n\r\n").trickle(1000, 20);
        RawSender.Response response = sender.response();
        assertThat(response.status()).isEqualTo(408);
        assertThat(response.closes()).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void givesUpARawSenderThatFallsSilent() throws Exception {
        RawSender sender = sender(echo(Duration.ofMillis(500), 64, true));
        sender.write(START + TYPE + "Content-Length: 10000\r\n\r\nxx");
        assertThat(sender.response().status()).isEqualTo(408);
    }

    /** As many that have sent the beginning of a frame, which the servlet has seen. */
    private List<RawSender> slowSenders(TomcatNode node, int count, String rest) throws Exception {
        List<RawSender> slow = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            slow.add(sender(node).write(START + TYPE + rest));
        }
        while (requests.get() < count) {
            Thread.sleep(10);
        }
        return slow;
    }

    @Test
    void answersSmallFramesWhateverSlowRawSendersDo() throws Exception {
        // Two threads serve this Tomcat.
        TomcatNode node = echo(Duration.ofSeconds(30), 8, true);
        List<RawSender> slow = slowSenders(node, 8, "Content-Length: 2\r\n\r\nx");
        Thread.sleep(200);
        RawSender small = sender(node);
        for (int i = 0; i < 20; i++) {
            assertThat(small.write(post("frame")).response().body()).isEqualTo("frame");
        }
        RawSender.Response refused =
                sender(node).write(START + TYPE + "Content-Length: 2\r\n\r\n").response();
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.closes()).isTrue();
        for (RawSender each : slow) {
            assertThat(each.write("y").response().body()).isEqualTo("xy");
        }
        assertThat(becomesFree(node)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 2\r\n\r\nx",
                "Content-Length: 100001\r\n\r\nx",
                "Transfer-Encoding: chunked\r\n\r\n"
            })
    void keepsNoThreadWaitingForARefusedFrame(String rest) throws Exception {
        // Two threads serve this Tomcat.
        TomcatNode node = echo(Duration.ofSeconds(30), 0, true);
        for (int i = 0; i < 8; i++) {
            assertThat(sender(node).write(START + TYPE + rest).response().closes())
                    .isTrue();
        }
        assertThat(sender(node).write(post("frame")).response().body()).isEqualTo("frame");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void forgetsSlowRawSendersThatLeave(boolean async) throws Exception {
        TomcatNode node = echo(Duration.ofSeconds(30), 1, async);
        for (int round = 0; round < 3; round++) {
            RawSender leaver = sender(node).write(START + TYPE + "Content-Length: 20\r\n\r\nx");
            Thread.sleep(100);
            leaver.close();
            assertThat(becomesFree(node)).isTrue();
        }
    }

    /** As a filter may that has begun something asynchronous already. */
    @Test
    void forgetsSlowRawSendersThatItCannotReadLater() throws Exception {
        PaxosLeaseServlet servlet = new PaxosLeaseServlet(
                () -> TomcatNode.handler(frame -> new FrameReply(200, frame)),
                FrameOrigin.ANYWHERE,
                Duration.ofSeconds(10),
                1);
        Filter begins = (request, response, chain) -> {
            if (((HttpServletRequest) request).getHeader("X-Begin") != null) {
                request.startAsync();
            }
            chain.doFilter(request, response);
        };
        TomcatNode node = closing(TomcatNode.start(servlet, true, factory -> {}, context -> {
            FilterRegistration.Dynamic registration = context.addFilter("begins", begins);
            registration.addMappingForUrlPatterns(null, false, "/*");
            registration.setAsyncSupported(true);
        }));
        RawSender sender = sender(node).write(START + TYPE + "X-Begin: x\r\nContent-Length: 2\r\n\r\nx");
        while (!sender.isClosedByPeer()) {
            // some answer of the container
        }
        assertThat(becomesFree(node)).isTrue();
    }

    /** Tomcat calls what it has of the header available, and waits for the rest of it if it is asked to read. */
    @Test
    void keepsNoThreadWaitingForTheLengthOfAChunk() throws Exception {
        TomcatNode node = echo(Duration.ofSeconds(2), 8, true);
        List<RawSender> slow = slowSenders(node, 2, "Transfer-Encoding: chunked\r\n\r\n1;a");
        assertThat(sender(node).write(post("frame")).response().body()).isEqualTo("frame");
        for (RawSender each : slow) {
            assertThat(each.response().status()).isEqualTo(408);
        }
    }

    /** Whether a slow frame is taken, soon. */
    private boolean becomesFree(TomcatNode node) throws Exception {
        for (int attempt = 0; attempt < 50; attempt++) {
            RawSender sender = sender(node).write(START + TYPE + "Content-Length: 2\r\n\r\nx");
            Thread.sleep(50);
            if (sender.in.available() == 0 && sender.write("y").response().status() == 200) {
                return true;
            }
        }
        return false;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Transfer-Encoding: chunked\r\n\r\nzzz\r\n",
                "Transfer-Encoding: chunked\r\n\r\n-5\r\n",
                "Transfer-Encoding: chunked\r\n\r\n5\r\nabcdefgh\r\n",
                "Content-Length: -1\r\n\r\n",
                "Content-Length: 99999999999999999999\r\n\r\n",
                "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"
            })
    void survivesGarbage(String rest) throws Exception {
        Semaphore handled = new Semaphore(0);
        PaxosLeaseServlet servlet = new PaxosLeaseServlet(
                () -> TomcatNode.handler(frame -> {
                    handled.release();
                    return new FrameReply(200, frame);
                }),
                FrameOrigin.ANYWHERE,
                Duration.ofSeconds(10),
                1);
        TomcatNode node = closing(TomcatNode.start(servlet));
        for (int i = 0; i < 3; i++) {
            RawSender sender = sender(node).write(START + TYPE + rest);
            while (!sender.isClosedByPeer()) {
                // some answer of the container
            }
        }
        assertThat(handled.availablePermits()).isZero();
        assertThat(becomesFree(node)).isTrue();
    }

    /** As many filters make it that log bodies: it neither knows what is there nor calls when there is more. */
    private static final class BodyOfAFilter extends ServletInputStream {

        private final InputStream bytes;

        BodyOfAFilter(InputStream bytes) {
            this.bytes = bytes;
        }

        @Override
        public int read() throws IOException {
            return bytes.read();
        }

        @Override
        public boolean isFinished() {
            return false;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            throw new UnsupportedOperationException();
        }
    }

    private TomcatNode behind(Filter filter) {
        return behind(filter, FrameOrigin.ANYWHERE);
    }

    private TomcatNode behind(Filter filter, FrameOrigin origin) {
        PaxosLeaseServlet servlet =
                new PaxosLeaseServlet(() -> TomcatNode.handler(frame -> new FrameReply(200, frame)), origin);
        return closing(TomcatNode.start(servlet, true, factory -> {}, context -> {
            FilterRegistration.Dynamic registration = context.addFilter("filter", filter);
            registration.addMappingForUrlPatterns(null, false, "/*");
            registration.setAsyncSupported(true);
        }));
    }

    @Test
    void readsTheBodyThatAFilterPutInPlaceOfTheContainers() throws Exception {
        TomcatNode node = behind((request, response, chain) -> {
            InputStream body = new ByteArrayInputStream(request.getInputStream().readAllBytes());
            chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public ServletInputStream getInputStream() {
                            return new BodyOfAFilter(body);
                        }
                    },
                    response);
        });

        RawSender.Response response = sender(node).write(post("a frame")).response();
        assertThat(response.status()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("a frame");

        RawSender.Response refusal = sender(node)
                .write(post("x".repeat(TomcatNode.MAX_FRAME_BYTES + 1)))
                .response();
        assertThat(refusal.status()).isEqualTo(413);
    }

    /** As that of a Unix domain socket. Java takes nothing for the name of the loopback interface. */
    @ParameterizedTest
    @NullAndEmptySource
    void whatHasNoAddressIsNotOfThisMachine(String address) throws Exception {
        TomcatNode node = behind(
                (request, response, chain) -> chain.doFilter(
                        new HttpServletRequestWrapper((HttpServletRequest) request) {
                            @Override
                            public String getLocalAddr() {
                                return address;
                            }
                        },
                        response),
                FrameOrigin.OWN_MACHINE);
        assertThat(sender(node).write(post("a frame")).response().status()).isEqualTo(409);
    }

    @Test
    void anEmptyListOfCertificatesIsNone() throws Exception {
        TomcatNode node = behind(
                (request, response, chain) -> {
                    request.setAttribute("jakarta.servlet.request.X509Certificate", new X509Certificate[0]);
                    chain.doFilter(request, response);
                },
                FrameOrigin.CERTIFIED);
        assertThat(sender(node).write(post("a frame")).response().status()).isEqualTo(409);
    }

    /** Read as a text, and in two wrappers. */
    @Test
    void readsTheBodyOfAFilterBehindTheWrapperOfAnother() throws Exception {
        TomcatNode node = behind((request, response, chain) -> {
            byte[] text = request.getReader().readLine().getBytes(StandardCharsets.US_ASCII);
            ServletInputStream body = new BodyOfAFilter(new ByteArrayInputStream(text));
            HttpServletRequest read = new HttpServletRequestWrapper((HttpServletRequest) request) {
                @Override
                public ServletInputStream getInputStream() {
                    return body;
                }
            };
            chain.doFilter(new HttpServletRequestWrapper(read), response);
        });
        assertThat(sender(node).write(post("a frame")).response().body()).isEqualTo("a frame");
    }

    /** As one does that logs answers: it passes on what was written when the servlet returned. */
    @Test
    void answersAFrameThatComesInPiecesPastAFilterThatKeepsTheAnswerBack() throws Exception {
        RawSender sender = sender(behind((request, response, chain) -> {
            ContentCachingResponseWrapper kept = new ContentCachingResponseWrapper((HttpServletResponse) response);
            chain.doFilter(request, kept);
            kept.copyBodyToResponse();
        }));
        sender.write(START + TYPE + "Content-Length: 30\r\n\r\n").trickle(30, 5);
        assertThat(sender.response().body()).isEqualTo("x".repeat(30));
        String large = "x".repeat(TomcatNode.MAX_FRAME_BYTES);
        assertThat(sender.write(post(large)).response().body()).isEqualTo(large);
    }

    /** One that passes nothing on of a request that has become asynchronous. */
    @Test
    void saysPastSuchAFilterWhyItRefusesAFrame() throws Exception {
        RawSender.Response refusal = sender(behind((request, response, chain) -> {
                    ContentCachingResponseWrapper kept =
                            new ContentCachingResponseWrapper((HttpServletResponse) response);
                    chain.doFilter(request, kept);
                    if (!request.isAsyncStarted()) {
                        kept.copyBodyToResponse();
                    }
                }))
                .write(START + TYPE + "Content-Length: " + (TomcatNode.MAX_FRAME_BYTES + 1) + "\r\n\r\nxx")
                .response();
        assertThat(refusal.status()).isEqualTo(413);
        assertThat(refusal.closes()).isTrue();
        assertThat(refusal.body()).contains(" 100000 bytes");
    }
}
