package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLContext;
import org.apache.catalina.connector.Connector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Whole applications without a shared secret that know each other by certificates, as {@code docs/configuration.md} sets it up. */
@Timeout(180)
class MutualTlsCellTests {

    private static final int NOT_A_FRAME_TO_HTTP = 415;
    private static final int NOT_A_FRAME = 400;
    private static final Duration TIME = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(60);

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {

        /** A port without TLS beside the other, as applications have it for redirects. */
        @Bean
        WebServerFactoryCustomizer<TomcatServletWebServerFactory> plainPort(@Value("${test.plain-port:-1}") int port) {
            return factory -> {
                if (port >= 0) {
                    Connector connector = new Connector();
                    connector.setPort(port);
                    factory.addAdditionalConnectors(connector);
                }
            };
        }
    }

    enum Way {
        HTTP,
        REACTIVE,
        TCP
    }

    @TempDir
    Path directory;

    private final List<ConfigurableApplicationContext> applications = new ArrayList<>();
    private int[] ports = {};
    private Path keyStore = Path.of("");
    private Path trustStore = Path.of("");

    @BeforeEach
    void makeAKey() throws Exception {
        keyStore = directory.resolve("cell.p12");
        trustStore = directory.resolve("trusted.p12");
        replaceKey();
        ports = FreePorts.take(4);
    }

    @AfterEach
    void closeAll() {
        applications.forEach(ConfigurableApplicationContext::close);
    }

    @ParameterizedTest
    @EnumSource
    void electsAndShutsStrangersOut(Way way) throws Exception {
        start(0, way);
        start(1, way);
        acquireAndRelease(0);

        assertThat(answersTo(TestCertificates.context(keyStore), way)).isTrue();
        assertThatIOException().isThrownBy(() -> answersTo(TestCertificates.trusting(keyStore, null), way));
        Path stranger = TestCertificates.keyStore(directory, "localhost");
        assertThatIOException().isThrownBy(() -> answersTo(TestCertificates.trusting(keyStore, stranger), way));
    }

    @Test
    void answersNobodyWithoutACertificateOnAnotherPort() throws Exception {
        start(0, Way.HTTP, "--test.plain-port=" + ports[2]);
        start(1, Way.HTTP);
        acquireAndRelease(0);

        HttpResponse<String> response = post(ports[2]);

        assertThat(response.statusCode()).isEqualTo(409);
        assertThat(response.body()).isEqualTo(FrameServer.OTHER_WAY + "frames with a client certificate only");
    }

