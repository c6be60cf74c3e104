package io.paxoslease.protocol;

import org.jspecify.annotations.Nullable;

/**
 * A1. A promise with the live lease, or a rejection.
 *
 * @param resource the name of the lease
 * @param ballot the ballot that is answered
 * @param promised whether the ballot was promised
 * @param promisedCounter what the acceptor has promised now; above the ballot's counter, or equal to it by another incarnation, if
 *     rejected
 * @param lease the live lease, if any
 */
public record PrepareResponse(
        String resource,
        Ballot ballot,
        boolean promised,
        long promisedCounter,
        @Nullable AcceptedLease lease) implements Response {}
