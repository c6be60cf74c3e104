package io.paxoslease.protocol;

/**
 * P6, X5. Names the highest ballot that its sender has given up: records of that incarnation up to that ballot may be cleared. It is
 * sent only when its sender holds nothing at or below that ballot and has nothing at or below it in flight. Not answered.
 *
 * @param resource the name of the lease
 * @param ballot the highest ballot given up
 */
public record ReleaseRequest(String resource, Ballot ballot) implements Request {

    public ReleaseRequest {
        Names.require("resource", resource, Names.MAX_RESOURCE_BYTES);
    }
}
