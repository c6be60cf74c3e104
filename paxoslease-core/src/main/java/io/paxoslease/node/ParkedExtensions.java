package io.paxoslease.node;

import io.paxoslease.node.Candidacy.State;
import io.paxoslease.protocol.Effect;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Tenure;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The extensions of parked leases where they are, in one round trip (X8): one {@link Extension} each as long as nothing but acceptances comes. What
 * comes otherwise makes a {@link Candidacy} of it, and goes the way of all others. Not safe for concurrent use.
 */
final class ParkedExtensions {

    /**
     * About how many leases are being extended at once before parked ones wait for their turn. More at once would not be extended sooner, but
     * their answers would come too late.
     */
    private static final int MOST = 4_096;

    private final Proposer proposer;
    private final Candidacies candidacies;
    private final ParkedLeases parked;
    private final TimerHeap timers;
    private final RoundTrips roundTrips;
    private final Patience patience;
    private final Majority majority;
    private final Map<String, Extension> extensions = new HashMap<>();

    ParkedExtensions(
            Proposer proposer,
            Candidacies candidacies,
            TimerHeap timers,
            RoundTrips roundTrips,
            Patience patience,
            Majority majority) {
        this.proposer = proposer;
        this.candidacies = candidacies;
        this.parked = candidacies.parked();
        this.timers = timers;
        this.roundTrips = roundTrips;
        this.patience = patience;
        this.majority = majority;
    }

    /** Whether so many more can begin. If not, those that are under way have timers. */
    boolean haveRoomFor(int more) {
        return candidacies.extending() + extensions.size() <= MOST - more;
    }

    /** The extension that is under way, null if there is none. */
    @Nullable
    Extension get(String resource) {
        return extensions.get(resource);
    }

    boolean isUnderWay(Extension extension) {
        return extensions.get(extension.resource) == extension;
    }

    /** Those that are under way, in no order. */
    List<Extension> all() {
        return List.copyOf(extensions.values());
    }

    /**
     * Begins one; false if the lease's end is too near for any round.
     *
     * @param slot where the lease is parked
     * @param rounds those that began in this event, for {@link #schedule}
     */
    boolean begin(int slot, List<Extension.Round> rounds, Now now, Output out) {
        String resource = parked.name(slot);
        Tenure tenure = proposer.unsettledTenure(resource);
        if (tenure == null) {
            return false;
        }
        Extension.Round round = roundOf(tenure.deadline().remainingNanos(now), rounds, now);
        if (round == null) {
            return false;
        }
        // It is held, and no attempt is under way, so that nothing else is to be done first.
        proposer.startInOneRoundTrip(resource, tenure.leaseNanos(), now, out.effects);
        Request request = ((Effect.Broadcast) out.effects.remove(0)).request();
        Extension extension = new Extension(resource, slot, request.ballot(), round);
        parked.extending(slot);
        extensions.put(resource, extension);
        round.extensions.add(extension);
        round.underWay++;
        out.attemptBegan(resource, AttemptListener.Purpose.EXTEND);
        out.send(request, Majority.EVERYBODY);
        return true;
    }

    /**
     * The round for an extension, null if it would be too short. It lasts about as that of any owner, but half, a quarter and so on
     * of that where it would be more than half of what remains: out of their place extensions cost several times as much, so that answers would take
     * longer still. Those of one event that last about as long share one.
     */
    private Extension.@Nullable Round roundOf(long remainingNanos, List<Extension.Round> rounds, Now now) {
        long limit = roundTrips.roundNanos();
        while (2 * limit <= roundTrips.ownersRoundNanos(remainingNanos)) {
            limit *= 2;
        }
        while (limit > remainingNanos / 2) {
            limit /= 2;
            if (limit < RoundTrips.SHORTEST_ROUND_NANOS) {
                return null;
            }
        }
        for (int i = 0; i < rounds.size(); i++) {
            Extension.Round round = rounds.get(i);
            if (round.endsNanos - round.beganNanos == limit) {
                return round;
            }
        }
        Extension.Round round = new Extension.Round(now.nanos(), now.nanos() + limit, roundTrips.meanNanos());
        rounds.add(round);
        return round;
    }

    /** Has the rounds end in time. */
    void schedule(List<Extension.Round> rounds) {
        for (Extension.Round round : rounds) {
            timers.schedule(round, round.endsNanos);
        }
    }

    /**
     * An acceptor has accepted.
     *
     * @return false if that led to something else than just success or nothing: then it is to be taken out for the effects in {@code out}
     */
    boolean onAccepted(Extension extension, int acceptor, ProposeResponse response, Now now, Output out) {
        extension.acceptedBy |= 1L << acceptor;
        proposer.onResponse(acceptor, response, now, out.effects);
        if (out.effects.size() == 1 && out.effects.get(0) instanceof Effect.Extended extended) {
            out.effects.clear();
            onExtended(extension, extended.tenure(), now, out);
        }
        return out.effects.isEmpty();
    }

    private void onExtended(Extension extension, Tenure tenure, Now now, Output out) {
        remove(extension);
        roundTrips.note(extension.round.beganNanos, now);
        majority.learn(extension.acceptedBy, now);
        out.attemptEnded(extension.resource, AttemptListener.Outcome.SUCCESS, null);
        long dueNanos = patience.extensionDueNanos(tenure, now);
        parked.extended(extension.slot, tenure, ParkedLeases.coalesced(dueNanos, tenure.leaseNanos()));
        out.notices.add(new Notice.Extended(null, tenure, now.nanos() - extension.round.beganNanos));
    }

    /** Makes a candidacy of an extension that does not just succeed; the caller sees to its timer. */
    Candidacy takeOut(Extension extension) {
        remove(extension);
        Candidacy candidacy = candidacies.unpark(extension.slot);
        candidacies.enter(candidacy, State.EXTENDING);
        candidacy.attempt = extension.ballot;
        candidacy.acceptedBy = extension.acceptedBy;
        candidacy.answeredBy = extension.acceptedBy;
        candidacy.attemptBeganNanos = extension.round.beganNanos;
        candidacy.roundBeganNanos = extension.round.beganNanos;
        candidacy.roundEndsNanos = extension.round.endsNanos;
        candidacy.roundTripNanos = extension.round.roundTripNanos;
        return candidacy;
    }

    private void remove(Extension extension) {
        extensions.remove(extension.resource);
        if (--extension.round.underWay == 0) {
            timers.cancel(extension.round);
        }
    }
}
