package io.paxoslease.spring.boot.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Whole applications without a shared secret that know each other by certificates, as {@code docs/configuration.md} sets it up. */
@Timeout(180)
class MutualTlsCellTests {

    private static final int NOT_A_FRAME = 415;
    private static final Duration TIME = Duration.ofSeconds(1);
    private static final Duration LONG = Duration.ofSeconds(60);

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

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
        ports = FreePorts.take(2);
    }

    @AfterEach
    void closeAll() {
        applications.forEach(ConfigurableApplicationContext::close);
    }

    @Test
    void electsAndShutsStrangersOut() throws Exception {
        start(0);
        start(1);
        acquireAndRelease(0);

        assertThat(status(TestCertificates.context(keyStore))).isEqualTo(NOT_A_FRAME);
        assertThatIOException().isThrownBy(() -> status(TestCertificates.trusting(keyStore, null)));
        Path stranger = TestCertificates.keyStore(directory, "localhost");
        assertThatIOException().isThrownBy(() -> status(TestCertificates.trusting(keyStore, stranger)));
    }

    @Test
    void takesANewKeyWithoutARestart() throws Exception {
        start(0);
        start(1);
        Lease before = acquireAndRelease(0);

        replaceKey();
        await().atMost(LONG).ignoreExceptions().until(() -> status(TestCertificates.context(keyStore)) == NOT_A_FRAME);
        // Knows the new key only, and has no majority without one of the others.
        applications.remove(1).close();
        start(1);

        assertThat(acquireAndRelease(1).fencingToken()).isGreaterThan(before.fencingToken());
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

    private void start(int index) {
        applications.add(new SpringApplicationBuilder(App.class)
                .web(WebApplicationType.SERVLET)
                .run(
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--server.port=" + ports[index],
                        "--server.ssl.bundle=cell",
                        "--server.ssl.client-auth=need",
                        "--spring.ssl.bundle.watch.file.quiet-period=200ms",
                        "--spring.ssl.bundle.jks.cell.reload-on-update=true",
                        "--spring.ssl.bundle.jks.cell.keystore.location=file:" + keyStore,
                        "--spring.ssl.bundle.jks.cell.keystore.password=" + TestCertificates.PASSWORD,
                        "--spring.ssl.bundle.jks.cell.truststore.location=file:" + trustStore,
                        "--spring.ssl.bundle.jks.cell.truststore.password=" + TestCertificates.PASSWORD,
                        "--paxoslease.ssl.bundle=cell",
                        "--paxoslease.lease-time=1s",
                        "--paxoslease.node-id=n" + index,
                        "--paxoslease.members.n0=https://localhost:" + ports[0],
                        "--paxoslease.members.n1=https://localhost:" + ports[1]));
    }

    private int status(SSLContext context) throws IOException, InterruptedException {
        return HttpClient.newBuilder()
                .sslContext(context)
                .build()
                .send(
                        HttpRequest.newBuilder(URI.create("https://localhost:" + ports[0] + "/paxoslease/messages"))
                                .timeout(Duration.ofSeconds(20))
                                .POST(HttpRequest.BodyPublishers.ofString("x"))
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }
}
