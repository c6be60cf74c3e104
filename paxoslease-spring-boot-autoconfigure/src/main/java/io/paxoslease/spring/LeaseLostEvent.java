package io.paxoslease.spring;

/** The lease of this node ended without having been given up, because it could not be extended in time. */
public class LeaseLostEvent extends LeaseEvent {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param fencingToken the token of the tenure
     */
    public LeaseLostEvent(Object source, String leaseName, String node, long fencingToken) {
        super(source, leaseName, node, fencingToken);
    }
}
