package io.paxoslease.spring.boot.transport;

/**
 * Runs what a handshake has to calculate, or to ask somebody for: perhaps over the network, whether a certificate was revoked. Safe to use from any
 * thread.
 */
interface Calculator {

    /**
     * Runs a calculation, at once or later, and then what gives the stream back to its owner. May reject both, but must not drop one.
     *
     * @throws java.util.concurrent.RejectedExecutionException if too many go on
     */
    void run(Runnable calculation, Runnable giveBack);
}
