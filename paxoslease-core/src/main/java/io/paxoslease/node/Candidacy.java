package io.paxoslease.node;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Tenure;
import java.util.LinkedList;
import org.jspecify.annotations.Nullable;

/** What the engine knows about one resource that somebody on this node wants or watches. */
final class Candidacy extends TimerHeap.Timer {

    /** What the first claim is doing. */
    enum State {
        /** There is no claim. */
        IDLE,
        /** Waiting before the next attempt. */
        WAITING,
        /** An acquisition is in flight. */
        TRYING,
        /** The lease is held and no extension is in flight. */
        HOLDING,
        /** The lease is held and an extension is in flight. */
        EXTENDING
    }

    /** Why an attempt fails, or a claim ends before its first one has. */
    static final String NO_ANSWER = "no majority of the cell answered";

    final String resource;

    /** The first claim seeks or holds, the others wait for it. */
    final LinkedList<Claim> claims = new LinkedList<>();

    /** Whether the resource is kept, for its hint, while there is no claim. */
    boolean watched;

    State state = State.IDLE;

    /** WAITING: the next attempt. HOLDING: the next extension. */
    long resumeNanos;

    /** TRYING, EXTENDING: when the round in flight is given up. */
    long roundEndsNanos;

    /** TRYING, EXTENDING: when the round in flight began. */
    long roundBeganNanos;

    /** TRYING, EXTENDING: what a round trip was expected to take when the round in flight began. */
    long roundTripNanos;

    /** TRYING, EXTENDING: whether the round in flight is that of the prepare phase. */
    boolean preparing;

    /** When the attempt in flight began, or the last one; before the first one, when the first claim began to wait. */
    long attemptBeganNanos;

    /** The ballot of the attempt in flight, or of the last one. */
    @Nullable
    Ballot attempt;

    /** Whether the attempt in flight began with a majority of the acceptors. */
    boolean thrifty;

    /** What acceptors that were not asked are sent if those that were do not decide; null if there is no such request. */
    @Nullable
    Request withheld;

    /** A bit for each acceptor that was sent what is withheld from the others. */
    long asked;

    /** A bit for each acceptor that is to be told when the lease is given up. */
    long told;

    /** Who gave the lease up last, null if it was seen again or met once since: the acceptor had not heard of that yet, most likely. */
    @Nullable
    Incarnation gone;

    /**
     * Whose lease the last attempt met that failed for one. Whoever was seen since and gave up may have tried in vain, so that the next attempt then
     * prepares: a proposal would have others at a minority try in turn.
     */
    @Nullable
    Hint met;

    /** A bit for each acceptor that answered in the round in flight, or in the last one. */
    long answeredBy;

    /** A bit for each acceptor that said no to {@link #attempt}. */
    long rejectedBy;

    /** A bit for each acceptor that accepted the proposal of {@link #attempt}. */
    long acceptedBy;

    /** Attempts that failed in a row without meeting an owner. */
    int failures;

    /**
     * Attempts that failed in a row, whatever they met, while nobody was seen to extend the lease; many at once where no majority answered. Candidates
     * that give up then would wake each other, in the same order every time: they try at random.
     */
    int vain;

    /** When its timer is due. */
    long dueNanos;

    /** Whether it is to be parked if it is still quiet when the next event comes. */
    boolean quiet;

    /** Whether it is to be parked if it is still quiet when many others have become so. */
    boolean young;

    /** What the last failed attempt met; as long as none has failed, what the one in flight waits for. */
    String lastReason = NO_ANSWER;

    /** X6. Who probably owns the lease: this node only while it holds it as far as was noticed. Readable without the lock. */
    volatile @Nullable Hint hint;

    Candidacy(String resource) {
        this.resource = resource;
    }

    Claim firstClaim() {
        return claims.getFirst();
    }

    /** Whether this node holds the lease, as far as was noticed. */
    boolean isHeldHere() {
        Claim claim = claims.peek();
        return claim != null && claim.tenure != null;
    }

    /** Whether the first claim is for one tenure, after which another claim may want the lease. */
    boolean isForOneTenure() {
        Claim claim = claims.peek();
        return claim != null && !claim.isStanding();
    }

    /** X6. Notes who probably owns the lease, and tells if that is somebody else than before. */
    void hint(@Nullable Hint newer, Output out) {
        Hint old = hint;
        hint = newer;
        Incarnation before = old == null ? null : old.owner();
        Incarnation after = newer == null ? null : newer.owner();
        if (after == null ? before != null : !after.equals(before)) {
            out.notices.add(new Notice.LeaderChanged(resource, after));
        }
    }

    /** TRYING, EXTENDING: when the acceptors that have not been asked are, if nothing was decided by then. */
    long restDueNanos() {
        return roundBeganNanos + (roundEndsNanos - roundBeganNanos) / 2;
    }

    /** How long until something is to be done for it, the earliest of what it waits for; {@link Long#MAX_VALUE} if nothing is. */
    long dueInNanos(Now now) {
        long due = Long.MAX_VALUE;
        switch (state) {
            case WAITING -> due = resumeNanos - now.nanos();
            case TRYING, EXTENDING -> due = (withheld == null ? roundEndsNanos : restDueNanos()) - now.nanos();
            case HOLDING -> due = firstClaim().autoExtend ? resumeNanos - now.nanos() : due;
            case IDLE -> {
                Hint known = hint;
                due = known == null ? due : known.freeAtNanos() - now.nanos();
            }
        }
        Claim claim = claims.peek();
        Tenure tenure = claim == null ? null : claim.tenure;
        if (tenure != null) {
            return Math.min(due, tenure.deadline().remainingNanos(now));
        }
        return claim == null || claim.isStanding() ? due : Math.min(due, claim.giveUpNanos - now.nanos());
    }
}
