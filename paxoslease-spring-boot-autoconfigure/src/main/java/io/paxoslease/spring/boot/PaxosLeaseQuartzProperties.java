package io.paxoslease.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Settings of leader election for Quartz.
 *
 * @param lease Name of the lease whose leader runs the jobs of all schedulers of this application. By default jobs run everywhere. Not for
 *     schedulers that share a job store.
 */
@ConfigurationProperties("paxoslease.quartz")
public record PaxosLeaseQuartzProperties(@Nullable String lease) {}
