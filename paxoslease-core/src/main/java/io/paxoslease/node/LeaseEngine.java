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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Decides when to try, to extend, to wait and to stop, for every resource that somebody on this node wants: everything about time and
 * patience that safety does not rest on.
 *
 * <p>Deterministic: it has no clock and no thread; its only chance is the generator it is given, used for back-off. Not safe for concurrent
 * use. What it wants sent and told is appended to the {@link Output} that is passed in; each event has an output of its own, and the one before
 * has been told when the next comes.
 *
 * <p>Leases that are held and need nothing for now are kept without objects in {@link ParkedLeases}. Whatever is to happen to one first makes
 * it a {@link Candidacy} again, but for an {@link Extension} that everybody accepts; a candidacy that has become quiet is parked when the next
 * event comes, or if it does not extend itself, when many others have become so.
 */
final class LeaseEngine {

    /** What an event led to, in order. */
    static final class Output {
        final List<Request> requests = new ArrayList<>();

        /** For each request, a bit for each acceptor that it is for. */
        private long[] acceptors = new long[4];

        final List<Notice> notices = new ArrayList<>();
        /** How many of them were told. */
        int told;

        final List<FailedAttempt> failedAttempts = new ArrayList<>();

        /** What the proposer reported and is not yet applied. */
        final List<Effect> effects = new ArrayList<>();

        /** Whether a request, by its place among them, is to be sent to an acceptor. */
        boolean isFor(int acceptor, int request) {
            return (acceptors[request] >> acceptor & 1) != 0;
        }

        /** What is to be sent to an acceptor. */
        List<Request> requestsFor(int acceptor) {
            int count = 0;
            for (int i = 0; i < requests.size(); i++) {
                count += isFor(acceptor, i) ? 1 : 0;
            }
            if (count == requests.size()) {
                return requests;
            }
            List<Request> some = new ArrayList<>(count);
            for (int i = 0; i < requests.size() && some.size() < count; i++) {
                if (isFor(acceptor, i)) {
                    some.add(requests.get(i));
                }
            }
            return some;
        }

        private void send(Request request, long to) {
            if (requests.size() == acceptors.length) {
                acceptors = Arrays.copyOf(acceptors, 2 * acceptors.length);
            }
            acceptors[requests.size()] = to;
            requests.add(request);
        }
    }

    /** For the record: an acquisition that failed, why, and a bit for each acceptor that said no. */
    record FailedAttempt(String resource, String reason, long rejectedBy) {}

    private static final long MILLI = 1_000_000L;
    private static final long LONGEST_BACKOFF_NANOS = 500 * MILLI;
    private static final long SHORTEST_PAUSE_NANOS = MILLI;
    /** After how long whoever resigned seeks again, at the latest. */
    private static final long LONGEST_REST_NANOS = 1_000 * MILLI;

    /** After how many parked leases no others are looked for in one event. */
    private static final int PARKED_PER_EVENT = 512;

    /**
     * About how many leases are being extended at once before parked ones wait for their turn. More at once would not be extended sooner, but
     * their answers would come too late.
     */
    private static final int MOST_EXTENDING = 4_096;

    /** How many leases that do not extend themselves are not parked yet. */
    static final int MOST_YOUNG = 512;

    /** Extensions of parked leases wait for each other by up to this part of T, so that they travel together. */
    private static final int COALESCED_PART = 512;

    private static final long LONGEST_COALESCING_NANOS = 100 * MILLI;

    private static final long EVERYBODY = -1L;

    private final Incarnation self;
    private final Proposer proposer;
    private final Majority majority;
    private final RandomGenerator random;
    private final boolean oneRoundTrip;
    private final RoundTrips roundTrips;
    private final Map<String, Candidacy> candidacies = new ConcurrentHashMap<>();
    private final Map<String, Extension> extensions = new HashMap<>();
    private final TimerHeap timers = new TimerHeap();
    private final ParkedLeases parked;
    private final List<Candidacy> quiet = new ArrayList<>();
    private final ArrayDeque<Candidacy> young = new ArrayDeque<>();
    private int extending;
    private @Nullable Output current;
    private boolean attemptsTold;

