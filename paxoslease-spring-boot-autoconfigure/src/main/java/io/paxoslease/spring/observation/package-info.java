/** Observations of guarded calls and of attempts to acquire or extend leases, if Micrometer Observation is there. */
@NullMarked
package io.paxoslease.spring.observation;

import org.jspecify.annotations.NullMarked;
