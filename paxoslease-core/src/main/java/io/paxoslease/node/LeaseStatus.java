package io.paxoslease.node;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One lease as this node sees it at one instant.
 *
 * @param name the name of the lease
 * @param state what this node is doing
 * @param leader the node that leads, null if unknown; a hint unless it is this node
 * @param heldHere whether this node holds the lease
 * @param fencingToken the token of this node's tenure, null if it does not hold the lease
 * @param leaseTime T
 * @param remaining how long the lease lasts unless it is extended, null if no leader is known; a hint unless it is held here
 * @param acquiredAt when this node's tenure began, by its wall clock
 * @param nextExtensionIn when this node extends the lease next, null if it will not
 * @param extensions how often this node's tenure was extended
 * @param candidate whether this node seeks or holds the lease
 */
public record LeaseStatus(
        String name,
        State state,
        @Nullable String leader,
        boolean heldHere,
        @Nullable Long fencingToken,
        Duration leaseTime,
        @Nullable Duration remaining,
        @Nullable Instant acquiredAt,
        @Nullable Duration nextExtensionIn,
        long extensions,
        boolean candidate) {

    /** What a node does about a lease. */
    public enum State {
        /** It holds the lease. */
        HELD,
        /** Another node is said to lead. */
        FOLLOWING,
        /** It seeks the lease and knows of no leader. */
        SEEKING,
        /** It is no candidate. */
        STOPPED
    }
}
