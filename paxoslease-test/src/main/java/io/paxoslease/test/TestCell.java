package io.paxoslease.test;

import io.paxoslease.LeaderElection;
import io.paxoslease.node.InProcessNetwork;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import io.paxoslease.wire.MemberStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;

/**
 * A cell in memory whose nodes are application contexts that a test starts, each a member with a vote, as in production. Network and clocks do what the
 * test says; everything else about leases is as in production.
 *
 * <p>Time stands still until a method of this class lets it pass, and no method waits for real time. A context that starts is quarantined as
 * in production, so that nobody leads until time has passed: {@link #grant} lets enough of it pass, {@link #advance} as much as it is told. A
 * context that is closed gives its leases up; one that is paused and then closed is gone without a word. Either may be started again under the same id.
 *
 * <p>When a method returns, the listeners, events and {@code onLost} actions of all nodes have been told what happened. Those that are still
 * busy after two seconds of real time are not waited for.
 *
 * <p>Safe to call from any thread, one method at a time.
 */
public final class TestCell implements AutoCloseable {

    private final Cell members;
    private final VirtualTime time = new VirtualTime(this::awake);
    private final InProcessNetwork network;
    private final Map<String, Member> running = new ConcurrentHashMap<>();
    private final Set<String> cutOff = ConcurrentHashMap.newKeySet();
    private final Set<String> paused = ConcurrentHashMap.newKeySet();

    private TestCell(Cell members) {
        this.members = members;
        this.network = new InProcessNetwork(members, time::carry);
    }

    /**
     * Makes a cell in which no node runs yet. To be closed.
     *
     * @param nodeIds the members; if the application lists members, then exactly those
     * @return the cell
     * @throws IllegalArgumentException if there are none, or two are equal
     */
    public static TestCell of(String... nodeIds) {
        return new TestCell(new Cell("test", List.of(nodeIds)));
    }

    /**
     * Makes an application context a node of this cell; to be added to a {@code SpringApplicationBuilder} or an {@code ApplicationContextRunner}. The
     * context need not have a web server.
     *
     * <p>The context fails to start if it lists other members, if the node runs already, or if cell name, longest lease time or clock drift differ
     * from those of a node that runs.
     *
     * @param nodeId one of the members
     * @return what does it; for one context after the other
     * @throws IllegalArgumentException if it is no member
     */
    public ApplicationContextInitializer<ConfigurableApplicationContext> node(String nodeId) {
        requireMember(nodeId);
        return context -> {
            Set<String> listed = TestProperties.members(context.getEnvironment());
            if (!listed.isEmpty() && !new TreeSet<>(listed).equals(new TreeSet<>(members.acceptors()))) {
                throw new IllegalStateException("The application lists the members " + new TreeSet<>(listed)
                        + ", but the cell of this test has " + members.acceptors());
            }
            TestProperties.set(context.getEnvironment(), nodeId, members.acceptors());
            context.getBeanFactory().registerSingleton("testCellMember", new Member(nodeId, context));
            new AnnotatedBeanDefinitionReader((BeanDefinitionRegistry) context.getBeanFactory())
                    .register(TestCellConfiguration.class);
        };
    }

    /**
     * The node that holds a lease now.
     *
     * @param leaseName the name of the lease
     * @return its id; empty if no running node holds it
     */
    public Optional<String> leader(String leaseName) {
        return members().stream()
                .filter(member -> member.holds(leaseName))
                .map(Member::id)
                .findFirst();
    }

