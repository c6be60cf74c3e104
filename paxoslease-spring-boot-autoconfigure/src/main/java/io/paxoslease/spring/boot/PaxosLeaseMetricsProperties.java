package io.paxoslease.spring.boot;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the meters.
 *
 * @param maxLeases How many leases have meters of their own. Further ones are counted together.
 */
@ConfigurationProperties("paxoslease.metrics")
public record PaxosLeaseMetricsProperties(
        @DefaultValue("1000") int maxLeases) {}
