package io.paxoslease.node;

import io.paxoslease.protocol.Request;

/** How requests travel in a simulated cell. */
interface Wire {

    /** A node starts a new life. */
    void boot(Simulation.Life life);

    void send(Simulation.Life from, int acceptor, Request request);

    /** Called after a group of sends. */
    void flush(Simulation.Life from);
}
