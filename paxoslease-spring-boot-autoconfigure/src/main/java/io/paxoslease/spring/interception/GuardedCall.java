package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import io.paxoslease.spring.interception.CallObserver.ObservedCall;
import io.paxoslease.spring.interception.CallObserver.Scope;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One call that was let in under a lease; it counts as running until its end is told. */
final class GuardedCall {

    private static final Scope NOT_OBSERVED = () -> {};

    private final GuardedLeases leases;
    private final GuardedMethod method;
    private final Lease lease;
    private final @Nullable Object runningKey;
    private final @Nullable ObservedCall observed;
    private final AtomicBoolean ended = new AtomicBoolean();
    private volatile @Nullable TenureWatch watch;
    private volatile @Nullable Runnable action;
    private volatile @Nullable Throwable failure;

    GuardedCall(
            GuardedLeases leases,
            GuardedMethod method,
            Lease lease,
            @Nullable Object runningKey,
            @Nullable ObservedCall observed) {
        this.leases = leases;
        this.method = method;
        this.lease = lease;
        this.runningKey = runningKey;
        this.observed = observed;
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

    /**
     * Sets what to do if the lease ends before the call does, in place of what was set before. By one thread at a time, while another may end the
     * call.
     */
    void onLeaseEnd(Runnable whatToDo) {
        forgetLeaseEnd();
        TenureWatch tenure = leases.tenures().of(lease);
        watch = tenure;
        action = whatToDo;
        tenure.add(whatToDo);
        if (!lease.isHeld()) {
            // It may have been given up before anybody watched.
            leases.tenures().end(tenure);
        }
        if (ended.get()) {
            // Whoever ended the call may have looked before there was anything to forget.
            tenure.remove(whatToDo);
        }
    }

    void forgetLeaseEnd() {
        TenureWatch tenure = watch;
        Runnable whatToDo = action;
        if (tenure != null && whatToDo != null) {
            tenure.remove(whatToDo);
        }
        watch = null;
        action = null;
    }

    /** The current thread runs the call, until {@link #exit()}. */
    void enter() {
        leases.calls().enter();
    }

    void exit() {
        leases.calls().exit();
    }

    /** Makes the call the current one of this thread for who observes it. */
    Scope open() {
        return observed == null ? NOT_OBSERVED : observed.open();
    }

    /** What the streams of the call find in their context, null where that is what is there. */
    @Nullable
    Object observation() {
        return observed == null ? null : observed.observation();
    }

    /** Notes why the call will end as failed. */
    void failedWith(@Nullable Throwable cause) {
        failure = cause;
    }

    /** The call has ended; only the first time counts. */
    void end(boolean failed) {
        if (ended.compareAndSet(false, true)) {
            forgetLeaseEnd();
            try {
                if (observed != null) {
                    observed.onEnd(failed ? failure : null);
                }
            } finally {
                leases.ended(this, failed);
            }
        }
    }
}
