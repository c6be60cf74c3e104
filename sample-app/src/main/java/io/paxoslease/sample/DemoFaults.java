package io.paxoslease.sample;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** What is broken in the demo cell at this moment. One for all nodes of the process; safe to use from any thread. */
final class DemoFaults {

    /** The longest delay of a message that can be asked for. */
    static final int MAX_DELAY_MILLIS = 400;

    /** Which direction of a node's network is cut. */
    enum Cut {
        /** None. */
        NONE,
        /** Nothing leaves the node and nothing reaches it. */
        BOTH,
        /** Nothing reaches the node. */
        IN,
        /** Nothing leaves the node. */
        OUT
    }

    /**
     * One node.
     *
     * @param alive whether its process is there; a node that is being killed is not
     * @param paused whether it stands still
     * @param cut what is cut
     */
    record NodeState(boolean alive, boolean paused, Cut cut) {

        static final NodeState FINE = new NodeState(true, false, Cut.NONE);

        NodeState paused(boolean now) {
            return new NodeState(alive, now, cut);
        }

        NodeState cut(Cut now) {
            return new NodeState(alive, paused, now);
        }

        boolean sends() {
            return alive && !paused && cut != Cut.BOTH && cut != Cut.OUT;
        }

        boolean receives() {
            return alive && !paused && cut != Cut.BOTH && cut != Cut.IN;
        }
    }

    private final Map<String, NodeState> nodes = new TreeMap<>();
    private int delayMillis;

    synchronized NodeState of(String node) {
        return nodes.getOrDefault(node, NodeState.FINE);
    }

    synchronized void set(String node, NodeState state) {
        nodes.put(node, state);
        notifyAll();
    }

    synchronized void delay(int millis) {
        delayMillis = Math.max(0, Math.min(millis, MAX_DELAY_MILLIS));
    }

    /** How long a message is under way, each way. */
    synchronized int delayMillis() {
        return delayMillis;
    }

    /** Whether a message that is under way now arrives. */
    synchronized boolean delivers(String from, String to) {
        return of(from).sends() && of(to).receives();
    }

    /** Returns when the node does not stand still, which may be at once. */
    synchronized void awaitRunning(String node) {
        boolean interrupted = false;
        while (of(node).paused()) {
            try {
                TimeUnit.SECONDS.timedWait(this, 1);
            } catch (InterruptedException interrupt) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
