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

    /**
     * By how much a counter is ahead of the own wall clock before the sequence follows: half a second of microseconds. A promise floor is
     * older than that ({@link Acceptor#PROMISE_GRACE_NANOS}), so that clocks which agree about as well as clocks do need no following.
     */
    static final long MIN_LEAD = Acceptor.PROMISE_GRACE_NANOS / 2_000;

    private final long startNanos;
    private final AtomicLong highest;

    /** The highest counter of others that is followed, as if it had been seen at the start. */
    private final AtomicLong others;

    /**
     * Creates a sequence that has seen nothing.
     *
     * @param start the clocks; what is passed in later is read after them
     */
    public BallotSequence(Now start) {
        this.startNanos = start.nanos();
        this.highest = new AtomicLong();
        this.others = new AtomicLong(Long.MIN_VALUE / 2);
    }

    BallotSequence(BallotSequence other) {
        this.startNanos = other.startNanos;
        this.highest = new AtomicLong(other.highest.get());
        this.others = new AtomicLong(other.others.get());
    }

    /** The highest counter used or seen, 0 if none. */
    long highest() {
        return highest.get();
    }

    /**
     * The next counter for a ballot of this node.
     *
     * <p>It follows the counters of others that were ahead of the own wall clock. Without that a node whose clock is behind would run after a
     * promise floor that rises with the clocks of the others (X4), and might never catch up in a busy cell. It follows at seven eighths of the
     * speed of time: once no clock is ahead any more, the cell's counters come back to the clocks, as X3 needs it after a loss of memory.
     */
    public long next(Now now) {
        long floor = Math.min(Math.max(now.counterFloor(), others.get() + pacedMicros(now)), Ballot.MAX_COUNTER);
        return highest.updateAndGet(seen -> Math.max(seen + 1, floor));
    }

    /** T4. Lifts the sequence above a counter that this node saw in either role; implausible ones are ignored. */
    public void observe(long counter, Now now) {
        if (counter > highest.get() && !isTooFarAhead(counter, now)) {
            highest.accumulateAndGet(counter, Math::max);
            long lead = Math.min(counter - now.counterFloor(), MAX_LEAD);
            if (lead > MIN_LEAD) {
                others.accumulateAndGet(now.counterFloor() + lead - pacedMicros(now), Math::max);
            }
        }
    }

    /** By how much a counter that is followed has grown since the start. */
    private long pacedMicros(Now now) {
        return (now.nanos() - startNanos) / 8_000 * 7;
    }

    /** X2. Whether a counter is more than a day ahead of the own wall clock: one poisoned ballot must not spoil a cell. */
    public static boolean isTooFarAhead(long counter, Now now) {
        return counter - now.counterFloor() > MAX_AHEAD;
    }
}
