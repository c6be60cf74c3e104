package io.paxoslease.wire;

/** Told about traffic, for metrics. Called often and on protocol threads: must be quick, must not block or throw. */
public interface WireListener {

    /** Hears nothing. */
    WireListener NONE = new WireListener() {};

    /**
     * A message was sent, received or dropped.
     *
     * @param type what it was, for example {@code prepare} or {@code frame}
     * @param outcome what became of it, for example {@code sent}, {@code answered}, {@code unauthenticated}
     */
    default void onMessage(String type, String outcome) {}

    /**
     * An exchange with a member succeeded.
     *
     * @param member the node id of the member
     * @param nanos how long it took
     */
    default void onRoundTrip(String member, long nanos) {}
}
