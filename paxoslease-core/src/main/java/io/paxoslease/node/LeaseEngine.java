package io.paxoslease.node;

import io.paxoslease.node.Candidacy.State;
import io.paxoslease.protocol.AcceptedLease;
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
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides when to try, to extend, to wait and to stop, for every resource that somebody on this node wants: everything about time and
 * patience that safety does not rest on.
 *
 * <p>Deterministic: it has no clock and no thread; its only chance is the generator it is given, used for back-off. Not safe for concurrent
 * use. What it wants sent and told is appended to the {@link Output} that is passed in, which is empty when an event begins: what the one before
 * led to has been told by then.
 *
 * <p>{@link Candidacies} knows what is wanted; whatever is to happen to a lease that is parked there first makes it a {@link Candidacy} again, but for
 * {@link ParkedExtensions}. {@link Patience} says how long to wait, {@link Majority} whom to ask first.
 */
final class LeaseEngine {

    /** After how many parked leases no others are looked for in one event. */
    private static final int PARKED_PER_EVENT = 512;

    private static final String TAKEN_HERE = "this node itself seeks or holds the lease already";

    private final Incarnation self;
    private final Proposer proposer;
    private final Majority majority;
    private final boolean oneRoundTrip;
    private final RoundTrips roundTrips;
    private final Patience patience;
    private final TimerHeap timers = new TimerHeap();
    private final Candidacies candidacies;
    private final ParkedLeases parked;
    private final ParkedExtensions extensions;
    private boolean attemptsTold;

    LeaseEngine(
            Incarnation self, Proposer proposer, boolean oneRoundTrip, long roundTimeoutNanos, RandomGenerator random) {
        this.self = self;
        this.proposer = proposer;
        this.oneRoundTrip = oneRoundTrip;
        this.roundTrips = new RoundTrips(roundTimeoutNanos);
        this.patience = new Patience(self.nodeId(), proposer.cell(), roundTrips, random);
        this.majority = new Majority(proposer.cell(), self.nodeId());
        this.candidacies = new Candidacies(self, proposer, timers);
        this.parked = candidacies.parked();
        this.extensions = new ParkedExtensions(proposer, candidacies, timers, roundTrips, patience, majority);
    }

    /** From now on there are notices of the begin and the end of each attempt. */
    void tellAttempts() {
        attemptsTold = true;
    }

    // What users want.

    /** Adds a claim. A claim that does not wait for others ends at once if another claim of this node is before it. */
    void submit(Claim claim, Now now, Output out) {
        begin(out);
        if (claim.withdrawn) {
            out.notices.add(new Notice.Unavailable(claim, "nobody waits for it any more"));
            return;
        }
        Candidacy candidacy = findOrMake(claim.resource);
        settle(candidacy, now, out);
        if (claim.kind == Claim.Kind.ONCE && !candidacy.claims.isEmpty()) {
            out.notices.add(new Notice.Unavailable(claim, TAKEN_HERE));
            reschedule(candidacy, now);
            return;
        }
        candidacy.claims.add(claim);
        if (candidacy.claims.size() == 1) {
            seek(candidacy, now, out);
        } else if (!claim.isStanding()) {
            timers.schedule(claim, claim.giveUpNanos);
        }
        reschedule(candidacy, now);
    }

    /** Ends a claim: releases its lease if it holds one, stops seeking if it seeks, and never begins to if it comes later than this. */
    void withdraw(Claim claim, Now now, Output out) {
        begin(out);
        claim.withdrawn = true;
        Candidacy candidacy = find(claim.resource);
        if (candidacy == null || !candidacy.claims.contains(claim)) {
            return;
        }
        settle(candidacy, now, out);
        end(candidacy, claim, now, out);
        reschedule(candidacy, now);
    }

    /** Ends every claim, but of parked leases only so many at once: to be called until none is parked. */
    void withdrawAll(int limit, Now now, Output out) {
        begin(out);
        parked.rows(limit).forEach(row -> find(row.resource()));
        for (Candidacy candidacy : List.copyOf(candidacies.active())) {
            Claim claim;
            // The last first, so that none begins to seek.
            while ((claim = candidacy.claims.peekLast()) != null) {
                settle(candidacy, now, out);
                claim.withdrawn = true;
                end(candidacy, claim, now, out);
                out.notices.add(new Notice.Unavailable(claim, "the node stops"));
            }
            reschedule(candidacy, now);
        }
    }

