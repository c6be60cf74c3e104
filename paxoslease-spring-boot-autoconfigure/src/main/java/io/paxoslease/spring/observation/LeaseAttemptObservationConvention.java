package io.paxoslease.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names the observations of attempts; a bean of this type replaces {@link DefaultLeaseAttemptObservationConvention}. */
public interface LeaseAttemptObservationConvention extends ObservationConvention<LeaseAttemptObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof LeaseAttemptObservationContext;
    }
}
