package io.paxoslease.spring.boot.actuate;

import io.paxoslease.LeaderElection;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Names;
import java.util.Optional;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/** Shows this node, its cell and its leases, and lets an operator move a leadership. */
@Endpoint(id = "lease")
public final class PaxosLeaseEndpoint {

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

    private final LeaseNode node;
    private final CellView view;

    /**
     * Makes an endpoint.
     *
     * @param node the node
     * @param view the rest of its cell
     */
    public PaxosLeaseEndpoint(LeaseNode node, CellView view) {
        this.node = node;
        this.view = view;
    }

    /** This node and everything it knows. */
    @ReadOperation
    public CellDescriptor cell() {
        return CellDescriptor.of(node, view);
    }

    /**
     * One lease.
     *
     * @param name its name
     * @return the lease, null if this node does not know it
     */
    @ReadOperation
    public @Nullable LeaseDescriptor lease(@Selector String name) {
        return node.lease(name).map(LeaseDescriptor::of).orElse(null);
    }

    /**
     * More about one lease.
     *
     * @param name its name
     * @param part {@code history}: what happened to it on this node
     * @return the history, null if there is none or another part is asked for
     */
    @ReadOperation
    public @Nullable HistoryDescriptor part(@Selector String name, @Selector String part) {
        return part.equals("history")
                ? node.history(name)
                        .map(history -> HistoryDescriptor.of(node, name, history))
                        .orElse(null)
                : null;
    }

    /**
     * Changes this node's candidacy for a lease.
     *
     * @param name the name of the lease
     * @param action {@code resign}, {@code start} or {@code stop}
     * @return the lease right afterwards
     * @throws LeaseActionException if there is no such lease or action, or the action does not fit the lease
     */
    @WriteOperation
    public LeaseDescriptor act(@Selector String name, @Nullable String action) {
        LeaseStatus known = node.lease(name).orElseThrow(() -> unknown(name));
        Optional<LeaderElection> election = node.existingElection(name);
        switch (action == null ? "" : action) {
            case "start" -> {
                requireCandidate(name);
                node.election(name).start();
            }
            case "stop" ->
                election.filter(candidate ->
                                !known.heldHere() || node.startedElections().contains(candidate))
                        .orElseThrow(() -> noElection(name))
                        .stop();
            case "resign" ->
                election.filter(LeaderElection::isLeader)
                        .orElseThrow(() ->
                                election.isEmpty() || known.heldHere() ? noElection(name) : notLeader(name, known))
                        .resign();
            default ->
                throw new LeaseActionException(
                        LeaseActionException.BAD_REQUEST,
                        "The action must be 'resign', 'start' or 'stop', "
                                + (action == null ? "but there is none" : "not '" + action + "'"));
        }
        String line = node.settings().nodeId() + " was told by its endpoint 'lease' to " + action + " '"
                + Names.printable(name) + "'";
        node.log(() -> LOG.info(line));
        LeaseDescriptor lease = lease(name);
        if (lease == null) {
            throw unknown(name);
        }
        return lease;
    }

    private void requireCandidate(String name) {
        if (node.isFailed()) {
            throw new LeaseActionException(
                    LeaseActionException.CONFLICT,
                    "Nobody can seek lease '" + name + "' here: " + PaxosLeaseHealthIndicator.GAVE_UP);
        }
        NodeSettings.LeaseSettings lease = node.settings().leases().get(name);
        if (lease != null && !lease.candidate()) {
            throw new LeaseActionException(
                    LeaseActionException.CONFLICT,
                    "This node may not seek lease '" + name + "': its settings say that it is no candidate");
        }
    }

    private static LeaseActionException unknown(String name) {
        return new LeaseActionException(LeaseActionException.NOT_FOUND, "This node knows no lease '" + name + "'");
    }

    private static LeaseActionException notLeader(String name, LeaseStatus known) {
        return new LeaseActionException(
                LeaseActionException.CONFLICT,
                "This node does not lead '" + name + "', so it has nothing to give up; "
                        + (known.leader() == null
                                ? "it knows of no leader"
                                : "send this to '" + known.leader() + "', which leads as far as it knows"));
    }

    private static LeaseActionException noElection(String name) {
        return new LeaseActionException(
                LeaseActionException.CONFLICT,
                "No election of this node holds lease '" + name
                        + "': code of the application asked for it, and only that code gives it up");
    }
}
