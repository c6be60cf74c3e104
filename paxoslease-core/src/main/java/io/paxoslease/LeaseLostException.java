package io.paxoslease;

/** Thrown by {@link Lease#checkHeld()} when the lease is not held any more: it expired or was released. */
public class LeaseLostException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param leaseName the name of the lease
     * @param fencingToken the token of the tenure that ended
     */
    public LeaseLostException(String leaseName, long fencingToken) {
        super("Lease '" + leaseName + "' with fencing token " + fencingToken + " is not held any more");
    }
}
