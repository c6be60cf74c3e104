package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;

/**
 * Which acceptors an acceptor's node asks where a majority will do: itself and those that follow it in the cell, so that each is asked by others
 * alike. After one of them did not answer everybody is asked for a while, and then others than before.
 *
 * <p>Only a matter of speed: a request that is not sent is one that is lost. Not safe for concurrent use.
 */
final class Majority {

    private static final long EVERYBODY_IS_ASKED_NANOS = 1_000_000_000L;

    private final int size;
    private final int majority;
    private final int self;
    private int skipped;
    private boolean troubled;
    private long troubledUntilNanos;

    /** The majorities of one node; none if it is not an acceptor, because then it does not hear who waits for its leases. */
    Majority(Cell cell, String nodeId) {
        this.size = cell.size();
        this.majority = cell.majority();
        this.self = cell.indexOf(nodeId);
    }

    /** Whether it is worth while to ask a majority first. */
    boolean isEnough(Now now) {
        troubled &= !now.hasReached(troubledUntilNanos);
        return self >= 0 && majority < size && !troubled;
    }

    /** A bit for each acceptor to ask. */
    long acceptors() {
        long acceptors = 1L << self;
        for (int i = 0; i < majority - 1; i++) {
            acceptors |= 1L << (self + 1 + (skipped + i) % (size - 1)) % size;
        }
        return acceptors;
    }

    /** One that was asked did not answer. */
    void noteSilence(Now now) {
        if (isEnough(now)) {
            troubled = true;
            troubledUntilNanos = now.nanos() + EVERYBODY_IS_ASKED_NANOS;
            skipped = (skipped + 1) % (size - 1);
        }
    }
}
