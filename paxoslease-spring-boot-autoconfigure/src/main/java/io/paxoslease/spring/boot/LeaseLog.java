package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseListener;
import io.paxoslease.node.LeaseTransition;
import java.util.Locale;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/** Logs every change of state once, in words that a person on call understands. */
final class LeaseLog implements LeaseListener {

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

    private final String nodeId;

    LeaseLog(String nodeId) {
        this.nodeId = nodeId;
    }

    @Override
    public void onTransition(LeaseTransition transition) {
        String lease = "'" + transition.leaseName() + "'";
        switch (transition.kind()) {
            case ACQUIRED ->
                LOG.info(nodeId + " leads " + lease + " until released or lost, token "
                        + transition.fencingToken()
                        + String.format(
                                Locale.ROOT,
                                " (took %.1f ms)",
                                transition.took().toNanos() / 1e6));
            case EXTENDED -> LOG.debug(nodeId + " extended " + lease);
            case EXTENSION_FAILED ->
                LOG.warn(nodeId + " could not extend " + lease + " (" + transition.reason()
                        + "); it still leads and tries again before the lease ends");
            case LOST ->
                LOG.warn(nodeId + " lost " + lease + ", token " + transition.fencingToken()
                        + ": the lease ended before a majority extended it. Look for a pause of this process, or for members"
                        + " that are not reachable");
            case RELEASED -> LOG.info(nodeId + " released " + lease + ", token " + transition.fencingToken());
            case LEADER_CHANGED -> {
                String leader = transition.leader();
                if (leader == null) {
                    LOG.debug("Nobody is known to lead " + lease);
                } else if (!leader.equals(nodeId)) {
                    LOG.info(lease + " is led by " + leader);
                }
            }
        }
    }
}
