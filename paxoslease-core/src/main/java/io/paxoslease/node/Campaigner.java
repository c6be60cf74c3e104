package io.paxoslease.node;

import io.paxoslease.node.Candidacy.State;
import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Effect;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Outcome;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Tenure;
import java.util.List;

/**
 * Leads one candidacy at a time through its life: seeks its lease, extends it, waits while another owns it, and gives it up.
 *
 * <p>Deterministic, like {@link LeaseEngine}, which finds the candidacy that an event is about and sets its timer afterwards. Not safe for
 * concurrent use.
 */
final class Campaigner {

    private static final String TAKEN_HERE = "this node itself seeks or holds the lease already";

    /** After so many attempts in vain, whoever gives up is taken for another that tries in vain. */
    private static final int MANY_IN_VAIN = 3;

    /** How often the back-off then grows: with longer ones nobody else would get a lease that some take again and again. */
    private static final int MOST_BACK_OFFS = 4;

    private final Incarnation self;
    private final Proposer proposer;
    private final boolean oneRoundTrip;
    private final RoundTrips roundTrips;
    private final Patience patience;
    private final Majority majority;
    private final Rivals rivals;
    private final TimerHeap timers;
    private final Candidacies candidacies;

    Campaigner(
            Incarnation self,
            Proposer proposer,
            boolean oneRoundTrip,
            RoundTrips roundTrips,
            Patience patience,
            Majority majority,
            Rivals rivals,
            TimerHeap timers,
            Candidacies candidacies) {
        this.self = self;
        this.proposer = proposer;
        this.oneRoundTrip = oneRoundTrip;
        this.roundTrips = roundTrips;
        this.patience = patience;
        this.majority = majority;
        this.rivals = rivals;
        this.timers = timers;
        this.candidacies = candidacies;
    }

    // What users want.

    /** See {@link LeaseEngine#submit}. */
    void submit(Candidacy candidacy, Claim claim, Now now, Output out) {
        settle(candidacy, now, out);
        if (claim.kind == Claim.Kind.ONCE && !candidacy.claims.isEmpty()) {
            out.notices.add(new Notice.Unavailable(claim, TAKEN_HERE));
            return;
        }
        candidacy.claims.add(claim);
        if (candidacy.claims.size() == 1) {
            candidacy.attemptBeganNanos = now.nanos();
            seek(candidacy, hasTimeForOthers(claim, now), now, out);
        } else if (!claim.isStanding()) {
            timers.schedule(claim, claim.giveUpNanos);
        }
    }

    /**
     * Who cannot wait for the turn of others, and then as long for its own, does not: it is not to get less than who waits for nobody. Of those that
     * wait for a claim before them this is not asked: where many do, the next one never has much time left.
     */
    private boolean hasTimeForOthers(Claim claim, Now now) {
        return claim.isStanding() || claim.giveUpNanos - now.nanos() >= 2 * rivals.turnNanos(claim.resource, now);
    }

    /** Ends a claim wherever it is in the queue, releasing its lease if it holds one; the next one begins to seek. */
    void withdraw(Candidacy candidacy, Claim claim, Now now, Output out) {
        settle(candidacy, now, out);
        end(candidacy, claim, now, out);
    }

    /** See {@link LeaseEngine#resign}. */
    void resign(Candidacy candidacy, Claim claim, Now now, Output out) {
        settle(candidacy, now, out);
        if (claim.tenure != null) {
            release(candidacy, now, out);
            candidacy.claims.remove(claim);
            candidacy.claims.add(claim);
            claim.resigned = true;
            claim.restEndsNanos = now.nanos() + patience.restNanos(claim.leaseNanos);
            next(candidacy, now, out);
        }
    }

    /** See {@link LeaseEngine#endTenure}. */
    void endTenure(Candidacy candidacy, Claim claim, Now seen, Now now, Output out) {
        proposer.settle(claim.resource, seen, out.effects);
        apply(candidacy, now, out);
        int first = out.notices.size();
        if (claim.tenure != null && claim.isStanding()) {
            resign(candidacy, claim, now, out);
        } else if (claim.tenure != null) {
            end(candidacy, claim, now, out);
        }
        // Nobody gave it up: to whoever saw the end, the lease was lost.
        out.notices
                .subList(first, out.notices.size())
                .replaceAll(notice -> notice instanceof Notice.Released released && released.claim() == claim
                        ? new Notice.Lost(claim, released.tenure())
                        : notice);
    }

