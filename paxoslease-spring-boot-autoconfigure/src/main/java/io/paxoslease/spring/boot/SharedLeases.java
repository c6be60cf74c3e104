package io.paxoslease.spring.boot;

import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import java.util.function.Predicate;
import org.springframework.beans.factory.ObjectProvider;

/**
 * The leases that more than an adapter needs: by the settings, for guarded methods or for Quartz. An adapter that stops does not give them up, because
 * what the others let run may still run; the node does when it stops, after that has been drained.
 */
final class SharedLeases implements Predicate<String> {

    private final PaxosLeaseProperties properties;
    private final ObjectProvider<LeaderOnlyRegistry> guarded;
    private final ObjectProvider<PaxosLeaseQuartzProperties> quartz;

    SharedLeases(
            PaxosLeaseProperties properties,
            ObjectProvider<LeaderOnlyRegistry> guarded,
            ObjectProvider<PaxosLeaseQuartzProperties> quartz) {
        this.properties = properties;
        this.guarded = guarded;
        this.quartz = quartz;
    }

    /** Those of an application that may have none, looked up when it is asked. */
    static Predicate<String> of(ObjectProvider<SharedLeases> bean) {
        return leaseName -> bean.stream().anyMatch(leases -> leases.test(leaseName));
    }

    @Override
    public boolean test(String leaseName) {
        PaxosLeaseProperties.LeaseProperties own = properties.leases().get(leaseName);
        return own != null && Boolean.TRUE.equals(own.candidate())
                || guarded.stream().anyMatch(registry -> registry.leaseNames().contains(leaseName))
                || quartz.stream().anyMatch(settings -> leaseName.equals(settings.lease()));
    }
}
