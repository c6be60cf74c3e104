/** Observations of guarded calls, if Micrometer Observation is there. */
@NullMarked
package io.paxoslease.spring.observation;

import org.jspecify.annotations.NullMarked;
