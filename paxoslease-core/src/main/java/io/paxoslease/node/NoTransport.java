package io.paxoslease.node;

import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;

/** The transport of a cell of one: there is nobody to send to. */
public final class NoTransport implements Transport {

    @Override
    public void start(Incarnation self, Receiver receiver) {}

    @Override
    public void send(int acceptor, Request request) {
        throw new IllegalStateException("A cell of one has no acceptor " + acceptor + " to send to");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
}
