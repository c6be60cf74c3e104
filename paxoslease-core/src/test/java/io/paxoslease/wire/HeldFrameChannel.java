package io.paxoslease.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Keeps every exchange until the test says how it ends. */
final class HeldFrameChannel implements FrameChannel {

    /** An exchange under way. */
    record Held(String member, byte[] frame, long timeoutNanos, CompletableFuture<FrameReply> reply) {

        RequestFrame decoded() {
            try {
                return FrameCodec.decodeRequest(frame, sender -> sender);
            } catch (MalformedFrameException malformed) {
                throw new AssertionError(malformed);
            }
        }
    }

    private final List<Held> held = new ArrayList<>();
    int exchanges;
    boolean closed;

    /** The exchange with a member that is under way. */
    Held underWay(String member) {
        return held.stream()
                .filter(exchange -> exchange.member().equals(member))
                .findFirst()
                .orElseThrow(() -> new AssertionError("Nothing is under way to " + member));
    }

    boolean isIdle(String member) {
        return held.stream().noneMatch(exchange -> exchange.member().equals(member));
    }

    /** Takes out the exchange with a member that is under way, for the test to end. */
    Held take(String member) {
        Held exchange = underWay(member);
        held.remove(exchange);
        return exchange;
    }

    @Override
    public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
        exchanges++;
        Held exchange = new Held(member, frame, timeoutNanos, new CompletableFuture<>());
        held.add(exchange);
        return exchange.reply();
    }

    @Override
    public void close() {
        closed = true;
    }
}
