package io.paxoslease.spring.boot.actuate;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Timing;
import io.paxoslease.wire.MemberStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A node with a clock that stands still until it is told otherwise, in a cell that is made up. */
final class TestNode implements AutoCloseable {

    static final Duration LEASE_TIME = Duration.ofSeconds(10);
    static final Instant STARTED = Instant.parse("2026-11-20T12:00:00.249Z");

    final LeaseNode node;
    final Clock clock;
    final View view = new View();

    private final Transport transport;

    private TestNode(NodeSettings settings, Transport transport) {
        this.transport = transport;
        clock = new Clock();
        node = new LeaseNode(settings, transport, new Random(1), clock);
    }

    /** A started cell of one. */
    static TestNode standalone() {
        TestNode test = new TestNode(NodeSettings.standalone("node-1", LEASE_TIME), new NoTransport());
        test.node.openAcceptor();
        test.node.start();
        // In the millisecond of its start an acceptor promises nothing, and this clock would not leave it.
        test.clock.advance(Duration.ofMillis(1));
        return test;
    }

    /** node-1 of node-1, node-2 and node-3; nobody answers; its acceptor is quarantined for {@link #LEASE_TIME}. */
    static TestNode ofThree() {
        return of("node-1");
    }

    static TestNode proposerOnly() {
        return of("node-9");
    }

    private static TestNode of(String id) {
        TestNode test = new TestNode(
                new NodeSettings(
                        id,
                        new Cell("orders", List.of("node-1", "node-2", "node-3")),
                        new Timing(LEASE_TIME.toNanos(), 0.01),
                        LEASE_TIME,
                        Duration.ofSeconds(1),
                        false,
                        true,
                        1_000,
                        Map.of(
                                "here", new NodeSettings.LeaseSettings(LEASE_TIME, true, 10),
                                "not-here", new NodeSettings.LeaseSettings(LEASE_TIME, false, 10))),
                new Silence());
        test.node.openAcceptor();
        test.node.start();
        return test;
    }

    /** The next request makes the node give up, as a defect would. */
    TestNode defective() {
        ((Silence) transport).defect = true;
        node.tryAcquire("any", LEASE_TIME);
        return this;
    }

    TestNode voting() {
        clock.advance(LEASE_TIME);
        return this;
    }

    @Override
    public void close() {
        node.close();
    }

    static final class Clock implements NodeClock {
        private volatile Now now = new Now(0, STARTED.toEpochMilli());

        @Override
        public Now now() {
            return now;
        }

        void advance(Duration time) {
            now = new Now(now.nanos() + time.toNanos(), now.wallMillis() + time.toMillis());
        }
    }

    static final class View implements CellView {
        final Map<String, MemberStatus> members = new TreeMap<>();
        final Map<String, String> urls = new TreeMap<>();
        final List<String> problems = new ArrayList<>();

        View reachable(String id, AcceptorState state) {
            return member(new MemberStatus(id, true, Duration.ofNanos(700_123), state, false, null));
        }

        View unreachable(String id, @Nullable String problem) {
            return member(new MemberStatus(id, false, null, null, false, problem));
        }

        View refused(String id, String problem) {
            return member(new MemberStatus(id, false, null, AcceptorState.VOTING, true, problem));
        }

        private View member(MemberStatus member) {
            members.put(member.nodeId(), member);
            urls.put(member.nodeId(), "http://" + member.nodeId() + ":8080");
            return this;
        }

        @Override
        public Map<String, MemberStatus> members() {
            return members;
        }

        @Override
        public Map<String, String> memberUrls() {
            return urls;
        }

        @Override
        public List<String> problems() {
            return problems;
        }
    }

    private static final class Silence implements Transport {
        @Override
        public void start(Incarnation self, Receiver receiver) {}

        private volatile boolean defect;

        @Override
        public void send(int acceptor, Request request) {
            if (defect) {
                throw new IllegalStateException("planted");
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
