package io.paxoslease.protocol;

import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The production proposer with some of its decisions taken wrongly; with no mistakes it is the production proposer. */
public final class WeakProposer extends Proposer {

    private final EnumSet<Mistake> mistakes;
    private final Incarnation self;
    private final Cell cell;
    private final Timing timing;
    private final Map<Ballot, Deadline> movedDeadlines = new HashMap<>();
    private final Map<String, Quorum> waiting = new HashMap<>();
    private Now lastTimer;

    public WeakProposer(Set<Mistake> mistakes, Incarnation self, Cell cell, Timing timing, BallotSequence ballots) {
        super(self, cell, timing, ballots);
        this.mistakes = mistakes.isEmpty() ? EnumSet.noneOf(Mistake.class) : EnumSet.copyOf(mistakes);
        this.self = self;
        this.cell = cell;
        this.timing = timing;
    }

    private WeakProposer(WeakProposer other) {
        super(other);
        this.mistakes = other.mistakes;
        this.self = other.self;
        this.cell = other.cell;
        this.timing = other.timing;
        this.movedDeadlines.putAll(other.movedDeadlines);
        other.waiting.forEach((phase, votes) -> waiting.put(phase, new Quorum(votes)));
        this.lastTimer = other.lastTimer;
    }

    WeakProposer copy() {
        return new WeakProposer(this);
    }

    /** What is remembered only because of a mistake, for the fingerprint of a state. */
    Deadline movedDeadline(Ballot ballot) {
        return movedDeadlines.get(ballot);
    }

    /** Dispatches the timer on which the weakened proposer relies. */
    void onTimer(String resource, Now now, List<Effect> effects) {
        lastTimer = now;
        settle(resource, now, effects);
    }

    @Override
    public void start(String resource, long leaseNanos, Now now, List<Effect> effects) {
        lastTimer = now;
        movedDeadlines.clear();
        super.start(resource, leaseNanos, now, effects);
    }

    @Override
    public boolean isHeld(int slot, Now now) {
        return super.isHeld(slot, asOfLastTimer(now));
    }

    @Override
    public Tenure tenure(String resource, Now now) {
        return super.tenure(resource, asOfLastTimer(now));
    }

    private Now asOfLastTimer(Now now) {
        return mistakes.contains(Mistake.EXPIRY_DECIDED_BY_TIMER) && lastTimer != null ? lastTimer : now;
    }

    @Override
    boolean isOverdue(Attempt attempt, Now now) {
        return super.isOverdue(attempt, asOfLastTimer(now));
    }

    @Override
    Deadline deadlineOf(Attempt attempt) {
        return movedDeadlines.getOrDefault(attempt.ballot, super.deadlineOf(attempt));
    }

    @Override
    void onPrepareMajority(Attempt attempt, Now now) {
        if (mistakes.contains(Mistake.DEADLINE_STARTS_AT_PREPARE_MAJORITY)) {
            movedDeadlines.put(attempt.ballot, Deadline.after(now, timing.ownerNanos(attempt.leaseNanos)));
        }
    }

    @Override
    void onLatePrepareResponse(Attempt attempt, PrepareResponse response, Now now) {
        if (mistakes.contains(Mistake.DEADLINE_RESTARTS_AT_LATE_PREPARE_ANSWER) && isOpen(attempt, response)) {
            movedDeadlines.put(attempt.ballot, Deadline.after(now, timing.ownerNanos(attempt.leaseNanos)));
        }
    }

    @Override
    boolean isCurrent(Attempt attempt, Response response) {
        return mistakes.contains(Mistake.ANSWERS_TO_OLDER_BALLOT_COUNTED)
                ? response.ballot().owner().equals(self)
                : super.isCurrent(attempt, response);
    }

    @Override
    boolean isOpen(Attempt attempt, PrepareResponse response) {
        AcceptedLease lease = response.lease();
        if (mistakes.contains(Mistake.OWN_STALE_LEASE_OPEN)
                && response.promised()
                && lease != null
                && lease.ballot().owner().equals(self)) {
            return true;
        }
        return super.isOpen(attempt, response);
    }

    @Override
    void countFor(Attempt attempt, int acceptor) {
        if (mistakes.contains(Mistake.VOTES_COUNTED_BY_MESSAGE)) {
            super.countFor(attempt, attempt.votes.inFavour());
        } else if (mistakes.contains(Mistake.RENEWAL_WITHOUT_MAJORITY)
                && attempt.proposing
                && attempt.renewalBase != null) {
            for (int i = 0; i < cell.size(); i++) {
                super.countFor(attempt, i);
            }
        } else if (mistakes.contains(Mistake.EVERY_ACCEPTOR_AWAITED)) {
            await(attempt, acceptor);
        } else {
            super.countFor(attempt, acceptor);
        }
    }

    private void await(Attempt attempt, int acceptor) {
        String phase = attempt.ballot + (attempt.proposing ? " proposed" : " prepared");
        Quorum votes = waiting.computeIfAbsent(phase, key -> new Quorum());
        votes.favour(acceptor);
        for (int i = 0; i < cell.size() && votes.inFavour() == cell.size(); i++) {
            super.countFor(attempt, i);
        }
    }

    @Override
    Attempt withdraw(String resource) {
        return mistakes.contains(Mistake.EXTENSION_SURVIVES_RELEASE) ? null : super.withdraw(resource);
    }

    @Override
    boolean releasesWhenAbandoned(Attempt attempt) {
        return mistakes.contains(Mistake.FAILED_EXTENSION_RELEASES) || super.releasesWhenAbandoned(attempt);
    }
}
