package io.paxoslease.spring.boot;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Holds the shutdown until what an adapter let run under a lease has ended. After this the leases are released; without the wait another node
 * could run a task that still runs here.
 */
final class AdapterDrain implements SmartLifecycle {

    /** For what begins no more while the application stops: before the elections stop, with 512 less than the default. */
    static final int EARLY = SmartLifecycle.DEFAULT_PHASE - 256;

    /** For what beans need as long as they run: just before {@link LastRelease}. */
    static final int LATE = Integer.MIN_VALUE + 256;

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

    private final int phase;
    private final Supplier<CompletableFuture<Void>> drain;
    private final Runnable resume;
    private final Duration timeout;
    private final String what;
    private volatile CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);
    private volatile boolean running;

    /**
     * Makes the drain of one adapter.
     *
     * @param phase {@link #EARLY} or {@link #LATE}
     * @param drain lets nothing more run; answers a stage of its caller's own that completes when nothing runs
     * @param resume ends that
     * @param timeout how long to wait at most
     * @param what runs, for the warning that it still does
     */
    AdapterDrain(int phase, Supplier<CompletableFuture<Void>> drain, Runnable resume, Duration timeout, String what) {
        this.phase = phase;
        this.drain = drain;
        this.resume = resume;
        this.timeout = timeout;
        this.what = what;
    }

    @Override
    public int getPhase() {
        return phase;
    }

    @Override
    public void start() {
        resume.run();
        idle.complete(null);
        running = true;
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public void stop(Runnable callback) {
        running = false;
        CompletableFuture<Void> waiting = drain.get();
        idle = waiting;
        waiting.orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).whenComplete((done, late) -> {
            if (late != null) {
                LOG.warn("PaxosLease: " + what + " still run after " + timeout
                        + "; their leases are released all the same");
            }
            callback.run();
        });
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
