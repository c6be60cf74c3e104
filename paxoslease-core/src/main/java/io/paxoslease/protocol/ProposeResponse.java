package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A2. Accepted or rejected.
 *
 * @param resource the name of the lease
 * @param ballot the ballot that is answered
 * @param accepted whether the proposal was accepted
 * @param promisedCounter what the acceptor has promised now
 * @param lease the live lease after handling the proposal, if any
 */
public record ProposeResponse(
        String resource,
        Ballot ballot,
        boolean accepted,
        long promisedCounter,
        @Nullable AcceptedLease lease) implements Response {}