    /** Releases the claim's lease, if it holds one, and lets everybody else try before this claim tries again. */
    void resign(Claim claim, Now now, Output out) {
        begin(out);
        Candidacy candidacy = find(claim.resource);
        if (candidacy == null) {
            return;
        }
        settle(candidacy, now, out);
        if (claim.tenure != null) {
            release(candidacy, now, out);
            candidacy.claims.remove(claim);
            candidacy.claims.add(claim);
            claim.resigned = true;
            claim.restEndsNanos = now.nanos() + patience.restNanos(claim.leaseNanos);
            next(candidacy, now, out);
        }
        reschedule(candidacy, now);
    }

    /** Ends the claim's tenure, which a reader of the clocks saw past its deadline at {@code seen}, even if it was extended meanwhile. */
    void endTenure(Claim claim, Now seen, Now now, Output out) {
        begin(out);
        Candidacy candidacy = find(claim.resource);
        if (candidacy == null) {
            return;
        }
        proposer.settle(claim.resource, seen, out.effects);
        apply(candidacy, now, out);
        int first = out.notices.size();
        if (claim.tenure != null && claim.isStanding()) {
            resign(claim, now, out);
        } else if (claim.tenure != null) {
            end(candidacy, claim, now, out);
        }
        // Nobody gave it up: to whoever saw the end, the lease was lost.
        out.notices
                .subList(first, out.notices.size())
                .replaceAll(notice -> notice instanceof Notice.Released released && released.claim() == claim
                        ? new Notice.Lost(claim, released.tenure())
                        : notice);
        reschedule(candidacy, now);
    }

    /** Asks for one extension now, unless one is in flight. The notice of its success or failure is the answer. */
    void extend(Claim claim, Now now, Output out) {
        begin(out);
        Candidacy candidacy = find(claim.resource);
        if (candidacy == null) {
            return;
        }
        settle(candidacy, now, out);
        if (claim.tenure != null && candidacy.state == State.HOLDING) {
            tryNow(candidacy, State.EXTENDING, now, out);
        }
        reschedule(candidacy, now);
    }

    /** Keeps extending the claim's lease from now on. */
    void autoExtend(Claim claim, Now now, Output out) {
        begin(out);
        Candidacy candidacy = claim.autoExtend ? null : find(claim.resource);
        if (candidacy == null) {
            return;
        }
        claim.autoExtend = true;
        settle(candidacy, now, out);
        Tenure tenure = claim.tenure;
        if (tenure != null && candidacy.state == State.HOLDING) {
            candidacy.resumeNanos = now.nanos() + tenure.deadline().remainingNanos(now) / 2;
        }
        reschedule(candidacy, now);
    }

    /** Remembers a claim firmly from now on if it is pinned. */
    void pin(Claim claim, Now now, Output out) {
        begin(out);
        claim.pinned = true;
        Candidacy candidacy = find(claim.resource);
        if (candidacy != null) {
            reschedule(candidacy, now);
        }
    }

    /** Keeps track of who leads although there may be no claim. */
    Candidacy watch(String resource) {
        Candidacy candidacy = findOrMake(resource);
        candidacy.watched = true;
        return candidacy;
    }

    /** Whether hints about a resource are of use: somebody wants or watches it, and it is not just held. Safe to call without the lock. */
    boolean cares(String resource) {
        return candidacies.active(resource) != null;
    }

    /** Whether anybody wants or watches a resource, or it is held. Safe to call without the lock. */
    boolean knows(String resource) {
        return candidacies.active(resource) != null || parked.contains(resource);
    }

    /** What somebody wants or watches, in no order, without what is parked. */
    Collection<Candidacy> candidacies() {
        return candidacies.active();
    }

    int heldLeases() {
        return proposer.heldLeases();
    }

    /** How many leases are parked. */
    int parked() {
        return parked.size();
    }

    /** A picture of what is known about a resource, which changes nothing; null if nobody wants or watches it. */
    @Nullable
    Candidacy picture(String resource) {
        return candidacies.picture(resource);
    }

    /** How many slots there may be for parked candidacies. */
    int slots() {
        return parked.slots();
    }

    /** Pictures of the parked candidacies in some slots, which stay parked. */
    List<Candidacy> parked(int fromSlot, int toSlot) {
        return candidacies.pictures(fromSlot, toSlot);
    }

    // What the network brings.

    /** What became of a request, null if there will be no answer, as there never is to a release. */
    void onAnswer(int acceptor, Request request, @Nullable Response response, Now now, Output out) {
        if (response != null) {
            onResponse(acceptor, response, now, out);
        } else if (!(request instanceof ReleaseRequest)) {
            onUnanswered(acceptor, request, now, out);
        }
    }

