package io.paxoslease.spring.interception;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many guarded calls run, and who waits for their end. Those that the waiting thread itself is in do not count: one that closes the context
 * would wait for itself. Safe to use from any thread.
 */
final class CallsInFlight {

    private final AtomicInteger count = new AtomicInteger();
    private final ThreadLocal<Integer> ofThisThread = new ThreadLocal<>();
    private final List<Waiting> waiting = new CopyOnWriteArrayList<>();

    /** Who waits until only so many calls run. */
    private record Waiting(int own, CompletableFuture<Void> idle) {}

    int count() {
        return count.get();
    }

    /** One more. */
    void begin() {
        count.incrementAndGet();
    }

    /** One less. */
    void end() {
        int left = count.decrementAndGet();
        if (!waiting.isEmpty()) {
            completeWaiting(left);
        }
    }

    /** The current thread is in a call from now on. */
    void enter() {
        ofThisThread.set(own() + 1);
    }

    /** The current thread is out of the call that it entered last. */
    void exit() {
        int own = own() - 1;
        if (own > 0) {
            ofThisThread.set(own);
        } else {
            ofThisThread.remove();
        }
    }

    private int own() {
        Integer own = ofThisThread.get();
        return own == null ? 0 : own;
    }

    /** A stage that completes when no call runs, on the thread of the last one or, if none runs now, at once. */
    CompletionStage<Void> whenIdle() {
        CompletableFuture<Void> idle = new CompletableFuture<>();
        waiting.add(new Waiting(own(), idle));
        completeWaiting(count.get());
        return idle.minimalCompletionStage();
    }

    private void completeWaiting(int running) {
        for (Waiting each : waiting) {
            if (running <= each.own()) {
                waiting.remove(each);
                each.idle().complete(null);
            }
        }
    }
}
