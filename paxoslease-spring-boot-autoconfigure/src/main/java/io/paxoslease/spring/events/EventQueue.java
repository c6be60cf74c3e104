package io.paxoslease.spring.events;

import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseExtendedEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import java.util.Iterator;
import java.util.LinkedList;
import org.jspecify.annotations.Nullable;

/**
 * Events of one lease that wait for a slow reader, in order and bounded. When it is full the oldest event goes that neither begins
 * nor ends a tenure; if there is none, a whole tenure goes, never one half of it. Not safe for use by several threads.
 */
final class EventQueue {

    private final int capacity;
    /** Linked, because an array that cannot grow for lack of memory forgets all that is in it. */
    private final LinkedList<LeaseEvent> events = new LinkedList<>();

    EventQueue(int capacity) {
        this.capacity = capacity;
    }

    void add(LeaseEvent event) {
        if (events.size() >= capacity) {
            makeRoom();
        }
        events.add(event);
    }

    /** The same, but an extension takes the place of the one just before it: of a lease that is only extended the queue does not grow. */
    void addLatest(LeaseEvent event) {
        if (event instanceof LeaseExtendedEvent
                && events.peekLast() instanceof LeaseExtendedEvent last
                && last.fencingToken() == event.fencingToken()) {
            events.removeLast();
        }
        add(event);
    }

    @Nullable
    LeaseEvent poll() {
        return events.poll();
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    private void makeRoom() {
        for (Iterator<LeaseEvent> each = events.iterator(); each.hasNext(); ) {
            LeaseEvent event = each.next();
            if (!(event instanceof LeaseAcquiredEvent) && !isEnd(event)) {
                each.remove();
                return;
            }
        }
        LeaseEvent begin = null;
        LeaseEvent end = null;
        for (LeaseEvent event : events) {
            if (event instanceof LeaseAcquiredEvent) {
                begin = event;
            } else if (begin != null && begin.fencingToken() == event.fencingToken()) {
                end = event;
                break;
            }
        }
        if (begin != null && end != null) {
            events.remove(begin);
            events.remove(end);
        } else {
            events.poll();
        }
    }

    static boolean isEnd(LeaseEvent event) {
        return event instanceof LeaseLostEvent || event instanceof LeaseReleasedEvent;
    }
}
