package io.paxoslease.spring;

/** An attempt to extend the lease of this node failed. The lease is held until its own end, and further attempts follow. */
public class LeaseExtensionFailedEvent extends LeaseEvent {

    private static final long serialVersionUID = 1L;

    private final String reason;

    /**
     * Creates the event.
     *
     * @param source what publishes it
     * @param leaseName the name of the lease
     * @param node the id of this node
     * @param fencingToken the token of the tenure
     * @param reason what the attempt met
     */
    public LeaseExtensionFailedEvent(Object source, String leaseName, String node, long fencingToken, String reason) {
        super(source, leaseName, node, fencingToken);
        this.reason = reason;
    }

    /** What the attempt met. */
    public String reason() {
        return reason;
    }
}
