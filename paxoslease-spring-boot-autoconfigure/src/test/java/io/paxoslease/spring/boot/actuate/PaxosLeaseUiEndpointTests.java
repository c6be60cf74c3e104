package io.paxoslease.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;

/** The page over the endpoint {@code lease}. What it shows is tested in a browser, by the sample. */
class PaxosLeaseUiEndpointTests {

    @Test
    void isServedOnRequestUnderTheActuatorsBasePath() {
        try (TestNode test = TestNode.standalone()) {
            TestServer.around(test)
                    .with("paxoslease.ui.enabled=true", "management.endpoints.web.base-path=/manage")
                    .run(client -> {
                        client.get()
                                .uri("/manage/leaseui")
                                .accept(MediaType.TEXT_HTML)
                                .exchange()
                                .expectStatus()
                                .isOk()
                                .expectHeader()
                                .contentTypeCompatibleWith(MediaType.TEXT_HTML)
                                .expectBody(String.class)
                                .value(page -> assertThat(page).contains("<title>PaxosLease node</title>"));
                        notFound(client, "/actuator/leaseui");
                    });
        }
    }

    @Test
    void isNotThereUnlessAskedFor() {
        try (TestNode test = TestNode.standalone()) {
            TestServer.around(test).run(client -> notFound(client, "/actuator/leaseui"));
        }
    }

    @Test
    void isNotThereUnlessExposed() {
        try (TestNode test = TestNode.standalone()) {
            TestServer.around(test)
                    .with("paxoslease.ui.enabled=true", "management.endpoints.web.exposure.include=lease")
                    .run(client -> notFound(client, "/actuator/leaseui"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lease", "leaseui"})
    @ExtendWith(OutputCaptureExtension.class)
    void isOfNoUseUnlessBothAreExposed(String exposed, CapturedOutput output) {
        try (TestNode test = TestNode.standalone()) {
            TestServer.around(test)
                    .with("paxoslease.ui.enabled=true", "management.endpoints.web.exposure.include=" + exposed)
                    .run(client -> {});
            assertThat(output).contains("it needs the endpoints 'lease' and 'leaseui'");
        }
    }

    @Test
    void isBehindTheSecurityOfTheActuator() {
        try (TestNode test = TestNode.ofThree()) {
            TestServer.securedAround(test).with("paxoslease.ui.enabled=true").run(client -> {
                client.get().uri("/actuator/leaseui").exchange().expectStatus().isUnauthorized();
                client.get()
                        .uri("/actuator/leaseui")
                        .headers(headers -> headers.setBasicAuth("user", "secret"))
                        .exchange()
                        .expectStatus()
                        .isOk();
            });
        }
    }

    @Test
    void needsNothingFromElsewhereAndWritesNothing() throws IOException {
        String page = new PaxosLeaseUiEndpoint().page().getContentAsString(StandardCharsets.UTF_8);

        assertThat(page).doesNotContain("http:", "https:", "POST", "src=", "innerHTML", "import(", "@import");
    }

    private static void notFound(RestTestClient client, String path) {
        client.get().uri(path).exchange().expectStatus().isNotFound();
    }
}
