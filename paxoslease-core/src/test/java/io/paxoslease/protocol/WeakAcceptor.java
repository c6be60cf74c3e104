package io.paxoslease.protocol;

import java.util.EnumSet;
import java.util.Set;

/** The production acceptor with some of its decisions taken wrongly; with no mistakes it is the production acceptor. */
public class WeakAcceptor extends Acceptor {

    private final EnumSet<Mistake> mistakes;
    private final Timing timing;
    private boolean servingLocalProposer;
    private boolean portGivenUp;

    public WeakAcceptor(Set<Mistake> mistakes, Timing timing, int maxResources, Now now) {
        super(served(mistakes, timing), maxResources, now);
        this.mistakes = mistakes.isEmpty() ? EnumSet.noneOf(Mistake.class) : EnumSet.copyOf(mistakes);
        this.timing = timing;
    }

    private WeakAcceptor(WeakAcceptor other) {
        super(other);
        this.mistakes = other.mistakes;
        this.timing = other.timing;
        this.portGivenUp = other.portGivenUp;
    }

    WeakAcceptor copy() {
        return new WeakAcceptor(this);
    }

    /** Says whether the next request comes from the proposer in the same process. */
    public void serveLocalProposer(boolean local) {
        servingLocalProposer = local;
    }

    private static Timing served(Set<Mistake> mistakes, Timing timing) {
        return mistakes.contains(Mistake.LEASE_TIME_ABOVE_MAXIMUM_SERVED)
                ? new Timing(Timing.MAX_LEASE_NANOS, timing.maxClockDrift())
                : timing;
    }

    @Override
    long quarantineNanos() {
        return timing.quarantineNanos() / (mistakes.contains(Mistake.QUARANTINE_TOO_SHORT) ? 2 : 1);
    }

    @Override
    public void open(Now now) {
        if (portGivenUp) {
            portGivenUp = false;
            super.close();
        }
        super.open(now);
    }

    @Override
    public void close() {
        if (mistakes.contains(Mistake.VOTES_AFTER_PORT_WAS_GIVEN_UP)) {
            portGivenUp = true;
        } else {
            super.close();
        }
    }

    @Override
    public boolean isVoting(Now now) {
        if (portGivenUp) {
            return servingLocalProposer && super.isVoting(now);
        }
        return super.isVoting(now)
                || (servingLocalProposer && mistakes.contains(Mistake.NO_QUARANTINE_FOR_LOCAL_PROPOSER));
    }

    @Override
    boolean dropsReleases(Now now) {
        return !mistakes.contains(Mistake.NO_QUARANTINE_FOR_RELEASES) && super.dropsReleases(now);
    }

    @Override
    boolean isBelowPromise(int slot, Ballot ballot) {
        if (mistakes.contains(Mistake.LOWER_BALLOT_SERVED)
                || (mistakes.contains(Mistake.PROMISE_FORGOTTEN_WITH_IDLE_ENTRY)
                        && table().promised(slot) <= table().floor())) {
            return false;
        }
        return super.isBelowPromise(slot, ballot);
    }

    @Override
    boolean isHeldByOther(int slot, Incarnation proposer, Now now) {
        if (mistakes.contains(Mistake.OVERWRITING)) {
            return false;
        }
        if (mistakes.contains(Mistake.OWNER_COMPARED_BY_NODE_ID)) {
            Incarnation owner = table().leaseOwner(slot);
            return isLive(slot, now) && owner != null && !owner.nodeId().equals(proposer.nodeId());
        }
        return super.isHeldByOther(slot, proposer, now);
    }

    @Override
    boolean raisesPromise() {
        return !mistakes.contains(Mistake.PROMISE_NOT_RAISED_BY_ACCEPT);
    }

    @Override
    long recordEnd(int slot, Ballot ballot, long endNanos, Now now) {
        long end = mistakes.contains(Mistake.EXCLUSION_TOO_SHORT) ? endNanos - (endNanos - now.nanos()) / 2 : endNanos;
        boolean overwrites =
                mistakes.contains(Mistake.OVERWRITING) && !ballot.owner().equals(table().leaseOwner(slot));
        return overwrites || mistakes.contains(Mistake.RECORD_SHORTENED)
                ? end
                : super.recordEnd(slot, ballot, end, now);
    }

    @Override
    boolean isReleasedBy(Ballot given, Ballot lease) {
        return mistakes.contains(Mistake.RELEASE_BY_OWNER)
                ? lease.owner().equals(given.owner())
                : super.isReleasedBy(given, lease);
    }

    @Override
    boolean isLive(int slot, Now now) {
        if (mistakes.contains(Mistake.OVERFLOWING_COMPARISON)) {
            return table().leaseOwner(slot) != null && now.nanos() < table().endNanos(slot);
        }
        return super.isLive(slot, now);
    }
}