    /** See {@link LeaseEngine#extend}. */
    void extend(Candidacy candidacy, Claim claim, Now now, Output out) {
        settle(candidacy, now, out);
        if (claim.tenure != null && candidacy.state == State.HOLDING) {
            tryNow(candidacy, State.EXTENDING, now, out);
        }
    }

    /** See {@link LeaseEngine#autoExtend}. */
    void autoExtend(Candidacy candidacy, Claim claim, Now now, Output out) {
        claim.autoExtend = true;
        settle(candidacy, now, out);
        Tenure tenure = claim.tenure;
        if (tenure != null && candidacy.state == State.HOLDING) {
            candidacy.resumeNanos = now.nanos() + tenure.deadline().remainingNanos(now) / 2;
        }
    }

    // What the network brings.

    /** See {@link LeaseEngine#onResponse}. */
    void onResponse(Candidacy candidacy, int acceptor, Response response, Now now, Output out) {
        settle(candidacy, now, out);
        boolean current = response.ballot().equals(candidacy.attempt);
        if (current && response instanceof PrepareResponse == candidacy.preparing) {
            noteAnswer(candidacy, acceptor, now);
        }
        boolean rejected = current && isRejection(response);
        if (rejected) {
            candidacy.rejectedBy |= 1L << acceptor;
        } else if (current && response instanceof ProposeResponse) {
            candidacy.acceptedBy |= 1L << acceptor;
        }
        proposer.onResponse(acceptor, response, now, out.effects);
        apply(candidacy, now, out);
        if (rejected) {
            majority.askTheRest(candidacy, out);
        }
    }

    /** It does not matter which answer: while candidates get in each other's way, refusals are all that tells how far the others are. */
    private void noteAnswer(Candidacy candidacy, int acceptor, Now now) {
        boolean known = isAnswered(candidacy);
        candidacy.answeredBy |= 1L << acceptor;
        if (!known && isAnswered(candidacy)) {
            roundTrips.note(candidacy.roundBeganNanos, now);
        }
    }

    private boolean isAnswered(Candidacy candidacy) {
        return Long.bitCount(candidacy.answeredBy) >= proposer.cell().majority();
    }

    private boolean isRejection(Response response) {
        if (response instanceof PrepareResponse prepare) {
            AcceptedLease lease = prepare.lease();
            return !prepare.promised()
                    || (lease != null && !lease.ballot().owner().equals(self));
        }
        return response instanceof ProposeResponse propose && !propose.accepted();
    }

    /** See {@link LeaseEngine#onUnanswered}. */
    void onUnanswered(Candidacy candidacy, int acceptor, Request request, Now now, Output out) {
        settle(candidacy, now, out);
        proposer.onUnanswered(acceptor, request, now, out.effects);
        apply(candidacy, now, out);
        if (request.ballot().equals(candidacy.attempt)) {
            majority.onSilence(candidacy, out);
        }
    }

    /** See {@link LeaseEngine#onOwnerSeen}. */
    void onOwnerSeen(Candidacy candidacy, Incarnation owner, long remainingNanos, Now now, Output out) {
        if (owner.equals(self) || candidacy.isHeldHere()) {
            return;
        }
        Hint before = candidacy.hint;
        boolean again = before == null && owner.equals(candidacy.gone);
        if (owner.equals(candidacy.gone)) {
            candidacy.gone = null;
        }
        if (before != null && before.owner().equals(owner)) {
            candidacy.vain = 0;
        }
        if (candidacy.isForOneTenure()) {
            rivals.onOwned(candidacy.resource, now);
        }
        Hint hint = new Hint(owner, now.nanos() + remainingNanos);
        candidacy.hint(hint, out);
        if (candidacy.state == State.WAITING && candidacy.firstClaim().kind != Claim.Kind.ONCE) {
            awaitFreedom(candidacy, hint);
        }
        if (again) {
            onTakenAgain(candidacy, now, out);
        }
    }

