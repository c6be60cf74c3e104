package io.paxoslease.spring.interception;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** How many guarded calls of one lease run, and what is to be done when none does. Safe to use from any thread. */
final class LeaseCalls {

    private static final int GIVEN_UP = Integer.MIN_VALUE;

    private final AtomicInteger running = new AtomicInteger();
    private volatile @Nullable Runnable giveUp;

    /** One more, unless the lease was given up. */
    boolean enter() {
        return running.getAndUpdate(count -> count == GIVEN_UP ? count : count + 1) != GIVEN_UP;
    }

    /** One less. */
    void leave() {
        running.decrementAndGet();
        if (giveUp != null) {
            giveUpIfIdle();
        }
    }

    /** Has the lease given up as soon as no call runs, on the thread of the last one or at once; none begins afterwards. */
    synchronized void giveUpWhenIdle(Runnable action) {
        giveUp = action;
        giveUpIfIdle();
    }

    private synchronized void giveUpIfIdle() {
        Runnable action = giveUp;
        if (action != null && running.compareAndSet(0, GIVEN_UP)) {
            action.run();
        }
    }

    /** Lets calls begin again. */
    synchronized void resume() {
        giveUp = null;
        running.compareAndSet(GIVEN_UP, 0);
    }
}
