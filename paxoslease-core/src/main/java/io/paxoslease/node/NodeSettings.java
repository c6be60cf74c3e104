package io.paxoslease.node;

import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Names;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.Map;

/**
 * What a node is told when it is made.
 *
 * @param nodeId the id of this node; an acceptor if the cell lists it, else proposer-only
 * @param cell the acceptors
 * @param timing the bounds of the cell
 * @param leaseTime T of elections that have no setting of their own
 * @param roundTimeout how long one network round may take at most
 * @param standalone whether the cell lives and dies with this process, so that its acceptor needs no quarantine
 * @param oneRoundTrip whether proposals may be sent without preparing where no rival is known of (X8)
 * @param maxResources how many resources this node's acceptor remembers at most
 * @param leases settings of single leases by name
 */
public record NodeSettings(
        String nodeId,
        Cell cell,
        Timing timing,
        Duration leaseTime,
        Duration roundTimeout,
        boolean standalone,
        boolean oneRoundTrip,
        int maxResources,
        Map<String, LeaseSettings> leases) {

    /**
     * What is set for one lease.
     *
     * @param leaseTime T
     * @param candidate whether this node may seek the lease
     * @param priority from 0 to 10: how early this node tries for a lease that became free, compared to others
     */
    public record LeaseSettings(Duration leaseTime, boolean candidate, int priority) {

        /** The priority of candidates that do not stand back for others. */
        public static final int HIGHEST_PRIORITY = 10;

        public LeaseSettings {
            if (priority < 0 || priority > HIGHEST_PRIORITY) {
                throw new IllegalArgumentException(
                        "The priority must be from 0 to " + HIGHEST_PRIORITY + ", not " + priority);
            }
        }
    }

    private static final int BYTES_PER_RESOURCE = 400;

    public NodeSettings {
        Names.require("node id", nodeId, 255);
        timing.requireLeaseTime(leaseTime.toNanos());
        if (roundTimeout.isNegative() || roundTimeout.isZero()) {
            throw new IllegalArgumentException("The round timeout must be more than zero, not " + roundTimeout);
        }
        if (standalone && (cell.size() != 1 || cell.indexOf(nodeId) != 0)) {
            throw new IllegalArgumentException(
                    "A standalone cell has its own node as its only acceptor, not " + cell.acceptors());
        }
        leases = Map.copyOf(leases);
        leases.forEach((name, lease) -> {
            Names.require("lease name", name, Names.MAX_RESOURCE_BYTES);
            timing.requireLeaseTime(lease.leaseTime().toNanos());
        });
    }

    /** Settings of a cell of one that lives and dies with this process. */
    public static NodeSettings standalone(String nodeId, Duration leaseTime) {
        return new NodeSettings(
                nodeId,
                new Cell("default", java.util.List.of(nodeId)),
                new Timing(leaseTime.toNanos(), 0.01),
                leaseTime,
                Duration.ofSeconds(1),
                true,
                true,
                defaultMaxResources(),
                Map.of());
    }

    /** As many resources as fit in a quarter of the largest heap that this process may have. */
    public static int defaultMaxResources() {
        return (int) Math.min(1 << 26, Runtime.getRuntime().maxMemory() / 4 / BYTES_PER_RESOURCE);
    }

    /** The settings of a lease, those of the node where it has none of its own. */
    LeaseSettings lease(String name) {
        LeaseSettings own = leases.get(name);
        return own == null ? new LeaseSettings(leaseTime, true, LeaseSettings.HIGHEST_PRIORITY) : own;
    }
}
