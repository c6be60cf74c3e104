package io.paxoslease.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names the observations of guarded calls; a bean of this type replaces {@link DefaultLeaderOnlyObservationConvention}. */
public interface LeaderOnlyObservationConvention extends ObservationConvention<LeaderOnlyObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LeaderOnlyObservationContext;
    }
}
