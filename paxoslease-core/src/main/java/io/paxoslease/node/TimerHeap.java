package io.paxoslease.node;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A binary heap of timers that can be moved and cancelled in place, so that it is never longer than the live timers. */
final class TimerHeap {

    /** Something with at most one due time. */
    abstract static class Timer {
        private long dueNanos;
        private int position = -1;
    }

    private @Nullable Timer[] heap = new @Nullable Timer[16];
    private int size;

    /** Sets or moves the timer's due time. */
    void schedule(Timer timer, long dueNanos) {
        if (timer.position >= 0 && timer.dueNanos == dueNanos) {
            return;
        }
        timer.dueNanos = dueNanos;
        if (timer.position < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
            }
            place(timer, size++);
        }
        siftUp(timer);
        siftDown(timer);
    }

    /** Whether the timer is set, to that time or an earlier one. */
    boolean isDueBy(Timer timer, long nanos) {
        return timer.position >= 0 && timer.dueNanos - nanos <= 0;
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
            place(last, hole);
            siftUp(last);
            siftDown(last);
        }
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The earliest timer, still in the heap. */
    Timer first() {
        return at(0);
    }

    /** When the earliest timer is due. */
    long firstDueNanos() {
        return at(0).dueNanos;
    }

    private void siftUp(Timer timer) {
        int position = timer.position;
        while (position > 0) {
            Timer parent = at((position - 1) / 2);
            if (parent.dueNanos - timer.dueNanos <= 0) {
                break;
            }
            int above = parent.position;
            place(parent, position);
            position = above;
        }
        place(timer, position);
    }

    private void siftDown(Timer timer) {
        int position = timer.position;
        int left;
        while ((left = 2 * position + 1) < size) {
            Timer child = at(left);
            if (left + 1 < size && at(left + 1).dueNanos - child.dueNanos < 0) {
                child = at(left + 1);
            }
            if (timer.dueNanos - child.dueNanos <= 0) {
                break;
            }
            int below = child.position;
            place(child, position);
            position = below;
        }
        place(timer, position);
    }

    private void place(Timer timer, int position) {
        heap[position] = timer;
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
