package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which call an interrupt is for where calls of one thread are nested. */
class NestedInterruptionTests {

    private final Interruption outer = Interruption.begin();

    @AfterEach
    void leaveNoInterruptBehind() {
        assertThat(Thread.interrupted()).isFalse();
    }

    @Test
    void isKeptForTheOuterCallWhicheverWasAskedForFirst() {
        Interruption inner = Interruption.begin();
        inner.interrupt();
        outer.interrupt();
        inner.end();
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        outer.end();
    }

    @Test
    void isGoneWithTheInnerCallIfOnlyThatWasAskedTo() {
        Interruption inner = Interruption.begin();
        inner.interrupt();
        inner.end();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        outer.end();
    }

    @Test
    void ofAnEarlierCallIsNotMadeUpForInALaterOne() {
        outer.interrupt();
        outer.end();
        Interruption later = Interruption.begin();
        later.interrupt();
        later.end();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }
}
