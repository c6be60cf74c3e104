package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/** From an acceptor to the proposer whose ballot it answers. */
public sealed interface Response extends Message permits PrepareResponse, ProposeResponse {

    /** The counter that the acceptor has promised after handling the request, or one above it that the next ballot should reach (T4). */
    long promisedCounter();

    /** The live lease at this acceptor, if any, unless it just accepted one: a hint for everything but the prepare phase. */
    @Nullable
    AcceptedLease lease();
}
