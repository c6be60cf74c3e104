package io.paxoslease.test;

import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** In place of connections to the members that are configured. */
final class NoFrameChannel implements FrameChannel {

    @Override
    public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
        return CompletableFuture.failedFuture(new IOException("There is no network in this test"));
    }

    @Override
    public void close() {}
}
