package io.paxoslease.node;

import io.paxoslease.protocol.Ballot;
import java.util.ArrayList;
import java.util.List;

/**
 * The extension of a parked lease while it is under way, as long as nothing but acceptances comes: in place of a {@link Candidacy} with its claim
 * and timer, of which hundreds of thousands would be made in a second.
 */
final class Extension {

    /** Extensions that began in one event. They have one timer. */
    static final class Round extends TimerHeap.Timer {
        final long beganNanos;
        final long endsNanos;

        /** What a round trip was expected to take when it began. */
        final long roundTripNanos;

        final List<Extension> extensions = new ArrayList<>();

        /** How many of them have not ended. */
        int underWay;

        Round(long beganNanos, long endsNanos, long roundTripNanos) {
            this.beganNanos = beganNanos;
            this.endsNanos = endsNanos;
            this.roundTripNanos = roundTripNanos;
        }
    }

    final String resource;
    final int slot;
    final Ballot ballot;
    final Round round;

    /** A bit for each acceptor that accepted. */
    long acceptedBy;

    Extension(String resource, int slot, Ballot ballot, Round round) {
        this.resource = resource;
        this.slot = slot;
        this.ballot = ballot;
        this.round = round;
    }
}
