package io.paxoslease.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.paxoslease.Lease;
import io.paxoslease.spring.interception.CallObserver;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** Makes an observation of each guarded call that runs. */
public final class LeaderOnlyObserver implements CallObserver {

    private static final LeaderOnlyObservationConvention DEFAULT = new DefaultLeaderOnlyObservationConvention();

    private final ObservationRegistry registry;
    private final @Nullable LeaderOnlyObservationConvention convention;

    /**
     * Makes an observer.
     *
     * @param registry where the observations go
     * @param convention names them, null for {@link DefaultLeaderOnlyObservationConvention}
     */
    public LeaderOnlyObserver(ObservationRegistry registry, @Nullable LeaderOnlyObservationConvention convention) {
        this.registry = registry;
        this.convention = convention;
    }

    @Override
    public ObservedCall onAdmitted(Method method, Lease lease) {
        return new Observed(Observation.start(
                convention,
                DEFAULT,
                () -> new LeaderOnlyObservationContext(method, lease.name(), lease.fencingToken()),
                registry));
    }

    private record Observed(Observation observation) implements ObservedCall {

        @Override
        public Scope open() {
            return observation.openScope()::close;
        }

        @Override
        public void onEnd(@Nullable Throwable failure) {
            if (failure != null) {
                observation.error(failure);
            }
            observation.stop();
        }
    }
}
