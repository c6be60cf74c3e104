package io.paxoslease.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/**
 * A cell of three processes on the loopback interface, {@code -Dnodes=…} for more or fewer, each a node behind a Tomcat, or with
 * {@code -Dtransport=tcp} on a port of its own, or {@code https} and {@code tls}, the same encrypted. The first node does
 * the work that is measured, all answer. Beside it in the same run: an echo of a frame through the same server and client, and {@code wakes}, in which
 * as many threads only fall asleep and are woken. The processor time
 * is that of all Java threads of the processes, without the compiler and the collector, but for {@code holding}, which tells that of the whole
 * process. There the first {@code -Downers=…} nodes share the leases, and hold {@code -Dwarm.up.leases=…} of them once before.
 * {@code -Dnode.options=…} passes options to the JVMs of the nodes. With {@code -Ddistance=…} the members are so many milliseconds away from each
 * other, there and back ({@link DelayLine}).
 *
 * <pre>
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark throughput [oneRoundTrip] [seconds]
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark idle [oneRoundTrip] [seconds]
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark holding [oneRoundTrip] [heap] [leases] [leaseMillis] [seconds] [takenPerSecond]
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark handover [oneRoundTrip] [rounds]
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark takeover [oneRoundTrip] [rounds]
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark contention [oneRoundTrip] [rounds]
 *   java -cp benchmarks.jar io.paxoslease.benchmarks.CellBenchmark nodes [oneRoundTrip] [seconds]
 * </pre>
 */
public final class CellBenchmark {

    private static final String[] COUNTERS = {
        "frames", "bytes", "extensions", "failed", "lost", "processor", "clock", "process", "held", "allocated"
    };

    private static final int SIZE = Integer.getInteger("nodes", 3);
    private static final String TRANSPORT = System.getProperty("transport", "http");
    private static final double DISTANCE_MILLIS = Double.parseDouble(System.getProperty("distance", "0"));
    private static final int OWNERS = Integer.getInteger("owners", 1);
    private static final long LONGEST_ANSWER_MILLIS = 1_800_000;
    private static final long WARM_UP_LEASES = Long.getLong("warm.up.leases", 50_000);
    private static final long WARM_UP_MILLIS = 10_000;
    private static final long CALM_MILLIS = 15_000;
    private static final int[] CONTENDERS = {2, 3, 5, 8, 10, 15, 20, 30, 40, 50};

    private CellBenchmark() {}

