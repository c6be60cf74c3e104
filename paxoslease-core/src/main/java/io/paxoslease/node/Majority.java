package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;

/**
 * X11. Which acceptors an acceptor's node asks where a majority will do: those that decided when everybody was asked last, since they were the
 * quickest. Every few seconds, and when one of them is silent, everybody is asked again.
 *
 * <p>Only a matter of speed: a request that is not sent is one that is lost. Not safe for concurrent use.
 */
final class Majority {

    private static final long KNOWN_NANOS = 10_000_000_000L;

    private final int size;
    private final int majority;
    private final int self;
    private long acceptors;
    private boolean known;
    private long knownUntilNanos;

    /** Knows none yet. */
    Majority(Cell cell, String nodeId) {
        this.size = cell.size();
        this.majority = cell.majority();
        this.self = cell.indexOf(nodeId);
    }

    /**
     * Notes who accepted a proposal that everybody was sent by the time at which it was decided. Nothing is learned by a node that is no acceptor, because it does not hear who waits
     * for its leases; nor in an even cell, where those that were not asked can refuse a rival without the owner's hearing of it.
     *
     * @param accepted a bit for each acceptor
     */
    void learn(long accepted, Now now) {
        if (self >= 0 && (accepted >> self & 1) != 0 && size % 2 == 1 && Long.bitCount(accepted) == majority) {
            acceptors = accepted;
            known = true;
            knownUntilNanos = now.nanos() + KNOWN_NANOS;
        }
    }

    /** One that was asked did not answer. */
    void forget() {
        known = false;
    }

    /** Whether it is known whom to ask. */
    boolean isKnown(Now now) {
        known &= !now.hasReached(knownUntilNanos);
        return known;
    }

    /** A bit for each acceptor to ask. */
    long acceptors() {
        return acceptors;
    }
}
