package io.paxoslease.spring.boot.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.search.Search;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.paxoslease.Lease;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PaxosLeaseMetricsTests {

    private final TestNode test = TestNode.standalone();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void aLeaseThatIsKnownAtTheStartHasItsGauges() {
        PaxosLeaseMetrics metrics = new PaxosLeaseMetrics(test.node, 1_000);
        test.node.election("leader");

        metrics.bindTo(registry);

        assertThat(held("leader")).isZero();
        assertThat(remaining("leader")).isZero();
    }

    @Test
    void theGaugesOfALeaseFollowIt() {
        metrics();

        test.node.election("leader").start();

        await().untilAsserted(() -> assertThat(held("leader")).isOne());
        assertThat(remaining("leader")).isGreaterThan(9).isLessThanOrEqualTo(10);

        test.node.election("leader").stop();

        await().untilAsserted(() -> assertThat(held("leader")).isZero());
        assertThat(remaining("leader")).isZero();
    }

    /** It knows how long the leader has left, which is a hint and nothing that this node has. */
    @Test
    void aFollowerHoldsNothing() {
        test.node.election("leader");
        test.node.onRequests(List.of(new ProposeRequest(
                "leader",
                new Ballot(test.clock.now().counterFloor() + 1, new Incarnation("node-2", 1)),
                Duration.ofSeconds(10).toNanos())));
        assertThat(test.node.lease("leader"))
                .get()
                .extracting(LeaseStatus::leader, LeaseStatus::remaining)
                .containsExactly("node-2", Duration.ofSeconds(10));

        metrics();

        assertThat(held("leader")).isZero();
        assertThat(remaining("leader")).isZero();
    }

    @Test
    void aLeaseWithoutTransitionsGetsItsGaugesWhenTheRegistryIsRead() {
        metrics();
        test.node.election("later");
        assertThat(find("paxoslease.lease.held").tag("lease", "later").gauge()).isNull();

        registry.get("paxoslease.acceptor.leases").gauge().value();

        assertThat(held("later")).isZero();
    }

    /** Whoever asks for an increase sees none where a counter begins with one. */
    @Test
    void whatIsAlertedOnIsCountedFromNothing() {
        metrics();
        new MicrometerWireListener().bindTo(registry);

        test.node.election("leader").start();

        await().untilAsserted(() -> assertThat(find("paxoslease.lease.transitions")
                        .tags("lease", "leader", "kind", "lost")
                        .counter())
                .isNotNull()
                .extracting(Counter::count)
                .isEqualTo(0.0));
        assertThat(registry.get("paxoslease.messages")
                        .tags("type", "frame", "outcome", "defect")
                        .counter()
                        .count())
                .isZero();
    }

    @Test
    void lossesOfLeasesBeyondTheBoundAreCountedFromNothingToo() {
        new PaxosLeaseMetrics(test.node, 0).bindTo(registry);

        acquire("job");

        await().untilAsserted(
                        () -> assertThat(transitions("(other)", "acquired")).isOne());
        assertThat(registry.get("paxoslease.lease.transitions")
                        .tags("lease", "(other)", "kind", "lost")
                        .counter()
                        .count())
                .isZero();
    }

    @Test
    void transitionsAreCountedByLeaseAndKind() {
        metrics();

        try (Lease lease = test.node.tryAcquire("job", Duration.ofSeconds(5)).orElseThrow()) {
            assertThat(lease.extend()).isTrue();
        }

        await().untilAsserted(() -> {
            assertThat(transitions("job", "acquired")).isOne();
            assertThat(transitions("job", "extended")).isOne();
            assertThat(transitions("job", "released")).isOne();
        });
        assertThat(registry.get("paxoslease.acquire")
                        .tag("outcome", "success")
                        .timer()
                        .count())
                .isOne();
        assertThat(registry.get("paxoslease.extend")
                        .tag("outcome", "success")
                        .timer()
                        .count())
                .isOne();
    }

    @Test
    void aLostLeaseIsCounted() {
        metrics();
        acquire("job");

        test.clock.advance(Duration.ofSeconds(6));

        await().untilAsserted(() -> assertThat(transitions("job", "lost")).isOne());
        assertThat(held("job")).isZero();
    }

    @Test
    void theAcceptorsLeasesAreAGauge() {
        metrics();
        acquire("a");
        acquire("b");

        assertThat(registry.get("paxoslease.acceptor.leases").gauge().value()).isEqualTo(2);
    }

    @Test
    void whatTheAcceptorRefusesIsCountedByReason() {
        try (TestNode quarantined = TestNode.ofThree()) {
            new PaxosLeaseMetrics(quarantined.node, 10).bindTo(registry);
            assertThat(refusals("quarantined")).isZero();

            quarantined.node.tryAcquire("job", Duration.ofSeconds(5));

            assertThat(refusals("quarantined")).isPositive();
            assertThat(refusals("counter_too_far_ahead")).isZero();
            assertThat(refusals("table_full")).isZero();
        }
    }

    @Test
    void whetherTheAcceptorVotesIsAGauge() {
        try (TestNode quarantined = TestNode.ofThree()) {
            new PaxosLeaseMetrics(quarantined.node, 10).bindTo(registry);
            assertThat(registry.get("paxoslease.acceptor.voting").gauge().value())
                    .isZero();

            quarantined.voting();

            assertThat(registry.get("paxoslease.acceptor.voting").gauge().value())
                    .isOne();
        }
    }

    @Test
    void anExtensionThatFailsIsCountedAndTimedAsOne() {
        try (LocalCell cell = LocalCell.of(3)) {
            new PaxosLeaseMetrics(cell.node(1), 10).bindTo(registry);
            Lease lease = cell.node(1).tryAcquire("job", LocalCell.leaseTime()).orElseThrow();
            cell.isolate(1);

            assertThat(lease.extend()).isFalse();

            await().untilAsserted(() ->
                    assertThat(transitions("job", "extension_failed")).isPositive());
            await().untilAsserted(() -> assertThat(
                            find("paxoslease.extend").tag("outcome", "failure").timer())
                    .isNotNull());
            assertThat(find("paxoslease.extend").tag("outcome", "success").timer())
                    .isNull();
        }
    }

    @Test
    void aNodeThatIsOnlyAProposerRefusesNothing() {
        try (TestNode proposer = TestNode.proposerOnly()) {
            new PaxosLeaseMetrics(proposer.node, 10).bindTo(registry);

            assertThat(find("paxoslease.acceptor.refusals").functionCounters()).isEmpty();
            assertThat(find("paxoslease.acceptor.voting").gauges()).isEmpty();
        }
    }

    @Test
    void aNodeThatGaveUpIsSeen() {
        try (TestNode defective = TestNode.ofThree()) {
            new PaxosLeaseMetrics(defective.node, 10).bindTo(registry);
            assertThat(registry.get("paxoslease.node.failed").gauge().value()).isZero();

            defective.voting().defective();

            assertThat(registry.get("paxoslease.node.failed").gauge().value()).isOne();
        }
    }

    @Test
    void callsAreCountedByLeaseAndOutcome() {
        PaxosLeaseMetrics metrics = metrics();

        metrics.leaderOnlyCall("leader", "executed");
        metrics.leaderOnlyCall("leader", "executed");
        metrics.leaderOnlyCall("leader", "skipped");

        assertThat(calls("leader", "executed")).isEqualTo(2);
        assertThat(calls("leader", "skipped")).isOne();
    }

    @Test
    void leasesBeyondTheBoundAreCountedTogetherAndHaveNoGauges() {
        PaxosLeaseMetrics metrics = new PaxosLeaseMetrics(test.node, 2);
        metrics.bindTo(registry);

        for (int i = 1; i <= 5; i++) {
            metrics.leaderOnlyCall("order-" + i, "executed");
        }

        assertThat(calls("order-2", "executed")).isOne();
        assertThat(calls("(other)", "executed")).isEqualTo(3);
        assertThat(find("paxoslease.lease.held").gauges()).hasSize(2);
    }

    @Test
    void whatHappenedBeforeARegistryIsThereIsNotAnError() {
        PaxosLeaseMetrics metrics = new PaxosLeaseMetrics(test.node, 10);
        metrics.leaderOnlyCall("leader", "executed");

        metrics.bindTo(registry);
        metrics.leaderOnlyCall("leader", "executed");

        assertThat(calls("leader", "executed")).isOne();
    }

    /** An application may have some that are no part of a composite. */
    @Test
    void aRegistryThatIsBoundLaterHasTheMetersToo() {
        PaxosLeaseMetrics metrics = metrics();
        test.node.election("leader").start();
        await().untilAsserted(() -> assertThat(held("leader")).isOne());
        SimpleMeterRegistry later = new SimpleMeterRegistry();

        metrics.bindTo(later);
        metrics.leaderOnlyCall("leader", "executed");
        acquire("job");

        assertThat(later.get("paxoslease.lease.held")
                        .tag("lease", "leader")
                        .gauge()
                        .value())
                .isOne();
        assertThat(later.get("paxoslease.leaderonly.calls").counter().count()).isOne();
        await().untilAsserted(() ->
                assertThat(later.get("paxoslease.acquire").timer().count()).isOne());
    }

    @Test
    void trafficIsCountedByTypeAndOutcomeAndTimedByMember() {
        MicrometerWireListener listener = new MicrometerWireListener();
        listener.onMessage("frame", "sent");
        SimpleMeterRegistry second = new SimpleMeterRegistry();
        listener.bindTo(registry);
        listener.bindTo(second);

        listener.onMessage("frame", "sent");
        listener.onMessage("frame", "sent");
        listener.onMessage("frame", "unauthenticated");
        listener.onRoundTrip("node-2", 700_000);

        assertThat(registry.get("paxoslease.messages")
                        .tags("type", "frame", "outcome", "sent")
                        .counter()
                        .count())
                .isEqualTo(2);
        assertThat(registry.get("paxoslease.messages")
                        .tags("type", "frame", "outcome", "unauthenticated")
                        .counter()
                        .count())
                .isOne();
        assertThat(second.get("paxoslease.round.trip")
                        .tag("member", "node-2")
                        .timer()
                        .totalTime(TimeUnit.MICROSECONDS))
                .isEqualTo(700);
    }

    private PaxosLeaseMetrics metrics() {
        PaxosLeaseMetrics metrics = new PaxosLeaseMetrics(test.node, 1_000);
        metrics.bindTo(registry);
        return metrics;
    }

    private void acquire(String lease) {
        assertThat(test.node.tryAcquire(lease, Duration.ofSeconds(5))).isPresent();
    }

    private Search find(String name) {
        return registry.find(name);
    }

    private double held(String lease) {
        Gauge gauge = find("paxoslease.lease.held").tag("lease", lease).gauge();
        return gauge == null ? Double.NaN : gauge.value();
    }

    private double remaining(String lease) {
        return registry.get("paxoslease.lease.remaining")
                .tag("lease", lease)
                .timeGauge()
                .value(TimeUnit.SECONDS);
    }

    private double transitions(String lease, String kind) {
        Counter counter = find("paxoslease.lease.transitions")
                .tags("lease", lease, "kind", kind)
                .counter();
        return counter == null ? 0 : counter.count();
    }

    private double refusals(String reason) {
        return registry.get("paxoslease.acceptor.refusals")
                .tag("reason", reason)
                .functionCounter()
                .count();
    }

    private double calls(String lease, String outcome) {
        return registry.get("paxoslease.leaderonly.calls")
                .tags("lease", lease, "outcome", outcome)
                .counter()
                .count();
    }
}