    /** See {@link LeaseEngine#onTakenAgain}. */
    void onTakenAgain(Candidacy candidacy, Now now, Output out) {
        if (candidacy.state == State.WAITING
                && candidacy.firstClaim().kind != Claim.Kind.ONCE
                && !isResting(candidacy.firstClaim(), now)
                && rivals.mayNotKnow(candidacy.attemptBeganNanos, now)) {
            // Who gets a lease again and again does not try in vain.
            candidacy.vain = 0;
            tryNow(candidacy, State.TRYING, now, out);
        }
    }

    /** See {@link LeaseEngine#onOwnerGone}. */
    void onOwnerGone(Candidacy candidacy, Ballot released, Now now, Output out) {
        Incarnation owner = released.owner();
        candidacy.gone = owner;
        Hint met = candidacy.met;
        if (met != null && (met.isPast(now) || met.owner().equals(owner))) {
            met = null;
            candidacy.met = null;
        }
        Hint hint = candidacy.hint;
        if (hint == null || !hint.owner().equals(owner)) {
            return;
        }
        candidacy.hint(met, out);
        if (candidacy.state == State.WAITING) {
            long pause = patience.afterReleaseNanos(candidacy.resource, released);
            if (candidacy.vain < MANY_IN_VAIN) {
                candidacy.failures = 0;
            } else {
                pause += patience.amongOthersInVainNanos(Math.min(MOST_BACK_OFFS, candidacy.vain - MANY_IN_VAIN + 1));
            }
            await(candidacy, now.nanos() + pause + candidacy.firstClaim().yieldNanos);
        } else if (candidacy.state == State.TRYING && candidacy.rejectedBy != 0) {
            // Whoever has not answered by then is silent, and those that are not may have been against because of what
            // is gone.
            long answered = candidacy.roundBeganNanos + 2 * candidacy.roundTripNanos - now.nanos();
            long pause = Math.max(answered, patience.afterReleaseNanos(candidacy.resource, released));
            candidacy.roundEndsNanos = earlier(now.nanos() + pause, candidacy.roundEndsNanos);
        }
    }

    // Time.

    /** Does what is due. */
    void onTime(Candidacy candidacy, Now now, Output out) {
        settle(candidacy, now, out);
        endOverdue(candidacy, now, out);
        switch (candidacy.state) {
            case IDLE -> {
                Hint hint = candidacy.hint;
                if (hint != null && hint.isPast(now)) {
                    candidacy.hint(null, out);
                }
            }
            case WAITING -> {
                if (now.hasReached(candidacy.resumeNanos)) {
                    tryNow(candidacy, State.TRYING, now, out);
                }
            }
            case HOLDING -> {
                hurry(candidacy, now);
                if (candidacy.firstClaim().autoExtend && now.hasReached(candidacy.resumeNanos)) {
                    tryNow(candidacy, State.EXTENDING, now, out);
                }
            }
            case TRYING, EXTENDING -> {
                if (candidacy.withheld != null && now.hasReached(candidacy.restDueNanos())) {
                    majority.onSilence(candidacy, out);
                    candidacy.roundEndsNanos = now.nanos() + candidacy.roundEndsNanos - candidacy.roundBeganNanos;
                } else if (now.hasReached(candidacy.roundEndsNanos)) {
                    if (!isAnswered(candidacy)) {
                        roundTrips.noteTimeOut(
                                candidacy.roundTripNanos, candidacy.roundEndsNanos - candidacy.roundBeganNanos);
                    }
                    proposer.giveUp(candidacy.resource, now, out.effects);
                    apply(candidacy, now, out);
                }
            }
        }
    }

    /** X7. The wall clock has run ahead of the monotonic one. */
    void onSuspend(Candidacy candidacy, Now now, Output out) {
        settle(candidacy, now, out);
        hurry(candidacy, now);
    }

    /** X7. Where more time has passed than the monotonic clock says, the next extension comes at half of what then remains. */
    private void hurry(Candidacy candidacy, Now now) {
        Claim claim = candidacy.claims.peek();
        Tenure tenure = claim == null ? null : claim.tenure;
        if (tenure == null) {
            return;
        }
        long due = patience.extensionDueNanos(tenure, now);
        if (candidacy.state == State.HOLDING) {
            candidacy.resumeNanos = earlier(due, candidacy.resumeNanos);
        } else {
            candidacy.roundEndsNanos = earlier(due, candidacy.roundEndsNanos);
        }
    }

