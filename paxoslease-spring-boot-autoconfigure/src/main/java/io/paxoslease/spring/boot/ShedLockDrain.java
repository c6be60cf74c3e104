package io.paxoslease.spring.boot;

import io.paxoslease.spring.shedlock.PaxosLeaseLockProvider;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Holds the shutdown until the tasks that run under a lock have ended. The node, which stops after this, releases all leases; without the wait
 * another node could run a task that still runs here.
 */
final class ShedLockDrain implements SmartLifecycle {

    /** Stopped before the node, which has 512 less than the default. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 256;

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

    private final PaxosLeaseLockProvider provider;
    private final Duration timeout;
    private volatile boolean running;

    ShedLockDrain(PaxosLeaseLockProvider provider, Duration timeout) {
        this.provider = provider;
        this.timeout = timeout;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void start() {
        provider.resume();
        running = true;
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public void stop(Runnable callback) {
        running = false;
        provider.drain().orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).whenComplete((done, late) -> {
            if (late != null) {
                LOG.warn("PaxosLease: tasks still run under a ShedLock lock after " + timeout
                        + "; their locks are released all the same");
            }
            callback.run();
        });
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
