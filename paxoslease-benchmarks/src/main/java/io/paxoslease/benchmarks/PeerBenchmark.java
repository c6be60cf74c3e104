package io.paxoslease.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Cycles of acquire and release in this project and in others, measured one after another in one run on one machine, so that their ratios mean
 * something. Each system is three JVMs on the loopback interface with {@code -Xmx512m}, and workers in one process that take a lock of a name
 * that nobody else wants, release it and take the next. Each system first does everything once unmeasured, for the same time.
 *
 * <ul>
 *   <li>{@code tcp-ping-pong}: a floor, 100 bytes there and back between two processes, a connection for each worker
 *   <li>{@code disk-append}: a floor, 100 bytes appended to a file and forced to the disk
 *   <li>{@code http-echo}: a floor, a frame of a cycle's size through the server and client of {@code paxoslease}, which allow few at once
 *   <li>{@code paxoslease}: three nodes behind Tomcat, one round trip, leases of 1 s, workers in the first; {@code release()} does not wait for
 *       the network
 *   <li>{@code paxoslease-tcp}: the same over ports of its own
 *   <li>{@code hazelcast}: three embedded members, {@code IMap.tryLock} for 1 s, workers in the first; not by majority
 *   <li>{@code jgroups-raft}: three embedded members, a state machine of locks, a log in files that is not forced to the disk, workers in the first,
 *       which need not be the leader; locks do not expire
 *   <li>{@code zookeeper}: three servers, and the workers in an application with Curator's {@code InterProcessMutex}, a fourth JVM;
 *       every transaction is forced to the disk
 *   <li>{@code paxoslease-again}: the same as the first; how far it is from that is what the machine's other load does to every line
 * </ul>
 *
 * <p>In all of them but ours a release waits for its answer. The systems that write to a disk do so below {@code java.io.tmpdir}, which should
 * not be in memory. A system that fails is reported and left out, and the exit code is 1 then.
 *
 * <pre>
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.PeerBenchmark [seconds] [systems, separated by commas]
 * </pre>
 */
public final class PeerBenchmark {

    private static final List<String> SYSTEMS = List.of(
            "tcp-ping-pong",
            "disk-append",
            "http-echo",
            "paxoslease",
            "paxoslease-tcp",
            "hazelcast",
            "jgroups-raft",
            "zookeeper",
            "paxoslease-again");

    private static final List<String> HEAP = List.of("-Xmx512m");

    private PeerBenchmark() {}

    /**
     * Prints a table: a line that begins with {@code system} and one line for each system and number of workers, columns separated by spaces.
     *
     * @param arguments the seconds of each measurement, 5 unless told; which systems to measure, all unless told
     */
    public static void main(String[] arguments) throws Exception {
        long millis = 1_000 * (arguments.length > 0 ? Long.parseLong(arguments[0]) : 5);
        List<String> systems = arguments.length > 1 ? List.of(arguments[1].split(",")) : SYSTEMS;
        System.out.printf(
                "# %d processors, Java %s, %d ms each after as long a warm-up, files on %s%n",
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.version"),
                millis,
                Files.getFileStore(Path.of(System.getProperty("java.io.tmpdir")))
                        .type());
        System.out.printf("%-16s %8s %9s %8s %8s %7s%n", "system", "workers", "per_s", "p50_us", "p99_us", "failed");
        boolean complete = true;
        for (String system : systems) {
            try (Processes processes = new Processes()) {
                start(system, processes);
                measure(system, processes, millis);
            } catch (IOException failure) {
                System.err.println(system + ": " + failure.getMessage());
                complete = false;
            }
        }
        System.exit(complete ? 0 : 1);
    }

    private static void measure(String system, Processes processes, long millis)
            throws IOException, InterruptedException {
        String word = system.equals("http-echo") ? "echo" : "cycles";
        int[] workers = switch (system) {
            case "disk-append" -> new int[] {1};
            case "http-echo" -> new int[] {1, 16};
            default -> new int[] {1, 16, 128};
        };
        for (int count : workers) {
            ask(processes, word, count, millis);
        }
        for (int count : workers) {
            String[] answer = ask(processes, word, count, millis).split(" ");
            System.out.printf(
                    Locale.ROOT,
                    "%-16s %8d %9s %8s %8s %7s%n",
                    system,
                    count,
                    answer[0],
                    answer[1],
                    answer[2],
                    answer[3]);
        }
    }

    private static String ask(Processes processes, String word, int workers, long millis)
            throws IOException, InterruptedException {
        return processes.children().get(0).ask(word + " " + workers + " " + millis, millis + 30_000);
    }

    /** Starts the processes of a system, that of the workers first. */
    private static void start(String system, Processes processes) throws IOException, InterruptedException {
        switch (system) {
            case "tcp-ping-pong" -> members(processes, HEAP, "tcp", 2);
            case "disk-append" -> members(processes, HEAP, "disk", 1);
            case "http-echo", "paxoslease", "paxoslease-tcp", "paxoslease-again" -> {
                List<String> options = new ArrayList<>(HEAP);
                options.add("-Dtransport=" + (system.endsWith("-tcp") ? "tcp" : "http"));
                List<String> ports = Processes.freePorts(3);
                for (int i = 1; i <= 3; i++) {
                    processes.start(options, BenchNode.class, with(List.of("n" + i, "1000", "true"), ports));
                }
            }
            case "hazelcast" -> {
                List<String> options = new ArrayList<>(HEAP);
                options.addAll(HazelcastPeer.OPTIONS);
                members(processes, options, "hazelcast", 3);
            }
            case "jgroups-raft" -> members(processes, HEAP, "jgroups-raft", 3);
            case "zookeeper" -> {
                List<String> ports = Processes.freePorts(ZooKeeperPeer.PORTS);
                process(processes, HEAP, "curator", 0, ports);
                for (int i = 1; i <= ZooKeeperPeer.SERVERS; i++) {
                    process(processes, HEAP, "zookeeper", i, ports);
                }
            }
            default -> throw new IllegalArgumentException(system + " is none of " + SYSTEMS);
        }
        processes.awaitReady();
    }

    private static void members(Processes processes, List<String> options, String kind, int count) throws IOException {
        List<String> ports = Processes.freePorts(count);
        for (int i = 0; i < count; i++) {
            process(processes, options, kind, i, ports);
        }
    }

    private static void process(Processes processes, List<String> options, String kind, int index, List<String> ports)
            throws IOException {
        String directory = processes.directory().toString();
        processes.start(options, PeerNode.class, with(List.of(kind, Integer.toString(index), directory), ports));
    }

    private static List<String> with(List<String> first, List<String> then) {
        List<String> all = new ArrayList<>(first);
        all.addAll(then);
        return all;
    }
}
