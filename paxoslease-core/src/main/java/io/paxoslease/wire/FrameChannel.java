package io.paxoslease.wire;

import java.util.concurrent.CompletionStage;

/**
 * Port: carries one frame to a member and brings its answer back, for example as one HTTP POST.
 *
 * <p>A node has up to four exchanges with one member under way at once, which may overtake each other.
 *
 * <p>Failure semantics first. An exchange may fail, time out, or be carried out although it seems to have failed; frames may be delivered
 * twice. {@link #exchange} must not block and must not throw; every stage it returns completes, at the latest shortly after its time limit. The
 * thread that completes a stage also handles the answer, which is short and does not block.
 */
public interface FrameChannel extends AutoCloseable {

    /**
     * Sends a frame to a member.
     *
     * @param member the node id of the member
     * @param frame the frame, not changed afterwards by anybody
     * @param timeoutNanos after how long the exchange fails
     * @return the member's reply, or exceptionally an {@link java.io.IOException} whose message says in words what was wrong
     */
    CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos);

    /** Closes all connections; exchanges under way fail. Called again, where the container closes it too, it does nothing. */
    @Override
    void close();
}
