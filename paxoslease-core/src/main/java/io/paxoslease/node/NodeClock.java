package io.paxoslease.node;

import io.paxoslease.protocol.Now;

/** Port: the clocks of this machine. Safe to call from any thread; must not block or throw. */
@FunctionalInterface
public interface NodeClock {

    /** The clocks of the system: {@link System#nanoTime()} and {@link System#currentTimeMillis()}. */
    NodeClock SYSTEM = () -> new Now(System.nanoTime(), System.currentTimeMillis());

    /** Reads both clocks. */
    Now now();

    /** Whether time passes only when somebody says so, who then calls {@link LeaseNode#onTime()}; the node has no timer of its own then. */
    default boolean isDriven() {
        return false;
    }
}
