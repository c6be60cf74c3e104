package io.paxoslease.spring;

/** This node became the owner of a lease. */
public class LeaseAcquiredEvent extends LeaseEvent {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param fencingToken the token of the tenure
     */
    public LeaseAcquiredEvent(Object source, String leaseName, String node, long fencingToken) {
        super(source, leaseName, node, fencingToken);
    }
}