    /** Not on Netty, where the application that closes first ends the servers of all in its process. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "REACTIVE")
    void takesANewKeyWithoutARestart(Way way) throws Exception {
        start(0, way);
        start(1, way);
        Lease before = acquireAndRelease(0);

        renewKey(way);
        // Knows the new key only, and has no majority without one of the others.
        applications.remove(1).close();
        start(1, way);

        assertThat(acquireAndRelease(1).fencingToken()).isGreaterThan(before.fencingToken());
    }

    @Test
    void takesNoMoreFramesOfTheFormerKeyOnAnOpenConnection() throws Exception {
        start(0, Way.TCP);
        SSLContext former = TestCertificates.context(keyStore);
        try (SocketFrameChannel open = channel(former)) {
            assertThat(tcpStatus(open)).isEqualTo(NOT_A_FRAME);
            renewKey(Way.TCP);
            assertThatIOException().isThrownBy(() -> tcpStatus(open)).withMessageContaining("no secure connection");
        }
    }

    /** It knows no better, and so nodes are to be restarted where trust is withdrawn. */
    @Test
    void theWebServerTakesThemOnAnOpenConnection() throws Exception {
        start(0, Way.HTTP);
        HttpClient open = HttpClient.newBuilder()
                .sslContext(TestCertificates.context(keyStore))
                .build();
        assertThat(httpStatus(open)).isEqualTo(NOT_A_FRAME_TO_HTTP);
        replaceKey();
        // In use meanwhile, so that neither side closes it for being idle.
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(500))
                .ignoreExceptions()
                .until(() -> httpStatus(open) == NOT_A_FRAME_TO_HTTP
                        && answersTo(TestCertificates.context(keyStore), Way.HTTP));
        assertThat(httpStatus(open)).isEqualTo(NOT_A_FRAME_TO_HTTP);
    }

    /** The web server need not ask for certificates where frames have a port of their own. */
    @Test
    void doesNotAnswerInTheWebServerToo() throws Exception {
        start(0, Way.TCP);
        HttpResponse<String> response = post(ports[0]);
        // Spring Security asks who it is, since no path is open to frames.
        assertThat(response.statusCode()).isIn(401, 403, 404);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).doesNotContain("paxoslease");
    }

    private static HttpResponse<String> post(int port) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/paxoslease/messages"))
                                .header("Content-Type", FrameChannels.CONTENT_TYPE)
                                .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[10]))
                                .build(),
                        BodyHandlers.ofString());
    }

    /** Until the first node takes the new one. */
    private void renewKey(Way way) throws Exception {
        replaceKey();
        await().atMost(LONG).ignoreExceptions().until(() -> answersTo(TestCertificates.context(keyStore), way));
    }

    private void replaceKey() throws Exception {
        Path made = TestCertificates.keyStore(directory, "localhost");
        replace(trustStore, TestCertificates.trustStore(made));
        replace(keyStore, made);
    }

    private static void replace(Path file, Path made) throws IOException {
        Files.move(made, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private Lease acquireAndRelease(int application) throws Exception {
        Lease lease = applications.get(application).getBean(LeaseManager.class).acquire("job", TIME, LONG);
        assertThat(lease.isHeld()).isTrue();
        lease.release();
        return lease;
    }

    private void start(int index, Way way, String... more) {
        List<String> settings = new ArrayList<>(List.of(
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--server.port=" + ports[index],
                "--spring.ssl.bundle.watch.file.quiet-period=200ms",
                "--spring.ssl.bundle.jks.cell.reload-on-update=true",
                "--spring.ssl.bundle.jks.cell.keystore.location=file:" + keyStore,
                "--spring.ssl.bundle.jks.cell.keystore.password=" + TestCertificates.PASSWORD,
                "--spring.ssl.bundle.jks.cell.truststore.location=file:" + trustStore,
                "--spring.ssl.bundle.jks.cell.truststore.password=" + TestCertificates.PASSWORD,
                "--paxoslease.ssl.bundle=cell",
                "--paxoslease.lease-time=2s",
                "--paxoslease.security.allow-unauthenticated=false",
                "--paxoslease.node-id=n" + index));
        settings.addAll(
                way != Way.TCP
                        ? List.of(
                                "--server.ssl.bundle=cell",
                                "--server.ssl.client-auth=need",
                                "--paxoslease.members.n0=https://localhost:" + ports[0],
                                "--paxoslease.members.n1=https://localhost:" + ports[1])
                        : List.of(
                                "--paxoslease.transport=tcp",
                                "--paxoslease.members.n0=tls://localhost:" + ports[2],
                                "--paxoslease.members.n1=tls://localhost:" + ports[3]));
        settings.addAll(List.of(more));
        applications.add(new SpringApplicationBuilder(App.class)
                .web(way == Way.REACTIVE ? WebApplicationType.REACTIVE : WebApplicationType.SERVLET)
                .run(settings.toArray(String[]::new)));
    }

    /** Whether the first node looks at a frame, if only to find that it is none. */
    private boolean answersTo(SSLContext context, Way way) throws IOException, InterruptedException {
        return way != Way.TCP ? httpStatus(context) == NOT_A_FRAME_TO_HTTP : tcpStatus(context) == NOT_A_FRAME;
    }

    private int httpStatus(SSLContext context) throws IOException, InterruptedException {
        return httpStatus(HttpClient.newBuilder().sslContext(context).build());
    }

    private int httpStatus(HttpClient client) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(URI.create("https://localhost:" + ports[0] + "/paxoslease/messages"))
                                .timeout(Duration.ofSeconds(20))
                                .POST(HttpRequest.BodyPublishers.ofString("x"))
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    private int tcpStatus(SSLContext context) throws IOException, InterruptedException {
        try (SocketFrameChannel channel = channel(context)) {
            return tcpStatus(channel);
        }
    }

    private SocketFrameChannel channel(SSLContext context) {
        return FrameChannels.create(
                "stranger", Map.of("n0", URI.create("tls://localhost:" + ports[2])), "", 1_000, () -> context);
    }

    private static int tcpStatus(SocketFrameChannel channel) throws IOException, InterruptedException {
        try {
            return channel.exchange("n0", new byte[1], Duration.ofSeconds(20).toNanos())
                    .toCompletableFuture()
                    .get()
                    .status();
        } catch (ExecutionException failed) {
            throw new IOException(failed.getCause());
        }
    }
}
