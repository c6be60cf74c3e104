package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseListener;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.protocol.Names;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Logs every change of state once, in words that a person on call understands. Of leases without an election, which code may take and give back
 * all the time, only what went wrong is above debug. A log that blocks keeps no other listener from hearing of the next change.
 */
final class LeaseLog implements LeaseListener {

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

    private final LeaseNode node;
    private final String nodeId;
    private final Executor writer;
    private final Map<String, String> leaders = new ConcurrentHashMap<>();
    /** The leases held here whose extension was warned of; the next attempts would say the same. */
    private final Set<String> failing = ConcurrentHashMap.newKeySet();

    LeaseLog(LeaseNode node, Executor writer) {
        this.node = node;
        this.writer = writer;
        this.nodeId = node.settings().nodeId();
    }

    @Override
    public void onTransition(LeaseTransition transition) {
        if (transition.kind() != LeaseTransition.Kind.EXTENSION_FAILED) {
            failing.remove(transition.leaseName());
        }
        if (transition.kind() == LeaseTransition.Kind.EXTENDED && !LOG.isDebugEnabled()) {
            return;
        }
        String lease = "'" + Names.printable(transition.leaseName()) + "'";
        switch (transition.kind()) {
            case ACQUIRED -> {
                leaders.remove(transition.leaseName());
                tell(
                        transition,
                        () -> nodeId + " leads " + lease + " until released or lost, token "
                                + transition.fencingToken()
                                + String.format(
                                        Locale.ROOT,
                                        " (took %.1f ms)",
                                        transition.took().toNanos() / 1e6));
            }
            case EXTENDED -> debug(nodeId + " extended " + lease);
            case EXTENSION_FAILED -> {
                String line = nodeId + " could not extend " + lease + " ("
                        + Names.printable(String.valueOf(transition.reason()))
                        + "); it still leads and tries again before the lease ends";
                if (failing.add(transition.leaseName())) {
                    warn(line);
                } else {
                    debug(line);
                }
            }
            case LOST ->
                warn(nodeId + " lost " + lease + ", token " + transition.fencingToken()
                        + ": the lease ended and was not extended. If it should have been, look for a pause of this process,"
                        + " a step of its wall clock, or members that are not reachable");
            case RELEASED ->
                tell(transition, () -> nodeId + " released " + lease + ", token " + transition.fencingToken());
            case LEADER_CHANGED -> {
                String leader = transition.leader();
                if (leader == null) {
                    debug("Nobody is known to lead " + lease);
                } else if (!leader.equals(nodeId) && !leader.equals(leaders.get(transition.leaseName()))) {
                    tell(transition, () -> lease + " is led by " + Names.printable(leader) + ", as far as is known");
                    remember(transition.leaseName(), leader);
                }
            }
        }
    }

    /** A node that does not reach the leader forgets it with each lease time and hears of it again from the others. */
    private void remember(String leaseName, String leader) {
        if (node.existingElection(leaseName).isPresent()) {
            leaders.put(leaseName, leader);
        }
    }

    private void tell(LeaseTransition transition, Supplier<String> line) {
        if (node.existingElection(transition.leaseName()).isPresent()) {
            String text = line.get();
            writer.execute(() -> LOG.info(text));
        } else if (LOG.isDebugEnabled()) {
            debug(line.get());
        }
    }

    private void warn(String line) {
        writer.execute(() -> LOG.warn(line));
    }

    private void debug(String line) {
        if (LOG.isDebugEnabled()) {
            writer.execute(() -> LOG.debug(line));
        }
    }
}
