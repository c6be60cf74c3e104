package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One call that was let in under a lease; it counts as running until its end is told. */
final class GuardedCall {

    private final GuardedLeases leases;
    private final GuardedMethod method;
    private final Lease lease;
    private final @Nullable Object runningKey;
    private final AtomicBoolean ended = new AtomicBoolean();
    private @Nullable TenureWatch watch;
    private @Nullable Runnable action;

    GuardedCall(GuardedLeases leases, GuardedMethod method, Lease lease, @Nullable Object runningKey) {
        this.leases = leases;
        this.method = method;
        this.lease = lease;
        this.runningKey = runningKey;
    }

    Lease lease() {
        return lease;
    }

    GuardedMethod method() {
        return method;
    }

    @Nullable
    Object runningKey() {
        return runningKey;
    }

    /** Sets what to do if the lease ends before the call does, in place of what was set before. By one thread at a time. */
    void onLeaseEnd(Runnable whatToDo) {
        forgetLeaseEnd();
        TenureWatch tenure = leases.watch(lease);
        watch = tenure;
        action = whatToDo;
        tenure.add(whatToDo);
        if (!lease.isHeld()) {
            // It may have been given up before anybody watched.
            leases.end(tenure);
        }
    }

    void forgetLeaseEnd() {
        if (watch != null && action != null) {
            watch.remove(action);
        }
        watch = null;
        action = null;
    }

    /** The call has ended; only the first time counts. */
    void end(boolean failed) {
        if (ended.compareAndSet(false, true)) {
            forgetLeaseEnd();
            leases.ended(this, failed);
        }
    }
}
