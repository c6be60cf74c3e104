package io.paxoslease.node;

import io.paxoslease.node.Candidacy.State;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;

/**
 * X11. Which acceptors an acceptor's node asks where a majority will do: those that decided when everybody was asked last, since they were the
 * quickest. Every few seconds, and when one of them is silent, everybody is asked again.
 *
 * <p>Only a matter of speed: a request that is not sent is one that is lost. Not safe for concurrent use.
 */
final class Majority {

    /** A bit for each acceptor there can be. */
    static final long EVERYBODY = -1L;

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

    /**
     * Whether a majority is asked first for the lease that is sought. Not for leases that are to last: the other nodes should know who has them, and
     * the more acceptors know, the less it matters which of them is there. Nor where others want the lease: they should know when to try.
     */
    boolean isAskedFirst(Candidacy candidacy, Now now) {
        return candidacy.state == State.TRYING
                && !candidacy.firstClaim().autoExtend
                && candidacy.told != EVERYBODY
                && isKnown(now);
    }

    /**
     * A bit for each acceptor that gets the request. A release is for those that were asked, and for everybody if others want the lease or it was
     * held for so long that one may without this node's having heard of it.
     */
    long recipients(Candidacy candidacy, Request request, Now now) {
        if (request instanceof ReleaseRequest) {
            boolean brief = now.nanos() - candidacy.attemptBeganNanos < RoundTrips.SHORTEST_ROUND_NANOS / 2;
            return brief ? candidacy.told : EVERYBODY;
        }
        if (!candidacy.thrifty) {
            candidacy.told = EVERYBODY;
            return EVERYBODY;
        }
        candidacy.withheld = request;
        candidacy.asked = acceptors;
        candidacy.told |= acceptors;
        return acceptors;
    }

    /** One that was asked does not answer. */
    void onSilence(Candidacy candidacy, Output out) {
        if (candidacy.withheld != null) {
            forget();
            askTheRest(candidacy, out);
        }
    }

    /** Asks the acceptors that have not been, because one that has been is against or does not answer. */
    void askTheRest(Candidacy candidacy, Output out) {
        Request withheld = candidacy.withheld;
        if (withheld != null) {
            candidacy.withheld = null;
            candidacy.told = EVERYBODY;
            out.send(withheld, ~candidacy.asked);
        }
    }
}
