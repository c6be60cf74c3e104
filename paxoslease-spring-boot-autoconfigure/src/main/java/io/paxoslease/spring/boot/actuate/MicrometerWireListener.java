package io.paxoslease.spring.boot.actuate;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.paxoslease.wire.WireListener;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Counts the traffic between nodes: {@code paxoslease.messages} by type and outcome, {@code paxoslease.round.trip} by member. It has no
 * registry before Boot binds it to one, so the transport needs none to be made.
 */
public final class MicrometerWireListener implements WireListener, MeterBinder {

    private volatile Meters meters = new Meters(List.of());

    @Override
    public synchronized void bindTo(MeterRegistry registry) {
        meters = new Meters(
                Stream.concat(meters.registries.stream(), Stream.of(registry)).toList());
        // An alert is to see the first one, as an increase from nothing to one.
        meters.messages("frame", "defect");
    }

    @Override
    public void onMessage(String type, String outcome) {
        List<Counter> counters = meters.messages(type, outcome);
        for (int i = 0; i < counters.size(); i++) {
            counters.get(i).increment();
        }
    }

    @Override
    public void onRoundTrip(String member, long nanos) {
        List<Timer> timers = meters.roundTrips(member);
        for (int i = 0; i < timers.size(); i++) {
            timers.get(i).record(nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** The meters in a fixed set of registries, kept because looking one up in its registry costs more than counting. */
    private static final class Meters {
        private final List<MeterRegistry> registries;
        private final Map<String, Map<String, List<Counter>>> messages = new ConcurrentHashMap<>();
        private final Map<String, List<Timer>> roundTrips = new ConcurrentHashMap<>();

        Meters(List<MeterRegistry> registries) {
            this.registries = registries;
        }

        List<Counter> messages(String type, String outcome) {
            return messages.computeIfAbsent(type, key -> new ConcurrentHashMap<>())
                    .computeIfAbsent(
                            outcome,
                            key -> registries.stream()
                                    .map(registry -> Counter.builder("paxoslease.messages")
                                            .description("Messages between nodes")
                                            .tag("type", type)
                                            .tag("outcome", outcome)
                                            .register(registry))
                                    .toList());
        }

        List<Timer> roundTrips(String member) {
            return roundTrips.computeIfAbsent(
                    member,
                    key -> registries.stream()
                            .map(registry -> Timer.builder("paxoslease.round.trip")
                                    .description("Exchanges with a member that succeeded")
                                    .tag("member", member)
                                    .register(registry))
                            .toList());
        }
    }
}