    LeaseEngine(
            Incarnation self, Proposer proposer, boolean oneRoundTrip, long roundTimeoutNanos, RandomGenerator random) {
        this.parked = new ParkedLeases(proposer.index());
        this.self = self;
        this.proposer = proposer;
        this.oneRoundTrip = oneRoundTrip;
        this.roundTrips = new RoundTrips(roundTimeoutNanos);
        this.random = random;
        this.majority = new Majority(proposer.cell(), self.nodeId());
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
            out.notices.add(new Notice.Unavailable(claim, "this node itself seeks or holds the lease already"));
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
        for (Candidacy candidacy : List.copyOf(candidacies.values())) {
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
            long pause = Math.min(LONGEST_REST_NANOS, Math.max(20 * roundTrips.meanNanos(), claim.leaseNanos / 4));
            claim.resigned = true;
            claim.restEndsNanos = now.nanos() + pause;
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
        return candidacies.containsKey(resource);
    }

    /** Whether anybody wants or watches a resource, or it is held. Safe to call without the lock. */
    boolean knows(String resource) {
        return candidacies.containsKey(resource) || parked.contains(resource);
    }

    /** What somebody wants or watches, in no order, without what is parked. */
    Collection<Candidacy> candidacies() {
        return candidacies.values();
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
        Candidacy candidacy = candidacies.get(resource);
        ParkedLeases.Row row = candidacy == null ? parked.row(resource) : null;
        return row == null ? candidacy : unparked(row);
    }

    /** How many slots there may be for parked candidacies. */
    int slots() {
        return parked.slots();
    }

    /** Pictures of the parked candidacies in some slots, which stay parked. */
    List<Candidacy> parked(int fromSlot, int toSlot) {
        return parked.rows(fromSlot, toSlot).stream().map(this::unparked).toList();
    }

    // What the network brings.

    void onResponse(int acceptor, Response response, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.get(response.resource());
        if (candidacy == null) {
            Extension extension = extensions.get(response.resource());
            if (extension == null || !response.ballot().equals(extension.ballot)) {
                proposer.onLateResponse(response, now);
                return;
            }
            if (isOrdinary(response) && proposer.isHeld(extension.slot, now)) {
                onAccepted(extension, acceptor, response, now, out);
                return;
            }
            candidacy = takeOut(extension);
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
            askTheRest(candidacy, out);
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
            takeOutIfDecided(extension, now, out);
            return;
        }
        Candidacy candidacy = extension == null ? candidacies.get(request.resource()) : takeOut(extension);
        if (candidacy != null) {
            settle(candidacy, now, out);
            proposer.onUnanswered(acceptor, request, now, out.effects);
            apply(candidacy, now, out);
            if (request.ballot().equals(candidacy.attempt)) {
                onSilence(candidacy, out);
            }
            reschedule(candidacy, now);
        }
    }

    /** Whether {@link #onRival} is of use. Safe to call without the lock. */
    boolean shouldKnowRivals(String resource) {
        Candidacy candidacy = candidacies.get(resource);
        return candidacy != null && candidacy.thrifty && candidacy.told != EVERYBODY;
    }

    /** X6. Another node asked this node's acceptor for the lease; when this node gives it up, the other is to be told. */
    void onRival(String resource) {
        Candidacy candidacy = candidacies.get(resource);
        if (candidacy != null) {
            candidacy.told = EVERYBODY;
        }
    }

    /** X6. This node's acceptor recorded or reported another owner. */
    void onOwnerSeen(String resource, Incarnation owner, long remainingNanos, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.get(resource);
        if (candidacy == null || owner.equals(self) || isHeldHere(candidacy)) {
            return;
        }
        Hint hint = new Hint(owner, now.nanos() + remainingNanos);
        hint(candidacy, hint, out);
        if (candidacy.state == State.WAITING && firstClaim(candidacy).kind != Claim.Kind.ONCE) {
            awaitFreedom(candidacy, hint);
        }
        reschedule(candidacy, now);
    }

    /** X6. An owner said that it gave the lease up: a follower that waits for it tries at once. */
    void onOwnerGone(String resource, Incarnation owner, Now now, Output out) {
        begin(out);
        Candidacy candidacy = candidacies.get(resource);
        if (candidacy == null) {
            return;
        }
        candidacy.gone = owner;
        Hint hint = candidacy.hint;
        if (hint == null || !hint.owner().equals(owner)) {
            return;
        }
        hint(candidacy, null, out);
        if (candidacy.state == State.WAITING) {
            candidacy.failures = 0;
            long pause = turn(
                    candidacy.resource,
                    owner,
                    2 * Math.max(MILLI, roundTrips.quickNanos()),
                    2 * roundTrips.meanNanos());
            await(candidacy, now.nanos() + pause + firstClaim(candidacy).yieldNanos);
        }
        reschedule(candidacy, now);
    }

    // Time.

    /** When {@link #onTime} wants to be called next; calling it early, late or twice is harmless. Empty if nothing is due. */
    OptionalLong nextWakeNanos() {
        if (parked.size() == 0 || !hasRoom()) {
            return timers.isEmpty() ? OptionalLong.empty() : OptionalLong.of(timers.firstDueNanos());
        }
        long next = parked.earliestNanos();
        return OptionalLong.of(timers.isEmpty() || next - timers.firstDueNanos() < 0 ? next : timers.firstDueNanos());
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
        if (hasRoom()) {
            onDue(parked.takeDue(now, PARKED_PER_EVENT, slot -> proposer.sixtyFourthsLeft(slot, now)), now, out);
        }
    }

    private void onDue(int[] slots, Now now, Output out) {
        List<Extension.Round> rounds = new ArrayList<>(1);
        for (int slot : slots) {
            if (!oneRoundTrip || !parked.goesOn(slot, now) || !extend(slot, rounds, now, out)) {
                Candidacy candidacy = resume(parked.unpark(slot));
                onTime(candidacy, now, out);
                reschedule(candidacy, now);
            }
        }
        for (Extension.Round round : rounds) {
            if (round.underWay > 0) {
                timers.schedule(round, round.endsNanos);
            }
        }
    }

    /** X7. Notices every lease that has ended; for the shell to call when the wall clock has run ahead of the monotonic one. */
    void settleAll(Now now, Output out) {
        begin(out);
        List.copyOf(extensions.values()).forEach(this::takeOut);
        parked.wakeAll(now);
        for (Candidacy candidacy : List.copyOf(candidacies.values())) {
            settle(candidacy, now, out);
            hurry(candidacy, now);
            reschedule(candidacy, now);
        }
    }

    /** X7. Where more time has passed than the monotonic clock says, the next extension comes at half of what then remains. */
    private void hurry(Candidacy candidacy, Now now) {
        Tenure tenure = candidacy.state == State.HOLDING ? firstClaim(candidacy).tenure : null;
        if (tenure != null) {
            long due = extendsNanos(tenure, now);
            candidacy.resumeNanos = due - candidacy.resumeNanos < 0 ? due : candidacy.resumeNanos;
        }
    }

    private void onTime(Candidacy candidacy, Now now, Output out) {
        settle(candidacy, now, out);
        endOverdue(candidacy, now, out);
        switch (candidacy.state) {
            case IDLE -> {
                Hint hint = candidacy.hint;
                if (hint != null && now.hasReached(hint.freeAtNanos())) {
                    hint(candidacy, null, out);
                }
            }
            case WAITING -> {
                if (now.hasReached(candidacy.resumeNanos)) {
                    tryNow(candidacy, State.TRYING, now, out);
                }
            }
            case HOLDING -> {
                hurry(candidacy, now);
                if (firstClaim(candidacy).autoExtend && now.hasReached(candidacy.resumeNanos)) {
                    tryNow(candidacy, State.EXTENDING, now, out);
                }
            }
            case TRYING, EXTENDING -> {
                if (candidacy.withheld != null && now.hasReached(restDueNanos(candidacy))) {
                    onSilence(candidacy, out);
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
        Candidacy candidacy = candidacies.get(claim.resource);
        if (candidacy != null) {
            endWithout(candidacy, claim, now, out);
            reschedule(candidacy, now);
        }
    }

    private void endWithout(Candidacy candidacy, Claim claim, Now now, Output out) {
        end(candidacy, claim, now, out);
        out.notices.add(new Notice.Unavailable(claim, candidacy.lastReason));
    }

    /** The one timer of a candidacy: the earliest of what it waits for. */
    private void reschedule(Candidacy candidacy, Now now) {
        if (candidacy.claims.isEmpty() && !candidacy.watched) {
            timers.cancel(candidacy);
            candidacies.remove(candidacy.resource);
            return;
        }
        long due = Long.MAX_VALUE;
        switch (candidacy.state) {
            case WAITING -> due = candidacy.resumeNanos - now.nanos();
            case TRYING, EXTENDING ->
                due = (candidacy.withheld == null ? candidacy.roundEndsNanos : restDueNanos(candidacy)) - now.nanos();
            case HOLDING -> due = firstClaim(candidacy).autoExtend ? candidacy.resumeNanos - now.nanos() : due;
            case IDLE -> {
                Hint hint = candidacy.hint;
                due = hint == null || hint.owner().equals(self) ? due : hint.freeAtNanos() - now.nanos();
            }
        }
        Claim claim = candidacy.claims.peek();
        Tenure tenure = claim == null ? null : claim.tenure;
        if (tenure != null) {
            due = Math.min(due, tenure.deadline().remainingNanos(now));
        } else if (claim != null && !claim.isStanding()) {
            due = Math.min(due, claim.giveUpNanos - now.nanos());
        }
        boolean parks = isQuiet(candidacy);
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
            noteQuiet(candidacy);
        }
    }

    // Extensions of parked leases.

    /** Begins the extension of a parked lease in its place; false if its end is too near for any round. */
    private boolean extend(int slot, List<Extension.Round> rounds, Now now, Output out) {
        String resource = parked.name(slot);
        Tenure tenure = proposer.unsettledTenure(resource);
        if (tenure == null) {
            return false;
        }
        Extension.Round round = roundOf(tenure.deadline().remainingNanos(now) / 2, rounds, now);
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
        tellBegin(resource, AttemptListener.Purpose.EXTEND, out);
        out.send(request, EVERYBODY);
        return true;
    }

    /**
     * The longest round for an extension that may not take longer than that; null if there is none. Where answers take long, what is late has
     * half a round, a quarter and so on: out of their place extensions cost several times as much, so that answers would take longer still.
     */
    private Extension.@Nullable Round roundOf(long mostNanos, List<Extension.Round> rounds, Now now) {
        long limit = roundTrips.roundNanos();
        for (int i = 0; i == 0 || limit >= RoundTrips.SHORTEST_ROUND_NANOS; i++) {
            if (i == rounds.size()) {
                rounds.add(new Extension.Round(now.nanos(), now.nanos() + limit, roundTrips.meanNanos()));
            }
            if (limit <= mostNanos) {
                return rounds.get(i);
            }
            limit /= 2;
        }
        return null;
    }

    private static boolean isOrdinary(Response response) {
        return response instanceof ProposeResponse propose && propose.accepted();
    }

    private void onAccepted(Extension extension, int acceptor, Response response, Now now, Output out) {
        extension.acceptedBy |= 1L << acceptor;
        proposer.onResponse(acceptor, response, now, out.effects);
        if (out.effects.size() == 1 && out.effects.get(0) instanceof Effect.Extended extended) {
            out.effects.clear();
            onExtended(extension, extended.tenure(), now, out);
        } else {
            takeOutIfDecided(extension, now, out);
        }
    }

    /** One answer more, or one less to come, may have decided that the extension does not just succeed. */
    private void takeOutIfDecided(Extension extension, Now now, Output out) {
        if (!out.effects.isEmpty()) {
            Candidacy candidacy = takeOut(extension);
            apply(candidacy, now, out);
            reschedule(candidacy, now);
        }
    }

    private void onExtended(Extension extension, Tenure tenure, Now now, Output out) {
        remove(extension);
        roundTrips.note(extension.round.beganNanos, now);
        majority.learn(extension.acceptedBy, now);
        tellEnd(extension.resource, AttemptListener.Outcome.SUCCESS, null, out);
        parked.extended(extension.slot, tenure, coalesced(extendsNanos(tenure, now), tenure.leaseNanos()));
        out.notices.add(new Notice.Extended(null, tenure, now.nanos() - extension.round.beganNanos));
    }

    /** Makes a candidacy of an extension that does not just succeed; the caller sees to its timer. */
    private Candidacy takeOut(Extension extension) {
        remove(extension);
        Candidacy candidacy = resume(parked.unpark(extension.slot));
        enter(candidacy, State.EXTENDING);
        candidacy.attempt = extension.ballot;
        candidacy.acceptedBy = extension.acceptedBy;
        candidacy.attemptBeganNanos = extension.round.beganNanos;
        candidacy.roundBeganNanos = extension.round.beganNanos;
        candidacy.roundEndsNanos = extension.round.endsNanos;
        candidacy.roundTripNanos = extension.round.roundTripNanos;
        candidacy.dueNanos = extension.round.endsNanos;
        return candidacy;
    }

    private void remove(Extension extension) {
        extensions.remove(extension.resource);
        if (--extension.round.underWay == 0) {
            timers.cancel(extension.round);
        }
    }

    private void endRound(Extension.Round round, Now now, Output out) {
        for (Extension extension : round.extensions) {
            if (extensions.get(extension.resource) == extension) {
                Candidacy candidacy = takeOut(extension);
                onTime(candidacy, now, out);
                reschedule(candidacy, now);
            }
        }
    }

    // Candidacies that need nothing for now.

    private @Nullable Candidacy find(String resource) {
        Candidacy candidacy = candidacies.get(resource);
        if (candidacy == null) {
            candidacy = takeOut(resource);
            if (candidacy != null) {
                timers.schedule(candidacy, candidacy.dueNanos);
            }
        }
        return candidacy;
    }

    /** Makes a candidacy of what is parked, null if that is nothing; the caller sees to its timer. */
    private @Nullable Candidacy takeOut(String resource) {
        Extension extension = extensions.get(resource);
        if (extension != null) {
            return takeOut(extension);
        }
        ParkedLeases.Row row = parked.unpark(resource);
        return row == null ? null : resume(row);
    }

    private Candidacy findOrMake(String resource) {
        Candidacy candidacy = find(resource);
        return candidacy == null ? candidacies.computeIfAbsent(resource, Candidacy::new) : candidacy;
    }

    /** To be called first by every event: what became quiet in an earlier one has been told and can be parked. */
    private void begin(Output out) {
        if (out == current) {
            return;
        }
        current = out;
        for (Candidacy candidacy : quiet) {
            candidacy.quiet = false;
            parkIfQuiet(candidacy);
        }
        quiet.clear();
        while (young.size() > MOST_YOUNG) {
            Candidacy oldest = young.remove();
            oldest.young = false;
            parkIfQuiet(oldest);
        }
    }

    /** What extends itself is parked at once, since its extensions wait for those of others there. Other leases may be released soon. */
    private void noteQuiet(Candidacy candidacy) {
        if (!firstClaim(candidacy).autoExtend) {
            if (!candidacy.young) {
                candidacy.young = true;
                young.add(candidacy);
            }
        } else if (!candidacy.quiet) {
            candidacy.quiet = true;
            quiet.add(candidacy);
        }
    }

    private void parkIfQuiet(Candidacy candidacy) {
        if (isQuiet(candidacy) && candidacies.get(candidacy.resource) == candidacy) {
            park(candidacy);
        }
    }

    /** Whether there is nothing to remember but the tenure of one claim and the time of its next extension. */
    private static boolean isQuiet(Candidacy candidacy) {
        if (candidacy.state != State.HOLDING || candidacy.watched || candidacy.claims.size() != 1) {
            return false;
        }
        Claim claim = candidacy.claims.getFirst();
        return claim.tenure != null && !claim.isStanding() && !claim.isAwaited();
    }

    private void park(Candidacy candidacy) {
        Claim claim = firstClaim(candidacy);
        timers.cancel(candidacy);
        parked.park(new ParkedLeases.Row(
                candidacy.resource,
                claim.resumed ? null : claim,
                claim.autoExtend,
                claim.autoExtend ? coalesced(candidacy.dueNanos, claim.leaseNanos) : candidacy.dueNanos,
                claim.acquiredAtMillis,
                (int) Math.min(claim.extensionCount, Integer.MAX_VALUE)));
        candidacies.remove(candidacy.resource);
    }

    private static long coalesced(long dueNanos, long leaseNanos) {
        long step = Math.max(1, Math.min(leaseNanos / COALESCED_PART, LONGEST_COALESCING_NANOS));
        return dueNanos + Math.floorMod(-dueNanos, step);
    }

    /** Makes a candidacy of a row; the caller sees to its timer. */
    private Candidacy resume(ParkedLeases.Row row) {
        Candidacy candidacy = unparked(row);
        candidacies.put(candidacy.resource, candidacy);
        return candidacy;
    }

    private Candidacy unparked(ParkedLeases.Row row) {
        Tenure tenure = proposer.unsettledTenure(row.resource());
        if (tenure == null) {
            throw new IllegalStateException("Lease " + row.resource() + " is parked, but is not held");
        }
        Claim claim = row.claim() == null ? Claim.resumed(tenure) : row.claim();
        claim.autoExtend = row.autoExtend();
        claim.acquiredAtMillis = row.acquiredAtMillis();
        claim.extensionCount = row.extensions();
        Candidacy candidacy = new Candidacy(row.resource());
        candidacy.claims.add(claim);
        enter(candidacy, State.HOLDING);
        candidacy.resumeNanos = row.dueNanos();
        candidacy.dueNanos = row.dueNanos();
        candidacy.told = EVERYBODY;
        candidacy.hint = new Hint(self, tenure.deadline().nanos());
        return candidacy;
    }

    // The life of a candidacy.

    /** Begins to seek for the first claim, at once unless a hint says that it would be in vain. */
    private void seek(Candidacy candidacy, Now now, Output out) {
        Claim claim = firstClaim(candidacy);
        candidacy.failures = 0;
        Hint hint = candidacy.hint;
        if (claim.kind != Claim.Kind.ONCE
                && hint != null
                && !hint.owner().equals(self)
                && !now.hasReached(hint.freeAtNanos())) {
            candidacy.lastReason = "held by " + hint.owner().nodeId();
            awaitFreedom(candidacy, hint);
        } else if (claim.resigned && !now.hasReached(claim.restEndsNanos)) {
            await(candidacy, claim.restEndsNanos);
        } else {
            tryNow(candidacy, State.TRYING, now, out);
        }
    }

    private void tryNow(Candidacy candidacy, State state, Now now, Output out) {
        enter(candidacy, state);
        candidacy.attemptBeganNanos = now.nanos();
        beginRound(candidacy, now);
        long leaseNanos = firstClaim(candidacy).leaseNanos;
        candidacy.preparing = false;
        candidacy.gone = null;
        if (mayTakeOneRoundTrip(candidacy, now)) {
            candidacy.thrifty = isThrifty(candidacy, now);
            proposer.startInOneRoundTrip(candidacy.resource, leaseNanos, now, out.effects);
        } else {
            candidacy.thrifty = false;
            proposer.start(candidacy.resource, leaseNanos, now, out.effects);
        }
        apply(candidacy, now, out);
    }

    /**
     * X11. Whether a majority is asked and not everybody. Not for leases that are to last: the other nodes should know who has them, and the more
     * acceptors know, the less it matters which of them is there. Nor where others want the lease: they should know when to try.
     */
    private boolean isThrifty(Candidacy candidacy, Now now) {
        return candidacy.state == State.TRYING
                && !firstClaim(candidacy).autoExtend
                && candidacy.told != EVERYBODY
                && majority.isKnown(now);
    }

    /** Asks the acceptors that have not been, because one that has been is against or does not answer. */
    private void askTheRest(Candidacy candidacy, Output out) {
        Request withheld = candidacy.withheld;
        if (withheld != null) {
            candidacy.withheld = null;
            candidacy.told = EVERYBODY;
            out.send(withheld, ~candidacy.asked);
        }
    }

    private void onSilence(Candidacy candidacy, Output out) {
        if (candidacy.withheld != null) {
            majority.forget();
            askTheRest(candidacy, out);
        }
    }

    /** When the acceptors that have not been asked are, if nothing was decided by then. */
    private static long restDueNanos(Candidacy candidacy) {
        return candidacy.roundBeganNanos + (candidacy.roundEndsNanos - candidacy.roundBeganNanos) / 2;
    }

    /**
     * X8. The short path is for an owner, or where no live owner is known of, until it fails there. An owner would not get further with both
     * phases: what it proposed and too few accepted would be against it, as the lease of somebody else.
     */
    private boolean mayTakeOneRoundTrip(Candidacy candidacy, Now now) {
        if (!oneRoundTrip || isHeldHere(candidacy)) {
            return oneRoundTrip;
        }
        Hint hint = candidacy.hint;
        return candidacy.failures == 0 && (hint == null || now.hasReached(hint.freeAtNanos()));
    }

    private void beginRound(Candidacy candidacy, Now now) {
        long limit = roundTrips.roundNanos();
        Tenure tenure = firstClaim(candidacy).tenure;
        if (tenure != null) {
            limit = Math.min(
                    limit, Math.max(SHORTEST_PAUSE_NANOS, tenure.deadline().remainingNanos(now) / 2));
        }
        candidacy.roundBeganNanos = now.nanos();
        candidacy.roundTripNanos = roundTrips.meanNanos();
        candidacy.roundEndsNanos = now.nanos() + limit;
    }

    private void await(Candidacy candidacy, long untilNanos) {
        enter(candidacy, State.WAITING);
        candidacy.told = EVERYBODY;
        Claim claim = firstClaim(candidacy);
        boolean rests = claim.resigned && claim.restEndsNanos - untilNanos > 0;
        candidacy.resumeNanos = rests ? claim.restEndsNanos : untilNanos;
    }

    /**
     * X6. Waits until the lease can be free at every acceptor, and then for this node's turn, so that the candidates do not all come at once.
     */
    private void awaitFreedom(Candidacy candidacy, Hint hint) {
        Claim claim = firstClaim(candidacy);
        long spread = Math.min(claim.leaseNanos / 8, Math.max(5 * MILLI, 8 * roundTrips.meanNanos()));
        long step = Math.min(claim.leaseNanos / 16, Math.max(15 * MILLI, 2 * roundTrips.quickNanos()));
        // The record at another acceptor may be a little younger than the one that the hint is about.
        long pause = step / 3 + turn(candidacy.resource, hint.owner(), step, spread);
        await(candidacy, hint.freeAtNanos() + pause + claim.yieldNanos);
    }

    /**
     * How long this node lets others go first once the owner is gone. The members know each other, so one after another has its turn, in an order
     * that all draw alike and that is another one for each resource and each life of an owner. The owner itself has no turn.
     */
    private long turn(String resource, Incarnation owner, long stepNanos, long spreadNanos) {
        int size = proposer.cell().size();
        int own = proposer.cell().indexOf(self.nodeId());
        if (own < 0) {
            return jitter(spreadNanos);
        }
        int first = Math.floorMod(31 * resource.hashCode() + Long.hashCode(owner.nonce()), size);
        int place = Math.floorMod(own - first, size);
        int former = proposer.cell().indexOf(owner.nodeId());
        return (former >= 0 && Math.floorMod(former - first, size) < place ? place - 1 : place) * stepNanos;
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
        if (candidacy.claims.isEmpty()) {
            enter(candidacy, State.IDLE);
        } else {
            timers.cancel(firstClaim(candidacy));
            seek(candidacy, now, out);
        }
    }

    private void release(Candidacy candidacy, Now now, Output out) {
        enter(candidacy, State.IDLE);
        proposer.release(candidacy.resource, now, out.effects);
        apply(candidacy, now, out);
    }

    private void settle(Candidacy candidacy, Now now, Output out) {
        proposer.settle(candidacy.resource, now, out.effects);
        apply(candidacy, now, out);
    }

    /** Whether parked leases can be extended. If not, those that are being extended have timers. */
    private boolean hasRoom() {
        return extending + extensions.size() <= MOST_EXTENDING - PARKED_PER_EVENT;
    }

    private void enter(Candidacy candidacy, State state) {
        candidacy.withheld = null;
        extending += (state == State.EXTENDING ? 1 : 0) - (candidacy.state == State.EXTENDING ? 1 : 0);
        candidacy.state = state;
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
            out.send(broadcast.request(), recipients(candidacy, broadcast.request(), now));
        } else if (effect instanceof Effect.Acquired acquired) {
            onAcquired(candidacy, acquired.tenure(), now, out);
        } else if (effect instanceof Effect.Extended extended) {
            onExtended(candidacy, extended.tenure(), now, out);
        } else if (effect instanceof Effect.Lost lost) {
            onLost(candidacy, lost.tenure(), now, out);
        } else if (effect instanceof Effect.Released released) {
            onReleased(candidacy, released.tenure(), out);
        } else if (effect instanceof Effect.Abandoned abandoned) {
            onAbandoned(candidacy, abandoned.outcome(), now, out);
        }
    }

    /**
     * A bit for each acceptor that gets the request. A release is for those that were asked, and for everybody if others want the lease or it was
     * held for so long that one may without this node's having heard of it.
     */
    private long recipients(Candidacy candidacy, Request request, Now now) {
        if (request instanceof ReleaseRequest) {
            boolean brief = now.nanos() - candidacy.attemptBeganNanos < RoundTrips.SHORTEST_ROUND_NANOS / 2;
            return brief ? candidacy.told : EVERYBODY;
        }
        if (!candidacy.thrifty) {
            candidacy.told = EVERYBODY;
            return EVERYBODY;
        }
        candidacy.withheld = request;
        candidacy.asked = majority.acceptors();
        candidacy.told |= candidacy.asked;
        return candidacy.asked;
    }

    private void onBroadcast(Candidacy candidacy, Request request, Now now, Output out) {
        if (!(request instanceof ReleaseRequest) && !request.ballot().equals(candidacy.attempt)) {
            candidacy.attempt = request.ballot();
            candidacy.rejectedBy = 0;
            candidacy.acceptedBy = 0;
            tellBegin(
                    candidacy.resource,
                    candidacy.state == State.EXTENDING
                            ? AttemptListener.Purpose.EXTEND
                            : AttemptListener.Purpose.ACQUIRE,
                    out);
        }
        if (request instanceof PrepareRequest) {
            candidacy.preparing = true;
        } else if (request instanceof ProposeRequest && candidacy.preparing) {
            candidacy.preparing = false;
            roundTrips.note(candidacy.roundBeganNanos, now);
            beginRound(candidacy, now);
        }
    }

    private void tellBegin(String resource, AttemptListener.Purpose purpose, Output out) {
        if (attemptsTold) {
            out.notices.add(new Notice.AttemptBegan(resource, purpose));
        }
    }

    private void tellEnd(String resource, AttemptListener.Outcome outcome, @Nullable String reason, Output out) {
        if (attemptsTold) {
            out.notices.add(new Notice.AttemptEnded(resource, outcome, reason));
        }
    }

    private void onAcquired(Candidacy candidacy, Tenure tenure, Now now, Output out) {
        noteWin(candidacy, now);
        tellEnd(candidacy.resource, AttemptListener.Outcome.SUCCESS, null, out);
        Claim claim = firstClaim(candidacy);
        claim.tenure = tenure;
        candidacy.failures = 0;
        hold(candidacy, tenure, now);
        out.notices.add(new Notice.Acquired(claim, tenure, now.nanos() - candidacy.attemptBeganNanos));
        hint(candidacy, new Hint(self, tenure.deadline().nanos()), out);
    }

    private void onExtended(Candidacy candidacy, Tenure tenure, Now now, Output out) {
        noteWin(candidacy, now);
        tellEnd(candidacy.resource, AttemptListener.Outcome.SUCCESS, null, out);
        Claim claim = firstClaim(candidacy);
        claim.tenure = tenure;
        candidacy.failures = 0;
        hold(candidacy, tenure, now);
        out.notices.add(new Notice.Extended(claim, tenure, now.nanos() - candidacy.attemptBeganNanos));
        hint(candidacy, new Hint(self, tenure.deadline().nanos()), out);
    }

    private void hold(Candidacy candidacy, Tenure tenure, Now now) {
        enter(candidacy, State.HOLDING);
        candidacy.resumeNanos = extendsNanos(tenure, now);
    }

    /** Extension at half of what remains, and again at half of the rest when it fails; the last chances are not closer than 1/64 of T. */
    private long extendsNanos(Tenure tenure, Now now) {
        long shortest =
                Math.max(tenure.leaseNanos() / 64, Math.min(tenure.leaseNanos() / 16, 2 * roundTrips.meanNanos()));
        return now.nanos() + Math.max(shortest, tenure.deadline().remainingNanos(now) / 2);
    }

    private void onLost(Candidacy candidacy, Tenure tenure, Now now, Output out) {
        Claim claim = firstClaim(candidacy);
        claim.tenure = null;
        out.notices.add(new Notice.Lost(claim, tenure));
        hint(candidacy, null, out);
        if (!claim.isStanding()) {
            end(candidacy, claim, now, out);
        } else if (candidacy.state == State.EXTENDING) {
            enter(candidacy, State.TRYING);
        } else {
            seek(candidacy, now, out);
        }
    }

    private void onReleased(Candidacy candidacy, Tenure tenure, Output out) {
        Claim claim = firstClaim(candidacy);
        claim.tenure = null;
        out.notices.add(new Notice.Released(claim, tenure));
        hint(candidacy, null, out);
    }

    private void onAbandoned(Candidacy candidacy, Outcome outcome, Now now, Output out) {
        boolean withdrawn = outcome instanceof Outcome.Withdrawn;
        String reason = describe(outcome);
        tellEnd(
                candidacy.resource,
                withdrawn ? AttemptListener.Outcome.WITHDRAWN : AttemptListener.Outcome.FAILURE,
                reason,
                out);
        if (withdrawn || candidacy.claims.isEmpty()) {
            return;
        }
        candidacy.lastReason = reason;
        Claim claim = firstClaim(candidacy);
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
        out.failedAttempts.add(new FailedAttempt(candidacy.resource, candidacy.lastReason, candidacy.rejectedBy));
        if (outcome instanceof Outcome.Blocked blocked) {
            Hint hint = new Hint(blocked.holder(), now.nanos() + blocked.freeInNanos());
            hint(candidacy, hint, out);
            candidacy.failures = 0;
            if (claim.kind == Claim.Kind.ONCE) {
                end(candidacy, claim, now, out);
                out.notices.add(new Notice.Unavailable(claim, candidacy.lastReason));
            } else if (blocked.holder().equals(candidacy.gone)) {
                await(candidacy, now.nanos() + jitter(Math.max(MILLI, roundTrips.meanNanos())));
            } else {
                awaitFreedom(candidacy, hint);
            }
        } else {
            candidacy.failures++;
            Hint old = candidacy.hint;
            if (old != null && now.hasReached(old.freeAtNanos())) {
                hint(candidacy, null, out);
            }
            await(candidacy, now.nanos() + backOff(outcome, candidacy.failures));
        }
    }

    /** X2, X6. Random, from one round trip upward while attempts collide, slower while nobody answers. */
    private long backOff(Outcome outcome, int failures) {
        int doublings = Math.min(failures - 1, 10);
        if (outcome instanceof Outcome.Unanswered) {
            long window = Math.min(LONGEST_BACKOFF_NANOS, (10 * MILLI) << doublings);
            return window / 2 + jitter(window / 2);
        }
        long window = Math.min(LONGEST_BACKOFF_NANOS, Math.max(MILLI, roundTrips.meanNanos()) << doublings);
        return jitter(window);
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

    private void hint(Candidacy candidacy, @Nullable Hint hint, Output out) {
        Hint old = candidacy.hint;
        candidacy.hint = hint;
        Incarnation before = old == null ? null : old.owner();
        Incarnation after = hint == null ? null : hint.owner();
        if (after == null ? before != null : !after.equals(before)) {
            out.notices.add(new Notice.LeaderChanged(candidacy.resource, after));
        }
    }

    private static boolean isHeldHere(Candidacy candidacy) {
        Claim claim = candidacy.claims.peek();
        return claim != null && claim.tenure != null;
    }

    private static Claim firstClaim(Candidacy candidacy) {
        return candidacy.claims.getFirst();
    }

    private void noteWin(Candidacy candidacy, Now now) {
        roundTrips.note(candidacy.roundBeganNanos, now);
        if (!candidacy.thrifty) {
            majority.learn(candidacy.acceptedBy, now);
        }
    }

    private long jitter(long spreadNanos) {
        return spreadNanos <= 0 ? 0 : random.nextLong(spreadNanos);
    }
}