    private static long earlier(long nanos, long other) {
        return nanos - other < 0 ? nanos : other;
    }

    /** A claim that seeks, and each that is next after it, ends without a tenure at its give-up time. */
    private void endOverdue(Candidacy candidacy, Now now, Output out) {
        Claim claim;
        while ((claim = candidacy.claims.peek()) != null
                && !claim.isStanding()
                && claim.tenure == null
                && now.hasReached(claim.giveUpNanos)) {
            endWithout(candidacy, claim, now, out);
        }
    }

    void endWithout(Candidacy candidacy, Claim claim, Now now, Output out) {
        boolean waited = candidacy.isHeldHere() || candidacy.firstClaim() != claim;
        String reason = waited ? TAKEN_HERE : candidacy.lastReason;
        end(candidacy, claim, now, out);
        out.notices.add(new Notice.Unavailable(claim, reason));
    }

    // The life of a candidacy.

    /**
     * Begins to seek for the first claim, at once unless a hint says that it would be in vain, or this node gave the lease up just now and other nodes
     * are to have their turn.
     *
     * @param hasTime whether the claim can let others go first
     */
    private void seek(Candidacy candidacy, boolean hasTime, Now now, Output out) {
        Claim claim = candidacy.firstClaim();
        candidacy.failures = 0;
        Hint hint = candidacy.hint;
        long turn = hasTime && claim.kind != Claim.Kind.ONCE ? rivals.turnNanos(candidacy.resource, now) : 0;
        if (claim.kind != Claim.Kind.ONCE && hint != null && !hint.isPast(now)) {
            awaitFreedom(candidacy, hint);
        } else if (isResting(claim, now)) {
            await(candidacy, claim.restEndsNanos);
        } else if (turn > 0) {
            // Whoever takes it now knows who had it.
            candidacy.attemptBeganNanos = now.nanos();
            candidacy.lastReason = TAKEN_HERE;
            await(candidacy, now.nanos() + turn);
        } else {
            candidacy.lastReason = Candidacy.NO_ANSWER;
            tryNow(candidacy, State.TRYING, now, out);
        }
    }

    private static boolean isResting(Claim claim, Now now) {
        return claim.resigned && !now.hasReached(claim.restEndsNanos);
    }

    private void tryNow(Candidacy candidacy, State state, Now now, Output out) {
        candidacies.enter(candidacy, state);
        candidacy.attemptBeganNanos = now.nanos();
        beginRound(candidacy, now);
        long leaseNanos = candidacy.firstClaim().leaseNanos;
        candidacy.preparing = false;
        if (mayTakeOneRoundTrip(candidacy, now)) {
            candidacy.thrifty = majority.isAskedFirst(candidacy, now);
            proposer.startInOneRoundTrip(candidacy.resource, leaseNanos, now, out.effects);
        } else {
            candidacy.thrifty = false;
            proposer.start(candidacy.resource, leaseNanos, now, out.effects);
        }
        apply(candidacy, now, out);
    }

    /**
     * X8. The short path is for an owner, or where no live owner is known of, until it fails there. An owner would not get further with both
     * phases: what it proposed and too few accepted would be against it, as the lease of somebody else.
     */
    private boolean mayTakeOneRoundTrip(Candidacy candidacy, Now now) {
        if (!oneRoundTrip || candidacy.isHeldHere()) {
            return oneRoundTrip;
        }
        Hint hint = candidacy.hint;
        return candidacy.failures == 0 && (hint == null || hint.isPast(now));
    }

    private void beginRound(Candidacy candidacy, Now now) {
        candidacy.answeredBy = 0;
        candidacy.roundBeganNanos = now.nanos();
        candidacy.roundTripNanos = roundTrips.meanNanos();
        candidacy.roundEndsNanos = now.nanos() + patience.roundNanos(candidacy.firstClaim().tenure, now);
    }

    private void await(Candidacy candidacy, long untilNanos) {
        candidacies.enter(candidacy, State.WAITING);
        candidacy.told = Majority.EVERYBODY;
        Claim claim = candidacy.firstClaim();
        boolean rests = claim.resigned && claim.restEndsNanos - untilNanos > 0;
        candidacy.resumeNanos = rests ? claim.restEndsNanos : untilNanos;
    }

