package io.paxoslease.protocol;

/**
 * The durations that safety rests on.
 *
 * @param maxLeaseNanos M, the longest lease time that any node of the cell may ask for; also the quarantine (T3)
 * @param maxClockDrift rho, the bound on the error of a clock's rate, from 0 to below 0.5
 */
public record Timing(long maxLeaseNanos, double maxClockDrift) {

    /** The shortest lease time; below it a lease would end before a majority could answer. */
    public static final long MIN_LEASE_NANOS = 10_000_000L;

    /** The longest lease time: one week. A restarted acceptor is silent for as long. */
    public static final long MAX_LEASE_NANOS = 7L * 24 * 3600 * 1_000_000_000L;

    public Timing {
        if (maxLeaseNanos < MIN_LEASE_NANOS || maxLeaseNanos > MAX_LEASE_NANOS) {
            throw new IllegalArgumentException(
                    "The maximum lease time must be from 10 ms to 7 days, not " + inFull(maxLeaseNanos));
        }
        if (!(maxClockDrift >= 0 && maxClockDrift < 0.5)) {
            throw new IllegalArgumentException(
                    "The maximum clock drift must be at least 0 and below 0.5, not " + maxClockDrift);
        }
    }

    /** D = gamma * T, rounded down (T2): the owner stops before its acceptors do at every allowed pair of clock rates. */
    public long ownerNanos(long leaseNanos) {
        double gamma = (1 - maxClockDrift) / (1 + maxClockDrift);
        return Math.min(leaseNanos, (long) (gamma * leaseNanos));
    }

    /** How long a fresh acceptor takes part in nothing (A4, T3). It covers D/gamma for every T up to M. */
    public long quarantineNanos() {
        return maxLeaseNanos;
    }

    /**
     * Requires a lease time that this cell allows.
     *
     * @param leaseNanos the lease time T
     * @return the lease time
     * @throws IllegalArgumentException if it is below 10 ms or above the maximum lease time
     */
    public long requireLeaseTime(long leaseNanos) {
        if (leaseNanos < MIN_LEASE_NANOS || leaseNanos > maxLeaseNanos) {
            throw new IllegalArgumentException("The lease time must be from 10 ms to the cell's maximum lease time of "
                    + inFull(maxLeaseNanos) + ", not " + inFull(leaseNanos));
        }
        return leaseNanos;
    }

    private static String inFull(long nanos) {
        return nanos % 1_000_000 == 0 ? nanos / 1_000_000 + " ms" : nanos + " ns";
    }
}
