package io.paxoslease.test;

import io.paxoslease.node.InProcessNetwork;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.node.NodeSettings.LeaseSettings;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The node of the application and the members of its cell, ordinary nodes on one clock that is set from here. The application's node has no
 * acceptor, so that its whole cell can be cut off from it.
 *
 * <p>Not safe for use by several threads, except for the transport and the clock. Messages travel on one thread and arrive without the clock moving.
 */
final class InMemoryCell implements AutoCloseable {

    private static final long LONGEST_DELIVERY_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int MOST_ROUNDS_AT_ONCE = 100_000;
    private static final int MOST_RESOURCES = 100_000;

    private final VirtualClock clock = new VirtualClock();
    private final ApplicationLink link = new ApplicationLink();
    private final ExecutorService wire = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "paxoslease-test-wire");
        thread.setDaemon(true);
        return thread;
    });
    private final Object traffic = new Object();
    private long sent;
    private long arrived;
    private boolean closed;

    private final List<LeaseNode> members = new ArrayList<>();
    private final Set<String> unheard = ConcurrentHashMap.newKeySet();
    private volatile boolean cutOff;
    private boolean paused;
    private @Nullable LeaseNode application;
    private @Nullable InProcessNetwork network;

    VirtualClock clock() {
        return clock;
    }

    /** The transport of the application's node. */
    Transport transport() {
        return link;
    }

    /** Makes the members that the application's node knows; to be called before that node starts. */
    void join(LeaseNode node) {
        NodeSettings settings = node.settings();
        Cell cell = settings.cell();
        InProcessNetwork made = new InProcessNetwork(cell, this::carry);
        for (String id : cell.acceptors()) {
            if (!id.equals(settings.nodeId())) {
                LeaseNode member = new LeaseNode(
                        member(id, settings), made.transport(), new SplittableRandom(id.hashCode()), clock);
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
        clock.set(clock.nanos() + settings.timing().quarantineNanos());
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

    /** Sets the clock ahead, and nobody does anything meanwhile. */
    void jump(long nanos) {
        clock.set(clock.nanos() + nanos);
    }

    /** Lets time pass from one thing that is due to the next, until a condition holds or so much time has passed; answers whether it holds. */
    boolean passUntil(long atMostNanos, BooleanSupplier condition) {
        long end = clock.nanos() + atMostNanos;
        while (true) {
            OptionalLong next = settle();
            if (condition.getAsBoolean()) {
                return true;
            }
            if (clock.nanos() - end >= 0) {
                return false;
            }
            clock.set(next.isPresent() && next.getAsLong() - end < 0 ? next.getAsLong() : end);
        }
    }

    /** Lets the nodes do what is due and all messages arrive, and says when something is due next. */
    OptionalLong settle() {
        for (int round = 0; round < MOST_ROUNDS_AT_ONCE; round++) {
            long sentBefore = awaitArrival();
            OptionalLong next = paused ? OptionalLong.empty() : application().onTime();
            for (LeaseNode member : members) {
                next = earlier(next, member.onTime());
            }
            boolean quiet = sentBefore == awaitArrival();
            if (quiet && (next.isEmpty() || next.getAsLong() - clock.nanos() > 0)) {
                return next;
            }
        }
        throw new IllegalStateException("The nodes do not come to rest at one instant");
    }

    private static OptionalLong earlier(OptionalLong one, OptionalLong other) {
        if (one.isEmpty() || other.isEmpty()) {
            return one.isEmpty() ? other : one;
        }
        return one.getAsLong() - other.getAsLong() <= 0 ? one : other;
    }

    // Messages.

    private void carry(Runnable delivery) {
        synchronized (traffic) {
            if (closed) {
                return;
            }
            sent++;
            wire.execute(() -> deliver(delivery));
        }
    }

    private void deliver(Runnable delivery) {
        try {
            delivery.run();
        } finally {
            synchronized (traffic) {
                arrived++;
                traffic.notifyAll();
            }
        }
    }

    /** Waits until all that was sent has arrived, and says how much that was. */
    private long awaitArrival() {
        long deadline = System.nanoTime() + LONGEST_DELIVERY_NANOS;
        boolean interrupted = false;
        synchronized (traffic) {
            while (arrived < sent && !closed) {
                long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (millis <= 0) {
                    throw new IllegalStateException("Messages of the cell in memory do not arrive");
                }
                try {
                    traffic.wait(millis);
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            return sent;
        }
    }

    @Override
    public void close() {
        members.forEach(LeaseNode::close);
        synchronized (traffic) {
            closed = true;
            wire.shutdown();
            traffic.notifyAll();
        }
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
            if (started != null && !cutOff && !unheard.contains(request.resource())) {
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
