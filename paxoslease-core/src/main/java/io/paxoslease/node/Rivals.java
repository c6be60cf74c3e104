package io.paxoslease.node;

import io.paxoslease.protocol.Now;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * X6. Which leases other nodes want, too, so that this node does not hand them from one of its own claims to the next for ever: the next proposal
 * then comes in the frame that tells of the release, and no other node ever tries.
 *
 * <p>The others ask once and then wait to hear of a release. So who wants a lease is remembered until some turns in a row that nobody took, since one
 * is missed by whoever hears of the release a few milliseconds late, and apart from the candidacy, which is forgotten when its lease is parked. Not
 * safe for concurrent use.
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
     */
    private record Kept(long sinceNanos, int turns) {}

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
        if (before == null || before.turns < TURNS) {
            kept.put(resource, new Kept(before == null ? now.nanos() : before.sinceNanos, TURNS));
        }
    }

    /** Another node has a lease. */
    void onOwned(String resource, Now now) {
        kept.put(resource, new Kept(now.nanos(), TURNS));
    }

    /** How long this node lets others go first when one of its claims has given a lease up and another one wants it. */
    long turnNanos(String resource, Now now) {
        Kept before = kept.get(resource);
        long turns = patience.turnsOfOthersNanos();
        if (before == null || now.nanos() - before.sinceNanos < SHARE * turns) {
            return 0;
        }
        if (before.turns == 1) {
            kept.remove(resource);
        } else {
            kept.put(resource, new Kept(now.nanos(), before.turns - 1));
        }
        return turns;
    }
}
