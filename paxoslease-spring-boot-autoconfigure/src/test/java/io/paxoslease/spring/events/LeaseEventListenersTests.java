package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationListener;
import org.springframework.context.support.GenericApplicationContext;

class LeaseEventListenersTests {

    private static class Listener implements ApplicationListener<LeaseEvent> {
        private boolean failing;

        @Override
        public void onApplicationEvent(LeaseEvent event) {}

        @Override
        public int hashCode() {
            if (failing) {
                failing = false;
                throw new IllegalStateException("no memory");
            }
            return super.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }
    }

    /** Else the ones behind the place where it failed would be told of nothing any more. */
    @Test
    void areFoundAnewWhereTheLastTimeFailedInTheMiddle() {
        Listener first = new Listener();
        Listener second = new Listener();
        Listener third = new Listener();
        try (GenericApplicationContext context = new GenericApplicationContext()) {
            context.refresh();
            context.addApplicationListener(first);
            context.addApplicationListener(second);
            LeaseEventListeners listeners = new LeaseEventListeners(context);
            LeaseEvent event = new LeaseAcquiredEvent(this, "jobs", "node-1", 1);
            assertThat(listeners.of(event)).contains(first, second);

            context.addApplicationListener(third);
            second.failing = true;
            assertThatThrownBy(() -> listeners.of(event)).hasMessage("no memory");

            context.removeApplicationListener(third);
            assertThat(listeners.of(event)).contains(first, second).doesNotContain(third);
        }
    }
}
