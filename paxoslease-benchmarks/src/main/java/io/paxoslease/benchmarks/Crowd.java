package io.paxoslease.benchmarks;

import io.paxoslease.LeaderElection;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One process with many nodes that are no members of the cell, each with connections and threads of its own. It does what the lines on
 * its standard input say and answers each with one line.
 *
 * <p>Arguments: how many nodes, then those of {@link BenchCell}.
 */
final class Crowd {

    static final long LONGEST_CONTEST_MILLIS = 500;

    /** What is under way after a contest has arrived then. */
    private static final long REST_MILLIS = 30;

    private final BenchCell cell;
    private final List<LeaseNode> nodes = new ArrayList<>();
    private volatile Contest contest = new Contest("none", new CompletableFuture<>());

    /** When somebody had the lease. */
    private record Contest(String lease, CompletableFuture<Long> decided) {}

    private Crowd(int size, BenchCell cell) {
        this.cell = cell;
        SecureRandom random = new SecureRandom();
        for (int i = 1; i <= size; i++) {
            LeaseNode node = cell.node("p" + i, random);
            node.addListener(this::note);
            node.start();
            nodes.add(node);
        }
    }

    private void note(LeaseTransition transition) {
        Contest now = contest;
        if (transition.kind() == LeaseTransition.Kind.ACQUIRED
                && transition.leaseName().equals(now.lease())) {
            now.decided().complete(System.nanoTime());
        }
    }

    public static void main(String[] arguments) throws Exception {
        BenchCell.serve(() -> new Crowd(
                        Integer.parseInt(arguments[0]),
                        new BenchCell(Arrays.copyOfRange(arguments, 1, arguments.length)))::perform);
    }

    private String perform(String[] words) throws Exception {
        return switch (words[0]) {
            case "contest" -> Long.toString(contest(words[1], Integer.parseInt(words[2])));
            case "elect" -> {
                nodes.forEach(node -> node.election(words[1]).start());
                yield "standing";
            }
            case "counters" -> cell.frames.sum() + " " + cell.bytes.sum() + " " + System.nanoTime();
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    /** Has some of the nodes seek a lease at once. How many nanoseconds later one had it, or -1 if that took too long. */
    private long contest(String lease, int contenders) throws Exception {
        List<LeaderElection> elections = nodes.stream()
                .limit(contenders)
                .map(node -> node.election(lease))
                .toList();
        CompletableFuture<Long> decided = new CompletableFuture<>();
        contest = new Contest(lease, decided);
        CompletableFuture<Long> begin = new CompletableFuture<>();
        CyclicBarrier together = new CyclicBarrier(contenders, () -> begin.complete(System.nanoTime()));
        List<Thread> starters = elections.stream()
                .map(election -> new Thread(() -> {
                    await(together);
                    election.start();
                }))
                .toList();
        starters.forEach(Thread::start);
        long took;
        try {
            took = decided.get(LONGEST_CONTEST_MILLIS, TimeUnit.MILLISECONDS) - begin.get();
        } catch (TimeoutException nobody) {
            took = -1;
        }
        for (Thread starter : starters) {
            starter.join();
        }
        elections.forEach(LeaderElection::stop);
        Thread.sleep(REST_MILLIS);
        return took;
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception broken) {
            throw new IllegalStateException(broken);
        }
    }
}
