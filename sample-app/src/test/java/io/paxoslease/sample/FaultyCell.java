package io.paxoslease.sample;

import io.paxoslease.sample.JournalChecker.Line;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A cell of separate processes whose network and clocks can go wrong. Each life of a process has clocks and a journal of its own. */
final class FaultyCell implements AutoCloseable {

    static final double MAX_CLOCK_DRIFT = 0.01;
    /** How far the wall clock of a node may be from the machine's while nodes restart: tokens grow only if they agree well, see X3. */
    static final Duration MAX_SKEW = Duration.ofMillis(400);

    private static final int PORT = 8080;
    private static final int MOST_STARTS = 20;

    private final Path directory;
    private final Random random;
    private final Optional<FaultyNetwork> network;
    private final List<String> common;
    private final List<Life> lives = new CopyOnWriteArrayList<>();
    private final Map<String, Life> current = new ConcurrentHashMap<>();
    private final RealCell cell;
    private volatile boolean allSettable;

    private record Life(Path journal, SkewedClock clock, long startNanos) {}

    /**
     * Prepares the cell.
     *
     * @param network what is between the nodes; if empty they are on ports of this machine and nothing is between them
     * @param tcp whether they talk over TCP on ports of their own, instead of HTTP
     */
    FaultyCell(Path directory, int size, Optional<FaultyNetwork> network, boolean tcp, Random random)
            throws IOException {
        this.directory = directory;
        this.network = network;
        this.random = random;
        this.common = new ArrayList<>(List.of(
                "--paxoslease.lease-time=" + RealCell.LEASE_TIME.toMillis() + "ms",
                "--paxoslease.max-clock-drift=" + MAX_CLOCK_DRIFT,
                "--paxoslease.security.shared-secret=not a secret, but long enough to be one"));
        common.addAll(RealCell.JOBS);
        common.add("--sample.keep-locks-up-to=15s");
        common.add("--paxoslease.transport=" + (tcp ? "tcp" : "http"));
        int basePort = network.isPresent() ? PORT : Ports.freeRow(2 * size);
        List<NodeProcess> nodes = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int node = i;
            String id = "node-" + (i + 1);
            int port = network.isPresent() ? PORT : basePort + i;
            String host = network.map(net -> net.address(node)).orElse("127.0.0.1");
            common.add("--paxoslease.members." + id + "="
                    + (tcp ? "tcp://" + host + ":" + (port + size) : "http://" + host + ":" + port));
            nodes.add(new NodeProcess(
                    id,
                    "http://" + network.map(net -> net.outsideAddress(node)).orElse("127.0.0.1") + ":" + port,
                    directory.resolve(id + ".tsv"),
                    () -> launch(node, id, port)));
        }
        this.cell = new RealCell(nodes);
    }

    private JavaProcess launch(int node, String id, int port) throws IOException {
        String name = id + "-life-" + lives.size();
        SkewedClock clock = chooseClock(name);
        Path journal = directory.resolve(name + ".tsv");
        List<String> prefix =
                new ArrayList<>(network.map(net -> net.command(node)).orElse(List.of()));
        prefix.addAll(clock.command());
        List<String> arguments = new ArrayList<>(common);
        arguments.add("--paxoslease.node-id=" + id);
        arguments.add("--server.port=" + port);
        arguments.add("--sample.journal=" + journal);
        JavaProcess process = start(prefix, directory.resolve(id + ".log"), arguments, clock);
        Life life = new Life(journal, clock, System.nanoTime());
        lives.add(life);
        current.put(id, life);
        return process;
    }

    /** Starts a process; more than once if its rate is wrong and the machine stood still meanwhile, because then it is not known since when. */
    private static JavaProcess start(List<String> prefix, Path output, List<String> arguments, SkewedClock clock)
            throws IOException {
        for (int tried = 0; tried < MOST_STARTS; tried++) {
            try (MachineLag lag = new MachineLag()) {
                JavaProcess process = JavaProcess.startSample(prefix, output, arguments);
                try {
                    process.awaitExecution();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                    process.close();
                    throw new IOException("interrupted");
                }
                clock.started();
                if (clock.rate() == 1 || lag.isCalm()) {
                    return process;
                }
                process.close();
            }
        }
        throw new IOException("the machine stood still at each of " + MOST_STARTS + " starts");
    }

    private SkewedClock chooseClock(String name) throws IOException {
        int choice = SkewedClock.isAvailable() ? random.nextInt(4) : 0;
        if (SkewedClock.isAvailable() && (allSettable || choice >= 2)) {
            return SkewedClock.settable(directory.resolve(name + ".clock"));
        }
        if (choice == 1) {
            double error = random.nextBoolean() ? MAX_CLOCK_DRIFT : random.nextDouble(MAX_CLOCK_DRIFT);
            return SkewedClock.withRate(random.nextBoolean() ? 1 + error : 1 - error);
        }
        return SkewedClock.exact();
    }

    /** From now on every process gets a wall clock that can be set. */
    void makeNextClocksSettable() {
        allSettable = true;
    }

    /** Sets the wall clock of a node, if that can be done. */
    boolean setClock(NodeProcess node, Duration offset) throws IOException {
        Life life = current.get(node.id());
        if (life == null || !life.clock().isSettable()) {
            return false;
        }
        life.clock().set(offset);
        return true;
    }

    /** Whether the clocks of a node have run wrong for so long that its wall clock is too far off. */
    boolean isTooFarOff(NodeProcess node) {
        Life life = current.get(node.id());
        return life != null
                && Math.abs(life.clock().rate() - 1) * (System.nanoTime() - life.startNanos()) > MAX_SKEW.toNanos();
    }

    RealCell cell() {
        return cell;
    }

    List<NodeProcess> nodes() {
        return cell.nodes();
    }

    /** How many processes there were. */
    int lives() {
        return lives.size();
    }

    /** How many of them had clocks with a rate of their own. */
    long livesWithWrongRate() {
        return lives.stream().filter(life -> life.clock().rate() != 1).count();
    }

    /** The journals of all lives, in the machine's time. */
    JournalChecker journals() throws IOException {
        List<Line> lines = new ArrayList<>();
        for (Life life : lives) {
            JournalChecker.read(List.of(life.journal()))
                    .lines()
                    .map(line -> line.by(life.clock()::toMachineNanos))
                    .forEach(lines::add);
        }
        return new JournalChecker(lines);
    }

    @Override
    public void close() {
        cell.close();
    }
}
