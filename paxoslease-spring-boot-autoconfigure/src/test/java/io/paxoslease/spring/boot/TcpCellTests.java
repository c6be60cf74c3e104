package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.spring.bounded.FreePorts;
import io.paxoslease.wire.FrameServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Three whole applications whose acceptors answer on ports of their own. */
@Timeout(180)
class TcpCellTests {

    private static final Duration TIME = Duration.ofSeconds(2);
    private static final Duration LONG = Duration.ofSeconds(60);

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {}

    private final ConfigurableApplicationContext[] applications = new ConfigurableApplicationContext[3];
    private int[] tcp = {};
    private int[] web = {};

    @BeforeEach
    void choosePorts() throws IOException {
        int[] ports = FreePorts.take(6);
        tcp = IntStream.of(ports).limit(3).toArray();
        web = IntStream.of(ports).skip(3).toArray();
    }

    @AfterEach
    void closeAll() {
        for (ConfigurableApplicationContext application : applications) {
            if (application != null) {
                application.close();
            }
        }
    }

    private void start(int index, WebApplicationType type, int[] ports, String scheme, String... more) {
        start("n" + index, index, type, ports, scheme, more);
    }

    private void start(String nodeId, int index, WebApplicationType type, int[] ports, String scheme, String... more) {
        String[] settings = {
            "--spring.main.banner-mode=off",
            "--logging.level.root=warn",
            "--server.port=" + web[index],
            "--paxoslease.lease-time=2s",
            "--paxoslease.node-id=" + nodeId,
            "--paxoslease.members.n0=" + scheme + "://localhost:" + ports[0],
            "--paxoslease.members.n1=" + scheme + "://localhost:" + ports[1],
            "--paxoslease.members.n2=" + scheme + "://localhost:" + ports[2]
        };
        applications[index] = new SpringApplicationBuilder(App.class)
                .web(type)
                .run(Stream.concat(Stream.of(settings), Stream.of(more)).toArray(String[]::new));
    }

    private void startWithTcp(int index, WebApplicationType type, String... more) {
        startWithTcp("n" + index, index, type, more);
    }

    private void startWithTcp(String nodeId, int index, WebApplicationType type, String... more) {
        start(
                nodeId,
                index,
                type,
                tcp,
                "tcp",
                Stream.concat(Stream.of("--paxoslease.transport=tcp"), Stream.of(more))
                        .toArray(String[]::new));
    }

    private long acquireAndRelease(int index) throws Exception {
        Lease lease = applications[index].getBean(LeaseManager.class).acquire("job", TIME, LONG);
        assertThat(lease.isHeld()).isTrue();
        lease.release();
        return lease.fencingToken();
    }

    @Test
    void applicationsWithoutAWebServerElect() throws Exception {
        for (int i = 0; i < 3; i++) {
            startWithTcp(i, WebApplicationType.NONE);
        }
        long first = acquireAndRelease(0);
        applications[0].close();
        long second = acquireAndRelease(1);
        assertThat(second).isGreaterThan(first);

        // Its port is free again, and it is a member as before once its quarantine is over.
        startWithTcp(0, WebApplicationType.NONE);
        applications[1].close();
        assertThat(acquireAndRelease(2)).isGreaterThan(second);
    }

    /** Each step leaves a majority, and those that are left on HTTP can still call those that are not. */
    @Test
    void aCellChangesFromHttpToTcpAndBackOneNodeAtATime() throws Exception {
        long token = 0;
        for (int i = 0; i < 3; i++) {
            start(i, WebApplicationType.SERVLET, web, "http");
        }
        for (boolean toTcp : new boolean[] {true, false}) {
            for (int changed = 0; changed < 3; changed++) {
                applications[changed].close();
                token = assertOneOfTheOthersLeads(changed, token);
                if (toTcp) {
                    startWithTcp(changed, WebApplicationType.SERVLET);
                } else {
                    start(changed, WebApplicationType.SERVLET, web, "http");
                }
                token = assertOneOfTheOthersLeads(-1, token);
            }
            for (int i = 0; i < 3; i++) {
                long next = acquireAndRelease(i);
                assertThat(next).isGreaterThan(token);
                token = next;
            }
        }
    }

