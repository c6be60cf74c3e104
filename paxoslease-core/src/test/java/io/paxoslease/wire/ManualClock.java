package io.paxoslease.wire;

import io.paxoslease.node.NodeClock;
import io.paxoslease.protocol.Now;
import java.time.Duration;

/** A clock that stands still until it is told otherwise. */
final class ManualClock implements NodeClock {

    private long nanos = Long.MAX_VALUE - 1_000_000_000L;

    void advance(Duration duration) {
        nanos += duration.toNanos();
    }

    @Override
    public Now now() {
        return new Now(nanos, 1_795_000_000_000L);
    }
}
