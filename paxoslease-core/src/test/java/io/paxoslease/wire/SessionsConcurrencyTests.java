package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.wire.Sessions.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SessionsConcurrencyTests {

    /** A frame that was recorded on the network and arrives on several connections at once. */
    @Test
    @Timeout(120)
    void aSequenceNumberIsUsedUpOnceWhateverManyThreadsSend() throws Exception {
        int frames = 5_000;
        Incarnation sender = new Incarnation("n1", 7);
        Sessions sessions = new Sessions(4, true, new SplittableRandom(1));
        long id = sessions.open(sender, null, 1, 0).id();
        AtomicIntegerArray entered = new AtomicIntegerArray(frames + 1);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<?>> senders = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                senders.add(threads.submit(() -> {
                    for (int sequence = 1; sequence <= frames; sequence++) {
                        if (sessions.enter(sender, id, 1, sequence) == Entry.ENTERED) {
                            entered.incrementAndGet(sequence);
                        }
                    }
                }));
            }
            for (Future<?> each : senders) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        for (int sequence = 1; sequence <= frames; sequence++) {
            assertThat(entered.get(sequence)).isLessThanOrEqualTo(1);
        }
        assertThat(entered.get(frames)).isEqualTo(1);
    }
}
