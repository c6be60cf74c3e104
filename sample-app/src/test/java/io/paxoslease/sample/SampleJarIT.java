package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a user sees who starts the jar. */
@Timeout(600)
class SampleJarIT {

    private static final Duration SOON = Duration.ofSeconds(180);

    @TempDir
    Path directory;

    @Test
    void withoutMembersItIsAWholeCellWithADashboard() throws Exception {
        int port = Ports.freeRow(3);
        try (JavaProcess sample = start("--sample.base-port=" + port, "--paxoslease.lease-time=1s")) {
            await().atMost(SOON).until(() -> output().contains("leads invoices"));
            assertThat(output()).contains("http://localhost:" + port + "/").contains("leads report");

            for (int i = 0; i < 3; i++) {
                assertThat(get(port + i, "/").body()).contains("PaxosLease cell");
            }
            assertThat(get(port, "/sample/cell").body()).contains("node-1", "node-2", "node-3", "\"VOTING\"");
            assertThat(post(port, "/sample/leases/report/resign?node=node-1", "text/plain")
                            .statusCode())
                    .as("a form of another origin")
                    .isEqualTo(415);

            sample.terminate();
            assertThat(sample.awaitExit(Duration.ofSeconds(30))).isEqualTo(143);
            assertThat(output()).doesNotContain(" ERROR ").doesNotContain("\tat ");
        }
    }

    @Test
    void aTakenPortEndsTheProcessWithAdvice() throws Exception {
        int port = Ports.freeRow(3);
        try (ServerSocket other = new ServerSocket(port + 1, 1, InetAddress.getByName("127.0.0.1"));
                JavaProcess sample = start("--sample.base-port=" + port)) {
            assertThat(sample.awaitExit(SOON)).isEqualTo(1);
            assertThat(output()).contains("Port " + other.getLocalPort()).contains("--sample.base-port=");
        }
    }

    @Test
    void aWrongSettingEndsTheProcessInBothForms() throws Exception {
        int port = Ports.freeRow(3);
        try (JavaProcess cell = start("--sample.base-port=" + port, "--paxoslease.lease-time=0s")) {
            assertThat(cell.awaitExit(SOON)).isNotZero();
        }
        try (JavaProcess node = start(
                "--server.port=" + port,
                "--paxoslease.members.node-1=http://127.0.0.1:" + port,
                "--paxoslease.lease-time=0s")) {
            assertThat(node.awaitExit(SOON)).isNotZero();
        }
        assertThat(output().split("paxoslease.lease-time", -1)).hasSizeGreaterThanOrEqualTo(3);
    }

    private JavaProcess start(String... arguments) throws IOException {
        return JavaProcess.startSample(directory.resolve("output.log"), List.of(arguments));
    }

    private String output() throws IOException {
        return Files.readString(directory.resolve("output.log"));
    }

    private static HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(port, path)));
    }

    private static HttpResponse<String> post(int port, String path, String type)
            throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(port, path))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString("{}")));
    }

    private static URI uri(int port, String path) {
        return URI.create("http://localhost:" + port + path);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(request.timeout(Duration.ofSeconds(5)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
