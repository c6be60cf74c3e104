package io.paxoslease.node;

import org.jspecify.annotations.Nullable;

/**
 * Told of the attempts of a node to acquire or extend leases, in order per lease, on threads that may block; what it throws is logged. A lease
 * has one attempt at a time on a node, and each that begins ends, unless the node is closed or fails meanwhile.
 */
public interface AttemptListener {

    /** What an attempt is for. */
    enum Purpose {
        /** To become the owner. */
        ACQUIRE,
        /** To get a later deadline. */
        EXTEND
    }

    /** How an attempt ended. */
    enum Outcome {
        /** The lease is held. */
        SUCCESS,
        /** The cell said no, or too few acceptors answered in time. */
        FAILURE,
        /** Nobody wanted the answer any more. */
        WITHDRAWN
    }

    /**
     * The first message of an attempt is on its way.
     *
     * @param leaseName the name of the lease
     * @param purpose what it is for
     */
    void onBegin(String leaseName, Purpose purpose);

    /**
     * An attempt has ended. Comes without a begin if the listener was added in between.
     *
     * @param leaseName the name of the lease
     * @param outcome how
     * @param reason what it met, null if it succeeded
     */
    void onEnd(String leaseName, Outcome outcome, @Nullable String reason);
}
