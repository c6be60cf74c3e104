/** Quartz on leases: {@link io.paxoslease.spring.quartz.PaxosLeaseTriggerListener}. */
@NullMarked
package io.paxoslease.spring.quartz;

import org.jspecify.annotations.NullMarked;
