package io.paxoslease.protocol;

/** Why an attempt was abandoned. */
public sealed interface Outcome {

    /**
     * A live lease of another ballot stands in the way.
     *
     * @param holder the incarnation that owns the last lease that has to end for enough acceptors to be free
     * @param freeInNanos after how long it could end if nothing is extended: a hint (X6)
     */
    record Blocked(Incarnation holder, long freeInNanos) implements Outcome {}

    /**
     * Leases of others stand in the way, no one of them at a majority as far as is known, and rivals are at it now: the proposal was sent without
     * preparing (X8), so that it may have split the acceptors with theirs, or other acceptors had promised a higher ballot. They clean up behind
     * themselves as this attempt does (X5), so there is nothing to wait for. A record of this owner whose release was lost counts like a rival.
     */
    record Split() implements Outcome {}

    /** Acceptors promised or accepted a higher ballot. The sequence of ballots was lifted above it already (T4). */
    record Outbid() implements Outcome {}

    /** Too few acceptors answered. */
    record Unanswered() implements Outcome {}

    /** The attempt's own deadline passed before it won (P4). */
    record Overdue() implements Outcome {}

    /** The proposer was told to release or to start anew. */
    record Withdrawn() implements Outcome {}
}
