package io.paxoslease.protocol;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The counters of a node's ballots (rules X2, T4): each is above every counter that the node has used or seen, and not below the wall
 * clock, so that they grow across restarts without a disk.
 *
 * <p>Shared by both roles of a node and safe to call from any thread.
 */
public final class BallotSequence {

    /** How far a counter may be ahead of the own wall clock before it is refused: one day of microseconds (X2). */
    static final long MAX_AHEAD = 24L * 3600 * 1_000_000;

    /** How far the sequence follows wall clocks that are ahead of the own: one hour of microseconds. */
    static final long MAX_LEAD = 3600L * 1_000_000;

    private final AtomicLong highest;

    /** How far counters of others were ahead of the own wall clock. */
    private final AtomicLong lead;

    /** Creates a sequence that has seen nothing. */
    public BallotSequence() {
        this.highest = new AtomicLong();
        this.lead = new AtomicLong();
    }

    BallotSequence(BallotSequence other) {
        this.highest = new AtomicLong(other.highest.get());
        this.lead = new AtomicLong(other.lead.get());
    }

    /** The highest counter used or seen, 0 if none. */
    long highest() {
        return highest.get();
    }

    /**
     * The next counter for a ballot of this node.
     *
     * <p>It keeps the lead over the own wall clock that counters of others had. Without that a node whose clock is behind would run
     * after a promise floor that rises with the clocks of the others (X4), and might never catch up in a busy cell.
     */
    public long next(Now now) {
        long floor = Math.min(now.counterFloor() + lead.get(), Ballot.MAX_COUNTER);
        return highest.updateAndGet(seen -> Math.max(seen + 1, floor));
    }

    /** T4. Lifts the sequence above a counter that this node saw in either role; implausible ones are ignored. */
    public void observe(long counter, Now now) {
        if (counter > highest.get() && !isTooFarAhead(counter, now)) {
            highest.accumulateAndGet(counter, Math::max);
            lead.accumulateAndGet(Math.min(counter - now.counterFloor(), MAX_LEAD), Math::max);
        }
    }

    /** X2. Whether a counter is more than a day ahead of the own wall clock: one poisoned ballot must not spoil a cell. */
    public static boolean isTooFarAhead(long counter, Now now) {
        return counter - now.counterFloor() > MAX_AHEAD;
    }
}
