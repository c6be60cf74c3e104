package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A2. Accepted or rejected.
 *
 * @param resource the name of the lease
 * @param ballot the ballot that is answered
 * @param accepted whether the proposal was accepted
 * @param promisedCounter what the acceptor has promised now, or more: {@link Response#promisedCounter}
 * @param lease the live lease of a rejecting acceptor, if any; null if it accepted
 */
public record ProposeResponse(
        String resource,
        Ballot ballot,
        boolean accepted,
        long promisedCounter,
        @Nullable AcceptedLease lease) implements Response {}
