package io.paxoslease.spring.bounded;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
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
    private final AtomicReference<@Nullable CompletableFuture<Void>> idle = new AtomicReference<>();

    /**
     * Creates one that is not under way.
     *
     * @param nothingRuns whether nothing runs now of what was let run
     */
    public Drain(BooleanSupplier nothingRuns) {
        this.nothingRuns = nothingRuns;
    }

    /**
     * Begins it, or joins the one that is under way.
     *
     * @return a stage of the caller's own that completes when nothing runs any more, or with {@link #end()}
     */
    public CompletableFuture<Void> begin() {
        CompletableFuture<Void> whenIdle = new CompletableFuture<>();
        // What did not count for an earlier caller, as its own job, may still run.
        CompletableFuture<Void> underWay =
                idle.updateAndGet(known -> known == null || known.isDone() ? whenIdle : known);
        check();
        return underWay.copy();
    }

    /** Ends it. */
    public void end() {
        CompletableFuture<Void> whenIdle = idle.getAndSet(null);
        if (whenIdle != null) {
            whenIdle.complete(null);
        }
    }

    /** Whether nothing more may run. */
    public boolean isUnderWay() {
        return idle.get() != null;
    }

    /** To be called when something has ended. */
    public void check() {
        CompletableFuture<Void> whenIdle = idle.get();
        if (whenIdle != null && nothingRuns.getAsBoolean()) {
            whenIdle.complete(null);
        }
    }
}