    /**
     * Makes a node the leader: the nodes that it can reach give the lease up, it becomes a candidate if it is none, and time passes until it leads. The
     * others are candidates again afterwards, if they were before.
     *
     * @param leaseName the name of the lease
     * @param nodeId the node
     * @throws IllegalArgumentException if it is no member
     * @throws IllegalStateException if it cannot lead: it does not run, is cut off or paused, or set never to seek this lease, there is no
     *     majority, or a node holds the lease by {@code tryAcquire}
     */
    public synchronized void grant(String leaseName, String nodeId) {
        Member chosen = running(nodeId);
        if (isAway(nodeId)) {
            throw new IllegalStateException("Cannot grant '" + leaseName + "' to '" + nodeId + "' while it is "
                    + (paused.contains(nodeId) ? "paused: resume it first" : "cut off: heal it first"));
        }
        time.settle();
        List<LeaderElection> stoodBack = new ArrayList<>();
        try {
            for (Member other : members()) {
                if (other != chosen && !isAway(other.id)) {
                    other.candidacy(leaseName).ifPresent(stoodBack::add);
                }
            }
            stoodBack.forEach(LeaderElection::stop);
            LeaderElection election = chosen.joined().election(leaseName);
            election.start();
            if (!time.passUntil(chosen.patienceNanos(), election::isLeader)) {
                throw new IllegalStateException("Node '" + nodeId + "' does not lead '" + leaseName
                        + "' although no other candidate does. Does it reach a majority of " + members.acceptors()
                        + ", is it set never to seek it (paxoslease.leases." + leaseName
                        + ".candidate=false), or did a node take the lease with tryAcquire or acquire?");
            }
        } finally {
            stoodBack.forEach(LeaderElection::start);
            time.settle();
        }
        awaitTold();
    }

    /**
     * Cuts a node off from all others, in both directions. What it holds it keeps until its lease time has passed. It stays cut off if it
     * is closed and started again.
     *
     * @param nodeId the node
     * @throws IllegalArgumentException if it is no member
     */
    public synchronized void partition(String nodeId) {
        requireMember(nodeId);
        time.settle();
        cutOff.add(nodeId);
    }

    /**
     * Ends {@link #partition}.
     *
     * @param nodeId the node
     * @throws IllegalArgumentException if it is no member
     */
    public synchronized void heal(String nodeId) {
        requireMember(nodeId);
        cutOff.remove(nodeId);
        time.settle();
        awaitTold();
    }

    /**
     * Stops a node, as a long garbage collection does: it notices, extends and answers nothing while time passes for the others, and what is sent to it
     * meanwhile is lost. Its leases tell the truth nevertheless, because they ask the clock.
     *
     * @param nodeId the node
     * @throws IllegalArgumentException if it is no member
     * @throws IllegalStateException if it does not run
     */
    public synchronized void pause(String nodeId) {
        running(nodeId);
        time.settle();
        paused.add(nodeId);
    }

    /**
     * Ends {@link #pause}: now the node notices what has become of its leases.
     *
     * @param nodeId the node
     * @throws IllegalArgumentException if it is no member
     */
    public synchronized void resume(String nodeId) {
        requireMember(nodeId);
        paused.remove(nodeId);
        time.settle();
        awaitTold();
    }

    /**
     * Lets time pass for all nodes. Leases are extended meanwhile, where nothing prevents it.
     *
     * @param passing how much
     * @throws IllegalArgumentException if it is negative
     */
    public synchronized void advance(Duration passing) {
        if (passing.isNegative()) {
            throw new IllegalArgumentException("Time does not run backwards: " + passing);
        }
        time.passUntil(passing.toNanos(), () -> false);
        awaitTold();
    }

    /** Closes the contexts that still run. */
    @Override
    public synchronized void close() {
        members().forEach(member -> member.context.close());
        time.close();
    }

    private List<Member> members() {
        return running.values().stream()
                .sorted(Comparator.comparing(Member::id))
                .toList();
    }

    private List<LeaseNode> awake() {
        return members().stream()
                .filter(member -> !paused.contains(member.id))
                .map(Member::joined)
                .toList();
    }

    private void awaitTold() {
        TestLeases.uninterrupted(() -> members().forEach(Member::awaitTold));
    }

    /** Whether nothing that is sent by a node or to it arrives. */
    private boolean isAway(String nodeId) {
        return cutOff.contains(nodeId) || paused.contains(nodeId);
    }

    private void requireMember(String nodeId) {
        if (members.indexOf(nodeId) < 0) {
            throw new IllegalArgumentException(
                    "'" + nodeId + "' is not one of the members " + members.acceptors() + " of this cell");
        }
    }

