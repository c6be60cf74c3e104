package io.paxoslease.protocol;

/**
 * P3. Asks the acceptor to exclude every other owner for a time.
 *
 * @param resource the name of the lease
 * @param ballot the ballot of the attempt
 * @param leaseNanos T, how long the acceptor is to exclude others
 */
public record ProposeRequest(String resource, Ballot ballot, long leaseNanos) implements Request {

    public ProposeRequest {
        Names.require("resource", resource, Names.MAX_RESOURCE_BYTES);
    }
}
