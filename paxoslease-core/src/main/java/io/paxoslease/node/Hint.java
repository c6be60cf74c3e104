package io.paxoslease.node;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;

/**
 * X6. Who probably owns a lease.
 *
 * @param owner the owner's incarnation
 * @param freeAtNanos until when, on the own monotonic clock, unless it is extended
 */
record Hint(Incarnation owner, long freeAtNanos) {

    boolean isPast(Now now) {
        return now.hasReached(freeAtNanos);
    }
}
