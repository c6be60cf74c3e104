package io.paxoslease.spring;

/** The lease of this node lasts longer than before. */
public class LeaseExtendedEvent extends LeaseEvent {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param fencingToken the token of the tenure
     */
    public LeaseExtendedEvent(Object source, String leaseName, String node, long fencingToken) {
        super(source, leaseName, node, fencingToken);
    }
}
