package io.paxoslease.history;

import io.paxoslease.history.RecordedHistory.Time;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a node's history proves about one of its tenures: that it was held from {@code from} to {@code until}. It may have been held for
 * longer than that, where the history begins or ends in the middle of it.
 *
 * @param incarnation the life of the node
 * @param clock which machine's monotonic clock the times are of, null if unknown
 * @param token the fencing token
 * @param from when it was held for certain first
 * @param until when it was held for certain last
 */
record RecordedTenure(String incarnation, @Nullable String clock, long token, Time from, Time until) {

    /** Whether the monotonic times of both were read from one clock, so that they can be compared exactly. */
    boolean sharesClockWith(RecordedTenure other) {
        return incarnation.equals(other.incarnation) || (clock != null && clock.equals(other.clock));
    }

    /** For how long both were held at once by their one clock; negative is the time between them. */
    Duration overlap(RecordedTenure other) {
        return from.later(other.from)
                .monotonic()
                .negated()
                .plus(until.earlier(other.until).monotonic());
    }

    /** The same by the wall clocks of their machines, as if these agreed. */
    Duration overlapByWallClocks(RecordedTenure other) {
        return Duration.between(
                from.wall().isAfter(other.from.wall()) ? from.wall() : other.from.wall(),
                until.wall().isBefore(other.until.wall()) ? until.wall() : other.until.wall());
    }

    /** The same tenure in two histories of its node that were taken one after the other. */
    RecordedTenure and(RecordedTenure other) {
        return new RecordedTenure(incarnation, clock, token, from.earlier(other.from), until.later(other.until));
    }

    @Override
    public String toString() {
        return incarnation + " with token " + token + " from " + from.wall() + " to " + until.wall();
    }
}
