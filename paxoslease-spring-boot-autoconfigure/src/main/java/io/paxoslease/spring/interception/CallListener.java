package io.paxoslease.spring.interception;

/** Told how calls of guarded methods end, on the thread of the call; must be quick and must not throw. */
@FunctionalInterface
public interface CallListener {

    /** How a call ended. */
    enum Outcome {
        /** The method ran and returned. */
        RUN,
        /** The method did not run and the caller was given what stands for nothing. */
        SKIPPED,
        /** The method did not run and the caller was told so by an exception. */
        REFUSED,
        /** The scheduled method was still running on this node and was not run a second time. */
        OVERLAPPING,
        /** The method ran and threw. */
        FAILED
    }

    /**
     * A call ended.
     *
     * @param leaseName the name of the lease
     * @param outcome how it ended
     */
    void onCall(String leaseName, Outcome outcome);
}
