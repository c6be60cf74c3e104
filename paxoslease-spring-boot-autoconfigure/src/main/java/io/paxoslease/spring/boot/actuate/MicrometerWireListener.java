package io.paxoslease.spring.boot.actuate;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.paxoslease.wire.WireListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Counts the traffic between nodes: {@code paxoslease.messages} by type and outcome, {@code paxoslease.round.trip} by member. It has no
 * registry before Boot binds it to one, so the transport needs none to be made.
 */
public final class MicrometerWireListener implements WireListener, MeterBinder {

    private final CompositeMeterRegistry meters = new CompositeMeterRegistry();
    private final Map<String, Map<String, Counter>> messages = new ConcurrentHashMap<>();
    private final Map<String, Timer> roundTrips = new ConcurrentHashMap<>();

    @Override
    public void bindTo(MeterRegistry registry) {
        meters.add(registry);
    }

    @Override
    public void onMessage(String type, String outcome) {
        messages.computeIfAbsent(type, key -> new ConcurrentHashMap<>())
                .computeIfAbsent(outcome, key -> counter(type, outcome))
                .increment();
    }

    @Override
    public void onRoundTrip(String member, long nanos) {
        roundTrips.computeIfAbsent(member, this::timer).record(nanos, TimeUnit.NANOSECONDS);
    }

    private Counter counter(String type, String outcome) {
        return Counter.builder("paxoslease.messages")
                .description("Messages between nodes")
                .tag("type", type)
                .tag("outcome", outcome)
                .register(meters);
    }

    private Timer timer(String member) {
        return Timer.builder("paxoslease.round.trip")
                .description("Exchanges with a member that succeeded")
                .tag("member", member)
                .register(meters);
    }
}
