package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Tenure;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a lease on this node, once or several times in a row with nothing else between.
 *
 * @param kind what happened
 * @param count how often in a row, from 1
 * @param first this node's clocks when it happened first in the row
 * @param last this node's clocks when it happened last in the row; all that follows is about that time
 * @param fencingToken the token of the tenure, 0 where there is none
 * @param heldUntil for {@link Kind#ACQUIRED}, {@link Kind#EXTENDED}, {@link Kind#EXTENSION_FAILED} and {@link Kind#LOST} the end of the
 *     tenure's authority as it was known then, else null
 * @param leader for {@link Kind#LEADER_CHANGED} the node that leads now, as a hint, null if nobody is known to
 * @param reason for the failures why, else null
 * @param rejectedBy for the failures the acceptors that said no; those that did not answer are not among them
 */
public record HistoryEvent(
        Kind kind,
        long count,
        Now first,
        Now last,
        long fencingToken,
        @Nullable Deadline heldUntil,
        @Nullable String leader,
        @Nullable String reason,
        List<String> rejectedBy) {

    /** The kinds of events. */
    public enum Kind {
        /** This node became the owner. */
        ACQUIRED,
        /** This node's tenure got a later deadline. */
        EXTENDED,
        /** An extension failed; the tenure goes on. */
        EXTENSION_FAILED,
        /** This node's tenure expired; noticed at this time, and over since {@code heldUntil} at the latest. */
        LOST,
        /** This node gave its tenure up. */
        RELEASED,
        /** This node tried to become the owner and did not. */
        ATTEMPT_FAILED,
        /** A hint: another node leads, or nobody is known to. */
        LEADER_CHANGED
    }

    public HistoryEvent {
        rejectedBy = List.copyOf(rejectedBy);
    }

    private static HistoryEvent of(Kind kind, Now now, Tenure tenure, @Nullable Deadline heldUntil) {
        return new HistoryEvent(kind, 1, now, now, tenure.token(), heldUntil, null, null, List.of());
    }

    private static HistoryEvent of(Kind kind, Now now, Tenure tenure) {
        return of(kind, now, tenure, tenure.deadline());
    }

    /** What a notice says, null if it says nothing about a lease. */
    static @Nullable HistoryEvent of(Notice notice, Now now, Cell cell) {
        if (notice instanceof Notice.Acquired acquired) {
            return of(Kind.ACQUIRED, now, acquired.tenure());
        } else if (notice instanceof Notice.Extended extended) {
            return of(Kind.EXTENDED, now, extended.tenure());
        } else if (notice instanceof Notice.ExtensionFailed failure) {
            return new HistoryEvent(
                    Kind.EXTENSION_FAILED,
                    1,
                    now,
                    now,
                    failure.tenure().token(),
                    failure.tenure().deadline(),
                    null,
                    failure.reason(),
                    names(failure.rejectedBy(), cell));
        } else if (notice instanceof Notice.Lost lost) {
            return of(Kind.LOST, now, lost.tenure());
        } else if (notice instanceof Notice.Released released) {
            return of(Kind.RELEASED, now, released.tenure(), null);
        } else if (notice instanceof Notice.LeaderChanged changed) {
            Incarnation leader = changed.leader();
            return new HistoryEvent(
                    Kind.LEADER_CHANGED,
                    1,
                    now,
                    now,
                    0,
                    null,
                    leader == null ? null : leader.nodeId(),
                    null,
                    List.of());
        }
        return null;
    }

    static HistoryEvent of(Output.FailedAttempt failure, Now now, Cell cell) {
        return new HistoryEvent(
                Kind.ATTEMPT_FAILED, 1, now, now, 0, null, null, failure.reason(), names(failure.rejectedBy(), cell));
    }

    private static List<String> names(long acceptors, Cell cell) {
        List<String> names = new ArrayList<>(Long.bitCount(acceptors));
        for (int i = 0; i < cell.size(); i++) {
            if ((acceptors >>> i & 1) != 0) {
                names.add(cell.acceptors().get(i));
            }
        }
        return names;
    }

    /** Whether the other event, which came next, says the same as this one. Only what comes in numbers is put together. */
    boolean isRepeatedBy(HistoryEvent next) {
        return (kind == Kind.EXTENDED || kind == Kind.EXTENSION_FAILED || kind == Kind.ATTEMPT_FAILED)
                && kind == next.kind
                && fencingToken == next.fencingToken
                && Objects.equals(reason, next.reason)
                && rejectedBy.equals(next.rejectedBy);
    }

    /** This event and the one that came next, which says the same. */
    HistoryEvent and(HistoryEvent next) {
        return new HistoryEvent(
                kind, count + next.count, first, next.last, fencingToken, next.heldUntil, leader, reason, rejectedBy);
    }

    /** Whether the lease was held here right after this event, which it was before or not. */
    boolean leavesHeld(boolean before) {
        return switch (kind) {
            case ACQUIRED, EXTENDED, EXTENSION_FAILED -> true;
            case LOST, RELEASED -> false;
            default -> before;
        };
    }
}
