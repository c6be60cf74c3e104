package io.paxoslease.spring.boot;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the meters.
 *
 * @param maxLeases How many leases have meters of their own: the first that this node sees, until it ends. Further ones are counted together, as
 *     lease "(other)", and have no gauges.
 */
@ConfigurationProperties("paxoslease.metrics")
public record PaxosLeaseMetricsProperties(
        @DefaultValue("1000") int maxLeases) {}
