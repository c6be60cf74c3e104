package io.paxoslease.test;

import io.paxoslease.Lease;

/**
 * Assertions for what a guarded method calls, such as a stub in its place of work: they fail where the guard was missed, because the method was called
 * within its own object, or on an object that Spring did not make.
 */
public final class LeaderOnlyAssert {

    private LeaderOnlyAssert() {}

    /**
     * Requires that this thread runs a guarded method under a lease that is held.
     *
     * @return the lease
     * @throws AssertionError if not
     */
    public static Lease assertGuarded() {
        Lease lease = Lease.current()
                .orElseThrow(() -> new AssertionError("This runs without a lease: this thread is in no @LeaderOnly"
                        + " method that was called through its proxy. A call within the same object is not guarded. Where a guarded"
                        + " method has the work done on another thread, or by the Mono or Flux that it returns, check the Lease that it"
                        + " hands over, or the one in Reactor's context."));
        if (!lease.isHeld()) {
            throw new AssertionError("This runs under lease '" + lease.name() + "', token " + lease.fencingToken()
                    + ", which has ended");
        }
        return lease;
    }

    /**
     * Requires that this thread runs a guarded method under this lease, and that it is held.
     *
     * @param leaseName the name of the lease
     * @return the lease
     * @throws AssertionError if not
     */
    public static Lease assertGuarded(String leaseName) {
        Lease lease = assertGuarded();
        if (!lease.name().equals(leaseName)) {
            throw new AssertionError("This runs under lease '" + lease.name() + "', not under '" + leaseName + "'");
        }
        return lease;
    }
}
