package io.paxoslease.test;

import io.paxoslease.node.NodeClock;
import io.paxoslease.protocol.Now;
import java.util.concurrent.atomic.AtomicLong;

/** The clocks of all nodes of a cell in memory: they stand still until they are set. */
final class VirtualClock implements NodeClock {

    private static final long NANOS_PER_MILLI = 1_000_000;

    /** How far any of these clocks has come in this process. */
    private static final AtomicLong LATEST_MILLIS = new AtomicLong();

    /**
     * Like a real one, and not before the one of an earlier cell, so that fencing tokens are not lower than those that a database has seen
     * before.
     */
    private final long wallOriginMillis = Math.max(System.currentTimeMillis(), LATEST_MILLIS.get() + 1);

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

    /** How far the clock of another cell in this process has come ahead of this one. */
    long behindNanos() {
        return Math.max(0, LATEST_MILLIS.get() - now().wallMillis()) * NANOS_PER_MILLI;
    }

    void set(long later) {
        nanos = later;
        LATEST_MILLIS.accumulateAndGet(now().wallMillis(), Math::max);
    }
}
