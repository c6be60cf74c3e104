package io.paxoslease.protocol;

/** What a proposer wants done or known after an event, in this order. The proposer itself does nothing. */
public sealed interface Effect {

    /**
     * Send a request to every acceptor, the one in this process included.
     *
     * @param request the request
     */
    record Broadcast(Request request) implements Effect {}

    /**
     * P4. A tenure began.
     *
     * @param tenure the tenure
     */
    record Acquired(Tenure tenure) implements Effect {}

    /**
     * P4. The tenure got a later deadline.
     *
     * @param tenure the tenure with its new deadline
     */
    record Extended(Tenure tenure) implements Effect {}

    /**
     * The tenure's deadline passed.
     *
     * @param tenure the tenure that ended
     */
    record Lost(Tenure tenure) implements Effect {}

    /**
     * P6. The tenure was given up.
     *
     * @param tenure the tenure that ended
     */
    record Released(Tenure tenure) implements Effect {}

    /**
     * P5. An attempt ended without winning.
     *
     * @param resource the name of the lease
     * @param ballot the attempt's ballot
     * @param outcome why
     */
    record Abandoned(String resource, Ballot ballot, Outcome outcome) implements Effect {}
}
