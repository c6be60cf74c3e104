package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeaseCallsTests {

    private final LeaseCalls calls = new LeaseCalls();
    private final AtomicInteger givenUp = new AtomicInteger();

    @Test
    void withoutAnyTheLeaseIsGivenUpAtOnce() {
        calls.giveUpWhenIdle(givenUp::incrementAndGet);
        assertThat(givenUp).hasValue(1);
    }

    @Test
    void keepTheLeaseUntilTheLastHasEnded() {
        assertThat(calls.enter()).isTrue();
        calls.giveUpWhenIdle(givenUp::incrementAndGet);
        assertThat(calls.enter()).as("one that a running call makes").isTrue();
        calls.leave();
        assertThat(givenUp).hasValue(0);
        calls.leave();
        assertThat(givenUp).hasValue(1);
    }

    @Test
    void doNotBeginAfterTheLeaseWasGivenUp() {
        calls.giveUpWhenIdle(givenUp::incrementAndGet);
        assertThat(calls.enter()).isFalse();
        calls.giveUpWhenIdle(givenUp::incrementAndGet);
        assertThat(givenUp).hasValue(1);
    }

    @Test
    void beginAgainAfterwards() {
        calls.giveUpWhenIdle(givenUp::incrementAndGet);
        calls.resume();
        assertThat(calls.enter()).isTrue();
        calls.leave();
        assertThat(givenUp).hasValue(1);
    }

    @Test
    void thatRanMeanwhileKeepTheLeaseIfItIsWantedAgain() {
        assertThat(calls.enter()).isTrue();
        calls.giveUpWhenIdle(givenUp::incrementAndGet);
        calls.resume();
        calls.leave();
        assertThat(givenUp).hasValue(0);
        assertThat(calls.enter()).isTrue();
    }
}
