/**
 * The shell around the protocol: {@link io.paxoslease.node.LeaseEngine} decides when to try, extend and wait, still without a clock or a
 * thread; {@link io.paxoslease.node.NodeLoop} owns the clock, the lock and the timer of a {@link io.paxoslease.node.LeaseNode}.
 */
@NullMarked
package io.paxoslease.node;

import org.jspecify.annotations.NullMarked;
