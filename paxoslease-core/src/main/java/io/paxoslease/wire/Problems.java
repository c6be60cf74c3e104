package io.paxoslease.wire;

import io.paxoslease.protocol.Now;
import java.util.HashMap;
import java.util.Map;

/** What is wrong with which node, in words. Bounded, and forgotten when it does not happen again. Safe to call from any thread. */
final class Problems {

    /** How often the log is told that there is another problem with a node, while it has one. */
    private static final int MAX_CHANGES = 2;

    private record Problem(String text, int changes, long endNanos) {}

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
     * @return whether the node had none, or another one for the first or second time, so that this one should be logged
     */
    synchronized boolean add(String nodeId, String text, Now now) {
        problems.values().removeIf(problem -> now.hasReached(problem.endNanos()));
        Problem before = problems.get(nodeId);
        if (before == null && problems.size() >= capacity) {
            return false;
        }
        boolean changed = before != null && !before.text().equals(text);
        int changes = before == null ? 0 : Math.min(before.changes() + (changed ? 1 : 0), MAX_CHANGES + 1);
        problems.put(nodeId, new Problem(text, changes, now.nanos() + keptNanos));
        return before == null || (changed && changes <= MAX_CHANGES);
    }

    synchronized void remove(String nodeId) {
        problems.remove(nodeId);
    }

    synchronized void copyTo(Map<String, String> target, Now now) {
        problems.values().removeIf(problem -> now.hasReached(problem.endNanos()));
        problems.forEach((nodeId, problem) -> target.put(nodeId, problem.text()));
    }
}
