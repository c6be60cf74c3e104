package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.boot.transport.FrameChannels;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameServer;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** Whole applications whose only member is on the loopback interface, called there and at another address of this machine. */
@Timeout(120)
@ExtendWith(OutputCaptureExtension.class)
class LoopbackOnlyTests {

    private static final int MALFORMED = 400;
    private static final int REFUSED = 409;

    /** Not from outside, but with this the servers believe what a proxy says about it. */
    private static final String BEHIND_A_PROXY = "--server.forward-headers-strategy=native";

    private final HttpClient client = HttpClient.newHttpClient();
    private int port;

    @BeforeEach
    void choosePort() throws Exception {
        port = FreePorts.take(1)[0];
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void framesThatCameByAnotherInterfaceAreRefused(WebApplicationType type, CapturedOutput output) throws Exception {
        String outside = outsideAddress();
        try (ConfigurableApplicationContext application = start(type, "http", BEHIND_A_PROXY)) {
            assertThat(application.isRunning()).isTrue();
            assertThat(post("127.0.0.1").statusCode()).isEqualTo(MALFORMED);
            if (hasIpv6()) {
                assertThat(post("[::1]").statusCode()).isEqualTo(MALFORMED);
                assertThat(post("[::ffff:127.0.0.1]").statusCode()).isEqualTo(MALFORMED);
            }
            HttpResponse<String> refusal = post(outside);
            assertThat(refusal.statusCode()).isEqualTo(REFUSED);
            assertThat(refusal.body()).isEqualTo(FrameServer.OTHER_WAY + "frames from its own machine only");
            assertThat(post(
                                    outside,
                                    "X-Forwarded-For",
                                    "127.0.0.1",
                                    "X-Forwarded-Host",
                                    "127.0.0.1",
                                    "X-Forwarded-Port",
                                    "80")
                            .statusCode())
                    .isEqualTo(REFUSED);
            assertThat(post(outside, "Forwarded", "for=127.0.0.1;host=127.0.0.1")
                            .statusCode())
                    .isEqualTo(REFUSED);
            saysOnce(outside, output);
        }
    }

    /** A page whose name now leads to this machine needs nobody's leave to post to it, but browsers name the page. */
    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void framesOfWebPagesAreRefused(WebApplicationType type, CapturedOutput output) throws Exception {
        try (ConfigurableApplicationContext application = start(type, "http")) {
            assertThat(application.isRunning()).isTrue();
            HttpResponse<String> refusal = post("127.0.0.1", "Origin", "http://127.0.0.1:" + port);
            assertThat(refusal.statusCode()).isEqualTo(REFUSED);
            assertThat(refusal.body()).isEqualTo(FrameServer.OTHER_WAY + "no frames from web pages");
            saysOnce("web page", output);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = WebApplicationType.class,
            names = {"SERVLET", "REACTIVE"})
    void aSecretLetsTheFramesOfOtherMachinesIn(WebApplicationType type) throws Exception {
        String outside = outsideAddress();
        try (ConfigurableApplicationContext application =
                start(type, "http", "--paxoslease.security.shared-secret=sixteen bytes and more")) {
            assertThat(application.isRunning()).isTrue();
            assertThat(post(outside).statusCode()).isEqualTo(MALFORMED);
        }
    }

    @Test
    void overTcpNothingListensElsewhere() throws Exception {
        String outside = outsideAddress();
        try (ConfigurableApplicationContext application = start(WebApplicationType.NONE, "tcp")) {
            assertThat(application.isRunning()).isTrue();
            new Socket("localhost", port).close();
            assertThatThrownBy(() -> new Socket(outside, port).close()).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void overTcpASecretOpensThePort() throws Exception {
        String outside = outsideAddress();
        try (ConfigurableApplicationContext application =
                start(WebApplicationType.NONE, "tcp", "--paxoslease.security.shared-secret=sixteen bytes and more")) {
            assertThat(application.isRunning()).isTrue();
            new Socket(outside, port).close();
        }
    }

    @Test
    void overTcpAnAddressAloneDoesNotOpenThePort() throws Exception {
        String outside = outsideAddress();
        assertThatThrownBy(() -> start(WebApplicationType.NONE, "tcp", "--paxoslease.tcp.address=0.0.0.0"))
                .rootCause()
                .hasMessageContaining("paxoslease.tcp.address = '0.0.0.0'");
        assertThatThrownBy(() -> new Socket(outside, port).close()).isInstanceOf(ConnectException.class);
    }

    private ConfigurableApplicationContext start(WebApplicationType type, String transport, String... more) {
        String[] settings = {
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--server.port=" + port,
            "--paxoslease.transport=" + transport,
            "--paxoslease.members.n0=" + transport + "://localhost:" + port
        };
        return new SpringApplicationBuilder(ReactiveCellTests.App.class)
                .web(type)
                .run(Stream.concat(Arrays.stream(settings), Arrays.stream(more)).toArray(String[]::new));
    }

    /** A thread of its own writes it. */
    private static void saysOnce(String what, CapturedOutput output) {
        await().untilAsserted(() -> assertThat(
                        output.getAll().lines().filter(line -> line.contains("paxoslease.security.shared-secret")))
                .hasSize(1)
                .allMatch(line -> line.contains(what)));
    }

    /** Posts what is too short for a frame. */
    private HttpResponse<String> post(String host, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://" + host + ":" + port + "/paxoslease/messages"))
                .header("Content-Type", FrameChannels.CONTENT_TYPE)
                .POST(BodyPublishers.ofString("x"));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private static String outsideAddress() throws SocketException {
        List<String> found = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                .map(InetAddress::getHostAddress)
                .toList();
        assumeThat(found).isNotEmpty();
        return found.get(0);
    }

    private static boolean hasIpv6() throws Exception {
        return NetworkInterface.getByInetAddress(InetAddress.getByName("::1")) != null;
    }
}
