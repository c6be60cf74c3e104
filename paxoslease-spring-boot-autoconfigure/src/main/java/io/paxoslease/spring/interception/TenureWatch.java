package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * What is to be done when one tenure ends: one action per running call. A lease keeps the actions given to it for as long as it is
 * held, so it is given a single one for all calls.
 */
final class TenureWatch {

    private static final Log LOG = LogFactory.getLog(TenureWatch.class);

    private final Lease lease;
    private final Set<Runnable> actions = Collections.newSetFromMap(new IdentityHashMap<>());
    private boolean ended;

    TenureWatch(Lease lease) {
        this.lease = lease;
    }

    String leaseName() {
        return lease.name();
    }

    /** Whether this is the tenure of a lease. */
    boolean isOf(Lease other) {
        return lease == other || isOf(other.fencingToken());
    }

    boolean isOf(long fencingToken) {
        return lease.fencingToken() == fencingToken;
    }

    /** Whether this tenure began after that of a lease of the same name. */
    boolean isAfter(Lease other) {
        return lease.fencingToken() > other.fencingToken();
    }

    /** Adds an action, run at once if the tenure has ended. */
    void add(Runnable action) {
        synchronized (actions) {
            if (!ended) {
                actions.add(action);
                return;
            }
        }
        run(action);
    }

    void remove(Runnable action) {
        synchronized (actions) {
            actions.remove(action);
        }
    }

    /** The tenure has ended: runs the actions once. */
    void end() {
        List<Runnable> pending;
        synchronized (actions) {
            ended = true;
            pending = new ArrayList<>(actions);
            actions.clear();
        }
        pending.forEach(this::run);
    }

    /** What fails for one call, for want of a thread perhaps, must not keep the end from the others. */
    private void run(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error failure) {
            LOG.error(
                    "A guarded call could not be stopped at the end of lease '" + leaseName() + "' and goes on",
                    failure);
        }
    }
}
