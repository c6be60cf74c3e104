package io.paxoslease.spring.bounded;

import io.paxoslease.node.InProcessNetwork;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/** A cell whose nodes all live in this process. */
public final class LocalCell implements AutoCloseable {

    private static final Duration LEASE_TIME = Duration.ofSeconds(6);
    private static final Duration ROUND_TIMEOUT = Duration.ofSeconds(2);
    private static final String WIRE = "wire";

    private final ExecutorService wires = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, WIRE);
        thread.setDaemon(true);
        return thread;
    });
    private final AtomicInteger inFlight = new AtomicInteger();
    /** What has passed besides. */
    private final AtomicLong passedNanos = new AtomicLong();

    private final List<LeaseNode> nodes = new ArrayList<>();
    private final List<String> ids = new ArrayList<>();
    private final Cell cell;
    private final InProcessNetwork network;

    private LocalCell(int size) {
        for (int i = 1; i <= size; i++) {
            ids.add("n" + i);
        }
        cell = new Cell("default", ids);
        network = new InProcessNetwork(cell, this::carry);
        for (String id : ids) {
            LeaseNode node = create(id);
            network.attach(id, node);
            nodes.add(node);
            node.openAcceptor();
            node.start();
        }
        pass(LEASE_TIME);
        if (!nodes.stream().allMatch(node -> node.acceptorState() == AcceptorState.VOTING)) {
            throw new IllegalStateException("The quarantine is not over");
        }
    }

    private LeaseNode create(String id) {
        return new LeaseNode(
                new NodeSettings(
                        id,
                        cell,
                        new Timing(LEASE_TIME.toNanos(), 0.01),
                        LEASE_TIME,
                        ROUND_TIMEOUT,
                        false,
                        true,
                        1_000,
                        Map.of()),
                network.transport(),
                new SplittableRandom(id.hashCode()),
                this::now);
    }

    private Now now() {
        Now now = NodeClock.SYSTEM.now();
        long passed = passedNanos.get();
        return new Now(now.nanos() + passed, now.wallMillis() + TimeUnit.NANOSECONDS.toMillis(passed));
    }

    /** Lets so much time pass at once for all of its nodes: a lease that has no more left is over without being extended. */
    public void pass(Duration time) {
        passedNanos.addAndGet(time.toNanos());
        nodes.forEach(LeaseNode::onTime);
    }

    private void carry(Runnable delivery) {
        inFlight.incrementAndGet();
        wires.execute(() -> {
            try {
                delivery.run();
            } finally {
                inFlight.decrementAndGet();
            }
        });
    }

    /** Waits until everything that was sent so far has arrived, such as the messages of a release. */
    public void awaitDelivered() {
        Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> inFlight.get() == 0);
    }

    /** A cell of that many acceptors, all of them voting. */
    public static LocalCell of(int size) {
        return new LocalCell(size);
    }

    /** A started cell of one that lives and dies with this process. */
    public static LeaseNode standalone() {
        LeaseNode node =
                new LeaseNode(NodeSettings.standalone("solo", LEASE_TIME), new NoTransport(), new SplittableRandom(1));
        node.openAcceptor();
        node.start();
        return node;
    }

    /** Whether the thread carries messages of a cell: the slower the machine, the more there are. */
    public static boolean isWire(Thread thread) {
        return thread.getName().equals(WIRE);
    }

    /** One node of the cell, counted from 1. */
    public LeaseNode node(int number) {
        return nodes.get(number - 1);
    }

    /** A node that is not a member; to be started and closed by the caller. */
    public LeaseNode proposer(String id) {
        return create(id);
    }

    /** Cuts a member off in both directions. */
    public void isolate(int number) {
        network.isolate(ids.get(number - 1));
    }

    /** Cuts a node that is not a member off in both directions. */
    public void isolate(String proposer) {
        network.isolate(proposer);
    }

    /** Ends {@link #isolate(int)}. */
    public void rejoin(int number) {
        network.rejoin(ids.get(number - 1));
    }

    /** T of this cell: short so that losing a lease does not take long, long enough for a busy machine to extend one in time. */
    public static Duration leaseTime() {
        return LEASE_TIME;
    }

    @Override
    public void close() {
        nodes.forEach(LeaseNode::close);
        wires.shutdownNow();
    }
}
