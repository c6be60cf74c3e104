package io.paxoslease.wire;

/**
 * One frame under way to a member.
 *
 * @param frame what was sent
 * @param sentNanos when
 * @param timeoutNanos after how long it counts as lost
 * @param retried whether its requests were sent before and not handled
 */
record Exchange(RequestFrame frame, long sentNanos, long timeoutNanos, boolean retried) {

    boolean isHello() {
        return frame.hello() != null;
    }

    boolean isOverdue(long nowNanos, long graceNanos) {
        return nowNanos - sentNanos - timeoutNanos - graceNanos >= 0;
    }
}
