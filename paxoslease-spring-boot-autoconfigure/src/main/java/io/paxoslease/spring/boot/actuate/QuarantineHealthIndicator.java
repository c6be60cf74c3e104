package io.paxoslease.spring.boot.actuate;

import io.paxoslease.node.AcceptorStatus;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.RequestHandler.AcceptorState;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * What holds back readiness: {@code OUT_OF_SERVICE} while this node's acceptor is quarantined, or does not vote any more because of a defect,
 * else {@code UP}. A rollout that waits for readiness thus waits until the new acceptor votes before it stops the next one. Nothing that
 * another node can cause once this one is up belongs here: a lost majority must not take the application out of service.
 */
public final class QuarantineHealthIndicator extends AbstractHealthIndicator {

    private final LeaseNode node;

    /**
     * Makes an indicator.
     *
     * @param node the node
     */
    public QuarantineHealthIndicator(LeaseNode node) {
        super("The quarantine of PaxosLease could not be told");
        this.node = node;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        AcceptorStatus acceptor = node.acceptorStatus();
        if (acceptor.state() != AcceptorState.QUARANTINED) {
            health.up();
        } else if (node.isFailed()) {
            health.outOfService().withDetail("reason", PaxosLeaseHealthIndicator.GAVE_UP);
        } else {
            health.outOfService().withDetail("quarantineRemaining", Iso.millis(acceptor.quarantineRemaining()));
            node.standsAsideFor().ifPresent(who -> health.withDetail("reason", who));
        }
    }
}
