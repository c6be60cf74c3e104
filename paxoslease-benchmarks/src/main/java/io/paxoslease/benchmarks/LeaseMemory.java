package io.paxoslease.benchmarks;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Timing;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * How much heap a lease takes in a node that is its owner and its acceptor: a cell of one, names of 16 bytes, leases that extend themselves and
 * to which the application keeps no reference. Also the longest time that one acquisition took, with garbage collection and whatever else runs on
 * the machine, and the most processor time, without; of the first thousand, which load the classes, and of those after them.
 *
 * <pre>
 *   java -Xmx1g -cp benchmarks.jar io.paxoslease.benchmarks.LeaseMemory 10000000
 * </pre>
 */
public final class LeaseMemory {

    private static final Duration LEASE_TIME = Duration.ofDays(1);
    /** Those that load the classes are told apart. */
    private static final int FIRST = 1_000;

    private LeaseMemory() {}

    /**
     * Prints bytes per lease.
     *
     * @param arguments how many leases
     */
    public static void main(String[] arguments) {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        Timing timing = new Timing(LEASE_TIME.toNanos(), 0.01);
        NodeSettings settings = new NodeSettings(
                "node-1",
                new Cell("bench", List.of("node-1")),
                timing,
                LEASE_TIME,
                Duration.ofSeconds(1),
                true,
                false,
                1 << 28,
                Map.of());
        LeaseNode node = new LeaseNode(settings, new NoTransport(), RandomGenerator.getDefault());
        node.openAcceptor();
        node.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = usedBytes();
        long begin = System.nanoTime();
        long longest = 0;
        long most = 0;
        for (int i = 0; i < count; i++) {
            String name = name(i);
            long start = System.nanoTime();
            long processor = threads.getCurrentThreadCpuTime();
            Optional<Lease> lease = node.tryAcquire(name, LEASE_TIME);
            lease.orElseThrow().autoExtend();
            most = Math.max(most, threads.getCurrentThreadCpuTime() - processor);
            longest = Math.max(longest, System.nanoTime() - start);
            if (i == FIRST - 1 || i % 1_000_000 == 999_999) {
                System.out.printf(
                        Locale.ROOT,
                        "%,d leases after %.1f s; longest acquisition %.1f ms, most processor time of one %.1f ms;"
                                + " %.1f s in GC%n",
                        i + 1,
                        (System.nanoTime() - begin) / 1e9,
                        longest / 1e6,
                        most / 1e6,
                        gcMillis() / 1e3);
            }
            if (i == FIRST - 1) {
                longest = 0;
                most = 0;
            }
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        long used = usedBytes() - before;
        System.out.printf(
                Locale.ROOT,
                "%,d leases held: %.1f bytes each, %,d MiB of %,d MiB heap; %.0f acquisitions/s; Java %s, %s%n",
                node.acceptorStatus().leases(),
                (double) used / count,
                used >> 20,
                Runtime.getRuntime().maxMemory() >> 20,
                count / seconds,
                System.getProperty("java.version"),
                ManagementFactory.getGarbageCollectorMXBeans().get(0).getName());
    }

    private static String name(int i) {
        return String.format(Locale.ROOT, "lease-%010d", i);
    }

    private static long gcMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(collector -> collector.getCollectionTime())
                .sum();
    }

    private static long usedBytes() {
        MemoryUsage usage = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        for (int i = 0; i < 4; i++) {
            System.gc();
            usage = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        }
        return usage.getUsed();
    }
}
