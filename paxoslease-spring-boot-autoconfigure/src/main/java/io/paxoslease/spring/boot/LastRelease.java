package io.paxoslease.spring.boot;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/** Stops last, when nothing is at work any more that could use a lease which code acquired itself, as web requests and listeners of messages do. */
final class LastRelease implements SmartLifecycle {

    /** No dependency: of two lifecycles the one that depends on the other stops first, whatever their phases are. */
    private final ObjectProvider<PaxosLeaseLifecycle> lifecycle;

    private volatile boolean running;

    LastRelease(ObjectProvider<PaxosLeaseLifecycle> lifecycle) {
        this.lifecycle = lifecycle;
    }

    @Override
    public int getPhase() {
        return Integer.MIN_VALUE;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        lifecycle.getObject().releaseRest();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
