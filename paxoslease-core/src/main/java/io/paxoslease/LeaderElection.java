package io.paxoslease;

import java.util.Optional;

/**
 * The standing candidacy of this node for one lease: it seeks the lease, extends it while it leads, and seeks it again after it
 * was lost. Safe to call from any thread.
 */
public interface LeaderElection {

    /** The name of the lease. */
    String name();

    /** Becomes a candidate. Does nothing if it is one already, or if this node is set never to seek this lease. */
    void start();

    /** Stops being leader, releases the lease if it is held, and stops being a candidate. Does not wait for the network. */
    void stop();

    /**
     * Whether this node leads at this instant. Never blocks; reads the clock at every call (rule X7), so the answer is right also
     * after a pause of the process.
     */
    boolean isLeader();

    /** The lease under which this node leads now, empty if it does not lead. */
    Optional<Lease> lease();

    /**
     * Who leads as far as this node was told: a hint that may be out of date, never a permission. Empty if nobody is known to lead.
     *
     * <p>Not every node is told. Of a lease that {@link LeaseManager} acquired and that does not extend itself, perhaps no more than a majority of
     * the members was. A node that is neither a member nor a candidate hears nothing.
     */
    Optional<LeaderHint> leader();

    /**
     * Gives the lease up so that another candidate takes over, and stays a candidate that lets others try first. Does nothing if
     * this node does not lead.
     */
    void resign();
}
