package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/** Nodes that talk over TCP have URLs that no page can ask: a page shows its own node, and that the others do not answer. */
class PageOverTcpTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private ConfigurableApplicationContext node;
    private int port;

    @BeforeEach
    void start() throws IOException {
        port = Ports.freeRow(3);
        node = SpringApplication.run(new Class<?>[] {SampleApplication.class, SmallBuffers.class}, new String[] {
            "--server.address=127.0.0.1",
            "--server.port=" + port,
            "--spring.datasource.url=jdbc:h2:mem:over-tcp",
            "--paxoslease.transport=tcp",
            "--paxoslease.node-id=node-1",
            "--paxoslease.members.node-1=tcp://127.0.0.1:" + (port + 1),
            "--paxoslease.members.node-2=tcp://127.0.0.1:" + (port + 2)
        });
    }

    @AfterEach
    void stop() {
        node.close();
    }

    /** So that a page that does not read is noticed soon. */
    static class SmallBuffers {

        @Bean
        WebServerFactoryCustomizer<TomcatServletWebServerFactory> smallBuffers() {
            return server ->
                    server.addConnectorCustomizers(connector -> connector.setProperty("socket.txBufSize", "1024"));
        }
    }

    private Stream<String> events() throws Exception {
        HttpRequest events = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/sample/events"))
                .build();
        return HttpClient.newHttpClient()
                .sendAsync(events, HttpResponse.BodyHandlers.ofLines())
                .get(SOON.toSeconds(), TimeUnit.SECONDS)
                .body()
                .filter(line -> line.startsWith("data:"));
    }

    @Test
    void showsTheNodeItself() throws Exception {
        Members members = node.getBean(Members.class);
        await().atMost(SOON).until(() -> members.view().get("node-1").lease() != null);
        assertThat(members.view().get("node-2").lease()).isNull();
        assertThat(members.resign("node-2", Jobs.REPORT)).isEmpty();

        try (Stream<String> events = events()) {
            assertThat(events.findFirst())
                    .hasValueSatisfying(data -> assertThat(data).contains("node-1", "node-2"));
        }
    }

    /** As where its machine sleeps. */
    @Test
    @Timeout(value = 40, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aPageThatDoesNotReadHoldsUpNoOther() throws Exception {
        try (Socket page = new Socket()) {
            page.setReceiveBufferSize(1024);
            page.connect(new InetSocketAddress("127.0.0.1", port));
            page.getOutputStream()
                    .write(("GET /sample/events HTTP/1.1\r\nHost: localhost:" + port + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            try (Stream<String> events = events()) {
                assertThat(events.limit(30)).hasSize(30);
            }
        }
    }
}
