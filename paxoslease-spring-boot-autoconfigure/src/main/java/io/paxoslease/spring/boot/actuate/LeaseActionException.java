package io.paxoslease.spring.boot.actuate;

/** An action on a lease that the endpoint does not perform; the message says why. */
public final class LeaseActionException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    static final int BAD_REQUEST = 400;
    static final int NOT_FOUND = 404;
    static final int CONFLICT = 409;

    private final int status;

    LeaseActionException(int status, String message) {
        super(message);
        this.status = status;
    }

    /** The HTTP status for it. */
    int status() {
        return status;
    }
}
