package io.paxoslease.node;

/** Told what happens to the leases of a node, in order per lease, on threads that may block; what it throws is logged. */
@FunctionalInterface
public interface LeaseListener {

    /**
     * Something happened.
     *
     * @param transition what
     */
    void onTransition(LeaseTransition transition);
}
