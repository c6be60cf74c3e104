package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.Lease;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Three whole nodes with their own threads and clocks, joined by frames. */
@Timeout(60)
class FrameCellTests {

    private static final Duration LEASE_TIME = Duration.ofSeconds(2);
    private static final Cell CELL = Samples.CELL;

    private final ExecutorService network = Executors.newFixedThreadPool(2);
    private final LocalFrameChannel channel = new LocalFrameChannel(network);
    private final List<LeaseNode> nodes = new ArrayList<>();
    private final List<FrameTransport> transports = new ArrayList<>();

    @AfterEach
    void stop() {
        nodes.forEach(LeaseNode::close);
        network.shutdown();
    }

    @Test
    void oneNodeHoldsTheLeaseUntilItReleasesIt() throws Exception {
        CELL.acceptors().forEach(this::start);
        Lease lease = nodes.get(0).acquire("leader", LEASE_TIME, Duration.ofSeconds(30));
        assertThat(lease.autoExtend().isHeld()).isTrue();
        assertThat(nodes.get(1).tryAcquire("leader", LEASE_TIME)).isEmpty();
        lease.release();
        Lease next = nodes.get(2).acquire("leader", LEASE_TIME, Duration.ofSeconds(30));
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(transports.get(0).members())
                .allSatisfy((member, status) -> assertThat(status.problem()).isNull());
    }

    @Test
    void aNodeThatStopsReleasesItsLeasesToTheOthers() throws Exception {
        CELL.acceptors().forEach(this::start);
        nodes.get(0).acquire("leader", LEASE_TIME, Duration.ofSeconds(30)).autoExtend();
        nodes.get(0).close();
        assertThat(nodes.get(1)
                        .acquire("leader", LEASE_TIME, Duration.ofSeconds(30))
                        .isHeld())
                .isTrue();
    }

    /** Otherwise the first request to it would be sent twice, with a hello between: a candidate has no time for that when a leader dies. */
    @Test
    void theOthersMeetANodeThatWasRestartedBeforeTheyNeedIt() throws Exception {
        CELL.acceptors().forEach(this::start);
        nodes.get(0).acquire("leader", LEASE_TIME, Duration.ofSeconds(30)).release();
        nodes.get(2).close();
        CountDownLatch sessions = new CountDownLatch(2);
        WireListener listener = new WireListener() {
            @Override
            public void onMessage(String type, String outcome) {
                if (outcome.equals("session-opened")) {
                    sessions.countDown();
                }
            }
        };
        start(CELL.acceptors().get(2), listener, Samples.SECRET);
        assertThat(sessions.await(5, TimeUnit.SECONDS))
                .as("before the next probe, which is ten seconds after the last")
                .isTrue();
    }

    /** The steps of a change of secrets, node by node: two nodes of neighbouring steps understand each other both ways. */
    @ParameterizedTest
    @CsvSource({"old, old new", "old new, new old", "new old, new"})
    void nodesOfNeighbouringStepsOfAChangeOfSecretsUnderstandEachOther(String before, String after) throws Exception {
        start(CELL.acceptors().get(0), WireListener.NONE, secrets(before));
        start(CELL.acceptors().get(1), WireListener.NONE, secrets(after));
        for (LeaseNode node : nodes) {
            node.acquire("leader", LEASE_TIME, Duration.ofSeconds(30)).release();
        }
    }

    @Test
    void nodesWithOtherSecretsDoNotVoteForEachOther() {
        start(CELL.acceptors().get(0), WireListener.NONE, secrets("old"));
        start(CELL.acceptors().get(1), WireListener.NONE, secrets("new"));
        assertThatThrownBy(() -> nodes.get(0).acquire("leader", LEASE_TIME, LEASE_TIME.multipliedBy(2)))
                .isInstanceOf(LeaseUnavailableException.class);
    }

    private static String[] secrets(String names) {
        return Arrays.stream(names.split(" "))
                .map(name -> "a long secret that is " + name)
                .toArray(String[]::new);
    }

    private void start(String nodeId) {
        start(nodeId, WireListener.NONE, Samples.SECRET);
    }

    private void start(String nodeId, WireListener listener, String... secrets) {
        Timing timing = new Timing(LEASE_TIME.toNanos(), 0.01);
        NodeSettings settings =
                new NodeSettings(nodeId, CELL, timing, LEASE_TIME, Duration.ofSeconds(1), false, true, 1_000, Map.of());
        WireSettings wire = Samples.settings(CELL, LEASE_TIME, secrets);
        FrameTransport transport = new FrameTransport(wire, channel, WireListener.NONE, NodeClock.SYSTEM);
        LeaseNode node = new LeaseNode(settings, transport, Samples.random(nodeId.hashCode() + nodes.size()));
        channel.attach(nodeId, new FrameServer(node.incarnation(), wire, node, listener, Samples.random(nodes.size())));
        node.openAcceptor();
        node.start();
        nodes.add(node);
        transports.add(transport);
    }
}
