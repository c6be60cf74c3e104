package io.paxoslease.spring;

/** This node gave its lease up. */
public class LeaseReleasedEvent extends LeaseEvent {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param fencingToken the token of the tenure
     */
    public LeaseReleasedEvent(Object source, String leaseName, String node, long fencingToken) {
        super(source, leaseName, node, fencingToken);
    }
}
