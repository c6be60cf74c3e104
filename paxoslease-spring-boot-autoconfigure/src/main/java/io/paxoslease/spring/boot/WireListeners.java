package io.paxoslease.spring.boot;

import io.paxoslease.wire.WireListener;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;

/** Tells all listeners of an application. */
final class WireListeners implements WireListener {

    private final List<WireListener> listeners;

    private WireListeners(List<WireListener> listeners) {
        this.listeners = listeners;
    }

    static WireListener of(ObjectProvider<WireListener> beans) {
        List<WireListener> all = beans.orderedStream().toList();
        return all.size() == 1 ? all.get(0) : new WireListeners(all);
    }

    @Override
    public void onMessage(String type, String outcome) {
        for (WireListener listener : listeners) {
            listener.onMessage(type, outcome);
        }
    }

    @Override
    public void onRoundTrip(String member, long nanos) {
        for (WireListener listener : listeners) {
            listener.onRoundTrip(member, nanos);
        }
    }
}
