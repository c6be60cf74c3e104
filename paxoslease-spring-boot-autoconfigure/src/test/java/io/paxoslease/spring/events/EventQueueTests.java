package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseExtendedEvent;
import io.paxoslease.spring.LeaseLostEvent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a full queue gives up. */
class EventQueueTests {

    private final EventQueue queue = new EventQueue(4);

    private List<String> drain() {
        List<String> drained = new ArrayList<>();
        for (LeaseEvent event = queue.poll(); event != null; event = queue.poll()) {
            drained.add(
                    event.getClass().getSimpleName().replace("Lease", "").replace("Event", "") + event.fencingToken());
        }
        return drained;
    }

    private void acquired(long token) {
        queue.add(new LeaseAcquiredEvent(this, "jobs", "n1", token));
    }

    private void extended(long token) {
        queue.add(new LeaseExtendedEvent(this, "jobs", "n1", token));
    }

    private void lost(long token) {
        queue.add(new LeaseLostEvent(this, "jobs", "n1", token));
    }

    @Test
    void keepsTheOrder() {
        acquired(1);
        extended(1);
        lost(1);
        assertThat(drain()).containsExactly("Acquired1", "Extended1", "Lost1");
    }

    @Test
    void givesUpTheOldestExtensionFirst() {
        acquired(1);
        extended(1);
        extended(2);
        extended(3);
        lost(1);
        assertThat(drain()).containsExactly("Acquired1", "Extended2", "Extended3", "Lost1");
    }

    @Test
    void givesUpAWholeTenureWhenThereIsNothingElse() {
        lost(1);
        acquired(2);
        lost(2);
        acquired(3);
        lost(3);
        assertThat(drain()).containsExactly("Lost1", "Acquired3", "Lost3");
    }

    @Test
    void staysWithinItsCapacityForAReaderOfOneKind() {
        for (int token = 1; token <= 10; token++) {
            acquired(token);
        }
        assertThat(drain()).containsExactly("Acquired7", "Acquired8", "Acquired9", "Acquired10");
    }
}
