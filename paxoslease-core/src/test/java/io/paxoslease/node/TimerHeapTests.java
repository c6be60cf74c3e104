package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TimerHeapTests {

    private static final class Named extends TimerHeap.Timer {}

    @Test
    void agreesWithAPlainMapAcrossTheOverflowOfTheClock() {
        Random random = new Random(1);
        TimerHeap heap = new TimerHeap();
        Map<Named, Long> model = new HashMap<>();
        Named[] timers = new Named[100];
        for (int i = 0; i < timers.length; i++) {
            timers[i] = new Named();
        }
        long origin = Long.MAX_VALUE - 50_000;
        for (int i = 0; i < 200_000; i++) {
            Named timer = timers[random.nextInt(timers.length)];
            if (random.nextInt(3) == 0) {
                heap.cancel(timer);
                model.remove(timer);
            } else {
                long due = origin + i / 2 + random.nextInt(1_000);
                heap.schedule(timer, due);
                model.put(timer, due);
            }
            assertThat(heap.isEmpty()).isEqualTo(model.isEmpty());
            if (!model.isEmpty()) {
                long first = Long.MAX_VALUE;
                for (long due : model.values()) {
                    first = Math.min(first, due - origin);
                }
                assertThat(heap.firstDueNanos() - origin).isEqualTo(first);
                assertThat(model.get((Named) heap.first())).isEqualTo(heap.firstDueNanos());
            }
        }
    }
}
