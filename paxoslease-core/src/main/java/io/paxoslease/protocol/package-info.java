/**
 * PaxosLease: how the instances of an application agree, without a disk, on who owns a lease for a while.
 *
 * <h2>The problem</h2>
 *
 * <p>At most one process may act as the owner of a named resource at any instant, although messages are lost, duplicated, reordered and
 * delayed, processes stop and restart with an empty memory, and no two clocks agree.
 *
 * <h2>The idea</h2>
 *
 * <p>An {@linkplain io.paxoslease.protocol.Acceptor acceptor} that accepts a proposal excludes every other owner for a time T on its own
 * clock, and a restarted one stays silent for longer than any such exclusion. A {@linkplain io.paxoslease.protocol.Proposer proposer} that
 * got a majority of acceptors to exclude all others may act until a deadline that it stored <em>before it sent its first message</em>, a
 * little less than T away. Any two majorities share an acceptor, and that one keeps the two owners apart in time.
 *
 * <h2>The rules</h2>
 *
 * <p>Comments cite rule ids; {@code docs/protocol.md} lists them all with the methods and tests.
 *
 * <ul>
 *   <li>P1 to P6, the proposer: start, collect, propose, win, abandon and retry, release.
 *   <li>A1 to A4, the acceptor: prepare, propose, release, restart.
 *   <li>T1 to T4, time: deadlines are data; the owner stops first; the quarantine; counters are lifted.
 *   <li>X1 to X11, what this implementation adds to the published protocol.
 * </ul>
 *
 * <p><strong>The pseudocode of the 2012 paper can give two owners at once.</strong> It restarts the owner's clock at the prepare majority and lets
 * acceptors overwrite a live lease. Both are repaired here; the tests keep the broken variants and show how they fail.
 *
 * <h2>Reading order</h2>
 *
 * <ol>
 *   <li>{@link io.paxoslease.protocol.Now} and {@link io.paxoslease.protocol.Deadline}: time is an argument.
 *   <li>{@link io.paxoslease.protocol.Incarnation}, {@link io.paxoslease.protocol.Ballot}, {@link io.paxoslease.protocol.Message}: the words.
 *   <li>{@link io.paxoslease.protocol.Acceptor}: A2 is the heart of the safety proof.
 *   <li>{@link io.paxoslease.protocol.Proposer}: one attempt from P1 to P4.
 *   <li>{@link io.paxoslease.protocol.Effect} and {@link io.paxoslease.protocol.Outcome}: what comes out.
 * </ol>
 *
 * <p>The other half of the package is the memory of the two roles, {@link io.paxoslease.protocol.AcceptorTable} and
 * {@link io.paxoslease.protocol.HeldLeases}, in few bytes for each lease, because there may be millions. What they are made of,
 * {@link io.paxoslease.protocol.ResourceIndex} and the columns, decides nothing and can be left for later.
 *
 * <p>Nothing in this package reads a clock, starts a thread, draws a random number or does I/O.
 */
@NullMarked
package io.paxoslease.protocol;

import org.jspecify.annotations.NullMarked;
