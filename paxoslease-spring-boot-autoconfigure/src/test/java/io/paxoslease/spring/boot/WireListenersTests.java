package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.BlockedLog;
import io.paxoslease.wire.WireListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

class WireListenersTests {

    private final List<String> heard = new ArrayList<>();

    private final WireListener broken = new WireListener() {
        @Override
        public void onMessage(String type, String outcome) {
            throw new IllegalStateException("no meter");
        }

        @Override
        public void onRoundTrip(String member, long nanos) {
            throw new IllegalStateException("no meter");
        }
    };

    private final WireListener good = new WireListener() {
        @Override
        public void onMessage(String type, String outcome) {
            heard.add(type + " " + outcome);
        }

        @Override
        public void onRoundTrip(String member, long nanos) {
            heard.add(member + " " + nanos);
        }
    };

    /** As with a filter of meters that throws: it would end each exchange, and by a message that is dropped the node. */
    @Test
    void whatOneThrowsIsToldOnceAndKeepsNothingFromTheOthers() throws Exception {
        WireListener listeners = WireListeners.of(
                new StaticListableBeanFactory(Map.of("a", broken, "b", good)).getBeanProvider(WireListener.class));
        try (BlockedLog log = new BlockedLog(WireListeners.class)) {
            listeners.onMessage("frame", "sent");
            listeners.onRoundTrip("n2", 7);

            assertThat(heard).containsExactly("frame sent", "n2 7");
            assertThat(log.flow().take()).startsWith("A listener of frames failed");
            assertThat(log.flow().poll(100, TimeUnit.MILLISECONDS)).isNull();
        }
    }

    /** Whoever tells of a frame that is dropped holds the lock of the node. */
    @Test
    @Timeout(20)
    void whatOneThrowsHoldsUpNobodyWhileTheLogBlocks() {
        WireListener listeners = WireListeners.of(
                new StaticListableBeanFactory(Map.of("a", broken)).getBeanProvider(WireListener.class));
        try (BlockedLog blocked = new BlockedLog(WireListeners.class)) {
            listeners.onMessage("prepare", "dropped");
            assertThat(Thread.interrupted()).as("timed out").isFalse();
        }
    }
}
