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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(get(port, "/sample/cell").body())
                            .contains("node-1", "node-2", "node-3", "\"VOTING\""));
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

    @Test
    void itsLibrariesAreThoseThatTheDocumentsName() throws IOException {
        String page = Files.readString(Path.of("../docs/security.md"));
        String section = page.substring(page.indexOf("## What the starter brings"));
        Set<String> named = Pattern.compile("(?m)([\\w.-]+):jar:([\\w.-]+):(?:compile|runtime)$")
                .matcher(section)
                .results()
                .map(library -> library.group(1) + "-" + library.group(2) + ".jar")
                // Starters have no classes of their own, so they are not packaged.
                .filter(library -> !library.contains("starter"))
                .collect(Collectors.toSet());
        try (JarFile jar = new JarFile("target/sample-app.jar")) {
            assertThat(jar.stream().map(JarEntry::getName).filter(name -> name.matches("BOOT-INF/lib/.+")))
                    .extracting(name -> name.substring("BOOT-INF/lib/".length()))
                    .filteredOn(library -> !library.startsWith("paxoslease-spring-boot-starter"))
                    .containsExactlyInAnyOrderElementsOf(named);
        }
    }

    private JavaProcess start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("-jar", JavaProcess.SAMPLE_JAR.toString()));
        command.addAll(List.of(arguments));
        return JavaProcess.start(directory.resolve("output.log"), command);
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