    private Member running(String nodeId) {
        requireMember(nodeId);
        Member member = running.get(nodeId);
        if (member == null) {
            throw new IllegalStateException("Node '" + nodeId + "' does not run: start a context with node(\"" + nodeId
                    + "\") among its initializers");
        }
        return member;
    }

    private void requireToFit(LeaseNode node) {
        NodeSettings settings = node.settings();
        for (Member other : members()) {
            NodeSettings known = other.joined().settings();
            if (!known.cell().equals(settings.cell()) || !known.timing().equals(settings.timing())) {
                throw new IllegalStateException("The settings of the nodes do not fit: " + settings.cell() + " and "
                        + settings.timing() + " of '" + settings.nodeId() + "', " + known.cell() + " and "
                        + known.timing() + " of '" + other.id + "'");
            }
        }
    }

    /** One life of one node: its context, and its end of the network. */
    final class Member {

        private final String id;
        private final ConfigurableApplicationContext context;
        private volatile @Nullable LeaseNode node;
        private volatile Runnable awaitEvents = () -> {};

        private Member(String id, ConfigurableApplicationContext context) {
            this.id = id;
            this.context = context;
        }

        String id() {
            return id;
        }

        NodeClock clock() {
            return time.clock();
        }

        Transport transport() {
            return new Link();
        }

        /**
         * To be called before the node starts.
         *
         * @param made the node
         * @param events waits until events have been delivered
         */
        void join(LeaseNode made, Runnable events) {
            requireToFit(made);
            node = made;
            awaitEvents = events;
            if (running.putIfAbsent(id, this) != null) {
                throw new IllegalStateException("Node '" + id + "' runs already: close its context first");
            }
            network.attach(id, made);
        }

        private LeaseNode joined() {
            LeaseNode made = node;
            if (made == null) {
                throw new IllegalStateException("The node '" + id + "' has not joined the cell");
            }
            return made;
        }

        private boolean holds(String leaseName) {
            LeaseStatus lease = joined().leases().get(leaseName);
            return lease != null && lease.heldHere();
        }

        /** Its election for a lease, if it is started. */
        private Optional<LeaderElection> candidacy(String leaseName) {
            return joined().startedElections().stream()
                    .filter(election -> election.name().equals(leaseName))
                    .findFirst();
        }

        /** How long anything may take that ends when leases or a quarantine end. */
        private long patienceNanos() {
            return 3 * joined().settings().timing().maxLeaseNanos()
                    + Duration.ofSeconds(10).toNanos();
        }

        private void awaitTold() {
            joined().awaitTold(TestLeases.TELLING);
            awaitEvents.run();
        }

        /** What this node sees of the others. */
        List<MemberStatus> view() {
            return members.acceptors().stream()
                    .filter(other -> !other.equals(id))
                    .map(this::status)
                    .toList();
        }

        private MemberStatus status(String other) {
            Member member = running.get(other);
            return InMemoryCellView.member(
                    other, member == null ? null : member.joined().acceptorState(), problem(other));
        }

        private @Nullable String problem(String other) {
            return !running.containsKey(other)
                    ? "is not running"
                    : paused.contains(other)
                            ? "paused by the test"
                            : isAway(id) || isAway(other) ? "cut off by the test" : null;
        }

        /** Its end of the network. */
        private final class Link implements Transport {

            private final Transport link = network.transport();

            @Override
            public void start(Incarnation self, Receiver receiver) {
                link.start(self, receiver);
            }

            @Override
            public void send(int acceptor, Request request) {
                if (!isAway(id) && !isAway(members.acceptors().get(acceptor))) {
                    link.send(acceptor, request);
                }
            }

            @Override
            public void flush() {
                link.flush();
            }

            /** The last thing that the node does. What it sent before still arrives. */
            @Override
            public void close() {
                if (running.remove(id, Member.this)) {
                    network.detach(id);
                    paused.remove(id);
                }
            }
        }
    }
}
