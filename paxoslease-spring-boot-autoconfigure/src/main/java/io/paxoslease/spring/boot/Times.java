package io.paxoslease.spring.boot;

import io.paxoslease.node.NodeSettings.LeaseSettings;
import io.paxoslease.protocol.Timing;
import io.paxoslease.spring.boot.PaxosLeaseProperties.LeaseProperties;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The durations among the settings, and what they are to each other. Those that probably lack their unit are warned of. */
final class Times {

    private static final Duration DEFAULT_ROUND_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration SUSPICIOUSLY_SHORT = Duration.ofMillis(100);
    private static final Duration HASTY_ROUND = Duration.ofMillis(10);
    private static final String SHUTDOWN_PHASE = "spring.lifecycle.timeout-per-shutdown-phase";
    private static final Duration DEFAULT_SHUTDOWN_PHASE = Duration.ofSeconds(30);

    private final PaxosLeaseProperties properties;
    private final Consumer<String> warnings;

    Times(PaxosLeaseProperties properties, Consumer<String> warnings) {
        this.properties = properties;
        this.warnings = warnings;
    }

    /** Of the lease times, which are in their range then. */
    Timing timing() {
        Duration leaseTime = properties.leaseTime();
        Duration configuredMax = properties.maxLeaseTime();
        Duration max = configuredMax == null ? leaseTime : configuredMax;
        requireRange("lease-time", leaseTime);
        requireRange("max-lease-time", max);
        if (leaseTime.compareTo(max) > 0) {
            throw Settings.invalid(
                    "lease-time",
                    leaseTime,
                    "it is longer than paxoslease.max-lease-time = " + Settings.words(max),
                    "Shorten the lease time, or raise max-lease-time on all nodes of the cell.");
        }
        double drift = properties.maxClockDrift();
        if (!(drift >= 0 && drift < 0.5)) {
            throw Settings.invalid(
                    "max-clock-drift",
                    drift,
                    "it must be at least 0 and below 0.5",
                    "Leave it at 0.01 unless the clocks of your machines are known to run worse.");
        }
        warnAboutUnit("lease-time", leaseTime);
        return new Timing(max.toNanos(), drift);
    }

    private static void requireRange(String name, Duration time) {
        if (time.compareTo(Duration.ofNanos(Timing.MIN_LEASE_NANOS)) < 0
                || time.compareTo(Duration.ofNanos(Timing.MAX_LEASE_NANOS)) > 0) {
            throw Settings.invalid(
                    name,
                    time,
                    "it must be from 10ms to 7d",
                    "Choose a time such as 10s; a few seconds suit most jobs. A number without a unit means milliseconds.");
        }
    }

    /** Ten seconds were meant, and 10 was written. */
    private void warnAboutUnit(String name, Duration leaseTime) {
        if (leaseTime.compareTo(SUSPICIOUSLY_SHORT) < 0) {
            warnings.accept(
                    Settings.PREFIX + name + " is " + Settings.words(leaseTime)
                            + ", so that any pause costs the lease. A number without a unit means milliseconds; write 10s for ten seconds.");
        }
    }

    /** Checks how long guarded calls may take while the application stops, against how long Spring waits for that. */
    void requireDrainTimeout(Environment environment) {
        Duration timeout = properties.shutdown().drainTimeout();
        if (timeout.isNegative()) {
            throw Settings.invalid(
                    "shutdown.drain-timeout",
                    timeout,
                    "it must not be negative",
                    "Choose a time such as 20s, or 0s to wait for no guarded call.");
        }
        if (!timeout.isZero() && timeout.compareTo(SUSPICIOUSLY_SHORT) < 0) {
            warnings.accept("paxoslease.shutdown.drain-timeout is " + Settings.words(timeout)
                    + ", so that leases are released while guarded calls still run. A number without a unit means milliseconds;"
                    + " write 20s for twenty seconds, or 0s to wait for no guarded call.");
        }
        BindResult<Duration> configured = Binder.get(environment).bind(SHUTDOWN_PHASE, Duration.class);
        Duration phase = configured.isBound() ? configured.get() : DEFAULT_SHUTDOWN_PHASE;
        if (timeout.compareTo(phase) >= 0) {
            warnings.accept("paxoslease.shutdown.drain-timeout is " + Settings.words(timeout) + ", which is not below "
                    + SHUTDOWN_PHASE + ", " + Settings.words(phase)
                    + ": Spring stops waiting first, and ends what guarded calls still use.");
        }
    }

    /** How long a network round may take: less than a lease. */
    Duration roundTimeout() {
        Duration leaseTime = properties.leaseTime();
        Duration configured = properties.roundTimeout();
        if (configured == null) {
            Duration half = leaseTime.dividedBy(2);
            return half.compareTo(DEFAULT_ROUND_TIMEOUT) < 0 ? half : DEFAULT_ROUND_TIMEOUT;
        }
        if (configured.isZero() || configured.isNegative() || configured.compareTo(leaseTime) >= 0) {
            throw Settings.invalid(
                    "round-timeout",
                    configured,
                    "it must be more than zero and less than paxoslease.lease-time = " + Settings.words(leaseTime),
                    "Leave it unset, or choose some round trips of your network; an extension must fit into the lease several times.");
        }
        if (configured.compareTo(HASTY_ROUND) < 0) {
            warnings.accept("paxoslease.round-timeout is " + Settings.words(configured)
                    + ", so that members count as not reachable although nothing is wrong with them. A number without"
                    + " a unit means milliseconds; write 1s for one second.");
        }
        return configured;
    }

    /** The settings of single leases by name, whose times are in the range of the cell. */
    Map<String, LeaseSettings> leases(Timing timing) {
        Map<String, LeaseSettings> leases = new LinkedHashMap<>();
        properties.leases().forEach((name, lease) -> {
            Settings.requireName("leases", "the name of a lease", name);
            leases.put(name, lease(name, lease, timing));
        });
        return leases;
    }

    private LeaseSettings lease(String name, LeaseProperties lease, Timing timing) {
        Duration configured = lease.leaseTime();
        Duration time = configured == null ? properties.leaseTime() : configured;
        try {
            timing.requireLeaseTime(time.toNanos());
        } catch (IllegalArgumentException | ArithmeticException outOfRange) {
            throw Settings.invalid(
                    "leases." + name + ".lease-time",
                    time,
                    "it must be from 10ms to paxoslease.max-lease-time = "
                            + Settings.words(Duration.ofNanos(timing.maxLeaseNanos())),
                    "Shorten it, or raise paxoslease.max-lease-time on all nodes.");
        }
        if (configured != null) {
            warnAboutUnit("leases." + name + ".lease-time", configured);
        }
        if (lease.priority() < 0 || lease.priority() > LeaseSettings.HIGHEST_PRIORITY) {
            throw Settings.invalid(
                    "leases." + name + ".priority",
                    lease.priority(),
                    "it must be from 0 to 10",
                    "Leave it at 10 on the nodes that should lead by preference, and lower it on the others.");
        }
        return new LeaseSettings(time, !Boolean.FALSE.equals(lease.candidate()), lease.priority());
    }
}
