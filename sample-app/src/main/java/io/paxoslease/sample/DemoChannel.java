package io.paxoslease.sample;

import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Carries frames as another channel does, but for what {@link DemoFaults} says. */
record DemoChannel(String self, FrameChannel channel, DemoFaults faults) implements FrameChannel {

    @Override
    public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
        int delayMillis = faults.delayMillis();
        return later(
                        delayMillis,
                        () -> faults.delivers(self, member)
                                ? channel.exchange(member, frame, timeoutNanos)
                                : lost(timeoutNanos))
                .thenCompose(reply -> later(
                        delayMillis,
                        () -> faults.delivers(member, self)
                                ? CompletableFuture.completedFuture(reply)
                                : lost(timeoutNanos)));
    }

    private static CompletionStage<FrameReply> later(int millis, Supplier<CompletionStage<FrameReply>> step) {
        if (millis == 0) {
            return step.get();
        }
        Executor delayed = CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS);
        return CompletableFuture.supplyAsync(step, delayed).thenCompose(stage -> stage);
    }

    /** A frame that is lost is noticed when its time is over, not before. */
    private static CompletableFuture<FrameReply> lost(long timeoutNanos) {
        CompletableFuture<FrameReply> reply = new CompletableFuture<>();
        CompletableFuture.delayedExecutor(timeoutNanos, TimeUnit.NANOSECONDS)
                .execute(() -> reply.completeExceptionally(new IOException("the network is cut (demo)")));
        return reply;
    }

    @Override
    public void close() {
        channel.close();
    }
}
