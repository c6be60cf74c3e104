/**
 * Spring Integration on leases: {@link io.paxoslease.spring.integration.PaxosLeaseLockRegistry} and, for leader election,
 * {@link io.paxoslease.spring.integration.PaxosLeaseLeaderInitiator}.
 */
@NullMarked
package io.paxoslease.spring.integration;

import org.jspecify.annotations.NullMarked;
