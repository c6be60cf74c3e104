package io.paxoslease.wire;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** Hands frames to the servers of one process; a member without a server refuses the connection. */
final class LocalFrameChannel implements FrameChannel {

    private final Map<String, FrameHandler> servers = new ConcurrentHashMap<>();
    private final Executor executor;

    LocalFrameChannel(Executor executor) {
        this.executor = executor;
    }

    void attach(String member, FrameHandler server) {
        servers.put(member, server);
    }

    @Override
    public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
        FrameHandler server = servers.get(member);
        return server == null
                ? CompletableFuture.failedFuture(new IOException("connection refused"))
                : CompletableFuture.supplyAsync(() -> server.handle(frame, null), executor);
    }

    @Override
    public void close() {}
}
