package io.paxoslease.sample;

import io.paxoslease.Lease;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One run of a guarded job, with a claim that can be proven afterwards: this node held the lease from {@link #startNanos()} to
 * {@link #lastHeldNanos()}.
 *
 * <p>Both times were read <em>before</em> a call of {@link Lease#isHeld()} that answered yes, and a lease that was lost never comes back, so it was held
 * at both and in between. Nothing is claimed about what the thread did after {@code lastHeldNanos}: a pause may end a lease at any moment,
 * also between a check and the next instruction. That is why writes need the fencing token.
 *
 * <p>For one thread.
 */
final class GuardedRun {

    private static final AtomicLong COUNT = new AtomicLong();

    private final long number = COUNT.incrementAndGet();
    private final Lease lease;
    private final long startNanos;
    private final boolean startedHeld;
    private long lastHeldNanos;

    GuardedRun(Lease lease) {
        this.lease = lease;
        this.startNanos = System.nanoTime();
        this.lastHeldNanos = startNanos;
        this.startedHeld = lease.isHeld();
    }

    /** Whether the lease was still held when the run began. If not, there must be no work. */
    boolean startedHeld() {
        return startedHeld;
    }

    /** Whether the lease is held at this moment; to be called before each step of the work. */
    boolean stillHeld() {
        long nowNanos = System.nanoTime();
        if (!lease.isHeld()) {
            return false;
        }
        lastHeldNanos = nowNanos;
        return true;
    }

    /** Its number among the runs of this process. */
    long number() {
        return number;
    }

    Lease lease() {
        return lease;
    }

    long startNanos() {
        return startNanos;
    }

    long lastHeldNanos() {
        return lastHeldNanos;
    }
}
