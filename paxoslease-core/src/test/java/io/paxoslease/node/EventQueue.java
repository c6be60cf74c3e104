package io.paxoslease.node;

import java.util.Arrays;

/** What is going to happen in a simulation: a binary heap by true time, then by order of scheduling. */
public final class EventQueue {

    private static final class Event {
        final long at;
        final long order;
        final Runnable action;

        Event(long at, long order, Runnable action) {
            this.at = at;
            this.order = order;
            this.action = action;
        }

        boolean isBefore(Event other) {
            return at < other.at || (at == other.at && order < other.order);
        }
    }

    private Event[] heap = new Event[1024];
    private int size;
    private long scheduled;

    /** Schedules an action; of those at the same time the first scheduled comes first. */
    public void add(long at, Runnable action) {
        Event event = new Event(at, scheduled++, action);
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        int i = size++;
        while (i > 0) {
            int parent = (i - 1) / 2;
            if (heap[parent].isBefore(event)) {
                break;
            }
            heap[i] = heap[parent];
            i = parent;
        }
        heap[i] = event;
    }

    /** When the next event happens; never if there is none. */
    public long nextAt() {
        return size == 0 ? Long.MAX_VALUE : heap[0].at;
    }

    /** Takes out the next action; there must be one. */
    public Runnable poll() {
        Event first = heap[0];
        Event last = heap[--size];
        heap[size] = null;
        int i = 0;
        while (2 * i + 1 < size) {
            int child = 2 * i + 1;
            if (child + 1 < size && heap[child + 1].isBefore(heap[child])) {
                child++;
            }
            if (last.isBefore(heap[child])) {
                break;
            }
            heap[i] = heap[child];
            i = child;
        }
        if (size > 0) {
            heap[i] = last;
        }
        return first.action;
    }
}
