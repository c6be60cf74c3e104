/**
 * What applications use: {@link io.paxoslease.LeaseManager}, {@link io.paxoslease.LeaderElection} and
 * {@link io.paxoslease.Lease}. Everything else is behind them.
 */
@NullMarked
package io.paxoslease;

import org.jspecify.annotations.NullMarked;
