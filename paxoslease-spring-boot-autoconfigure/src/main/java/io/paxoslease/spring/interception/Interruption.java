package io.paxoslease.spring.interception;

import org.jspecify.annotations.Nullable;

/**
 * The right to interrupt the current thread while one call runs on it, and never later. Calls nest: when an inner one ends, the
 * interrupt that was meant for an outer one is still there; when the outermost ends, none of ours is left behind.
 */
final class Interruption {

    private static final ThreadLocal<@Nullable Interruption> INNERMOST = new ThreadLocal<>();

    /** What the calls of one thread share; also their monitor. */
    private static final class Flag {
        /** Whether the interrupt that may be pending on the thread comes from us. */
        boolean ours;
    }

    private final Thread thread = Thread.currentThread();
    private final @Nullable Interruption outer;
    private final Flag flag;
    private boolean requested;
    private boolean ended;

    private Interruption(@Nullable Interruption outer) {
        this.outer = outer;
        this.flag = outer == null ? new Flag() : outer.flag;
    }

    /** Begins a call on the current thread. */
    static Interruption begin() {
        Interruption interruption = new Interruption(INNERMOST.get());
        INNERMOST.set(interruption);
        return interruption;
    }

    /** Interrupts the thread unless the call has ended or was interrupted before. From any thread. */
    void interrupt() {
        synchronized (flag) {
            if (!ended && !requested) {
                requested = true;
                flag.ours |= !thread.isInterrupted();
                thread.interrupt();
            }
        }
    }

    /** Ends the call, on its own thread. An interrupt that was pending before ours is not taken away. */
    void end() {
        synchronized (flag) {
            ended = true;
            if (requested && flag.ours) {
                Thread.interrupted();
                flag.ours = false;
                if (isRequestedOutside()) {
                    flag.ours = true;
                    thread.interrupt();
                }
            }
        }
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
    }

    private boolean isRequestedOutside() {
        for (Interruption each = outer; each != null; each = each.outer) {
            if (each.requested) {
                return true;
            }
        }
        return false;
    }
}
