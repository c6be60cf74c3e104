package io.paxoslease.node;

import io.paxoslease.protocol.Now;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What happened lately to the leases of one node: for each of a limited number of leases a limited number of events, the oldest dropped
 * first. Events that repeat each other, such as extensions, are one event with a count, so that a quiet lease keeps its whole tenure.
 *
 * <p>When there are too many leases, the one about which nothing was heard for longest makes room for a new one, but never one that is held
 * here: where most are, the new one may not be recorded.
 *
 * <p>Safe to call from any thread. Recording takes a short lock of its own and no I/O.
 */
public final class LeaseHistory {

    private static final int MOST_LOOKS = 16;

    private final int eventsPerLease;
    private final int leases;
    private final Map<String, Ring> rings = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * Makes an empty history.
     *
     * @param eventsPerLease how many events of each lease are kept, at least 1
     * @param leases how many leases have events, at least 1
     */
    public LeaseHistory(int eventsPerLease, int leases) {
        if (eventsPerLease < 1 || leases < 1) {
            throw new IllegalArgumentException("A history must have room for at least one event of one lease, not "
                    + eventsPerLease + " of " + leases);
        }
        this.eventsPerLease = eventsPerLease;
        this.leases = leases;
    }

    /**
     * The events of one lease at one instant.
     *
     * @param at the node's clocks at that instant
     * @param dropped how many events were dropped because they were the oldest
     * @param events the events, the oldest first
     */
    public record Snapshot(Now at, long dropped, List<HistoryEvent> events) {}

    private static final class Ring {
        final ArrayDeque<HistoryEvent> events = new ArrayDeque<>();
        long dropped;
        boolean held;
    }

    synchronized void record(String lease, HistoryEvent event) {
        Ring ring = rings.get(lease);
        if (ring == null) {
            if (rings.size() >= leases && !dropOldest()) {
                return;
            }
            ring = new Ring();
            rings.put(lease, ring);
        }
        ring.held = event.leavesHeld(ring.held);
        HistoryEvent last = ring.events.peekLast();
        if (last != null && last.isRepeatedBy(event)) {
            ring.events.removeLast();
            ring.events.add(last.and(event));
            return;
        }
        if (ring.events.size() == eventsPerLease) {
            ring.events.removeFirst();
            ring.dropped++;
        }
        ring.events.add(event);
    }

    /** Looks at a few; those that are held go behind the others, where they are not in the way of the next look. */
    private boolean dropOldest() {
        for (int looks = 0; looks < MOST_LOOKS; looks++) {
            Map.Entry<String, Ring> eldest = rings.entrySet().iterator().next();
            String lease = eldest.getKey();
            if (!eldest.getValue().held) {
                rings.remove(lease);
                return true;
            }
            rings.get(lease);
        }
        return false;
    }

    synchronized Optional<Snapshot> of(String lease, Now now) {
        Ring ring = rings.get(lease);
        return ring == null ? Optional.empty() : Optional.of(new Snapshot(now, ring.dropped, List.copyOf(ring.events)));
    }
}
