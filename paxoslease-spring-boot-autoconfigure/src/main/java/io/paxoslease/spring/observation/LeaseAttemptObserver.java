package io.paxoslease.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.paxoslease.node.AttemptListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Makes an observation of each attempt of a node to acquire or extend a lease. */
public final class LeaseAttemptObserver implements AttemptListener {

    private static final LeaseAttemptObservationConvention DEFAULT = new DefaultLeaseAttemptObservationConvention();

    private record Observed(LeaseAttemptObservationContext context, Observation observation) {}

    private final ObservationRegistry registry;
    private final @Nullable LeaseAttemptObservationConvention convention;
    private final Map<String, Observed> inFlight = new ConcurrentHashMap<>();

    /**
     * Makes an observer.
     *
     * @param registry where the observations go
     * @param convention names them, null for {@link DefaultLeaseAttemptObservationConvention}
     */
    public LeaseAttemptObserver(ObservationRegistry registry, @Nullable LeaseAttemptObservationConvention convention) {
        this.registry = registry;
        this.convention = convention;
    }

    @Override
    public void onBegin(String leaseName, Purpose purpose) {
        LeaseAttemptObservationContext context = new LeaseAttemptObservationContext(leaseName, purpose);
        inFlight.put(leaseName, new Observed(context, Observation.start(convention, DEFAULT, () -> context, registry)));
    }

    @Override
    public void onEnd(String leaseName, Outcome outcome, @Nullable String reason) {
        Observed observed = inFlight.remove(leaseName);
        if (observed != null) {
            observed.context.end(outcome, reason);
            observed.observation.stop();
        }
    }
}
