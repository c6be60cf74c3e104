package io.paxoslease.spring.boot.actuate;

import io.paxoslease.node.AcceptorStatus;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Whether this node can take part in leases. Leading has nothing to do with it.
 *
 * <ul>
 *   <li>{@code DOWN} without a reachable majority, if this node and another refuse each other because their settings do not fit, if two
 *       processes use one node id, or if this node gave up because of a defect
 *   <li>otherwise {@code OUT_OF_SERVICE} while its acceptor is quarantined
 *   <li>otherwise {@code UP}
 * </ul>
 */
public final class PaxosLeaseHealthIndicator extends AbstractHealthIndicator {

    /** What is to be told of a node that failed. */
    static final String GAVE_UP = "this node gave up all its leases because of a defect; restart it";

    private static final int MOST_IN_REASON = 3;

    private final LeaseNode node;
    private final CellView view;

    /**
     * Makes an indicator.
     *
     * @param node the node
     * @param view the rest of its cell
     */
    public PaxosLeaseHealthIndicator(LeaseNode node, CellView view) {
        super("The health of PaxosLease could not be told");
        this.node = node;
        this.view = view;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        AcceptorStatus acceptor = node.acceptorStatus();
        Reachability cell = Reachability.of(node, view);
        List<String> problems = view.problems();
        if (node.isFailed()) {
            health.down().withDetail("reason", GAVE_UP);
        } else if (!cell.refused().isEmpty() || !problems.isEmpty()) {
            health.down().withDetail("reason", reason(cell.refused(), problems));
        } else if (!cell.hasMajority()) {
            health.down()
                    .withDetail(
                            "reason",
                            "no majority is reachable: " + cell.reachable() + " of " + acceptors() + " acceptors, "
                                    + cell.majority() + " are needed");
        } else if (acceptor.state() == AcceptorState.QUARANTINED) {
            health.outOfService()
                    .withDetail(
                            "reason",
                            node.standsAsideFor().orElse("this node's acceptor is quarantined after its start"));
        } else {
            health.up();
        }
        health.withDetail("node", node.settings().nodeId())
                .withDetail("cell", node.settings().cell().name())
                .withDetail("acceptor", acceptor.state().name())
                .withDetail("acceptors", acceptors())
                .withDetail("majority", cell.majority())
                .withDetail("reachable", cell.reachable())
                .withDetail("voting", cell.voting());
        if (acceptor.state() == AcceptorState.QUARANTINED) {
            health.withDetail("quarantineRemaining", Iso.millis(acceptor.quarantineRemaining()));
        }
        if (!cell.unreachable().isEmpty()) {
            health.withDetail("unreachable", cell.unreachable());
        }
        if (!cell.refused().isEmpty()) {
            health.withDetail("refused", cell.refused());
        }
        if (!problems.isEmpty()) {
            health.withDetail("problems", problems);
        }
    }

    /** What is wrong, in the words that the other details have for it; some of it if that is much. */
    private static String reason(Map<String, String> refused, List<String> problems) {
        return Stream.concat(
                        refused.entrySet().stream().map(member -> member.getKey() + ": " + member.getValue()),
                        problems.stream())
                .distinct()
                .limit(MOST_IN_REASON)
                .collect(Collectors.joining("; "));
    }

    private int acceptors() {
        return node.settings().cell().size();
    }
}
