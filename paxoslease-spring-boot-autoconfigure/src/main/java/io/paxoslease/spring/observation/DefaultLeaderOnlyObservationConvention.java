package io.paxoslease.spring.observation;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * {@code paxoslease.leaderonly}, with the keys {@code lease}, {@code code.namespace}, {@code code.function} and {@code outcome} of low
 * cardinality, and {@code fencing.token} of high.
 */
public final class DefaultLeaderOnlyObservationConvention implements LeaderOnlyObservationConvention {

    private static final KeyValue SUCCESS = KeyValue.of("outcome", "success");
    private static final KeyValue ERROR = KeyValue.of("outcome", "error");

    @Override
    public String getName() {
        return "paxoslease.leaderonly";
    }

    @Override
    public String getContextualName(LeaderOnlyObservationContext context) {
        return "leader only " + context.getMethod().getDeclaringClass().getSimpleName() + "."
                + context.getMethod().getName();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LeaderOnlyObservationContext context) {
        return KeyValues.of(
                KeyValue.of("lease", context.getLeaseName()),
                KeyValue.of(
                        "code.namespace",
                        context.getMethod().getDeclaringClass().getName()),
                KeyValue.of("code.function", context.getMethod().getName()),
                context.getError() == null ? SUCCESS : ERROR);
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(LeaderOnlyObservationContext context) {
        return KeyValues.of("fencing.token", Long.toString(context.getFencingToken()));
    }
}
