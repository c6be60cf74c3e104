package io.paxoslease.spring.bounded;

import io.paxoslease.node.InProcessNetwork;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/** A cell whose nodes all live in this process. */
public final class LocalCell implements AutoCloseable {

    private static final Duration LEASE_TIME = Duration.ofSeconds(3);
    private static final String WIRE = "wire";

    private final ExecutorService wires = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, WIRE);
        thread.setDaemon(true);
        return thread;
    });
    private final AtomicInteger inFlight = new AtomicInteger();
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
        Awaitility.await()
                .pollInterval(Duration.ofMillis(20))
                .until(() -> nodes.stream().allMatch(node -> node.acceptorState() == AcceptorState.VOTING));
    }

    private LeaseNode create(String id) {
        return new LeaseNode(
                new NodeSettings(
                        id,
                        cell,
                        new Timing(LEASE_TIME.toNanos(), 0.01),
                        LEASE_TIME,
                        Duration.ofSeconds(1),
                        false,
                        true,
                        1_000,
                        Map.of()),
                network.transport(),
                new SplittableRandom(id.hashCode()));
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

    /** T of this cell, short so that losing a lease does not take long. */
    public static Duration leaseTime() {
        return LEASE_TIME;
    }

    @Override
    public void close() {
        nodes.forEach(LeaseNode::close);
        wires.shutdownNow();
    }
}
