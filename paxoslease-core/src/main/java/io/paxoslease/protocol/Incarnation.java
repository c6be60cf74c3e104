package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * One life of a node. The owner of a lease is an incarnation, not a node id: a restarted node has forgotten what it held and must not
 * be mistaken for its former self (rule A2).
 *
 * @param nodeId the configured id of the node
 * @param nonce 64 random bits drawn when the node started (rule X2)
 */
public record Incarnation(String nodeId, long nonce) {

    /** The most bytes of UTF-8 that a node id may have. */
    public static final int MAX_NODE_ID_BYTES = 255;

    public Incarnation {
        Names.require("node id", nodeId, MAX_NODE_ID_BYTES);
    }

    // By the nonce first, which nearly always tells; the tables ask for every message.

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || (other instanceof Incarnation that && nonce == that.nonce && nodeId.equals(that.nodeId));
    }

    @Override
    public int hashCode() {
        return Long.hashCode(nonce);
    }

    @Override
    public String toString() {
        return nodeId + "/" + String.format("%016x", nonce);
    }
}
