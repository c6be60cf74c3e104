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
    public ObservedCall onAdmitted(Method method, Lease lease, @Nullable Object outer) {
        Observation observation = Observation.createNotStarted(
                convention,
                DEFAULT,
                () -> new LeaderOnlyObservationContext(method, lease.name(), lease.fencingToken()),
                registry);
        return new Observed(
                outer instanceof Observation parent
                        ? observation.parentObservation(parent).start()
                        : observation.start());
    }

    private record Observed(Observation call) implements ObservedCall {

        @Override
        public @Nullable Object observation() {
            return call.isNoop() ? null : call;
        }

        @Override
        public Scope open() {
            return call.openScope()::close;
        }

        @Override
        public void onEnd(@Nullable Throwable failure) {
            if (failure != null) {
                call.error(failure);
            }
            call.stop();
        }
    }
}
