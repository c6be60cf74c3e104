package io.paxoslease.wire;

import io.paxoslease.protocol.Now;
import java.util.HashMap;
import java.util.Map;

/** What is wrong with which node, in words. Bounded, and forgotten when it does not happen again. Safe to call from any thread. */
final class Problems {

    private record Problem(String text, long endNanos) {}

    private final int capacity;
    private final long keptNanos;
    private final Map<String, Problem> problems = new HashMap<>();

    Problems(int capacity, long keptNanos) {
        this.capacity = capacity;
        this.keptNanos = keptNanos;
    }

    /**
     * Notes a problem, unless there are too many: a flood of node ids must neither displace what is known nor fill the log.
     *
     * @return whether the node had none, so that this one should be logged
     */
    synchronized boolean add(String nodeId, String text, Now now) {
        problems.values().removeIf(problem -> now.hasReached(problem.endNanos()));
        Problem before = problems.get(nodeId);
        if (before == null && problems.size() >= capacity) {
            return false;
        }
        problems.put(nodeId, new Problem(text, now.nanos() + keptNanos));
        return before == null;
    }

    synchronized void remove(String nodeId) {
        problems.remove(nodeId);
    }

    synchronized void copyTo(Map<String, String> target, Now now) {
        problems.values().removeIf(problem -> now.hasReached(problem.endNanos()));
        problems.forEach((nodeId, problem) -> target.put(nodeId, problem.text()));
    }
}
