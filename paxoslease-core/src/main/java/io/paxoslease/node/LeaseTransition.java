package io.paxoslease.node;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a lease on this node. Each {@link Kind#ACQUIRED} is followed by exactly one {@link Kind#LOST} or {@link Kind#RELEASED}
 * of the same lease.
 *
 * @param kind what happened
 * @param leaseName the name of the lease
 * @param fencingToken the token of the tenure, 0 for {@link Kind#LEADER_CHANGED}
 * @param leader for {@link Kind#LEADER_CHANGED} the node that leads now, as a hint, null if nobody is known to
 * @param reason for {@link Kind#EXTENSION_FAILED} what the attempt met
 * @param took for acquisitions and extensions how long the attempt took, else zero
 */
public record LeaseTransition(
        Kind kind,
        String leaseName,
        long fencingToken,
        @Nullable String leader,
        @Nullable String reason,
        Duration took) {

    /** The kinds of transitions. */
    public enum Kind {
        /** This node became the owner. */
        ACQUIRED,
        /** This node's tenure got a later deadline. */
        EXTENDED,
        /** An extension failed; the tenure goes on. */
        EXTENSION_FAILED,
        /** This node's tenure expired. */
        LOST,
        /** This node gave its tenure up. */
        RELEASED,
        /** A hint: another node leads, or nobody is known to. */
        LEADER_CHANGED
    }
}
