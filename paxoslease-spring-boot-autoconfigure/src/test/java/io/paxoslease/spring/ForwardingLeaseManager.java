package io.paxoslease.spring;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** A decorator as applications write them: asks another manager, but for what a test overrides. */
public class ForwardingLeaseManager implements LeaseManager {

    private final LeaseManager leases;

    public ForwardingLeaseManager(LeaseManager leases) {
        this.leases = leases;
    }

    @Override
    public LeaderElection election(String leaseName) {
        return leases.election(leaseName);
    }

    @Override
    public Optional<Lease> tryAcquire(String leaseName, Duration leaseTime) {
        return leases.tryAcquire(leaseName, leaseTime);
    }

    @Override
    public Lease acquire(String leaseName, Duration leaseTime, Duration maxWait)
            throws InterruptedException, LeaseUnavailableException {
        return leases.acquire(leaseName, leaseTime, maxWait);
    }

    @Override
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String leaseName, Duration leaseTime) {
        return leases.tryAcquireAsync(leaseName, leaseTime);
    }
}