    /** X6. Waits until the lease can be free at every acceptor, and then for this node's turn. */
    private void awaitFreedom(Candidacy candidacy, Hint hint) {
        candidacy.lastReason = "held by " + hint.owner().nodeId();
        Claim claim = candidacy.firstClaim();
        long pause = patience.afterEndNanos(candidacy.resource, hint.owner(), claim.leaseNanos);
        await(candidacy, hint.freeAtNanos() + pause + claim.yieldNanos);
    }

    private void end(Candidacy candidacy, Claim claim, Now now, Output out) {
        boolean first = candidacy.claims.peek() == claim;
        if (first) {
            release(candidacy, now, out);
        }
        candidacy.claims.remove(claim);
        timers.cancel(claim);
        if (first) {
            next(candidacy, now, out);
        }
    }

    /** The next claim begins to seek. */
    private void next(Candidacy candidacy, Now now, Output out) {
        if (!candidacy.claims.isEmpty()) {
            timers.cancel(candidacy.firstClaim());
            seek(candidacy, true, now, out);
        }
    }

    private void release(Candidacy candidacy, Now now, Output out) {
        candidacies.enter(candidacy, State.IDLE);
        proposer.release(candidacy.resource, now, out.effects);
        apply(candidacy, now, out);
    }

    private void settle(Candidacy candidacy, Now now, Output out) {
        proposer.settle(candidacy.resource, now, out.effects);
        apply(candidacy, now, out);
    }

    // What the proposer reports.

    /** Applies the proposer's effects. Applying may cause further effects, which are taken in turn. */
    void apply(Candidacy candidacy, Now now, Output out) {
        while (!out.effects.isEmpty()) {
            if (out.effects.size() == 1) {
                apply(candidacy, out.effects.remove(0), now, out);
                continue;
            }
            List<Effect> batch = List.copyOf(out.effects);
            out.effects.clear();
            for (int i = 0; i < batch.size(); i++) {
                apply(candidacy, batch.get(i), now, out);
            }
        }
    }

    private void apply(Candidacy candidacy, Effect effect, Now now, Output out) {
        if (effect instanceof Effect.Broadcast broadcast) {
            onBroadcast(candidacy, broadcast.request(), now, out);
            out.send(broadcast.request(), majority.recipients(candidacy, broadcast.request(), now));
        } else if (effect instanceof Effect.Acquired acquired) {
            onWon(candidacy, acquired.tenure(), false, now, out);
        } else if (effect instanceof Effect.Extended extended) {
            onWon(candidacy, extended.tenure(), true, now, out);
        } else if (effect instanceof Effect.Lost lost) {
            onLost(candidacy, lost.tenure(), now, out);
        } else if (effect instanceof Effect.Released released) {
            onReleased(candidacy, released.tenure(), now, out);
        } else if (effect instanceof Effect.Abandoned abandoned) {
            onAbandoned(candidacy, abandoned.outcome(), now, out);
        }
    }

    private void onBroadcast(Candidacy candidacy, Request request, Now now, Output out) {
        if (!(request instanceof ReleaseRequest) && !request.ballot().equals(candidacy.attempt)) {
            candidacy.attempt = request.ballot();
            candidacy.rejectedBy = 0;
            candidacy.acceptedBy = 0;
            out.attemptBegan(
                    candidacy.resource,
                    candidacy.state == State.EXTENDING
                            ? AttemptListener.Purpose.EXTEND
                            : AttemptListener.Purpose.ACQUIRE);
        }
        if (request instanceof PrepareRequest) {
            candidacy.preparing = true;
        } else if (request instanceof ProposeRequest && candidacy.preparing) {
            candidacy.preparing = false;
            beginRound(candidacy, now);
        }
    }

    /** The first claim has its lease, or has it for longer. */
    private void onWon(Candidacy candidacy, Tenure tenure, boolean extended, Now now, Output out) {
        if (!candidacy.thrifty) {
            majority.learn(candidacy.acceptedBy, now);
        }
        out.attemptEnded(candidacy.resource, AttemptListener.Outcome.SUCCESS, null);
        Claim claim = candidacy.firstClaim();
        claim.tenure = tenure;
        candidacy.failures = 0;
        candidacy.vain = 0;
        candidacy.met = null;
        hold(candidacy, tenure, now);
        long tookNanos = now.nanos() - candidacy.attemptBeganNanos;
        out.notices.add(
                extended
                        ? new Notice.Extended(claim, tenure, tookNanos)
                        : new Notice.Acquired(claim, tenure, tookNanos));
        candidacy.hint(new Hint(self, tenure.deadline().nanos()), out);
    }

