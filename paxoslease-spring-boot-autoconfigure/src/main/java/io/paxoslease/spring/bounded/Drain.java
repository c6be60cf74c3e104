package io.paxoslease.spring.bounded;

import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether an adapter lets nothing more run because the application stops, and when nothing runs any more. Safe to use from any thread.
 *
 * <p>Whoever lets something run counts it first and then asks {@link #isUnderWay()}: so either the drain sees it, or it sees the drain.
 */
public final class Drain {

    private final BooleanSupplier nothingRuns;
    /** Null while there is no drain. */
    private volatile @Nullable CompletableFuture<Void> idle;

    /**
     * Creates one that is not under way.
     *
     * @param nothingRuns whether nothing runs now of what was let run
     */
    public Drain(BooleanSupplier nothingRuns) {
        this.nothingRuns = nothingRuns;
    }

    /**
     * Begins it.
     *
     * @return a stage that completes when nothing runs any more
     */
    public CompletableFuture<Void> begin() {
        CompletableFuture<Void> whenIdle = new CompletableFuture<>();
        idle = whenIdle;
        check();
        return whenIdle;
    }

    /** Ends it. */
    public void end() {
        idle = null;
    }

    /** Whether nothing more may run. */
    public boolean isUnderWay() {
        return idle != null;
    }

    /** To be called when something has ended. */
    public void check() {
        CompletableFuture<Void> whenIdle = idle;
        if (whenIdle != null && nothingRuns.getAsBoolean()) {
            whenIdle.complete(null);
        }
    }
}
