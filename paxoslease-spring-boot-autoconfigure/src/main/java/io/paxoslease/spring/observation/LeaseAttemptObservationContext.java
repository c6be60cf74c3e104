package io.paxoslease.spring.observation;

import io.micrometer.observation.Observation;
import io.paxoslease.node.AttemptListener.Outcome;
import io.paxoslease.node.AttemptListener.Purpose;
import org.jspecify.annotations.Nullable;

/** What is known of an attempt to acquire or extend a lease. */
public final class LeaseAttemptObservationContext extends Observation.Context {

    private final String leaseName;
    private final Purpose purpose;
    private @Nullable Outcome outcome;
    private @Nullable String reason;

    /**
     * Describes an attempt that begins.
     *
     * @param leaseName the name of the lease
     * @param purpose what it is for
     */
    public LeaseAttemptObservationContext(String leaseName, Purpose purpose) {
        this.leaseName = leaseName;
        this.purpose = purpose;
    }

    /** The name of the lease. */
    public String getLeaseName() {
        return leaseName;
    }

    /** What the attempt is for. */
    public Purpose getPurpose() {
        return purpose;
    }

    /** How it ended; null until then. */
    public @Nullable Outcome getOutcome() {
        return outcome;
    }

    /** What it met; null if it succeeded, and until it has ended. */
    public @Nullable String getReason() {
        return reason;
    }

    void end(Outcome how, @Nullable String met) {
        outcome = how;
        reason = met;
    }
}