    void onResponse(int acceptor, Response response, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.active(response.resource());
        if (candidacy == null) {
            Extension extension = extensions.get(response.resource());
            if (extension == null || !response.ballot().equals(extension.ballot)) {
                proposer.onLateResponse(response, now);
                return;
            }
            if (response instanceof ProposeResponse proposal
                    && proposal.accepted()
                    && proposer.isHeld(extension.slot, now)) {
                if (!extensions.onAccepted(extension, acceptor, proposal, now, out)) {
                    takeOut(extension, now, out);
                }
                return;
            }
            candidacy = extensions.takeOut(extension);
        }
        settle(candidacy, now, out);
        boolean current = response.ballot().equals(candidacy.attempt);
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
        reschedule(candidacy, now);
    }

    private boolean isRejection(Response response) {
        if (response instanceof PrepareResponse prepare) {
            AcceptedLease lease = prepare.lease();
            return !prepare.promised()
                    || (lease != null && !lease.ballot().owner().equals(self));
        }
        return response instanceof ProposeResponse propose && !propose.accepted();
    }

    void onUnanswered(int acceptor, Request request, Now now, Output out) {
        begin(out);
        Extension extension = extensions.get(request.resource());
        if (extension != null && proposer.isHeld(extension.slot, now)) {
            proposer.onUnanswered(acceptor, request, now, out.effects);
            if (!out.effects.isEmpty()) {
                takeOut(extension, now, out);
            }
            return;
        }
        Candidacy candidacy =
                extension == null ? candidacies.active(request.resource()) : extensions.takeOut(extension);
        if (candidacy != null) {
            settle(candidacy, now, out);
            proposer.onUnanswered(acceptor, request, now, out.effects);
            apply(candidacy, now, out);
            if (request.ballot().equals(candidacy.attempt)) {
                majority.onSilence(candidacy, out);
            }
            reschedule(candidacy, now);
        }
    }

    /** Whether {@link #onRival} is of use. Safe to call without the lock. */
    boolean shouldKnowRivals(String resource) {
        Candidacy candidacy = candidacies.active(resource);
        return candidacy != null && candidacy.thrifty && candidacy.told != Majority.EVERYBODY;
    }

