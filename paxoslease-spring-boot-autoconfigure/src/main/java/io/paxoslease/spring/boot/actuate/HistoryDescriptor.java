package io.paxoslease.spring.boot.actuate;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.paxoslease.node.HistoryEvent;
import io.paxoslease.node.LeaseHistory;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Now;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the endpoint {@code lease} answers about the past of one lease on this node, as {@code HistoryChecker} reads it. The names of the
 * components are the JSON format.
 *
 * @param node the id of this node
 * @param incarnation this life of it
 * @param cell the name of the cell
 * @param members the acceptors of the cell
 * @param lease the name of the lease
 * @param clock tells monotonic clocks apart: nodes with the same value read the same one; null if that is unknown
 * @param at when this was answered
 * @param dropped how many events were forgotten because they were the oldest
 * @param events what happened, the oldest first
 */
@JsonInclude(JsonInclude.Include.ALWAYS)
public record HistoryDescriptor(
        String node,
        String incarnation,
        String cell,
        List<String> members,
        String lease,
        @Nullable String clock,
        Time at,
        long dropped,
        List<Event> events) {

    /**
     * An instant on both clocks of this node.
     *
     * @param monotonic the time on the monotonic clock since its origin, which is arbitrary
     * @param wall the time on the wall clock
     */
    public record Time(String monotonic, String wall) {

        static Time of(Now now) {
            return of(now.nanos(), now.wallMillis());
        }

        static @Nullable Time ofNullable(@Nullable Deadline deadline) {
            return deadline == null ? null : of(deadline.nanos(), deadline.wallMillis());
        }

        private static Time of(long nanos, long wallMillis) {
            return new Time(
                    Duration.ofNanos(nanos).toString(),
                    Instant.ofEpochMilli(wallMillis).toString());
        }
    }

    /**
     * Something that happened, once or several times in a row.
     *
     * @param kind {@code ACQUIRED}, {@code EXTENDED}, {@code EXTENSION_FAILED}, {@code LOST}, {@code RELEASED}, {@code ATTEMPT_FAILED} or {@code
     *     LEADER_CHANGED}
     * @param count how often in a row
     * @param firstAt when it happened first in the row
     * @param at when it happened last in the row
     * @param fencingToken the token of the tenure, 0 where there is none
     * @param heldUntil the end of this node's authority as it was known then, null where there is none
     * @param leader the node that is said to lead since then, null if none is or it is not about that
     * @param reason why it failed, null if it did not
     * @param rejectedBy the acceptors that said no
     */
    @JsonInclude(JsonInclude.Include.ALWAYS)
    public record Event(
            String kind,
            long count,
            Time firstAt,
            Time at,
            long fencingToken,
            @Nullable Time heldUntil,
            @Nullable String leader,
            @Nullable String reason,
            List<String> rejectedBy) {

        static Event of(HistoryEvent event) {
            return new Event(
                    event.kind().name(),
                    event.count(),
                    Time.of(event.first()),
                    Time.of(event.last()),
                    event.fencingToken(),
                    Time.ofNullable(event.heldUntil()),
                    event.leader(),
                    event.reason(),
                    event.rejectedBy());
        }
    }

    static HistoryDescriptor of(LeaseNode node, String lease, LeaseHistory.Snapshot history) {
        return new HistoryDescriptor(
                node.settings().nodeId(),
                node.incarnation().toString(),
                node.settings().cell().name(),
                node.settings().cell().acceptors(),
                lease,
                MachineClock.id(),
                Time.of(history.at()),
                history.dropped(),
                history.events().stream().map(Event::of).toList());
    }
}
