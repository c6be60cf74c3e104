package io.paxoslease.node;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A heap of timers that can be moved and cancelled in place, so that it is never longer than the live timers. Each has up to four below it, and
 * the due times lie side by side: thousands of extensions come and go in a millisecond, and the timers themselves are far apart in memory.
 */
final class TimerHeap {

    /** Something with at most one due time. */
    abstract static class Timer {
        private int position = -1;
    }

    private static final int BELOW = 4;

    private @Nullable Timer[] heap = new @Nullable Timer[16];
    private long[] dueNanos = new long[16];
    private int size;

    /** Sets or moves the timer's due time. */
    void schedule(Timer timer, long nanos) {
        int position = timer.position;
        if (position < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
                dueNanos = Arrays.copyOf(dueNanos, size * 2);
            }
            position = size++;
        } else if (dueNanos[position] == nanos) {
            return;
        }
        sift(position, timer, nanos);
    }

    /** Whether the timer is set, to that time or an earlier one. */
    boolean isDueBy(Timer timer, long nanos) {
        return timer.position >= 0 && dueNanos[timer.position] - nanos <= 0;
    }

    void cancel(Timer timer) {
        int hole = timer.position;
        if (hole < 0) {
            return;
        }
        timer.position = -1;
        Timer last = at(--size);
        heap[size] = null;
        if (last != timer) {
            sift(hole, last, dueNanos[size]);
        }
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The earliest timer, still in the heap. */
    Timer first() {
        return at(0);
    }

    /** When the earliest timer is due; only if there is one. */
    long firstDueNanos() {
        return dueNanos[0];
    }

    /** Finds the place of a timer, beginning with one that is free or its own. */
    private void sift(int free, Timer timer, long nanos) {
        int position = free;
        while (position > 0 && nanos - dueNanos[(position - 1) / BELOW] < 0) {
            int above = (position - 1) / BELOW;
            place(at(above), dueNanos[above], position);
            position = above;
        }
        int earliest;
        while ((earliest = earliestBelow(position)) >= 0 && dueNanos[earliest] - nanos < 0) {
            place(at(earliest), dueNanos[earliest], position);
            position = earliest;
        }
        place(timer, nanos, position);
    }

    private int earliestBelow(int position) {
        int first = BELOW * position + 1;
        int earliest = first < size ? first : -1;
        for (int i = first + 1; i < Math.min(first + BELOW, size); i++) {
            earliest = dueNanos[i] - dueNanos[earliest] < 0 ? i : earliest;
        }
        return earliest;
    }

    private void place(Timer timer, long nanos, int position) {
        heap[position] = timer;
        dueNanos[position] = nanos;
        timer.position = position;
    }

    private Timer at(int position) {
        Timer timer = heap[position];
        if (timer == null) {
            throw new IllegalStateException("No timer at position " + position + " of " + size);
        }
        return timer;
    }
}
