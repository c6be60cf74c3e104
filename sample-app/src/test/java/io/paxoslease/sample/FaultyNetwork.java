package io.paxoslease.sample;

import io.paxoslease.sample.PacketHub.Link;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A network of a few hosts on this machine that can be broken in every way. Each host is a network namespace with two interfaces: {@code cell} leads
 * to the other hosts through a {@link PacketHub}, {@code out} to this JVM, undisturbed, for observers.
 *
 * <p>Needs Linux, root, {@code ip} and {@code socat}. {@link #close()} and the end of the JVM take everything away; what a killed JVM left behind,
 * the next one takes away.
 */
final class FaultyNetwork implements AutoCloseable {

    private static final String PREFIX = "plf";
    private static final Path NAMESPACES = Path.of("/run/netns");

    private final List<Process> tunnels = new ArrayList<>();
    private final Thread cleaner = new Thread(this::removeAll);
    private final long pid = ProcessHandle.current().pid();
    // Two test runs on one machine should not use the same addresses.
    private final int net = (int) (pid % 100) + 100;
    private final int size;
    private final PacketHub hub;

    /** Builds the network, or nothing. */
    FaultyNetwork(int size, long seed) throws IOException, InterruptedException {
        this.size = size;
        removeLeftovers();
        this.hub = new PacketHub(
                IntStream.range(0, size).mapToObj(this::outsideAddress).toList(), seed);
        Runtime.getRuntime().addShutdownHook(cleaner);
        try {
            for (int i = 0; i < size; i++) {
                addHost(i);
            }
        } catch (IOException | InterruptedException | RuntimeException failure) {
            close();
            throw failure;
        }
    }

    /** Why there can be no such network here; empty if there can. */
    static Optional<String> obstacle() {
        if (!Files.isWritable(Path.of("/dev/net/tun"))) {
            return Optional.of("/dev/net/tun is missing");
        }
        String name = PREFIX + ProcessHandle.current().pid() + "-0";
        try {
            run("socat", "-V");
            run("ip", "netns", "add", name);
            run("ip", "netns", "del", name);
            return Optional.empty();
        } catch (IOException missing) {
            return Optional.of(String.valueOf(missing.getMessage()));
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        }
    }

    private void addHost(int node) throws IOException, InterruptedException {
        String name = name(node);
        String veth = PREFIX + pid + "v" + node;
        run("ip", "netns", "add", name);
        run("ip", "-n", name, "link", "set", "lo", "up");
        run("ip", "link", "add", veth, "type", "veth", "peer", "name", "out", "netns", name);
        run("ip", "addr", "add", hubAddress(node) + "/30", "dev", veth);
        run("ip", "link", "set", veth, "up");
        run("ip", "-n", name, "addr", "add", outsideAddress(node) + "/30", "dev", "out");
        run("ip", "-n", name, "link", "set", "out", "up");
        List<String> tunnel = new ArrayList<>(command(node));
        tunnel.addAll(List.of(
                "socat",
                "TUN:" + address(node) + "/24,iff-no-pi,iff-up,tun-name=cell",
                "UDP4:" + hubAddress(node) + ":" + hub.port() + ",bind=" + outsideAddress(node) + ":" + hub.port()));
        tunnels.add(new ProcessBuilder(tunnel)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        awaitTunnel(name);
        run("ip", "-n", name, "link", "set", "cell", "mtu", "1400");
    }

    private static void awaitTunnel(String name) throws IOException, InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (true) {
            try {
                run("ip", "-n", name, "link", "show", "cell", "up");
                return;
            } catch (IOException notYet) {
                if (System.nanoTime() - deadlineNanos >= 0) {
                    throw notYet;
                }
                Thread.sleep(10);
            }
        }
    }

    /** What to put before a command so that it runs on a host. The process keeps its id. */
    List<String> command(int node) {
        return List.of("ip", "netns", "exec", name(node));
    }

    /** The address at which the other hosts find a host. */
    String address(int node) {
        return "10." + net + ".200." + (node + 1);
    }

    /** The address at which this JVM finds a host. */
    String outsideAddress(int node) {
        return "10." + net + "." + node + ".2";
    }

    private String hubAddress(int node) {
        return "10." + net + "." + node + ".1";
    }

    private String name(int node) {
        return PREFIX + pid + "-" + node;
    }

    PacketHub hub() {
        return hub;
    }

    /** Changes the ways from some hosts to others. */
    void set(List<Integer> from, List<Integer> to, Link link) {
        for (int sender : from) {
            for (int receiver : to) {
                hub.set(sender, receiver, link);
            }
        }
    }

    @Override
    public void close() {
        removeAll();
        Runtime.getRuntime().removeShutdownHook(cleaner);
    }

    private void removeAll() {
        tunnels.forEach(Process::destroyForcibly);
        hub.close();
        for (int i = 0; i < size; i++) {
            // With the namespace go its interfaces, and the other ends of its pairs.
            tryRun("ip", "netns", "del", name(i));
        }
    }

    private static void removeLeftovers() throws IOException {
        if (!Files.isDirectory(NAMESPACES)) {
            return;
        }
        try (Stream<Path> all = Files.list(NAMESPACES)) {
            all.map(path -> path.getFileName().toString())
                    .filter(name -> name.matches(PREFIX + "\\d+-\\d+"))
                    .filter(name -> ProcessHandle.of(Long.parseLong(name.substring(PREFIX.length(), name.indexOf('-'))))
                            .isEmpty())
                    .forEach(name -> tryRun("ip", "netns", "del", name));
        }
    }

    private static void tryRun(String... command) {
        try {
            run(command);
        } catch (IOException alreadyGone) {
            // Nothing to take away.
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("\"" + String.join(" ", command) + "\" failed");
        }
    }
}
