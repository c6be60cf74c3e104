package io.paxoslease.spring;

import io.paxoslease.protocol.Names;
import org.springframework.context.ApplicationEvent;

/**
 * Something that happened to a lease on this node.
 *
 * <p>Events of one lease arrive in their order, none before the application is ready, each on a thread that may block and is not
 * the protocol's. Every {@link LeaseAcquiredEvent} is followed by exactly one {@link LeaseLostEvent} or
 * {@link LeaseReleasedEvent}. An event is history when it arrives: whether the lease is held now is answered by
 * {@code LeaderElection.isLeader()} and {@code Lease.isHeld()} alone.
 *
 * <p>What a listener throws is logged and keeps nothing from the others. Listeners are called one after another in their order;
 * for one that takes longer than a second the others do not wait, and it receives what followed when it is done.
 *
 * <p>No transaction surrounds an event, so a {@code @TransactionalEventListener} without {@code fallbackExecution} is told of none, nor is an
 * {@code @ApplicationModuleListener} of Spring Modulith: use {@code @EventListener}.
 */
public abstract class LeaseEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    private final String leaseName;
    private final String node;
    private final long fencingToken;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param fencingToken the token of the tenure, 0 if there is none
     */
    protected LeaseEvent(Object source, String leaseName, String node, long fencingToken) {
        super(source);
        this.leaseName = leaseName;
        this.node = node;
        this.fencingToken = fencingToken;
    }

    /** The name of the lease. */
    public final String leaseName() {
        return leaseName;
    }

    /** The id of this node. */
    public final String node() {
        return node;
    }

    /** The token of the tenure, 0 for a {@link LeaderChangedEvent}. */
    public final long fencingToken() {
        return fencingToken;
    }

    @Override
    public String toString() {
        return Names.printable(getClass().getSimpleName() + "[lease " + leaseName + ", node " + node + ", token "
                + fencingToken + "]");
    }
}
