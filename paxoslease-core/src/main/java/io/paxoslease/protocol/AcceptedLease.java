package io.paxoslease.protocol;

/**
 * A live lease as one acceptor reports it.
 *
 * @param ballot the accepted ballot, which names the owner
 * @param remainingNanos how much longer this acceptor excludes others, on its own clock; a hint (X6)
 */
public record AcceptedLease(Ballot ballot, long remainingNanos) {

    public AcceptedLease {
        if (remainingNanos < 0) {
            throw new IllegalArgumentException(
                    "The remaining time must not be negative, but is " + remainingNanos + " ns");
        }
    }
}
