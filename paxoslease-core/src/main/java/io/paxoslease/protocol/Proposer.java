package io.paxoslease.protocol;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The proposer role for all resources of a cell: acquires, extends and releases leases.
 *
 * <p>Deterministic: it has no clock, thread or random source, does nothing by itself and appends what is to be done to the list that is
 * passed in. Not safe for concurrent use; the shell serialises calls. When to start an attempt, when to give it up and when to try
 * again is decided outside; calling at a bad moment costs time, never safety.
 *
 * <p>The package-private methods are the single decisions that the rules prescribe. They can be overridden only by tests, which weaken
 * one rule at a time and show what it is good for.
 */
public class Proposer {

    private final Incarnation self;
    private final Cell cell;
    private final Timing timing;
    private final BallotSequence ballots;
    private final Map<String, Attempt> attempts = new HashMap<>();
    private final HeldLeases held;

    /**
     * Creates a proposer that holds nothing.
     *
     * @param self this life of this node
     * @param cell the acceptors
     * @param timing the bounds of the cell
     * @param ballots the node's ballot counters, shared with its acceptor role
     */
    public Proposer(Incarnation self, Cell cell, Timing timing, BallotSequence ballots) {
        this(self, cell, timing, ballots, new ResourceIndex());
    }

    /**
     * Creates a proposer that holds nothing and shares the names of its resources with others.
     *
     * @param self this life of this node
     * @param cell the acceptors
     * @param timing the bounds of the cell
     * @param ballots the node's ballot counters, shared with its acceptor role
     * @param index the names, shared with the acceptor of the same node
     */
    public Proposer(Incarnation self, Cell cell, Timing timing, BallotSequence ballots, ResourceIndex index) {
        this.self = self;
        this.cell = cell;
        this.timing = timing;
        this.ballots = ballots;
        this.held = new HeldLeases(self, index);
    }

    /** An independent copy with the same memory, for tests that explore what can happen next. */
    Proposer(Proposer other) {
        this.self = other.self;
        this.cell = other.cell;
        this.timing = other.timing;
        this.ballots = new BallotSequence(other.ballots);
        other.attempts.forEach((resource, attempt) -> attempts.put(resource, new Attempt(attempt)));
        this.held = new HeldLeases(other.held);
    }

    /**
     * P1. Starts an attempt: an extension if the lease is held, else an acquisition. The deadline and the renewal base are stored now,
     * before the first message goes out. An attempt in flight for the same resource is abandoned.
     *
     * @param resource the name of the lease
     * @param leaseNanos T
     * @param now the clocks
     * @param effects receives what is to be done
     * @throws IllegalArgumentException if the lease time is out of range
     */
    public void start(String resource, long leaseNanos, Now now, List<Effect> effects) {
        Attempt attempt = begin(resource, leaseNanos, now, effects);
        effects.add(new Effect.Broadcast(new PrepareRequest(resource, attempt.ballot, leaseNanos)));
    }

    /**
     * X8. Starts an attempt like {@link #start}, but sends the proposal at once. Safety rests on A2 alone; without the prepare phase rivals
     * can split the acceptors, so this is for an owner that extends, or where no live owner and no rival is known of. If it fails, the next
     * attempt should take both phases.
     *
     * @param resource the name of the lease
     * @param leaseNanos T
     * @param now the clocks
     * @param effects receives what is to be done
     * @throws IllegalArgumentException if the lease time is out of range
     */
    public void startInOneRoundTrip(String resource, long leaseNanos, Now now, List<Effect> effects) {
        Attempt attempt = begin(resource, leaseNanos, now, effects);
        attempt.unprepared = true;
        propose(attempt, effects);
    }

