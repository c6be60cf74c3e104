/**
 * How {@link io.paxoslease.spring.LeaderOnly} works: {@link io.paxoslease.spring.interception.LeaderOnlyBeanPostProcessor} finds
 * the methods and proxies their beans, {@link io.paxoslease.spring.interception.FirstLook} sees beans before others can hide them from it,
 * {@code GuardCheck} refuses what that would not guard, {@code LeaderOnlyInterceptor} asks
 * {@link io.paxoslease.spring.interception.GuardedLeases} at each call, {@code ReactiveGate} does so at each subscription.
 */
@NullMarked
package io.paxoslease.spring.interception;

import org.jspecify.annotations.NullMarked;
