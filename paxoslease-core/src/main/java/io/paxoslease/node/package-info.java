/**
 * The shell around the protocol: {@link io.paxoslease.node.LeaseEngine} decides when to try, extend and wait, still without a clock or a
 * thread; {@link io.paxoslease.node.NodeLoop} owns the clock, the lock and the timer of a {@link io.paxoslease.node.LeaseNode}.
 *
 * <ul>
 *   <li>To decide: the engine finds the {@link io.paxoslease.node.Candidacy} that an event is about, and
 *       {@link io.paxoslease.node.Campaigner} leads it through its life. {@link io.paxoslease.node.Patience} says how long to wait,
 *       {@link io.paxoslease.node.Majority} whom to ask.
 *   <li>To perform: {@link io.paxoslease.node.LocalAcceptor} answers this node and, through {@link io.paxoslease.node.PeerRequests}, the
 *       others. {@link io.paxoslease.node.Transport} reaches them.
 *   <li>To tell: {@link io.paxoslease.node.News} makes of each {@link io.paxoslease.node.Notice} what users wait for or listen to, and
 *       {@link io.paxoslease.node.Dispatcher} calls them.
 *   <li>To hold very many: a lease that needs nothing for now has no objects. {@link io.paxoslease.node.ParkedLeases} and the classes that
 *       are named alike can be left for later: what becomes of a lease does not depend on them.
 * </ul>
 */
@NullMarked
package io.paxoslease.node;

import org.jspecify.annotations.NullMarked;
