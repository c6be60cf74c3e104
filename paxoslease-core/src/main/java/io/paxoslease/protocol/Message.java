package io.paxoslease.protocol;

/** Everything that travels between a proposer and an acceptor, for one resource. */
public sealed interface Message permits Request, Response {

    /** The name of the lease. */
    String resource();

    /** The ballot of the attempt that the message belongs to. */
    Ballot ballot();
}
