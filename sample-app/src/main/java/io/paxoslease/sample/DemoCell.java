package io.paxoslease.sample;

import io.paxoslease.LeaseManager;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertyResolver;

/**
 * A whole cell in one process: three applications on three ports that talk HTTP to each other and share a database in memory. Good for a
 * first look and for tests; a real cell has one process per machine.
 */
final class DemoCell implements AutoCloseable {

    /** The property with the port of the first node; the others follow. */
    static final String BASE_PORT = "sample.base-port";

    /** The profile of its applications: only here nodes can be broken from the page, and messages are written down. */
    static final String PROFILE = "demo";

    private static final int NODES = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Map<String, ConfigurableApplicationContext> nodes = new ConcurrentSkipListMap<>();
    private final Set<String> starting = ConcurrentHashMap.newKeySet();

    /** One application starts at a time: each sets up the logging of the whole process, and two at once fail. */
    private final Object starts = new Object();

    private final DemoFaults faults = new DemoFaults();
    private final int basePort;
    private final String address;
    private final String host;
    private final String[] args;

    private DemoCell(int basePort, String address, String... args) {
        this.basePort = basePort;
        this.address = address;
        this.host = host(address);
        this.args = args.clone();
    }

    /**
     * Starts the three applications, or none.
     *
     * @param outside tells the first port and the address to listen on
     * @param args handed to each application
     * @throws PortTakenException if another program listens on one of the ports
     */
    static DemoCell start(PropertyResolver outside, String... args) {
        int basePort = outside.getProperty(BASE_PORT, Integer.class, 8081);
        String address = outside.getProperty("server.address", "127.0.0.1");
        for (int i = 0; i < NODES; i++) {
            requireFree(address, basePort + i);
        }
        DemoCell cell = new DemoCell(basePort, address, args);
        try {
            for (int i = 0; i < NODES; i++) {
                cell.startNode(i);
            }
            return cell;
        } catch (RuntimeException | Error failed) {
            cell.close();
            throw failed;
        }
    }

    private static void requireFree(String address, int port) {
        try (ServerSocket probe = new ServerSocket()) {
            probe.setReuseAddress(true);
            probe.bind(new InetSocketAddress(InetAddress.getByName(address), port));
        } catch (IOException | IllegalArgumentException taken) {
            throw new PortTakenException(address, port, taken);
        }
    }

