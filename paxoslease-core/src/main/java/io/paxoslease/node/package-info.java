/**
 * The shell around the protocol: {@link io.paxoslease.node.LeaseEngine} decides when to try, extend and wait, still without a clock or a
 * thread; {@link io.paxoslease.node.LeaseNode} owns the clock, the threads and the locks.
 */
@NullMarked
package io.paxoslease.node;

import org.jspecify.annotations.NullMarked;
