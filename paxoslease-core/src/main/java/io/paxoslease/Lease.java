package io.paxoslease;

import java.time.Duration;
import java.util.Optional;

/**
 * One tenure of a lease by this node, from its acquisition to its loss or release. A lease that was lost never comes back: a later
 * acquisition is another {@code Lease} with a higher fencing token.
 *
 * <p>Safe to call from any thread. {@link #isHeld()}, {@link #remaining()} and {@link #checkHeld()} never block and read the clock at
 * every call.
 */
public interface Lease extends AutoCloseable {

    /** The name of the lease. */
    String name();

    /** The id of the node that holds it: this node. */
    String owner();

    /**
     * A number that grows from one tenure of this name to the next and stays the same across extensions (rule X3). Pass it to the
     * resource that the lease protects and let that refuse lower ones.
     */
    long fencingToken();

    /** Whether the lease is held at this instant. */
    boolean isHeld();

    /** How long the lease lasts from now unless it is extended; zero if it is not held. */
    Duration remaining();

    /**
     * Does nothing while the lease is held.
     *
     * @throws LeaseLostException if it is not held
     */
    void checkHeld() throws LeaseLostException;

    /**
     * Asks the cell once for the full lease time from now. Blocks for at most a few network rounds. A failed extension leaves the
     * lease as it was; an interrupt ends the wait, answers {@code false} and stays set.
     *
     * @return whether the lease was extended
     */
    boolean extend();

    /**
     * Keeps extending this lease in the background until it is released or lost.
     *
     * @return this lease
     */
    Lease autoExtend();

    /**
     * Runs an action once when the lease ends without having been released, at once if that has happened already. The action runs on
     * another thread than the caller's, which may block and is not the protocol's; what it throws is logged.
     *
     * <p>It is kept until the lease ends, which for that of an election may be months: add it once in a tenure, not with each run of a job.
     *
     * @param action what to run
     */
    void onLost(Runnable action);

    /**
     * Stops being the owner at once and tells the cell. Does not wait for the network; does nothing if it is not held. For the lease of
     * an election it is the same as {@link LeaderElection#resign()}.
     */
    void release();

    /** The same as {@link #release()}. */
    @Override
    default void close() {
        release();
    }

    /**
     * The lease under which this thread runs a method guarded by {@code @LeaderOnly}.
     *
     * @return the lease, empty outside of such a method
     */
    static Optional<Lease> current() {
        return LeaseScope.current();
    }
}
