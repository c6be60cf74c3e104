package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.wire.WireListener;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
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
    void whatOneThrowsIsToldOnceAndKeepsNothingFromTheOthers(CapturedOutput output) {
        WireListener listeners = WireListeners.of(
                new StaticListableBeanFactory(Map.of("a", broken, "b", good)).getBeanProvider(WireListener.class));

        listeners.onMessage("frame", "sent");
        listeners.onRoundTrip("n2", 7);

        assertThat(heard).containsExactly("frame sent", "n2 7");
        assertThat(output.getAll().split("A listener of frames failed", -1)).hasSize(2);
    }
}
