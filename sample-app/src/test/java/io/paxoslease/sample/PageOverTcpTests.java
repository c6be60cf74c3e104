package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Nodes that talk over TCP have URLs that no page can ask: a page shows its own node, and that the others do not answer. */
class PageOverTcpTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private ConfigurableApplicationContext node;
    private int port;

    @BeforeEach
    void start() throws IOException {
        port = Ports.freeRow(3);
        node = SpringApplication.run(
                SampleApplication.class,
                "--server.address=127.0.0.1",
                "--server.port=" + port,
                "--spring.datasource.url=jdbc:h2:mem:over-tcp",
                "--paxoslease.transport=tcp",
                "--paxoslease.node-id=node-1",
                "--paxoslease.members.node-1=tcp://127.0.0.1:" + (port + 1),
                "--paxoslease.members.node-2=tcp://127.0.0.1:" + (port + 2));
    }

    @AfterEach
    void stop() {
        node.close();
    }

    @Test
    void showsTheNodeItself() throws Exception {
        Members members = node.getBean(Members.class);
        assertThat(members.view().get("node-1").lease()).isNotNull();
        assertThat(members.view().get("node-2").lease()).isNull();
        assertThat(members.resign("node-2", Jobs.REPORT)).isEmpty();

        HttpRequest events = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/sample/events"))
                .build();
        Stream<String> lines = HttpClient.newHttpClient()
                .sendAsync(events, HttpResponse.BodyHandlers.ofLines())
                .get(SOON.toSeconds(), TimeUnit.SECONDS)
                .body();
        try (lines) {
            assertThat(lines.filter(line -> line.startsWith("data:")).findFirst())
                    .hasValueSatisfying(data -> assertThat(data).contains("node-1", "node-2"));
        }
    }
}
