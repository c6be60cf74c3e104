package io.paxoslease.node;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides when to try, to extend, to wait and to stop, for every resource that somebody on this node wants: everything about time and
 * patience that safety does not rest on. It finds what an event is about and sets the timers; {@link Campaigner} does what one candidacy then needs.
 *
 * <p>Deterministic: it has no clock and no thread; its only chance is the generator it is given, used for back-off. Not safe for concurrent
 * use. What it wants sent and told is appended to the {@link Output} that is passed in, which is empty when an event begins: what the one before
 * led to has been told by then.
 *
 * <p>{@link Candidacies} knows what is wanted; whatever is to happen to a lease that is parked there first makes it a {@link Candidacy} again, but for
 * {@link ParkedExtensions}. {@link Patience} says how long to wait, {@link Majority} whom to ask first.
 *
 * <p>It can be extended only by tests, which weaken {@link #isOver} and show what it is good for.
 */
class LeaseEngine {

    /** After how many parked leases no others are looked for in one event. */
    private static final int PARKED_PER_EVENT = 512;

    private final Incarnation self;
    private final Proposer proposer;
    private final boolean oneRoundTrip;
    private final TimerHeap timers = new TimerHeap();
    private final Candidacies candidacies;
    private final Campaigner campaigner;
    private final Rivals rivals;
    private final ParkedLeases parked;
    private final ParkedExtensions extensions;
    private boolean attemptsTold;

    LeaseEngine(
            Incarnation self, Proposer proposer, boolean oneRoundTrip, long roundTimeoutNanos, RandomGenerator random) {
        this.self = self;
        this.proposer = proposer;
        this.oneRoundTrip = oneRoundTrip;
        RoundTrips roundTrips = new RoundTrips(roundTimeoutNanos);
        Patience patience = new Patience(self.nodeId(), proposer.cell(), roundTrips, random);
        Majority majority = new Majority(proposer.cell(), self.nodeId());
        this.candidacies = new Candidacies(self, proposer, timers);
        this.rivals = new Rivals(patience);
        this.campaigner = new Campaigner(
                self, proposer, oneRoundTrip, roundTrips, patience, majority, rivals, timers, candidacies);
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
        campaigner.submit(candidacy, claim, now, out);
        reschedule(candidacy, now);
    }

    /** Ends a claim: releases its lease if it holds one, stops seeking if it seeks, and never begins to if it comes later than this. */
    void withdraw(Claim claim, Now now, Output out) {
        begin(out);
        claim.withdrawn = true;
        Candidacy candidacy = find(claim.resource);
        if (candidacy != null && candidacy.claims.contains(claim)) {
            campaigner.withdraw(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
    }

    /** Ends every claim, but of parked leases only so many at once: to be called until none is parked. */
    void withdrawAll(int limit, Now now, Output out) {
        begin(out);
        parked.rows(limit).forEach(row -> find(row.resource()));
        for (Candidacy candidacy : List.copyOf(candidacies.active())) {
            Claim claim;
            // The last first, so that none begins to seek.
            while ((claim = candidacy.claims.peekLast()) != null) {
                claim.withdrawn = true;
                campaigner.withdraw(candidacy, claim, now, out);
                out.notices.add(new Notice.Unavailable(claim, "the node stops"));
            }
            reschedule(candidacy, now);
        }
    }

    /** Releases the claim's lease, if it holds one, and lets everybody else try before this claim tries again. */
    void resign(Claim claim, Now now, Output out) {
        begin(out);
        Candidacy candidacy = find(claim.resource);
        if (candidacy != null) {
            campaigner.resign(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
    }

    /** Ends the claim's tenure, which a reader of the clocks saw past its deadline at {@code seen}, even if it was extended meanwhile. */
    void endTenure(Claim claim, Now seen, Now now, Output out) {
        begin(out);
        Candidacy candidacy = find(claim.resource);
        if (candidacy != null) {
            campaigner.endTenure(candidacy, claim, seen, now, out);
            reschedule(candidacy, now);
        }
    }

    /** Asks for one extension now, unless one is in flight. The notice of its success or failure is the answer. */
    void extend(Claim claim, Now now, Output out) {
        begin(out);
        Candidacy candidacy = find(claim.resource);
        if (candidacy != null) {
            campaigner.extend(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
    }

    /** Keeps extending the claim's lease from now on. */
    void autoExtend(Claim claim, Now now, Output out) {
        begin(out);
        Candidacy candidacy = claim.autoExtend ? null : find(claim.resource);
        if (candidacy != null) {
            campaigner.autoExtend(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
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
        campaigner.onResponse(candidacy, acceptor, response, now, out);
        reschedule(candidacy, now);
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
            campaigner.onUnanswered(candidacy, acceptor, request, now, out);
            reschedule(candidacy, now);
        }
    }

    /** Whether {@link #onRival} is of use. Safe to call without the lock. */
    boolean shouldKnowRivals(String resource) {
        Candidacy candidacy = candidacies.active(resource);
        return candidacy != null && candidacy.thrifty && candidacy.told != Majority.EVERYBODY;
    }

    /** X6. Another node asked this node's acceptor for the lease; when this node gives it up, the other is to be told. */
    void onRival(String resource, Now now) {
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy != null) {
            candidacy.told = Majority.EVERYBODY;
            if (candidacy.isForOneTenure()) {
                rivals.onAsked(resource, now);
            }
        }
    }

    /** Whether a ballot is one of this node. Safe to call without the lock. */
    boolean isOwn(Ballot ballot) {
        return ballot.owner().equals(self);
    }

    /** Whether a ballot of this node is that of a lease that is over. */
    boolean isOver(String resource, Ballot ballot) {
        return isOwn(ballot) && !knows(resource);
    }

    /**
     * X6. This node's acceptor told another node of a lease of this one. Where that was given up before it was noted that the other wants it, the
     * other was not told, and would wait for the end of what is over.
     */
    void onRivalRefused(String resource, Ballot ballot, Now now, Output out) {
        begin(out);
        if (isOwn(ballot)) {
            rivals.onAsked(resource, now);
        }
        if (isOver(resource, ballot)) {
            out.send(new ReleaseRequest(resource, ballot), Majority.EVERYBODY);
        }
    }

    /** X6. This node's acceptor recorded or reported another owner. */
    void onOwnerSeen(String resource, Incarnation owner, long remainingNanos, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy != null) {
            campaigner.onOwnerSeen(candidacy, owner, remainingNanos, now, out);
            reschedule(candidacy, now);
        }
    }

    /** X6. An owner said that it gave the lease up: a follower that waits for it tries at once. */
    void onOwnerGone(String resource, Ballot released, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy != null) {
            campaigner.onOwnerGone(candidacy, released, now, out);
            reschedule(candidacy, now);
        }
    }

    /**
     * X6. An owner gave the lease up and took it again before any follower's turn. A follower that has not asked for long asks: the owner may not know, or
     * not any more, that others wait.
     */
    void onTakenAgain(String resource, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.active(resource);
        if (candidacy != null) {
            campaigner.onTakenAgain(candidacy, now, out);
            reschedule(candidacy, now);
        }
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
                campaigner.onTime(candidacy, now, out);
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
                campaigner.onTime(candidacy, now, out);
                reschedule(candidacy, now);
            }
        }
        extensions.schedule(rounds);
    }

    private void endRound(Extension.Round round, Now now, Output out) {
        for (Extension extension : round.extensions) {
            if (extensions.isUnderWay(extension)) {
                Candidacy candidacy = extensions.takeOut(extension);
                campaigner.onTime(candidacy, now, out);
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
            campaigner.onSuspend(candidacy, now, out);
            reschedule(candidacy, now);
        }
    }

    /** A claim that waits for the claims before it ends at its give-up time: thousands may wait, so that each has its own timer. */
    private void endWaiting(Claim claim, Now now, Output out) {
        Candidacy candidacy = candidacies.active(claim.resource);
        if (candidacy != null) {
            campaigner.endWithout(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
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
        campaigner.apply(candidacy, now, out);
        reschedule(candidacy, now);
    }
}
