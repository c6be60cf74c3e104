package io.paxoslease.spring.boot;

import io.paxoslease.wire.Lines;
import io.paxoslease.wire.WireListener;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.beans.factory.ObjectProvider;

/** Tells all listeners of an application. What one throws harms no exchange, nor the node. */
final class WireListeners implements WireListener {

    private static final System.Logger LOG = System.getLogger(WireListeners.class.getName());

    private final List<WireListener> listeners;
    private final AtomicBoolean failed = new AtomicBoolean();
    /** Whoever tells of a frame may hold the lock of the node. */
    private final Lines lines = new Lines(LOG, "listeners");

    private WireListeners(List<WireListener> listeners) {
        this.listeners = listeners;
    }

    static WireListener of(ObjectProvider<WireListener> beans) {
        return new WireListeners(beans.orderedStream().toList());
    }

    @Override
    public void onMessage(String type, String outcome) {
        for (WireListener listener : listeners) {
            try {
                listener.onMessage(type, outcome);
            } catch (RuntimeException failure) {
                warnOnce(failure);
            }
        }
    }

    @Override
    public void onRoundTrip(String member, long nanos) {
        for (WireListener listener : listeners) {
            try {
                listener.onRoundTrip(member, nanos);
            } catch (RuntimeException failure) {
                warnOnce(failure);
            }
        }
    }

    /** The next frame may bring it again. */
    private void warnOnce(RuntimeException failure) {
        if (failed.compareAndSet(false, true)) {
            lines.tell(
                    Level.WARNING,
                    "A listener of frames failed, as a filter of meters may; its figures are not complete",
                    failure);
        } else {
            // For which there was no thread.
            lines.write();
        }
    }
}
