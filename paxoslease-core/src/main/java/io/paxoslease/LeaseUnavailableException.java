package io.paxoslease;

/** Thrown by {@link LeaseManager#acquire} when a lease could not be had within the allowed wait. The message says why. */
public class LeaseUnavailableException extends Exception {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message which lease, how long was waited, and what the last attempt met
     */
    public LeaseUnavailableException(String message) {
        super(message);
    }
}
