package io.paxoslease.test;

import io.paxoslease.node.NodeClock;
import io.paxoslease.protocol.Now;

/** The clocks of all nodes of a cell in memory: they stand still until they are set. */
final class VirtualClock implements NodeClock {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** Like a real one, so that fencing tokens are not lower than those that a database has seen before. */
    private final long wallOriginMillis = System.currentTimeMillis();

    private volatile long nanos;

    @Override
    public Now now() {
        long read = nanos;
        return new Now(read, wallOriginMillis + read / NANOS_PER_MILLI);
    }

    @Override
    public boolean isDriven() {
        return true;
    }

    long nanos() {
        return nanos;
    }

    void set(long later) {
        nanos = later;
    }
}
