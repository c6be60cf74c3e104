package io.paxoslease.protocol;

/**
 * A lease as its owner holds it, at one instant: a snapshot that is replaced when the lease is extended.
 *
 * @param resource the name of the lease
 * @param ballot the ballot that won last: the renewal base of the next extension
 * @param token the fencing token: the counter of the ballot that acquired the lease; extensions keep it (X3)
 * @param leaseNanos T
 * @param deadline until when the owner may act, unless the lease is extended, released or lost
 */
public record Tenure(String resource, Ballot ballot, long token, long leaseNanos, Deadline deadline) {

    /** P4, X7. Whether the owner may act at this instant. */
    public boolean isActive(Now now) {
        return !deadline.isPast(now);
    }
}
