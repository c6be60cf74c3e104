package io.paxoslease.spring.observation;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.paxoslease.node.AttemptListener.Outcome;
import io.paxoslease.node.AttemptListener.Purpose;
import java.util.Locale;

/**
 * {@code paxoslease.attempt}, with the keys {@code purpose} and {@code outcome} of low cardinality, and {@code lease} and {@code reason} of high:
 * names of leases may be without bound.
 */
public final class DefaultLeaseAttemptObservationConvention implements LeaseAttemptObservationConvention {

    @Override
    public String getName() {
        return "paxoslease.attempt";
    }

    @Override
    public String getContextualName(LeaseAttemptObservationContext context) {
        return (context.getPurpose() == Purpose.ACQUIRE ? "acquire lease " : "extend lease ") + context.getLeaseName();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LeaseAttemptObservationContext context) {
        Outcome outcome = context.getOutcome();
        return KeyValues.of(
                KeyValue.of("purpose", context.getPurpose().name().toLowerCase(Locale.ROOT)),
                KeyValue.of("outcome", outcome == null ? "none" : outcome.name().toLowerCase(Locale.ROOT)));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(LeaseAttemptObservationContext context) {
        KeyValues values = KeyValues.of("lease", context.getLeaseName());
        String reason = context.getReason();
        return reason == null ? values : values.and("reason", reason);
    }
}
