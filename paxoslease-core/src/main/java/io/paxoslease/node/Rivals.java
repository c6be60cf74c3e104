package io.paxoslease.node;

import io.paxoslease.protocol.Now;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * X6. Which leases other nodes want, too, so that this node does not hand them from one of its own claims to the next for ever: the next proposal
 * then comes in the frame that tells of the release, and no other node ever tries.
 *
 * <p>The others ask once and then wait to hear of a release. So who wants a lease is remembered until a turn that nobody took, and apart from the
 * candidacy, which is forgotten when its lease is parked. Not safe for concurrent use.
 */
final class Rivals {

    /** How much longer than the others have their turn this node may keep a lease. */
    private static final int SHARE = 8;

    /** So many leases are remembered, those that came last. */
    private static final int MOST = 1_024;

    private final Patience patience;

    /** Since when no other node had the lease, nor a turn. */
    private final Map<String, Long> keptSinceNanos = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MOST;
        }
    };

    Rivals(Patience patience) {
        this.patience = patience;
    }

    /** Another node asked for a lease. */
    void onAsked(String resource, Now now) {
        keptSinceNanos.putIfAbsent(resource, now.nanos());
    }

    /** Another node has a lease. */
    void onOwned(String resource, Now now) {
        keptSinceNanos.put(resource, now.nanos());
    }

    /** How long this node lets others go first when one of its claims has given a lease up and another one wants it. */
    long turnNanos(String resource, Now now) {
        Long since = keptSinceNanos.get(resource);
        long turns = patience.turnsOfOthersNanos();
        if (since == null || now.nanos() - since < SHARE * turns) {
            return 0;
        }
        keptSinceNanos.remove(resource);
        return turns;
    }
}
