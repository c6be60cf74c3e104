package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CallsInFlightTests {

    private final CallsInFlight calls = new CallsInFlight();

    private CompletableFuture<Void> idle() {
        CompletableFuture<Void> idle = new CompletableFuture<>();
        calls.whenIdle().thenAccept(idle::complete);
        return idle;
    }

    @Test
    void areIdleAtOnceIfNoneRuns() {
        assertThat(idle()).isDone();
    }

    @Test
    void areIdleWhenTheLastHasEnded() {
        calls.begin();
        calls.begin();
        CompletableFuture<Void> idle = idle();
        calls.end();
        assertThat(idle).isNotDone();
        calls.end();
        assertThat(idle).isDone();
        assertThat(calls.count()).isZero();
    }

    /** It would wait for itself. */
    @Test
    void thatTheThreadItselfIsInDoNotCountForIt() {
        calls.begin();
        calls.begin();
        calls.enter();
        assertThat(idle()).as("another runs").isNotDone();
        calls.enter();
        assertThat(idle()).isDone();
        calls.exit();
        assertThat(idle()).isNotDone();
        assertThat(calls.count()).isEqualTo(2);
    }

    @Test
    void thatTheThreadWasInCountAgain() {
        calls.begin();
        calls.enter();
        calls.exit();
        assertThat(idle()).isNotDone();
    }
}