    private Attempt begin(String resource, long leaseNanos, Now now, List<Effect> effects) {
        timing.requireLeaseTime(leaseNanos);
        Attempt before = attempts.get(resource);
        int slot = settle(resource, before, now, effects);
        if (before != null) {
            abandon(before, new Outcome.Withdrawn(), effects);
        }
        Ballot ballot = new Ballot(ballots.next(now), self);
        Deadline deadline = Deadline.after(now, timing.ownerNanos(leaseNanos));
        Attempt attempt = new Attempt(resource, ballot, leaseNanos, deadline, held.ballot(slot), slot);
        attempts.put(resource, attempt);
        return attempt;
    }

    private void propose(Attempt attempt, List<Effect> effects) {
        attempt.beginProposing();
        effects.add(new Effect.Broadcast(new ProposeRequest(attempt.resource, attempt.ballot, attempt.leaseNanos)));
    }

    /**
     * Handles an answer of an acceptor. Answers to anything but the current attempt and phase change nothing (P2).
     *
     * @param acceptor the position of the acceptor in the cell
     * @param response the answer
     * @param now the clocks
     * @param effects receives what is to be done
     */
    public void onResponse(int acceptor, Response response, Now now, List<Effect> effects) {
        ballots.observe(response.promisedCounter(), now);
        Attempt attempt = attempts.get(response.resource());
        settle(response.resource(), attempt, now, effects);
        if (attempt == null || !isCurrent(attempt, response)) {
            return;
        }
        if (isOverdue(attempt, now)) {
            abandon(attempt, new Outcome.Overdue(), effects);
        } else if (response instanceof PrepareResponse prepare) {
            onPrepareResponse(attempt, acceptor, prepare, now, effects);
        } else if (response instanceof ProposeResponse propose) {
            onProposeResponse(attempt, acceptor, propose, now, effects);
        }
    }

    /**
     * T4. Handles an answer about a resource that has no attempt: it changes nothing else.
     *
     * @param response the answer
     * @param now the clocks
     */
    public void onLateResponse(Response response, Now now) {
        ballots.observe(response.promisedCounter(), now);
    }

    /** P2, P3. With a majority of distinct acceptors open: propose. */
    private void onPrepareResponse(
            Attempt attempt, int acceptor, PrepareResponse response, Now now, List<Effect> effects) {
        if (attempt.proposing) {
            onLatePrepareResponse(attempt, response, now);
            return;
        }
        if (isOpen(attempt, response)) {
            countFor(attempt, acceptor);
        } else {
            attempt.noteOpposition(acceptor, response, cell, timing.maxLeaseNanos());
            attempt.votes.oppose(acceptor);
        }
        if (attempt.votes.isReached(cell)) {
            onPrepareMajority(attempt, now);
            propose(attempt, effects);
        } else if (attempt.votes.isOutOfReach(cell)) {
            abandon(attempt, attempt.outcome(cell), effects);
        }
    }

    /** P4. With a majority of distinct accepts, and the stored deadline not reached in this handler: active until that deadline. */
    private void onProposeResponse(
            Attempt attempt, int acceptor, ProposeResponse response, Now now, List<Effect> effects) {
        if (!attempt.proposing) {
            return;
        }
        if (response.accepted()) {
            countFor(attempt, acceptor);
        } else {
            attempt.noteOpposition(acceptor, response, cell, timing.maxLeaseNanos());
            attempt.votes.oppose(acceptor);
        }
        if (attempt.votes.isReached(cell)) {
            win(attempt, effects);
        } else if (attempt.votes.isOutOfReach(cell)) {
            abandon(attempt, attempt.outcome(cell), effects);
        }
    }

    private void win(Attempt attempt, List<Effect> effects) {
        attempts.remove(attempt.resource);
        if (attempt.slot != ResourceIndex.NONE) {
            Tenure tenure = held.extended(attempt, deadlineOf(attempt));
            held.set(attempt.slot, tenure);
            effects.add(new Effect.Extended(tenure));
        } else {
            Tenure tenure = new Tenure(
                    attempt.resource,
                    attempt.ballot,
                    attempt.ballot.counter(),
                    attempt.leaseNanos,
                    deadlineOf(attempt));
            held.add(tenure);
            effects.add(new Effect.Acquired(tenure));
        }
    }