    private long assertOneOfTheOthersLeads(int without, long before) throws Exception {
        long deadline = System.nanoTime() + LONG.toNanos();
        List<LeaseManager> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            if (i != without) {
                others.add(applications[i].getBean(LeaseManager.class));
            }
        }
        while (System.nanoTime() - deadline < 0) {
            for (LeaseManager each : others) {
                Lease lease = each.tryAcquire("job", TIME).orElse(null);
                if (lease != null) {
                    assertThat(lease.fencingToken()).isGreaterThan(before);
                    lease.release();
                    return lease.fencingToken();
                }
            }
        }
        throw new AssertionError("Nobody leads without node " + without);
    }

    /** T3. A rolling restart that lowered the maximum gave two leaders. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMemberThatStartsIsSilentForTheLongerMaximumOfAnother(boolean overTcp) {
        for (int i = 0; i < 2; i++) {
            String maximum = "--paxoslease.max-lease-time=" + (i == 0 ? "5m" : "1m");
            if (overTcp) {
                startWithTcp(i, WebApplicationType.NONE, maximum);
            } else {
                start(i, WebApplicationType.SERVLET, web, "http", maximum);
            }
        }
        LeaseNode shorter = applications[1].getBean(LeaseNode.class);
        await().until(() ->
                shorter.quarantineRemainingNanos() > Duration.ofMinutes(2).toNanos());
    }

    private void awaitMajority(int index) {
        LeaseNode node = applications[index].getBean(LeaseNode.class);
        await().until(node::majorityVotes);
        assertThat(node.acceptorState()).isEqualTo(AcceptorState.VOTING);
    }

    private void awaitStandsAside(int index, String why) {
        LeaseNode node = applications[index].getBean(LeaseNode.class);
        await().until(() ->
                node.quarantineRemainingNanos() > Duration.ofMinutes(1).toNanos());
        assertThat(node.standsAsideFor().orElseThrow()).contains(why);
    }

    /** X9. Five members in place of three at once gave two leaders. */
    @Test
    void aMemberThatStartsStandsAsideForTheMajorityOfAnotherList() {
        for (int i = 0; i < 2; i++) {
            startWithTcp(i, WebApplicationType.NONE);
        }
        awaitMajority(0);
        startWithTcp(
                2,
                WebApplicationType.NONE,
                "--paxoslease.members.n3=tcp://localhost:" + web[0],
                "--paxoslease.members.n4=tcp://localhost:" + web[1]);
        awaitStandsAside(2, "has another list of members, of which a majority votes");
        awaitMajority(0);
    }

    /** X9. Its own list has none of those that vote, so that it asks none of them. */
    @Test
    void aMemberThatStartsStandsAsideForAMajorityThatItDoesNotKnow() {
        for (int i = 1; i < 3; i++) {
            startWithTcp(i, WebApplicationType.NONE);
        }
        awaitMajority(1);
        applications[0] = new SpringApplicationBuilder(App.class)
                .web(WebApplicationType.NONE)
                .run(
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--paxoslease.transport=tcp",
                        "--paxoslease.lease-time=5s",
                        "--paxoslease.node-id=n0",
                        "--paxoslease.members.n0=tcp://localhost:" + tcp[0],
                        "--paxoslease.members.n3=tcp://localhost:" + web[1],
                        "--paxoslease.members.n4=tcp://localhost:" + web[2]);
        awaitStandsAside(0, "has another list of members, of which a majority votes");
        awaitMajority(1);
    }

    /** A4. Two processes that vote as one member can each give a majority to another owner. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aProcessStandsAsideForAnotherAtTheUrlOfItsId(boolean overTcp) {
        for (int i = 0; i < 2; i++) {
            if (overTcp) {
                startWithTcp("n0", i, WebApplicationType.NONE, "--paxoslease.tcp.port=" + tcp[i]);
            } else {
                start("n0", i, WebApplicationType.SERVLET, web, "http");
            }
        }
        awaitStandsAside(1, "Another process answers as n0");
        LeaseNode first = applications[0].getBean(LeaseNode.class);
        await().until(() -> first.acceptorState() == AcceptorState.VOTING);
        assertThat(applications[0].getBean(FrameServer.class).problems().get("n0"))
                .startsWith("two processes use this node id, at ");
    }

    @Test
    void theOwnPortMayBeAnotherThanTheOneThatOthersKnow() throws Exception {
        int listens = web[2];
        for (int i = 0; i < 2; i++) {
            startWithTcp(i, WebApplicationType.NONE);
        }
        startWithTcp(
                2, WebApplicationType.NONE, "--paxoslease.tcp.port=" + listens, "--paxoslease.tcp.address=127.0.0.1");
        acquireAndRelease(2);
        assertThatThrownBy(() -> new ServerSocket(listens, 1, InetAddress.getByName("127.0.0.1")))
                .isInstanceOf(IOException.class);
        new ServerSocket(tcp[2], 1, InetAddress.getByName("127.0.0.1")).close();
    }

    @Test
    void aPortThatIsTakenStopsTheStart() throws Exception {
        try (ServerSocket other = new ServerSocket(tcp[0])) {
            assertThatThrownBy(() -> startWithTcp(0, WebApplicationType.NONE))
                    .rootCause()
                    .isInstanceOf(InvalidCellConfigurationException.class)
                    .hasMessageContaining("paxoslease.tcp.port")
                    .hasMessageContaining(Integer.toString(other.getLocalPort()))
                    .hasMessageContaining("in use");
        }
    }

    @Test
    void anAddressOfAnotherMachineStopsTheStart() {
        assertThatThrownBy(() -> startWithTcp(
                        0,
                        WebApplicationType.NONE,
                        "--paxoslease.tcp.address=192.0.2.1",
                        "--paxoslease.security.shared-secret=0123456789abcdef"))
                .rootCause()
                .isInstanceOfSatisfying(
                        InvalidCellConfigurationException.class,
                        refusal -> assertThat(refusal.remedy())
                                .endsWith("paxoslease.tcp.address must be an address of this machine."));
    }

    @Test
    void whoHasAPortOfItsOwnNeedsNoManagementServer() throws Exception {
        for (int i = 0; i < 2; i++) {
            startWithTcp(i, WebApplicationType.NONE, "--paxoslease.endpoint.port=management");
        }
        acquireAndRelease(0);
    }

    @Test
    void whoIsNoMemberListensNowhere() throws Exception {
        for (int i = 0; i < 2; i++) {
            startWithTcp(i, WebApplicationType.NONE);
        }
        startWithTcp("guest", 2, WebApplicationType.NONE);
        acquireAndRelease(2);
        new ServerSocket(tcp[2]).close();
    }
}
