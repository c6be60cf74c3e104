/**
 * <a href="https://github.com/lukas-krecan/ShedLock">ShedLock</a> on leases: {@link io.paxoslease.spring.shedlock.PaxosLeaseLockProvider}.
 */
@NullMarked
package io.paxoslease.spring.shedlock;

import org.jspecify.annotations.NullMarked;
