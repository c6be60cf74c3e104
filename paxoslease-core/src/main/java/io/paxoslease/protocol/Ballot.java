package io.paxoslease.protocol;

/**
 * The unique number of one attempt.
 *
 * <p>Counters from one incarnation strictly grow. Between incarnations equal counters can happen; an acceptor serves only the first of
 * them (rule X3), so ballots that any acceptor accepted for one resource are ordered by their counters alone.
 *
 * @param counter 1 up to {@link #MAX_COUNTER}
 * @param owner the proposer's incarnation
 */
public record Ballot(long counter, Incarnation owner) {

    /** Counters stay below 2^53 so that JSON readers keep them exact (rule X2). */
    public static final long MAX_COUNTER = (1L << 53) - 1;

    public Ballot {
        if (counter < 1 || counter > MAX_COUNTER) {
            throw new IllegalArgumentException(
                    "The counter of a ballot must be from 1 to " + MAX_COUNTER + ", not " + counter);
        }
    }

    @Override
    public String toString() {
        return counter + "@" + owner;
    }
}
