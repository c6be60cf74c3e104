package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Incarnation;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds out who answers at this node's own address, once a second until it is this node. If it is another process, that one has the id of this node, and
 * both would vote as one member. Safe to use from any thread.
 */
final class OwnAddress {

    private static final long EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Incarnation self;
    private final WireSettings settings;
    private long sequence;
    private long nextNanos;
    private boolean reached;

    OwnAddress(Incarnation self, WireSettings settings, long nowNanos) {
        this.self = self;
        this.settings = settings;
        this.nextNanos = nowNanos;
    }

    /** The next question; null if none is due. */
    synchronized @Nullable RequestFrame ask(long nowNanos) {
        if (quietNanos(nowNanos) > 0) {
            return null;
        }
        nextNanos = nowNanos + EVERY_NANOS;
        return RequestFrame.hello(settings, self, self.nodeId(), 0, ++sequence);
    }

    /** How long no question is due. */
    synchronized long quietNanos(long nowNanos) {
        return reached ? Long.MAX_VALUE : nextNanos - nowNanos;
    }

    /**
     * Notes an answer under this node's id. Whether it comes from another process that is this member, too, also if it does not vote yet: it is the one
     * that the others reach.
     */
    synchronized boolean isOfOtherMember(AnswerFrame answer) {
        reached |= answer.sender().equals(self);
        return !answer.sender().equals(self)
                && answer.cell().equals(settings.cell().name())
                && answer.acceptor() != AcceptorState.NONE;
    }
}