    /**
     * Told by the transport that an acceptor will not answer a request. A hint that saves waiting; a real answer that comes all the
     * same still counts.
     *
     * @param acceptor the position of the acceptor in the cell
     * @param request the request that will not be answered
     * @param now the clocks
     * @param effects receives what is to be done
     */
    public void onUnanswered(int acceptor, Request request, Now now, List<Effect> effects) {
        Attempt attempt = attempts.get(request.resource());
        settle(request.resource(), attempt, now, effects);
        if (attempt == null
                || !attempt.ballot.equals(request.ballot())
                || attempt.proposing != (request instanceof ProposeRequest)) {
            return;
        }
        attempt.votes.oppose(acceptor);
        if (attempt.votes.isOutOfReach(cell)) {
            abandon(attempt, attempt.outcome(cell), effects);
        }
    }

    /**
     * P5. Gives up the attempt in flight for a resource, if any; the held lease is kept until its own deadline.
     *
     * @param resource the name of the lease
     * @param now the clocks
     * @param effects receives what is to be done
     */
    public void giveUp(String resource, Now now, List<Effect> effects) {
        Attempt attempt = attempts.get(resource);
        settle(resource, attempt, now, effects);
        if (attempt != null) {
            abandon(attempt, attempt.outcome(cell), effects);
        }
    }

    /**
     * P6. Stops being the owner, abandons an attempt in flight, and only then tells the acceptors: an extension never completes after a
     * release.
     *
     * @param resource the name of the lease
     * @param now the clocks
     * @param effects receives what is to be done
     */
    public void release(String resource, Now now, List<Effect> effects) {
        Attempt inFlight = attempts.get(resource);
        int slot = settle(resource, inFlight, now, effects);
        Tenure tenure = held.get(resource, slot);
        long spent =
                Math.max(held.spent(slot), tenure == null ? 0 : tenure.ballot().counter());
        remove(slot, inFlight);
        Attempt attempt = withdraw(resource);
        if (attempt != null) {
            spent = Math.max(spent, attempt.proposing ? attempt.ballot.counter() : attempt.stale);
            effects.add(new Effect.Abandoned(resource, attempt.ballot, new Outcome.Withdrawn()));
        }
        if (tenure != null) {
            effects.add(new Effect.Released(tenure));
        }
        if (spent > 0) {
            effects.add(new Effect.Broadcast(new ReleaseRequest(resource, new Ballot(spent, self))));
        }
    }

    /**
     * T1. Notices that the deadline of a held lease has passed. Called by every handler first, and by the shell when the deadline is
     * due; calling it early, late or twice is harmless.
     *
     * @param resource the name of the lease
     * @param now the clocks
     * @param effects receives what is to be done
     */
    public void settle(String resource, Now now, List<Effect> effects) {
        settle(resource, attempts.get(resource), now, effects);
    }

    /** Answers where the lease is, {@link ResourceIndex#NONE} if it is not held. An attempt knows that, the way by the name is longer. */
    private int settle(String resource, @Nullable Attempt attempt, Now now, List<Effect> effects) {
        int slot = attempt == null ? held.find(resource) : attempt.slot;
        if (isHeld(slot, now)) {
            return slot;
        }
        Tenure tenure = held.get(resource, slot);
        if (tenure == null) {
            return ResourceIndex.NONE;
        }
        long spent = held.spent(slot);
        remove(slot, attempt);
        effects.add(new Effect.Lost(tenure));
        if (spent > tenure.ballot().counter()) {
            effects.add(new Effect.Broadcast(new ReleaseRequest(resource, new Ballot(spent, self))));
        }
        return ResourceIndex.NONE;
    }

    private void remove(int slot, @Nullable Attempt attempt) {
        held.remove(slot);
        if (attempt != null) {
            attempt.slot = ResourceIndex.NONE;
        }
    }

