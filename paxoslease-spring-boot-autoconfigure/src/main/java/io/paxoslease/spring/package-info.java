/**
 * What applications use with Spring: {@link io.paxoslease.spring.LeaderOnly} on methods that only the leader may run, and the
 * {@link io.paxoslease.spring.LeaseEvent events} of the leases of this node.
 */
@NullMarked
package io.paxoslease.spring;

import org.jspecify.annotations.NullMarked;
