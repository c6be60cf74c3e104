package io.paxoslease.test;

import io.paxoslease.node.InProcessNetwork;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.NodeSettings.LeaseSettings;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import io.paxoslease.wire.MemberStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The node of the application and the members of its cell, ordinary nodes on one clock that is set from here. The application's node has no
 * acceptor, so that its whole cell can be cut off from it.
 *
 * <p>Not safe for use by several threads, except for the transport and the clock.
 */
final class InMemoryCell implements AutoCloseable {

    private static final int MOST_RESOURCES = 100_000;

    private final VirtualTime time = new VirtualTime(this::awake);
    private final ApplicationLink link = new ApplicationLink();
    private final List<LeaseNode> members = new ArrayList<>();
    private final Set<String> unheard = ConcurrentHashMap.newKeySet();
    private volatile boolean cutOff;
    private volatile boolean paused;
    private @Nullable LeaseNode application;
    private @Nullable InProcessNetwork network;

    VirtualClock clock() {
        return time.clock();
    }

    /** The transport of the application's node. */
    Transport transport() {
        return link;
    }

    /** Makes the members that the application's node knows; to be called before that node starts. */
    void join(LeaseNode node) {
        NodeSettings settings = node.settings();
        Cell cell = settings.cell();
        InProcessNetwork made = new InProcessNetwork(cell, time::carry);
        for (String id : cell.acceptors()) {
            if (!id.equals(settings.nodeId())) {
                LeaseNode member = new LeaseNode(
                        member(id, settings), made.transport(), new SplittableRandom(id.hashCode()), time.clock());
                made.attach(id, member);
                member.openAcceptor();
                member.start();
                members.add(member);
            }
        }
        if (members.isEmpty()) {
            throw new IllegalStateException(
                    "The cell " + cell.acceptors() + " has no member but '" + settings.nodeId() + "'");
        }
        time.jump(settings.timing().quarantineNanos());
        network = made;
        application = node;
    }

    private static NodeSettings member(String id, NodeSettings application) {
        Map<String, LeaseSettings> leases = new LinkedHashMap<>();
        application
                .leases()
                .forEach((name, lease) ->
                        leases.put(name, new LeaseSettings(lease.leaseTime(), true, LeaseSettings.HIGHEST_PRIORITY)));
        return new NodeSettings(
                id,
                application.cell(),
                application.timing(),
                application.leaseTime(),
                application.roundTimeout(),
                false,
                application.oneRoundTrip(),
                MOST_RESOURCES,
                leases);
    }

    LeaseNode application() {
        LeaseNode node = application;
        if (node == null) {
            throw new IllegalStateException("No node has joined the cell");
        }
        return node;
    }

    /** What the application's node sees of the members. */
    List<MemberStatus> view() {
        String problem = cutOff ? "cut off by the test" : null;
        return application().settings().cell().acceptors().stream()
                .map(id -> InMemoryCellView.member(id, AcceptorState.VOTING, problem))
                .toList();
    }

    /** The member that takes leases over. */
    LeaseNode rival() {
        return members.get(0);
    }

    // What the application's node can be cut off from.

    boolean isCutOff() {
        return cutOff;
    }

    void setCutOff(boolean cut) {
        cutOff = cut;
    }

    boolean isPaused() {
        return paused;
    }

    void setPaused(boolean still) {
        paused = still;
    }

    /** From now on no message of the application's node about this lease arrives. */
    void stopHearing(String leaseName) {
        unheard.add(leaseName);
    }

    void hearAgain(String leaseName) {
        unheard.remove(leaseName);
    }

    /** The lease as the application's node sees it, null if nothing there wants or watches it. */
    @Nullable
    LeaseStatus lease(String name) {
        return application().leases().get(name);
    }

    // Time.

    private List<LeaseNode> awake() {
        List<LeaseNode> awake = new ArrayList<>();
        if (!paused) {
            awake.add(application());
        }
        awake.addAll(members);
        return awake;
    }

    void jump(long nanos) {
        time.jump(nanos);
    }

    boolean passUntil(long atMostNanos, BooleanSupplier condition) {
        return time.passUntil(atMostNanos, condition);
    }

    void settle() {
        time.settle();
    }

    @Override
    public void close() {
        members.forEach(LeaseNode::close);
        time.close();
    }

    /** Loses what is to be lost, and hands the rest to the network. */
    private final class ApplicationLink implements Transport {

        private volatile @Nullable Transport link;

        @Override
        public void start(Incarnation self, Receiver receiver) {
            InProcessNetwork known = network;
            if (known == null) {
                throw new IllegalStateException("The node '" + self.nodeId() + "' starts before it joined the cell");
            }
            Transport made = known.transport();
            made.start(self, receiver);
            link = made;
        }

        @Override
        public void send(int acceptor, Request request) {
            Transport started = link;
            if (started != null && !cutOff && !paused && !unheard.contains(request.resource())) {
                started.send(acceptor, request);
            }
        }

        @Override
        public void flush() {
            Transport started = link;
            if (started != null) {
                started.flush();
            }
        }

        @Override
        public void close() {}
    }

    /** How long anything may take that ends when leases end. */
    long patienceNanos() {
        return 3 * application().settings().timing().maxLeaseNanos()
                + Duration.ofSeconds(10).toNanos();
    }
}