    /** The lease that is held at this instant, null if it is not held. */
    public @Nullable Tenure tenure(String resource, Now now) {
        Tenure tenure = unsettledTenure(resource);
        return tenure != null && tenure.isActive(now) ? tenure : null;
    }

    /** Whether the lease in a slot of the index is held at this instant. */
    public boolean isHeld(int slot, Now now) {
        return held.isActive(slot, now);
    }

    /** The lease that was won last and not settled, released or lost since, whether or not its deadline has passed; else null. */
    public @Nullable Tenure unsettledTenure(String resource) {
        return held.get(resource, held.find(resource));
    }

    /** How much of T the held lease in a slot of the index has left, in 64ths; nothing if its deadline has passed. */
    public int sixtyFourthsLeft(int slot, Now now) {
        return held.sixtyFourthsLeft(slot, now);
    }

    /** The names of its resources. */
    public ResourceIndex index() {
        return held.index();
    }

    /** The acceptors. */
    public Cell cell() {
        return cell;
    }

    /** Whether an attempt is in flight. */
    boolean isTrying(String resource) {
        return attempts.containsKey(resource);
    }

    /** How many leases are held, counting expired ones that were not settled yet. */
    public int heldLeases() {
        return held.size();
    }

    /** How many attempts are in flight. */
    public int attempts() {
        return attempts.size();
    }

    final @Nullable Attempt attempt(String resource) {
        return attempts.get(resource);
    }

    final HeldLeases held() {
        return held;
    }

    final BallotSequence ballots() {
        return ballots;
    }

    // The decisions, one rule each.

    /** P2. Answers to an older ballot, or to another life of this node, do not count. */
    boolean isCurrent(Attempt attempt, Response response) {
        return attempt.ballot.equals(response.ballot());
    }

    /** P2. Open: no live lease, or exactly the renewal base while that is still held. */
    boolean isOpen(Attempt attempt, PrepareResponse response) {
        AcceptedLease lease = response.lease();
        return response.promised()
                && (lease == null
                        || (lease.ballot().equals(attempt.renewalBase) && attempt.slot != ResourceIndex.NONE));
    }

    /** P2, P4. Distinct acceptors, never messages. */
    void countFor(Attempt attempt, int acceptor) {
        attempt.votes.favour(acceptor);
    }

    /** P1. The deadline was stored when the attempt began; nothing moves it. */
    Deadline deadlineOf(Attempt attempt) {
        return attempt.deadline;
    }

    /** P1. Neither does the majority of prepare answers: the authority counts from the first message, not from here. */
    void onPrepareMajority(Attempt attempt, Now now) {}

    /** P1. A further prepare answer after the majority changes nothing; the 2012 pseudocode restarted the deadline here. */
    void onLatePrepareResponse(Attempt attempt, PrepareResponse response, Now now) {}

    /** P4. */
    boolean isOverdue(Attempt attempt, Now now) {
        return deadlineOf(attempt).isPast(now);
    }

    /** P6. An attempt in flight must not complete after the release. */
    @Nullable
    Attempt withdraw(String resource) {
        return attempts.remove(resource);
    }

    /** X5. A fresh attempt cleans up behind itself; a failed extension must not while the old lease is held. */
    boolean releasesWhenAbandoned(Attempt attempt) {
        return attempt.slot == ResourceIndex.NONE;
    }

    private void abandon(Attempt attempt, Outcome outcome, List<Effect> effects) {
        attempts.remove(attempt.resource);
        effects.add(new Effect.Abandoned(attempt.resource, attempt.ballot, outcome));
        if (!attempt.proposing) {
            if (attempt.stale > 0 && releasesWhenAbandoned(attempt)) {
                effects.add(
                        new Effect.Broadcast(new ReleaseRequest(attempt.resource, new Ballot(attempt.stale, self))));
            }
        } else if (releasesWhenAbandoned(attempt)) {
            effects.add(new Effect.Broadcast(new ReleaseRequest(attempt.resource, attempt.ballot)));
        } else {
            held.spend(attempt.slot, attempt.ballot.counter());
        }
    }
}
