package io.paxoslease;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The entry point of an application to leases and leader elections of its cell.
 *
 * <p>All methods are safe to call from any thread. A lease name is 1 to 255 bytes of UTF-8 and denotes one independent
 * lease in the whole cell. Within one node a name has one user at a time: an election that leads, or a lease taken with
 * {@code tryAcquire} or {@code acquire}. Leases are not reentrant.
 *
 * <p>Leases from {@code tryAcquire} and {@code acquire} end at their lease time unless {@link Lease#extend()} or
 * {@link Lease#autoExtend()} is called. The usable time is a little shorter than what was asked for, because an owner stops
 * before its acceptors do whatever their clocks' rates (rule T2).
 */
public interface LeaseManager {

    /**
     * The standing candidacy of this node for a lease; extended for as long as this node leads. It is kept for as long as this node lives, started
     * or not: where there is a name for each order, for example, take {@link #tryAcquire(String, Duration)}.
     *
     * @param leaseName the name of the lease
     * @return the election, the same object for the same name; it does not run before {@link LeaderElection#start()}
     * @throws IllegalArgumentException if the name is empty or longer than 255 bytes
     */
    LeaderElection election(String leaseName);

    /**
     * Tries once to take a lease and does not wait for others to give it up. Blocks for at most a few network rounds; an
     * interrupt ends the attempt and stays set.
     *
     * @param name the name of the lease
     * @param time how long others are excluded, from 10 ms to the cell's maximum lease time
     * @return the lease, or empty if another owner has it, no majority answered or this thread was interrupted
     * @throws IllegalArgumentException if the name or the time is out of range
     */
    Optional<Lease> tryAcquire(String name, Duration time);

    /**
     * Takes a lease, waiting for another owner to release it or to let it expire.
     *
     * @param name the name of the lease
     * @param time how long others are excluded, from 10 ms to the cell's maximum lease time
     * @param maxWait how long to wait at most; with zero or less the cell is asked once, as by {@link #tryAcquire(String, Duration)}
     * @return the lease, held when this method returns unless it expired in between
     * @throws InterruptedException if the thread was interrupted before or while it waited; no lease is held then
     * @throws LeaseUnavailableException if the lease could not be had within {@code maxWait}
     * @throws IllegalArgumentException if the name or the time is out of range
     */
    Lease acquire(String name, Duration time, Duration maxWait) throws InterruptedException, LeaseUnavailableException;

    /**
     * Like {@link #tryAcquire(String, Duration)} without blocking. Whoever cancels the stage, or completes it otherwise, ends the attempt; a lease
     * that was acquired already is released.
     *
     * @param name the name of the lease
     * @param time how long others are excluded, from 10 ms to the cell's maximum lease time
     * @return a stage that completes with the lease or empty, on a thread that may run application code; it never completes
     *     exceptionally because of the network
     * @throws IllegalArgumentException if the name or the time is out of range
     */
    CompletionStage<Optional<Lease>> tryAcquireAsync(String name, Duration time);
}
