package io.paxoslease.node;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Proposer;
import java.util.random.RandomGenerator;

/** The production engine, but a lease of this node that refused a rival is taken to be over, whether or not it is. */
final class WeakEngine extends LeaseEngine {

    WeakEngine(
            Incarnation self, Proposer proposer, boolean oneRoundTrip, long roundTimeoutNanos, RandomGenerator random) {
        super(self, proposer, oneRoundTrip, roundTimeoutNanos, random);
    }

    @Override
    boolean isOver(String resource, Ballot ballot) {
        return isOwn(ballot);
    }
}
