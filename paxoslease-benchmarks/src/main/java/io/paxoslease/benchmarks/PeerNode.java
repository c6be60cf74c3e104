package io.paxoslease.benchmarks;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.LogManager;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * One process of a system that {@link PeerBenchmark} measures. It says {@code ready}, answers each line {@code cycles <workers> <millis>} with
 * a line of {@link Samples#summary}, and ends at once with its standard input, whatever it is doing.
 *
 * <p>Arguments: what it is, its index in the system, a directory of its own system, the ports of the system.
 */
final class PeerNode {

    /** A member that serves others and is never asked to work. */
    static final Workers.Work SERVES = (worker, round) -> false;

    private PeerNode() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        silence();
        BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(lines));
        reader.setDaemon(true);
        reader.start();
        int index = Integer.parseInt(arguments[1]);
        Path directory = Path.of(arguments[2]);
        int[] ports =
                Arrays.stream(arguments).skip(3).mapToInt(Integer::parseInt).toArray();
        Workers.Work work = switch (arguments[0]) {
            case "tcp" -> Floors.tcp(index, ports[0]);
            case "disk" -> Floors.disk(directory);
            case "zookeeper" -> ZooKeeperPeer.server(index, directory, ports);
            case "curator" -> ZooKeeperPeer.client(ports);
            case "hazelcast" -> HazelcastPeer.member(index, ports);
            case "jgroups-raft" -> RaftPeer.member(index, directory, ports);
            default -> throw new IllegalArgumentException(arguments[0]);
        };
        answers.println("ready");
        while (true) {
            String[] words = lines.take().split(" ");
            answers.println(Workers.run(Integer.parseInt(words[1]), Long.parseLong(words[2]), work, new ThreadCosts()));
        }
    }

    private static void read(BlockingQueue<String> lines) {
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
                .lines()
                .forEach(lines::add);
        Runtime.getRuntime().halt(0);
    }

    /** Lets the libraries tell errors only, and those on the standard error. */
    private static void silence() {
        LogManager.getLogManager().reset();
        ILoggerFactory loggers = LoggerFactory.getILoggerFactory();
        if (loggers instanceof LoggerContext logback) {
            logback.getLogger("ROOT").setLevel(Level.ERROR);
        }
    }
}