    private void startNode(int index) {
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("server.address", address);
        settings.put("server.port", basePort + index);
        settings.put("paxoslease.node-id", nodeId(index));
        for (int i = 0; i < NODES; i++) {
            settings.put("paxoslease.members." + nodeId(i), url(i));
        }
        SpringApplication application = new SpringApplication(SampleApplication.class);
        application.setBannerMode(Banner.Mode.OFF);
        application.setAdditionalProfiles(PROFILE);
        application.addInitializers(context -> {
            context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("demo cell", settings));
            context.getBeanFactory().registerSingleton("demoCell", this);
        });
        synchronized (starts) {
            nodes.put(nodeId(index), application.run(args));
        }
    }

    private String url(int index) {
        return "http://" + host + ":" + (basePort + index);
    }

    /** How this machine calls an address that its nodes listen on. */
    private static String host(String address) {
        try {
            InetAddress listening = InetAddress.getByName(address);
            boolean usual = listening.isAnyLocalAddress() || listening.equals(InetAddress.getByName("localhost"));
            return usual ? "localhost" : address.contains(":") ? "[" + address + "]" : address;
        } catch (UnknownHostException toldBefore) {
            throw new IllegalArgumentException(toldBefore);
        }
    }

    private static String nodeId(int index) {
        return "node-" + (index + 1);
    }

    // What the page may do.

    DemoFaults faults() {
        return faults;
    }

    /** The ids of all nodes, sorted. */
    List<String> nodeIds() {
        return IntStream.range(0, NODES).mapToObj(DemoCell::nodeId).toList();
    }

    /** False if the node is not running: one that starts or stops could not go on. */
    synchronized boolean pause(String node) {
        boolean up = isUp(node);
        if (up) {
            faults.set(node, faults.of(node).paused(true));
        }
        return up;
    }

    synchronized void resume(String node) {
        faults.set(node, faults.of(node).paused(false));
    }

    synchronized void cut(String node, DemoFaults.Cut cut) {
        faults.set(node, faults.of(node).cut(cut));
    }

    /**
     * Ends an application so that nobody hears of it: what it says while it stops is lost. Returns at once; false if it is not running, or if it is
     * the last one, without which nothing could be restarted.
     */
    synchronized boolean kill(String node) {
        ConfigurableApplicationContext application = nodes.get(node);
        boolean last = nodeIds().stream().noneMatch(other -> !other.equals(node) && isUp(other));
        if (application == null || last || !isUp(node)) {
            return false;
        }
        faults.set(node, new DemoFaults.NodeState(false, false, DemoFaults.Cut.NONE));
        new Thread(application::close, "demo-kill-" + node).start();
        return true;
    }

    private boolean isUp(String node) {
        return state(node).equals("RUNNING") || state(node).equals("PAUSED");
    }

    /** Starts an application that was killed, with an empty memory. Returns at once; false if it is not down. */
    boolean restart(String node) {
        ConfigurableApplicationContext application = nodes.get(node);
        if (application == null || faults.of(node).alive() || isPortOpen(application) || !starting.add(node)) {
            return false;
        }
        new Thread(() -> restarted(node), "demo-start-" + node).start();
        return true;
    }

    private static boolean isPortOpen(ConfigurableApplicationContext application) {
        return application.isRunning() || application.isActive();
    }

    private void restarted(String node) {
        faults.set(node, DemoFaults.NodeState.FINE);
        try {
            startNode(nodeIds().indexOf(node));
        } catch (RuntimeException logged) {
            faults.set(node, new DemoFaults.NodeState(false, false, DemoFaults.Cut.NONE));
        } finally {
            starting.remove(node);
        }
    }

    /** {@code RUNNING}, {@code PAUSED}, {@code STOPPING}, {@code DOWN} or {@code STARTING}. */
    String state(String node) {
        ConfigurableApplicationContext application = nodes.get(node);
        if (application == null || starting.contains(node)) {
            return "STARTING";
        } else if (!faults.of(node).alive()) {
            return isPortOpen(application) ? "STOPPING" : "DOWN";
        }
        return faults.of(node).paused() ? "PAUSED" : "RUNNING";
    }

    /** The applications by node id. */
    Map<String, ConfigurableApplicationContext> nodes() {
        return nodes;
    }

    /** The node that leads, if exactly one says so. They are asked one after the other, so that two may when the lease moves. */
    Optional<String> leader(String leaseName) {
        List<String> leaders = new ArrayList<>();
        nodes.forEach((id, node) -> {
            if (node.isActive()
                    && node.getBean(LeaseManager.class).election(leaseName).isLeader()) {
                leaders.add(id);
            }
        });
        return leaders.size() == 1 ? Optional.of(leaders.get(0)) : Optional.empty();
    }

    String welcome() {
        StringBuilder ports = new StringBuilder();
        for (int i = 1; i < NODES; i++) {
            ports.append(i == 1 ? "" : ", ").append(url(i)).append('/');
        }
        Duration quarantine = quarantine();
        return String.join(
                System.lineSeparator(),
                "",
                "  A cell of three nodes runs in this process.",
                "",
                "  Dashboard  " + url(0) + "/",
                "             the same from the other nodes: " + ports,
                "  Leaders    in about " + quarantine.toSeconds()
                        + " s: a node that has just started keeps silent for one lease time",
                "  Stop       Ctrl-C",
                "");
    }

    private Duration quarantine() {
        ConfigurableApplicationContext any = nodes.values().iterator().next();
        return Objects.requireNonNull(any.getEnvironment().getProperty("paxoslease.lease-time", Duration.class));
    }

    /** Waits until every lease has a leader, and tells who leads what. */
    String awaitLeaders() {
        Map<String, String> leaders = new TreeMap<>();
        boolean complete = await(() -> {
            Jobs.LEASES.forEach(lease -> leader(lease).ifPresent(node -> leaders.put(lease, node)));
            return leaders.keySet().containsAll(Jobs.LEASES);
        });
        StringBuilder text = new StringBuilder(System.lineSeparator());
        leaders.forEach((lease, node) -> text.append(String.format("  %s leads %s%n", node, lease)));
        if (!complete) {
            text.append(String.format("  Not every lease has a leader after %s; the dashboard shows why.%n", PATIENCE));
        }
        return text.toString();
    }

    private boolean await(Supplier<Boolean> condition) {
        long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.get()) {
            if (System.nanoTime() - deadlineNanos >= 0
                    || nodes.values().stream().noneMatch(node -> node.isActive())) {
                return false;
            }
            try {
                Thread.sleep(50);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    /** Stops the three applications, one after the other. */
    @Override
    public void close() {
        nodes.keySet().forEach(this::resume);
        nodes.values().forEach(ConfigurableApplicationContext::close);
    }

    /** A port of the cell is not free. The message says what to do. */
    static final class PortTakenException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        PortTakenException(String address, int port, @Nullable Throwable cause) {
            super(
                    "Port " + port + " of " + address + " cannot be used (" + (cause == null ? "" : cause.getMessage())
                            + "). The cell needs three free ports in a row; choose the first one with --" + BASE_PORT
                            + "=9081.",
                    cause);
        }
    }
}
