package io.paxoslease.spring.boot.transport;

import io.paxoslease.wire.FrameReply;
import java.util.concurrent.CompletableFuture;

/** One frame on its way to a member and its answer on the way back. */
final class Exchange {

    /** Nobody waits longer than this, so that deadlines can be compared by subtraction. */
    static final long MAX_TIMEOUT_NANOS = 3_600_000_000_000L;

    final byte[] frame;
    final long timeoutNanos;
    final long deadlineNanos;
    final CompletableFuture<FrameReply> stage = new CompletableFuture<>();

    /** Whether nobody waits for the answer any more, but somebody for the connection. */
    final boolean late;

    Exchange(byte[] frame, long timeoutNanos, long nowNanos) {
        this(frame, timeoutNanos, nowNanos, false);
    }

    private Exchange(byte[] frame, long timeoutNanos, long nowNanos, boolean late) {
        this.late = late;
        this.frame = frame;
        this.timeoutNanos = Math.max(0, Math.min(timeoutNanos, MAX_TIMEOUT_NANOS));
        this.deadlineNanos = nowNanos + this.timeoutNanos;
    }

    /** The same frame after its time, for the sake of the connection that it opens. */
    Exchange late(long timeoutNanos, long nowNanos) {
        return new Exchange(frame, timeoutNanos, nowNanos, true);
    }

    boolean isOverdue(long nowNanos) {
        return nowNanos - deadlineNanos >= 0;
    }
}
