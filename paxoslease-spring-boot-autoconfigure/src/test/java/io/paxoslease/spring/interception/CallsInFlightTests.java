package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
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
        assertThat(calls.awaitIdle(Duration.ZERO)).isTrue();
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
        assertThat(calls.awaitIdle(Duration.ZERO)).isFalse();
        assertThat(calls.count()).isEqualTo(2);
    }

    @Test
    void thatTheThreadWasInCountAgain() {
        calls.begin();
        calls.enter();
        calls.exit();
        assertThat(idle()).isNotDone();
    }

    @Test
    void areNotAwaitedByAThreadThatIsInterrupted() {
        calls.begin();
        Thread.currentThread().interrupt();
        assertThat(calls.awaitIdle(Duration.ofSeconds(20))).isFalse();
        assertThat(Thread.interrupted()).isTrue();
    }
}