    /**
     * Prints what was measured.
     *
     * @param arguments see the class
     */
    public static void main(String[] arguments) throws Exception {
        boolean oneRoundTrip = arguments.length > 1 && Boolean.parseBoolean(arguments[1]);
        System.out.printf(
                Locale.ROOT,
                "%s, %d nodes, %s, %s, %d processors, Java %s%n",
                arguments[0],
                SIZE,
                TRANSPORT,
                oneRoundTrip ? "one round trip" : "two phases",
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.version"));
        switch (arguments[0]) {
            case "throughput" -> throughput(oneRoundTrip, number(arguments, 2, 5));
            case "holding" ->
                holding(
                        oneRoundTrip,
                        number(arguments, 3, 100_000),
                        number(arguments, 4, 60_000),
                        number(arguments, 5, 60),
                        number(arguments, 6, 1_000_000),
                        arguments.length > 2 ? arguments[2] : "256m");
            case "idle" -> idle(oneRoundTrip, number(arguments, 2, 10));
            case "handover" -> handover(oneRoundTrip, (int) number(arguments, 2, 200));
            case "takeover" -> takeover(oneRoundTrip, (int) number(arguments, 2, 40));
            case "contention" -> contention(oneRoundTrip, (int) number(arguments, 2, 200));
            case "nodes" -> nodes(oneRoundTrip, number(arguments, 2, 41));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static long number(String[] arguments, int index, long otherwise) {
        return arguments.length > index ? Long.parseLong(arguments[index]) : otherwise;
    }

    private static void throughput(boolean oneRoundTrip, long seconds) throws Exception {
        try (Nodes cell = new Nodes(1_000, oneRoundTrip, "256m")) {
            Node first = cell.nodes.get(0);
            first.ask("cycles 128 " + seconds * 1_000);
            first.ask("echo 16 " + seconds * 1_000);
            first.ask("cycles 1 " + seconds * 1_000);
            first.ask("async-cycles 1 " + seconds * 1_000);
            System.out.println(
                    "what              workers        /s   p50 us   p99 us  failed   frames/op  bytes/op  threads us/op  allocated/op");
            for (int workers : new int[] {1, 16, 128}) {
                if (workers <= 16) {
                    // A channel refuses more exchanges at once; the protocol never begins more than two.
                    measure(cell, "echo", workers, seconds);
                }
                measure(cell, "wakes", workers, seconds);
                measure(cell, "cycles", workers, seconds);
                measure(cell, "async-cycles", workers, seconds);
            }
        }
    }

    private static void measure(Nodes cell, String what, int workers, long seconds) throws Exception {
        long[] before = cell.counters();
        String[] answer = cell.nodes
                .get(0)
                .ask(what + " " + workers + " " + seconds * 1_000)
                .split(" ");
        long[] spent = minus(cell.counters(), before);
        double operations = Double.parseDouble(answer[0]) * spent[6] / 1e9 / cell.nodes.size();
        System.out.printf(
                Locale.ROOT,
                "%-16s %8d %9s %8s %8s %7s %11.2f %9.0f %14.1f %13.0f%n",
                what,
                workers,
                answer[0],
                answer[1],
                answer[2],
                answer[3],
                spent[0] / operations,
                spent[1] / operations,
                spent[5] / 1e3 / operations,
                spent[9] / operations);
    }

    private static void idle(boolean oneRoundTrip, long seconds) throws Exception {
        try (Nodes cell = new Nodes(1_000, oneRoundTrip, "256m")) {
            cell.warmUp();
            Node first = cell.nodes.get(0);
            // Many at once take other ways through the code, and what is idle does not run often enough to be compiled
            // again.
            first.ask("echo 1 5000");
            first.ask("idle 12000 50");
            for (int pauseMicros : new int[] {1_000, 20_000}) {
                String[] answer =
                        first.ask("idle " + seconds * 1_000 + " " + pauseMicros).split(" ");
                System.out.printf(
                        Locale.ROOT,
                        "after a pause of %d us: acquisition p50 %s us, p99 %s us, %s failed; echo p50 %s us, p99 %s us; ratio of p50 %.2f%n",
                        pauseMicros,
                        answer[1],
                        answer[2],
                        answer[3],
                        answer[5],
                        answer[6],
                        Double.parseDouble(answer[1]) / Double.parseDouble(answer[5]));
            }
        }
    }

    private static void holding(
            boolean oneRoundTrip, long leases, long leaseMillis, long seconds, long perSecond, String heap)
            throws Exception {
        try (Nodes cell = new Nodes(leaseMillis, oneRoundTrip, heap)) {
            cell.warmUp();
            hold(cell, Math.min(leases, WARM_UP_LEASES), leaseMillis, perSecond);
            Thread.sleep(Math.min(5 * leaseMillis, WARM_UP_MILLIS));
            for (Node node : cell.nodes) {
                node.ask("release");
            }
            System.out.println("idle for " + seconds + " s:");
            shares(cell, seconds);
            cell.nodes.get(1).hold(leases, 1, leaseMillis, perSecond);
            System.out.println("one lease for " + seconds + " s:");
            shares(cell, seconds);
            for (String[] held : hold(cell, leases, leaseMillis, perSecond)) {
                System.out.println(held[0] + " leases of " + leaseMillis + " ms taken in " + held[2] + " ms, " + held[1]
                        + " missed");
            }
            System.out.println("for " + seconds + " s:");
            shares(cell, seconds);
        }
    }

    /** Has the owners take as many leases each, all at the same time. */
    private static List<String[]> hold(Nodes cell, long leases, long leaseMillis, long perSecond) throws Exception {
        long each = leases / OWNERS;
        List<Callable<String[]>> owners = new ArrayList<>();
        for (int i = 0; i < OWNERS; i++) {
            Node owner = cell.nodes.get(i);
            long first = i * each;
            owners.add(() -> owner.hold(first, each, leaseMillis, perSecond / OWNERS));
        }
        ExecutorService threads = Executors.newFixedThreadPool(OWNERS);
        try {
            List<String[]> held = new ArrayList<>();
            for (Future<String[]> owner : threads.invokeAll(owners)) {
                held.add(owner.get());
            }
            return held;
        } finally {
            threads.shutdown();
        }
    }

    private static void shares(Nodes cell, long seconds) throws Exception {
        List<long[]> before = new ArrayList<>();
        for (Node node : cell.nodes) {
            before.add(node.counters());
        }
        Thread.sleep(seconds * 1_000);
        for (int i = 0; i < cell.nodes.size(); i++) {
            long[] after = cell.nodes.get(i).counters();
            long[] spent = minus(after, before.get(i));
            double clock = spent[6] / 1e9;
            System.out.printf(
                    Locale.ROOT,
                    "  node %d: %.0f extensions/s, %d failed, %d lost, %d held, %.1f frames/s, %.0f bytes/s, %.2f %% of a core%n",
                    i + 1,
                    spent[2] / clock,
                    spent[3],
                    spent[4],
                    after[8],
                    spent[0] / clock,
                    spent[1] / clock,
                    spent[7] / clock / 1e7);
        }
    }

    /** The leader resigns; how long until another node of another process leads. */
    private static void handover(boolean oneRoundTrip, int rounds) throws Exception {
        try (Nodes cell = new Nodes(1_000, oneRoundTrip, "128m")) {
            cell.warmUpAndElect();
            long[] nanos = new long[rounds];
            for (int i = -20; i < rounds; i++) {
                Node leader = cell.awaitLeader();
                // Whoever resigned before rests for a quarter of the lease time or twenty round trips, for a second at
                // most.
                Thread.sleep(Math.min(1_100, 300 + (long) (25 * DISTANCE_MILLIS)));
                long start = Long.parseLong(leader.ask("resign leader"));
                long took = awaitAcquired(cell.nodes, start) - start;
                if (i >= 0) {
                    nanos[i] = took;
                }
            }
            print("hand-over after resign", nanos);
        }
    }

    /** From the moment at which the lease of a leader ends that is killed just after an extension. */
    private static void takeover(boolean oneRoundTrip, int rounds) throws Exception {
        try (Nodes cell = new Nodes(1_000, oneRoundTrip, "128m")) {
            cell.warmUpAndElect();
            long[] nanos = new long[rounds];
            for (int i = 0; i < rounds; i++) {
                Node leader = cell.awaitLeader();
                long end;
                do {
                    end = Long.parseLong(leader.ask("ends leader"));
                } while (end - System.nanoTime() < 900_000_000L - (long) (2 * DISTANCE_MILLIS * 1e6));
                leader.process().kill();
                List<Node> others = new ArrayList<>(cell.nodes);
                others.remove(leader);
                nanos[i] = awaitAcquired(others, end - 500_000_000L) - end;
                Node again = cell.restart(leader);
                again.ask("cycles 16 2000");
                again.ask("elect leader");
            }
            print("take-over after SIGKILL, from the end of the lease", nanos);
        }
    }

    /** Nodes that are no members seek one free lease at the same time, a new name each time, until one has it. */
    private static void contention(boolean oneRoundTrip, int rounds) throws Exception {
        try (Nodes cell = new Nodes(1_000, oneRoundTrip, "256m")) {
            cell.warmUp();
            Node crowd = cell.startCrowd(CONTENDERS[CONTENDERS.length - 1]);
            for (int i = 0; i < rounds; i++) {
                crowd.ask("contest warm" + i + " " + CONTENDERS[i % CONTENDERS.length]);
            }
            for (int contenders : CONTENDERS) {
                long[] before = crowd.counters();
                List<Long> nanos = new ArrayList<>();
                for (int i = 0; i < rounds; i++) {
                    long took = Long.parseLong(crowd.ask("contest lease" + contenders + "-" + i + " " + contenders));
                    if (took >= 0) {
                        nanos.add(took);
                    }
                }
                long[] spent = minus(crowd.counters(), before);
                System.out.printf(
                        Locale.ROOT,
                        "%2d nodes: %d of %d not within %d ms; %.0f frames and %.0f bytes in each; ",
                        contenders,
                        rounds - nanos.size(),
                        rounds,
                        Crowd.LONGEST_CONTEST_MILLIS,
                        spent[0] / (double) rounds,
                        spent[1] / (double) rounds);
                print("until one had it", nanos.stream().mapToLong(each -> each).toArray());
            }
        }
    }

    /** What a cell costs in which there are more and more nodes that are no members: with nothing to do, and as candidates of a lease that another has. */
    private static void nodes(boolean oneRoundTrip, long seconds) throws Exception {
        for (int all : new int[] {10, 50, 100}) {
            try (Nodes cell = new Nodes(10_000, oneRoundTrip, "256m")) {
                cell.warmUp();
                Node crowd = cell.startCrowd(all - SIZE);
                Thread.sleep(CALM_MILLIS);
                traffic(all + " nodes with nothing to do", cell, crowd, seconds);
                cell.nodes.get(0).ask("elect leader");
                cell.awaitLeader();
                crowd.ask("elect leader");
                Thread.sleep(CALM_MILLIS);
                traffic("all but the members candidates of a lease of 10 s", cell, crowd, seconds);
            }
        }
    }

    private static void traffic(String what, Nodes cell, Node crowd, long seconds) throws Exception {
        long[] before = cell.counters();
        long[] crowdBefore = crowd.counters();
        long[] acceptorBefore = cell.nodes.get(SIZE - 1).counters();
        Thread.sleep(seconds * 1_000);
        long[] acceptor = minus(cell.nodes.get(SIZE - 1).counters(), acceptorBefore);
        long[] crowdSpent = minus(crowd.counters(), crowdBefore);
        long[] spent = minus(cell.counters(), before);
        double clock = acceptor[6] / 1e9;
        System.out.printf(
                Locale.ROOT,
                "%s: %.1f frames/s, %.0f bytes/s; an acceptor %.2f %% of a core%n",
                what,
                (spent[0] + crowdSpent[0]) / clock,
                (spent[1] + crowdSpent[1]) / clock,
                acceptor[7] / clock / 1e7);
    }

    /** When one of the nodes acquired the lease, which was after the instant. */
    private static long awaitAcquired(List<Node> nodes, long after) throws Exception {
        long first = Long.MAX_VALUE;
        while (first == Long.MAX_VALUE) {
            // The nodes write down when; asking all the time would take the processors away from them.
            Thread.sleep(20);
            for (Node node : nodes) {
                String acquired = node.ask("acquired");
                if (!acquired.equals("never")) {
                    long at = Long.parseLong(acquired.split(" ")[1]);
                    first = at - after > 0 ? Math.min(first, at) : first;
                }
            }
        }
        return first;
    }

    private static void print(String what, long[] nanos) {
        Arrays.sort(nanos);
        System.out.printf(
                Locale.ROOT,
                "%s, %d rounds: p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, max %.2f ms%n",
                what,
                nanos.length,
                percentile(nanos, 50) / 1e6,
                percentile(nanos, 90) / 1e6,
                percentile(nanos, 99) / 1e6,
                nanos[nanos.length - 1] / 1e6);
        System.out.println(Arrays.stream(nanos)
                .mapToObj(each -> String.format(Locale.ROOT, "%.1f", each / 1e6))
                .collect(Collectors.joining(" ", "ms: ", "")));
    }

    /** By the nearest rank, as the figures have it. */
    private static long percentile(long[] sorted, int percent) {
        return sorted[(sorted.length * percent + 99) / 100 - 1];
    }

    private static long[] minus(long[] after, long[] before) {
        long[] difference = new long[after.length];
        for (int i = 0; i < after.length; i++) {
            difference[i] = after[i] - before[i];
        }
        return difference;
    }

    /** The processes of a cell. */
    private static final class Nodes implements AutoCloseable {
        final List<Node> nodes = new ArrayList<>();
        private final Processes processes = new Processes();
        private final List<String> ports = Processes.freePorts(SIZE);
        private final List<String> options = new ArrayList<>();
        private final long maxLeaseMillis;
        private final boolean oneRoundTrip;

        Nodes(long maxLeaseMillis, boolean oneRoundTrip, String heap) throws Exception {
            this.maxLeaseMillis = maxLeaseMillis;
            this.oneRoundTrip = oneRoundTrip;
            options.add("-Xmx" + heap);
            options.add("-Dtransport=" + TRANSPORT);
            if (TRANSPORT.equals("tls") || TRANSPORT.equals("https")) {
                options.add("-Dcertificate=" + SharedCertificate.create(processes.directory()));
            }
            if (DISTANCE_MILLIS > 0) {
                List<String> lines = new ArrayList<>();
                for (String port : ports) {
                    lines.add(Integer.toString(
                            new DelayLine(Integer.parseInt(port), (long) (DISTANCE_MILLIS / 2 * 1e6)).port()));
                }
                options.add("-Dlines=" + String.join(",", lines));
            }
            String more = System.getProperty("node.options", "");
            if (!more.isBlank()) {
                options.addAll(List.of(more.split(" ")));
            }
            for (int i = 1; i <= SIZE; i++) {
                nodes.add(start("n" + i));
            }
            processes.awaitReady();
        }

        private Node start(String nodeId) throws IOException {
            return new Node(nodeId, processes.start(options, BenchNode.class, arguments(nodeId)));
        }

        /** Nodes of one more process that are no members. */
        Node startCrowd(int size) throws Exception {
            Processes.Child crowd = processes.start(options, Crowd.class, arguments(Integer.toString(size)));
            crowd.awaitReady();
            return new Node("crowd", crowd);
        }

        private List<String> arguments(String first) {
            List<String> arguments =
                    new ArrayList<>(List.of(first, Long.toString(maxLeaseMillis), Boolean.toString(oneRoundTrip)));
            arguments.addAll(ports);
            return arguments;
        }

        /** So that what is measured is compiled, as it is after an hour of extensions. */
        void warmUp() throws Exception {
            for (Node node : nodes) {
                node.ask("cycles 16 5000");
            }
        }

        /** The same, and then all stand for election. */
        void warmUpAndElect() throws Exception {
            warmUp();
            for (Node node : nodes) {
                node.ask("elect leader");
            }
        }

        Node awaitLeader() throws Exception {
            while (true) {
                for (Node node : nodes) {
                    if (node.ask("leads leader").equals("true")) {
                        return node;
                    }
                }
            }
        }

        /** The next life of a node that was killed. */
        Node restart(Node killed) throws Exception {
            Node again = start(killed.nodeId);
            nodes.set(nodes.indexOf(killed), again);
            again.process.awaitReady();
            return again;
        }

        long[] counters() throws Exception {
            long[] sum = new long[COUNTERS.length];
            for (Node node : nodes) {
                long[] counters = node.counters();
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += counters[i];
                }
            }
            return sum;
        }

        @Override
        public void close() {
            processes.close();
        }
    }

    private record Node(String nodeId, Processes.Child process) {

        String ask(String line) throws Exception {
            return process.ask(line, LONGEST_ANSWER_MILLIS);
        }

        String[] hold(long first, long leases, long leaseMillis, long perSecond) throws Exception {
            return ask("hold " + first + " " + leases + " " + leaseMillis + " " + perSecond)
                    .split(" ");
        }

        long[] counters() throws Exception {
            return Arrays.stream(ask("counters").split(" "))
                    .mapToLong(Long::parseLong)
                    .toArray();
        }
    }
}