    /** X6. Another node asked this node's acceptor for the lease; when this node gives it up, the other is to be told. */
    void onRival(String resource) {
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy != null) {
            candidacy.told = Majority.EVERYBODY;
        }
    }

    /** X6. This node's acceptor recorded or reported another owner. */
    void onOwnerSeen(String resource, Incarnation owner, long remainingNanos, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy == null || owner.equals(self) || candidacy.isHeldHere()) {
            return;
        }
        Hint hint = new Hint(owner, now.nanos() + remainingNanos);
        candidacy.hint(hint, out);
        if (candidacy.state == State.WAITING && candidacy.firstClaim().kind != Claim.Kind.ONCE) {
            awaitFreedom(candidacy, hint);
        }
        reschedule(candidacy, now);
    }

    /** X6. An owner said that it gave the lease up: a follower that waits for it tries at once. */
    void onOwnerGone(String resource, Incarnation owner, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy == null) {
            return;
        }
        candidacy.gone = owner;
        Hint hint = candidacy.hint;
        if (hint == null || !hint.owner().equals(owner)) {
            return;
        }
        candidacy.hint(null, out);
        if (candidacy.state == State.WAITING) {
            candidacy.failures = 0;
            long pause = patience.afterReleaseNanos(candidacy.resource, owner);
            await(candidacy, now.nanos() + pause + candidacy.firstClaim().yieldNanos);
        }
        reschedule(candidacy, now);
    }

    // Time.

    /** When {@link #onTime} wants to be called next; calling it early, late or twice is harmless. Empty if nothing is due. */
    OptionalLong nextWakeNanos() {
        if (!looksAtParked()) {
            return timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.firstDueNanos());
        }
        long next = parked.earliestNanos();
        return OptionalLong.of(timers.isEmpty() || next - timers.firstDueNanos() < 0 ? next : timers.firstDueNanos());
    }

    /** Whether {@link #onTime} wants to be called at that time or before. */
    boolean isDue(long nanos) {
        return (!timers.isEmpty() && timers.firstDueNanos() - nanos <= 0)
                || (looksAtParked() && parked.earliestNanos() - nanos <= 0);
    }

    private boolean looksAtParked() {
        return parked.size() > 0 && extensions.haveRoomFor(PARKED_PER_EVENT);
    }

    /** Does what is due. */
    void onTime(Now now, Output out) {
        begin(out);
        while (!timers.isEmpty() && now.hasReached(timers.firstDueNanos())) {
            TimerHeap.Timer timer = timers.first();
            timers.cancel(timer);
            if (timer instanceof Candidacy candidacy) {
                onTime(candidacy, now, out);
                reschedule(candidacy, now);
            } else if (timer instanceof Claim claim) {
                endWaiting(claim, now, out);
            } else {
                endRound((Extension.Round) timer, now, out);
            }
        }
        if (looksAtParked()) {
            onDue(parked.takeDue(now, PARKED_PER_EVENT, slot -> proposer.sixtyFourthsLeft(slot, now)), now, out);
        }
    }

    private void onDue(int[] slots, Now now, Output out) {
        List<Extension.Round> rounds = new ArrayList<>(1);
        for (int slot : slots) {
            if (!oneRoundTrip || !parked.goesOn(slot, now) || !extensions.begin(slot, rounds, now, out)) {
                Candidacy candidacy = candidacies.unpark(slot);
                onTime(candidacy, now, out);
                reschedule(candidacy, now);
            }
        }
        extensions.schedule(rounds);
    }

    private void endRound(Extension.Round round, Now now, Output out) {
        for (Extension extension : round.extensions) {
            if (extensions.isUnderWay(extension)) {
                Candidacy candidacy = extensions.takeOut(extension);
                onTime(candidacy, now, out);
                reschedule(candidacy, now);
            }
        }
    }

    /** X7. Notices every lease that has ended; for the shell to call when the wall clock has run ahead of the monotonic one. */
    void settleAll(Now now, Output out) {
        begin(out);
        extensions.all().forEach(extensions::takeOut);
        parked.wakeAll(now);
        for (Candidacy candidacy : List.copyOf(candidacies.active())) {
            settle(candidacy, now, out);
            hurry(candidacy, now);
            reschedule(candidacy, now);
        }
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
            candidacy.resumeNanos = due - candidacy.resumeNanos < 0 ? due : candidacy.resumeNanos;
        } else {
            candidacy.roundEndsNanos = due - candidacy.roundEndsNanos < 0 ? due : candidacy.roundEndsNanos;
        }
    }

    private void onTime(Candidacy candidacy, Now now, Output out) {
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
                    roundTrips.noteTimeOut(
                            candidacy.roundTripNanos, candidacy.roundEndsNanos - candidacy.roundBeganNanos);
                    proposer.giveUp(candidacy.resource, now, out.effects);
                    apply(candidacy, now, out);
                }
            }
        }
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

    /** So does a claim that waits for the claims before it: thousands may, so that each has its own timer. */
    private void endWaiting(Claim claim, Now now, Output out) {
        Candidacy candidacy = candidacies.active(claim.resource);
        if (candidacy != null) {
            endWithout(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
    }

    private void endWithout(Candidacy candidacy, Claim claim, Now now, Output out) {
        String reason = candidacy.isHeldHere() ? TAKEN_HERE : candidacy.lastReason;
        end(candidacy, claim, now, out);
        out.notices.add(new Notice.Unavailable(claim, reason));
    }

    /** The one timer of a candidacy: the earliest of what it waits for. */
    private void reschedule(Candidacy candidacy, Now now) {
        if (candidacy.claims.isEmpty() && !candidacy.watched) {
            candidacies.remove(candidacy);
            return;
        }
        long due = candidacy.dueInNanos(now);
        boolean parks = Candidacies.isQuiet(candidacy);
        if (due == Long.MAX_VALUE) {
            timers.cancel(candidacy);
        } else {
            candidacy.dueNanos = now.nanos() + due;
            // What is parked before long needs no better timer than one that is early.
            if (!parks || !timers.isDueBy(candidacy, candidacy.dueNanos)) {
                timers.schedule(candidacy, candidacy.dueNanos);
            }
        }
        if (parks) {
            candidacies.noteQuiet(candidacy);
        }
    }

    // Where candidacies are found.

    /** To be called first by every event. */
    private void begin(Output out) {
        if (!out.begun) {
            out.begun = true;
            out.attemptsTold = attemptsTold;
            candidacies.parkQuiet();
        }
    }

    private @Nullable Candidacy find(String resource) {
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy == null) {
            Extension extension = extensions.get(resource);
            candidacy = extension == null ? candidacies.unpark(resource) : extensions.takeOut(extension);
            if (candidacy != null) {
                timers.schedule(candidacy, candidacy.dueNanos);
            }
        }
        return candidacy;
    }

    private Candidacy findOrMake(String resource) {
        Candidacy candidacy = find(resource);
        return candidacy == null ? candidacies.activeOrNew(resource) : candidacy;
    }

    /** Applies what the extension of a parked lease led to, other than just success. */
    private void takeOut(Extension extension, Now now, Output out) {
        Candidacy candidacy = extensions.takeOut(extension);
        apply(candidacy, now, out);
        reschedule(candidacy, now);
    }

    // The life of a candidacy.

    /** Begins to seek for the first claim, at once unless a hint says that it would be in vain. */
    private void seek(Candidacy candidacy, Now now, Output out) {
        Claim claim = candidacy.firstClaim();
        candidacy.failures = 0;
        Hint hint = candidacy.hint;
        if (claim.kind != Claim.Kind.ONCE && hint != null && !hint.isPast(now)) {
            candidacy.lastReason = "held by " + hint.owner().nodeId();
            awaitFreedom(candidacy, hint);
        } else if (claim.resigned && !now.hasReached(claim.restEndsNanos)) {
            await(candidacy, claim.restEndsNanos);
        } else {
            tryNow(candidacy, State.TRYING, now, out);
        }
    }

    private void tryNow(Candidacy candidacy, State state, Now now, Output out) {
        candidacies.enter(candidacy, state);
        candidacy.attemptBeganNanos = now.nanos();
        beginRound(candidacy, now);
        long leaseNanos = candidacy.firstClaim().leaseNanos;
        candidacy.preparing = false;
        candidacy.gone = null;
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
        Claim claim = candidacy.firstClaim();
        long pause = patience.afterEndNanos(candidacy.resource, hint.owner(), claim.leaseNanos);
        await(candidacy, hint.freeAtNanos() + pause + claim.yieldNanos);
    }

    /** Ends a claim wherever it is in the queue; the next one begins to seek. */
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

    private void next(Candidacy candidacy, Now now, Output out) {
        if (!candidacy.claims.isEmpty()) {
            timers.cancel(candidacy.firstClaim());
            seek(candidacy, now, out);
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
    private void apply(Candidacy candidacy, Now now, Output out) {
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
            onReleased(candidacy, released.tenure(), out);
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
            roundTrips.note(candidacy.roundBeganNanos, now);
            beginRound(candidacy, now);
        }
    }

    /** The first claim has its lease, or has it for longer. */
    private void onWon(Candidacy candidacy, Tenure tenure, boolean extended, Now now, Output out) {
        noteWin(candidacy, now);
        out.attemptEnded(candidacy.resource, AttemptListener.Outcome.SUCCESS, null);
        Claim claim = candidacy.firstClaim();
        claim.tenure = tenure;
        candidacy.failures = 0;
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
        claim.tenure = null;
        out.notices.add(new Notice.Lost(claim, tenure));
        candidacy.hint(null, out);
        if (!claim.isStanding()) {
            end(candidacy, claim, now, out);
        } else if (candidacy.state == State.EXTENDING) {
            candidacies.enter(candidacy, State.TRYING);
        } else {
            seek(candidacy, now, out);
        }
    }

    private void onReleased(Candidacy candidacy, Tenure tenure, Output out) {
        Claim claim = candidacy.firstClaim();
        claim.tenure = null;
        out.notices.add(new Notice.Released(claim, tenure));
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
        if (outcome instanceof Outcome.Blocked blocked) {
            Hint hint = new Hint(blocked.holder(), now.nanos() + blocked.freeInNanos());
            candidacy.hint(hint, out);
            candidacy.failures = 0;
            if (claim.kind == Claim.Kind.ONCE) {
                end(candidacy, claim, now, out);
                out.notices.add(new Notice.Unavailable(claim, candidacy.lastReason));
            } else if (blocked.holder().equals(candidacy.gone)) {
                await(candidacy, now.nanos() + patience.untilReleaseIsHeardNanos());
            } else {
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
            return "no majority of the cell answered";
        } else if (outcome instanceof Outcome.Overdue) {
            return "the majority answered too late";
        }
        return "withdrawn";
    }

    private void noteWin(Candidacy candidacy, Now now) {
        roundTrips.note(candidacy.roundBeganNanos, now);
        if (!candidacy.thrifty) {
            majority.learn(candidacy.acceptedBy, now);
        }
    }
}