    private void hold(Candidacy candidacy, Tenure tenure, Now now) {
        candidacies.enter(candidacy, State.HOLDING);
        candidacy.resumeNanos = patience.extensionDueNanos(tenure, now);
    }

    private void onLost(Candidacy candidacy, Tenure tenure, Now now, Output out) {
        Claim claim = candidacy.firstClaim();
        // First: if there is no memory for it, the end is found here.
        out.notices.add(new Notice.Lost(claim, tenure));
        claim.tenure = null;
        candidacy.hint(null, out);
        if (!claim.isStanding()) {
            end(candidacy, claim, now, out);
        } else if (candidacy.state == State.EXTENDING) {
            candidacies.enter(candidacy, State.TRYING);
        } else {
            seek(candidacy, true, now, out);
        }
    }

    private void onReleased(Candidacy candidacy, Tenure tenure, Now now, Output out) {
        rivals.onReleased(candidacy.resource, now);
        Claim claim = candidacy.firstClaim();
        out.notices.add(new Notice.Released(claim, tenure));
        claim.tenure = null;
        candidacy.hint(null, out);
    }

    private void onAbandoned(Candidacy candidacy, Outcome outcome, Now now, Output out) {
        boolean withdrawn = outcome instanceof Outcome.Withdrawn;
        String reason = describe(outcome);
        out.attemptEnded(
                candidacy.resource,
                withdrawn ? AttemptListener.Outcome.WITHDRAWN : AttemptListener.Outcome.FAILURE,
                reason);
        if (withdrawn || candidacy.claims.isEmpty()) {
            return;
        }
        candidacy.lastReason = reason;
        Claim claim = candidacy.firstClaim();
        Tenure tenure = claim.tenure;
        if (candidacy.state == State.EXTENDING && tenure != null) {
            hold(candidacy, tenure, now);
            out.notices.add(new Notice.ExtensionFailed(
                    claim,
                    tenure,
                    candidacy.lastReason,
                    candidacy.rejectedBy,
                    now.nanos() - candidacy.attemptBeganNanos));
            return;
        }
        out.failedAttempts.add(
                new Output.FailedAttempt(candidacy.resource, candidacy.lastReason, candidacy.rejectedBy));
        candidacy.vain =
                outcome instanceof Outcome.Unanswered ? Math.max(candidacy.vain, MANY_IN_VAIN) : candidacy.vain + 1;
        if (outcome instanceof Outcome.Blocked blocked) {
            Hint hint = new Hint(blocked.holder(), now.nanos() + blocked.freeInNanos());
            candidacy.hint(hint, out);
            candidacy.failures = 0;
            Hint before = candidacy.met;
            if (before != null && before.isPast(now) && before.owner().equals(blocked.holder())) {
                candidacy.vain = 0;
            }
            if (claim.kind == Claim.Kind.ONCE) {
                end(candidacy, claim, now, out);
                out.notices.add(new Notice.Unavailable(claim, candidacy.lastReason));
            } else if (blocked.holder().equals(candidacy.gone)) {
                candidacy.gone = null;
                await(candidacy, now.nanos() + patience.untilReleaseIsHeardNanos());
            } else {
                candidacy.met = hint;
                awaitFreedom(candidacy, hint);
            }
        } else {
            candidacy.failures++;
            Hint old = candidacy.hint;
            if (old != null && old.isPast(now)) {
                candidacy.hint(null, out);
            }
            await(candidacy, now.nanos() + patience.backOffNanos(outcome, candidacy.failures));
        }
    }

    private static String describe(Outcome outcome) {
        if (outcome instanceof Outcome.Blocked blocked) {
            return "held by " + blocked.holder().nodeId();
        } else if (outcome instanceof Outcome.Outbid || outcome instanceof Outcome.Split) {
            return "another candidate was quicker";
        } else if (outcome instanceof Outcome.Unanswered) {
            return Candidacy.NO_ANSWER;
        } else if (outcome instanceof Outcome.Overdue) {
            return "the majority answered too late";
        }
        return "withdrawn";
    }
}
