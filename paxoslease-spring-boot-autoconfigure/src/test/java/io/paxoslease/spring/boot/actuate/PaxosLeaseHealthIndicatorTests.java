package io.paxoslease.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import io.paxoslease.node.RequestHandler.AcceptorState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;

class PaxosLeaseHealthIndicatorTests {

    private TestNode test = TestNode.ofThree();

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void aStandaloneCellIsUp() {
        use(TestNode.standalone());

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails())
                .containsEntry("acceptors", 1)
                .containsEntry("majority", 1)
                .containsEntry("reachable", 1)
                .containsEntry("voting", 1)
                .doesNotContainKeys("reason", "unreachable");
    }

    @Test
    void aNodeThatDoesNotLeadIsUp() {
        test.voting().view.reachable("node-2", AcceptorState.VOTING).reachable("node-3", AcceptorState.VOTING);
        test.node.election("leader");

        assertThat(health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void aNodeThatGaveUpIsDown() {
        test.voting()
                .defective()
                .view
                .reachable("node-2", AcceptorState.VOTING)
                .reachable("node-3", AcceptorState.VOTING);

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails().get("reason")).asString().contains("defect", "restart");
    }

    @Test
    void aLostMinorityIsUpAndNamed() {
        test.voting().view.reachable("node-2", AcceptorState.VOTING).unreachable("node-3", "Connection refused");

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails())
                .containsEntry("reachable", 2)
                .containsEntry("unreachable", Map.of("node-3", "Connection refused"));
    }

    @Test
    void aLostMajorityIsDownAndEachUnreachableMemberIsNamedWithItsProblem() {
        test.voting().view.unreachable("node-2", "Connection refused");

        Health health = health();

        assertThat(health.getStatus()).isEqualTo(Status.DOWN);
        assertThat(health.getDetails())
                .containsEntry("reason", "no majority is reachable: 1 of 3 acceptors, 2 are needed")
                .containsEntry(
                        "unreachable",
                        Map.of(
                                "node-2", "Connection refused",
                                "node-3", "no exchange with it has succeeded yet"));
    }

    @Test
    void isOutOfServiceWhileQuarantined() {
        test.view.reachable("node-2", AcceptorState.VOTING).reachable("node-3", AcceptorState.VOTING);
        test.clock.advance(Duration.ofNanos(2_500_000_001L));

        assertThat(health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertThat(health().getDetails())
                .containsEntry("acceptor", "QUARANTINED")
                .containsEntry("quarantineRemaining", "PT7.499S")
                .containsEntry("voting", 2);

        test.clock.advance(Duration.ofMillis(7_500));

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).doesNotContainKeys("quarantineRemaining", "reason");
    }

    @Test
    void membersInQuarantineAreReachable() {
        test.voting().view.reachable("node-2", AcceptorState.QUARANTINED).unreachable("node-3", null);

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsEntry("reachable", 2).containsEntry("voting", 1);
    }

    @Test
    void aLostMajorityOutweighsTheQuarantine() {
        test.view.unreachable("node-2", null).unreachable("node-3", null);

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails()).containsEntry("quarantineRemaining", "PT10S");
    }

    @Test
    void aRefusedMemberIsDownThoughThereIsAMajority() {
        test.voting()
                .view
                .reachable("node-2", AcceptorState.VOTING)
                .refused("node-3", "its maximum lease time is 20 s, here it is 10 s");

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails())
                .containsEntry("reachable", 2)
                .containsEntry("refused", Map.of("node-3", "its maximum lease time is 20 s, here it is 10 s"))
                .containsEntry("reason", "node-3: its maximum lease time is 20 s, here it is 10 s");
    }

    @Test
    void aRefusedCallerIsDown() {
        test.voting().view.reachable("node-2", AcceptorState.VOTING).reachable("node-3", AcceptorState.VOTING);
        test.view.problems.add("node-7 is of cell 'billing', this node of 'orders'");

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails())
                .containsEntry("problems", List.of("node-7 is of cell 'billing', this node of 'orders'"));
    }

    @Test
    void theReasonIsWhatIsWrongInItsOwnWordsAndNotEverythingIfThatIsMuch() {
        test.voting().view.reachable("node-2", AcceptorState.VOTING).reachable("node-3", AcceptorState.VOTING);
        test.view.problems.add("node-7: two processes use this node id; every node needs one of its own");

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(health().getDetails())
                .containsEntry("reason", "node-7: two processes use this node id; every node needs one of its own");

        test.view.problems.addAll(List.of("second", "third", "fourth"));

        assertThat(health().getDetails().get("reason")).asString().endsWith("; second; third");
        assertThat(health().getDetails().get("problems")).asInstanceOf(LIST).hasSize(4);
    }

    /** Of two nodes that refuse each other for the same reason. */
    @Test
    void theReasonSaysNothingTwice() {
        test.voting().view.reachable("node-2", AcceptorState.VOTING).refused("node-3", "another cell");
        test.view.problems.add("node-3: another cell");

        assertThat(health().getDetails()).containsEntry("reason", "node-3: another cell");
    }

    @Test
    void aProposerOnlyNodeNeedsAMajorityOfTheAcceptorsAndIsNeverQuarantined() {
        use(TestNode.proposerOnly());
        test.view.reachable("node-1", AcceptorState.VOTING).reachable("node-2", AcceptorState.VOTING);

        assertThat(health().getStatus()).isEqualTo(Status.UP);
        assertThat(health().getDetails()).containsEntry("acceptor", "NONE").containsEntry("reachable", 2);

        test.view.unreachable("node-2", null);

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
    }

    @Test
    void readinessKnowsTheQuarantineOnly() {
        QuarantineHealthIndicator readiness = new QuarantineHealthIndicator(test.node);

        assertThat(readiness.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertThat(readiness.health().getDetails()).containsEntry("quarantineRemaining", "PT10S");

        test.voting();

        assertThat(health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(readiness.health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void bothSayForWhomANodeStandsAside() {
        test.node.onOtherVoter("Another process answers as node-0");
        test.view.reachable("node-1", AcceptorState.VOTING).reachable("node-2", AcceptorState.VOTING);
        for (Health each : List.of(health(), new QuarantineHealthIndicator(test.node).health())) {
            assertThat(each.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
            assertThat(each.getDetails())
                    .containsEntry("reason", "Another process answers as node-0")
                    .containsEntry("quarantineRemaining", "PT1M10S");
        }
    }

    /** How long is not told: it does not end. */
    @Test
    void readinessSaysWhyANodeThatGaveUpIsHeldBack() {
        test.voting().defective();

        Health readiness = new QuarantineHealthIndicator(test.node).health();

        assertThat(readiness.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
        assertThat(readiness.getDetails()).containsOnlyKeys("reason");
        assertThat(readiness.getDetails().get("reason")).asString().contains("defect", "restart");
    }

    private Health health() {
        return new PaxosLeaseHealthIndicator(test.node, test.view).health();
    }

    private void use(TestNode other) {
        test.close();
        test = other;
    }
}
