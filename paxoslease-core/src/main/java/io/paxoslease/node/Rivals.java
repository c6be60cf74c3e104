package io.paxoslease.node;

import io.paxoslease.protocol.Now;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * X6. Which leases other nodes want, too, so that this node does not take them again and again for ever: the next proposal of one of its claims may
 * come in the frame that tells of the release, and no other node ever tries.
 *
 * <p>The others ask once and then wait to hear of a release. So who wants a lease is remembered until some turns in a row that nobody took, since one
 * is missed by whoever hears of the release a few milliseconds late, and apart from the candidacy, which is forgotten when its lease is parked or given
 * up. Not safe for concurrent use.
 */
final class Rivals {

    /** How much longer than the others have their turn this node may keep a lease. */
    private static final int SHARE = 8;

    /** After so many turns in a row that nobody took, nobody else wants a lease any more. */
    private static final int TURNS = 3;

    /** So many leases are remembered, those that others asked for or had last. */
    private static final int MOST = 1_024;

    private final Patience patience;

    /**
     * A lease that other nodes want, too.
     *
     * @param sinceNanos since when no other node had it, nor a turn
     * @param turns how many more turns the others are given if nobody takes one
     * @param turnEndsNanos when the last turn of the others ends or ended
     */
    private record Kept(long sinceNanos, int turns, long turnEndsNanos) {}

    private final Map<String, Kept> kept = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Kept> eldest) {
            return size() > MOST;
        }
    };

    Rivals(Patience patience) {
        this.patience = patience;
    }

    /** Another node asked for a lease. */
    void onAsked(String resource, Now now) {
        Kept before = kept.get(resource);
        if (before == null) {
            onOwned(resource, now);
        } else if (before.turns < TURNS) {
            kept.put(resource, new Kept(before.sinceNanos, TURNS, before.turnEndsNanos));
        }
    }

    /** Another node has a lease. */
    void onOwned(String resource, Now now) {
        kept.put(resource, new Kept(now.nanos(), TURNS, now.nanos()));
    }

    /** Whether another node that took a lease again may not know, or not any more, that this one wants it, which asked for it then. */
    boolean mayNotKnow(long askedNanos, Now now) {
        return now.nanos() - askedNanos >= SHARE * patience.turnsOfOthersNanos();
    }

    /** This node gives a lease up. The others have their turn now if it kept the lease for its share. */
    void onReleased(String resource, Now now) {
        Kept before = kept.get(resource);
        long turns = patience.turnsOfOthersNanos();
        if (before == null || now.nanos() - before.sinceNanos < SHARE * turns) {
            return;
        }
        if (before.turns == 0) {
            kept.remove(resource);
        } else {
            kept.put(resource, new Kept(now.nanos(), before.turns - 1, now.nanos() + turns));
        }
    }

    /** For how much longer others go first. */
    long turnNanos(String resource, Now now) {
        Kept known = kept.get(resource);
        return known == null ? 0 : Math.max(0, known.turnEndsNanos - now.nanos());
    }
}
