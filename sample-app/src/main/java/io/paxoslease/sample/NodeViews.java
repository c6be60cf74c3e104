package io.paxoslease.sample;

import io.paxoslease.node.HistoryEvent;
import io.paxoslease.node.LeaseHistory;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Now;
import io.paxoslease.spring.boot.actuate.CellDescriptor;
import io.paxoslease.spring.boot.actuate.HistoryDescriptor;
import io.paxoslease.spring.boot.actuate.PaxosLeaseEndpoint;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.stereotype.Component;

/** Makes what the page shows of one node. */
@Component
class NodeViews {

    private static final int TENURES_PER_LEASE = 8;

    private final LeaseNode node;
    private final PaxosLeaseEndpoint endpoint;
    private final GuardedRuns runs;
    private final ObjectProvider<MessageTrace> trace;

    NodeViews(
            LeaseNode node,
            ObjectProvider<PaxosLeaseEndpoint> endpoint,
            GuardedRuns runs,
            ObjectProvider<MessageTrace> trace) {
        this.node = node;
        this.endpoint = endpoint.getObject();
        this.runs = runs;
        this.trace = trace;
    }

    /**
     * What one node says.
     *
     * @param lease what its actuator endpoint answers
     * @param tenures its last tenures
     * @param runs its last guarded runs
     * @param clock tells monotonic clocks apart, see the history in the actuator endpoint; null if unknown
     * @param rounds the messages of its last rounds, empty outside of the demo cell
     */
    record View(
            CellDescriptor lease,
            List<TenureView> tenures,
            List<GuardedRuns.Summary> runs,
            @Nullable String clock,
            List<MessageTrace.Round> rounds) {}

    /**
     * One tenure: from its beginning to its end, or to this moment if it goes on. Nanoseconds are those of {@link System#nanoTime()}, which in
     * this process, and on Linux on the whole machine, is one clock; they begin the tenure late and end it early, never the other way.
     *
     * @param lease the name of the lease
     * @param incarnation who held it
     * @param token the fencing token
     * @param fromNanos when it was held for certain first
     * @param untilNanos when it was held for certain last
     * @param fromMillis the beginning by the wall clock
     * @param untilMillis the end by the wall clock
     * @param extensions how often it was extended
     * @param end {@code LOST}, {@code RELEASED}, or null if it goes on
     */
    record TenureView(
            String lease,
            String incarnation,
            long token,
            String fromNanos,
            String untilNanos,
            long fromMillis,
            long untilMillis,
            long extensions,
            @Nullable String end) {}

    View view() {
        List<TenureView> tenures = new ArrayList<>();
        String clock = null;
        for (String lease : node.leases().keySet()) {
            HistoryDescriptor told = endpoint.part(lease, "history");
            clock = told == null ? clock : told.clock();
            node.history(lease).ifPresent(history -> {
                List<TenureView> all = tenures(lease, history);
                tenures.addAll(all.subList(Math.max(0, all.size() - TENURES_PER_LEASE), all.size()));
            });
        }
        List<MessageTrace.Round> rounds = new ArrayList<>();
        trace.ifAvailable(messages -> rounds.addAll(messages.rounds()));
        return new View(endpoint.cell(), tenures, runs.last(), clock, rounds);
    }

    private List<TenureView> tenures(String lease, LeaseHistory.Snapshot history) {
        Map<Long, TenureView> tenures = new LinkedHashMap<>();
        for (HistoryEvent event : history.events()) {
            if (event.fencingToken() > 0) {
                tenures.compute(event.fencingToken(), (token, known) -> after(lease, event, history.at(), known));
            }
        }
        return List.copyOf(tenures.values());
    }

    private TenureView after(String lease, HistoryEvent event, Now at, @Nullable TenureView known) {
        Now from = event.first();
        Now end = event.last();
        Deadline deadline = event.heldUntil();
        boolean open = event.kind() != HistoryEvent.Kind.LOST && event.kind() != HistoryEvent.Kind.RELEASED;
        Now until = open ? at : end;
        if (deadline != null && until.hasReached(deadline.nanos())) {
            until = new Now(deadline.nanos(), deadline.wallMillis());
        }
        long more = event.kind() == HistoryEvent.Kind.EXTENDED ? event.count() : 0;
        return new TenureView(
                lease,
                node.incarnation().toString(),
                event.fencingToken(),
                known == null ? Long.toString(from.nanos()) : known.fromNanos(),
                Long.toString(until.nanos()),
                known == null ? from.wallMillis() : known.fromMillis(),
                until.wallMillis(),
                known == null ? more : known.extensions() + more,
                open ? null : event.kind().name());
    }
}
