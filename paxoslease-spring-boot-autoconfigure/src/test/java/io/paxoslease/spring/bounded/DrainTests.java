package io.paxoslease.spring.bounded;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class DrainTests {

    private final AtomicBoolean nothingRuns = new AtomicBoolean();
    private final Drain drain = new Drain(nothingRuns::get);

    private void end() {
        nothingRuns.set(true);
        drain.check();
    }

    /** As where the application drains an adapter itself and is stopped then. */
    @Test
    void everybodyWhoBeganItIsTold() {
        CompletableFuture<Void> first = drain.begin();
        CompletableFuture<Void> second = drain.begin();
        assertThat(first).isNotDone();
        assertThat(second).isNotDone();

        end();

        assertThat(first).isCompleted();
        assertThat(second).isCompleted();
        assertThat(drain.isUnderWay()).isTrue();
        assertThat(drain.begin()).isCompleted();
    }

    @Test
    void whoWaitsNoLongerTellsNobodyElse() {
        CompletableFuture<Void> impatient = drain.begin();
        CompletableFuture<Void> patient = drain.begin();

        impatient.completeExceptionally(new TimeoutException());

        assertThat(patient).isNotDone();
    }

    /** There is nothing to wait for any more, and what runs then is of another time. */
    @Test
    void whoWaitsIsToldOfItsEndToo() {
        CompletableFuture<Void> before = drain.begin();

        drain.end();

        assertThat(before).isCompleted();
        assertThat(drain.isUnderWay()).isFalse();
        assertThat(drain.begin()).isNotDone();
    }

    /** As where a job drains, which does not wait for itself, and the application is stopped while it still runs. */
    @Test
    void whoJoinsWaitsForWhatDidNotCountForTheFirst() {
        nothingRuns.set(true);
        assertThat(drain.begin()).isCompleted();
        nothingRuns.set(false);

        CompletableFuture<Void> second = drain.begin();

        assertThat(second).isNotDone();
        end();
        assertThat(second).isCompleted();
    }
}
