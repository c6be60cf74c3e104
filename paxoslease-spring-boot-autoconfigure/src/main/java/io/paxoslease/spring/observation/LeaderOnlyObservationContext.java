package io.paxoslease.spring.observation;

import io.micrometer.observation.Observation;
import java.lang.reflect.Method;

/** What is known of a guarded call that runs. */
public final class LeaderOnlyObservationContext extends Observation.Context {

    private final Method method;
    private final String leaseName;
    private final long fencingToken;

    /**
     * Describes a call.
     *
     * @param method the guarded method
     * @param leaseName the name of the lease
     * @param fencingToken the token of the tenure under which it runs
     */
    public LeaderOnlyObservationContext(Method method, String leaseName, long fencingToken) {
        this.method = method;
        this.leaseName = leaseName;
        this.fencingToken = fencingToken;
    }

    /** The guarded method. */
    public Method getMethod() {
        return method;
    }

    /** The name of the lease. */
    public String getLeaseName() {
        return leaseName;
    }

    /** The token of the tenure under which the call runs. */
    public long getFencingToken() {
        return fencingToken;
    }
}
