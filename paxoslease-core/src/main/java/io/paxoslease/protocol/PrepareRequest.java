package io.paxoslease.protocol;

/**
 * P1. Asks for a promise and for the live lease.
 *
 * @param resource the name of the lease
 * @param ballot the ballot of the attempt
 * @param leaseNanos T, so that the acceptor can check it against its own maximum (X1)
 */
public record PrepareRequest(String resource, Ballot ballot, long leaseNanos) implements Request {

    public PrepareRequest {
        Names.require("resource", resource, Names.MAX_RESOURCE_BYTES);
    }
}
