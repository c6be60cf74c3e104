package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.spring.LeaderChangedEvent;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseLostEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

@SpringBootTest(
        classes = AutoConfigureTestLeasesTests.Application.class,
        properties = {
            "paxoslease.transport=tcp",
            "paxoslease.members.billing-1=tcp://10.0.0.1:7411",
            "paxoslease.members.billing-2=tcp://10.0.0.2:7411",
            "paxoslease.members.billing-3=tcp://10.0.0.3:7411",
            "paxoslease.node-id=billing-1",
            "paxoslease.security.shared-secret=short",
            "paxoslease.ssl.bundle=not-known-here",
            "paxoslease.enabled=false",
            "paxoslease.leases.job.priority=1",
            "paxoslease.leases.archive.candidate=false",
            "paxoslease.leases.backup.candidate=true"
        })
@AutoConfigureTestLeases
@ExtendWith(OutputCaptureExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class AutoConfigureTestLeasesTests {

    private static Future<Lease> inVain;

    @Autowired
    private TestLeases leases;

    @Autowired
    private LeaseManager manager;

    @Autowired
    private LeaseNode node;

    @Autowired
    private Job job;

    @Autowired
    private Recorder recorder;

    @BeforeEach
    void forget() {
        recorder.runs.clear();
        recorder.events.clear();
    }

    @Test
    void theApplicationLeadsWhatItIsACandidateFor() {
        job.run();

        assertThat(recorder.runs).hasSize(1);
    }

    @Test
    @Order(1)
    void aRevokedJobDoesNotRun() {
        leases.revoke("job");

        job.run();

        assertThat(recorder.runs).isEmpty();
        assertThat(manager.election("job").leader().orElseThrow().nodeId()).isEqualTo("billing-1");
    }

    @Test
    @Order(2)
    void whatTheTestBeforeDidIsForgotten() {
        job.run();
        assertThat(recorder.runs).hasSize(1);

        leases.partition();
        leases.pause();
    }

    @Test
    @Order(3)
    void alsoACutAndAPause() {
        leases.advance(leases.leaseTime());

        job.run();
        assertThat(recorder.runs).hasSize(1);

        manager.election("job").stop();
    }

    @Test
    @Order(4)
    void alsoAnElectionThatWasStopped() {
        job.run();

        assertThat(recorder.runs).hasSize(1);

        manager.election("backup").stop();
        manager.election("audit").stop();
    }

    @Test
    @Order(5)
    void whetherTheSettingsOrTheApplicationHadStartedIt() {
        assertThat(manager.election("backup").isLeader()).isTrue();
        assertThat(manager.election("audit").isLeader()).isTrue();

        manager.election("report").start();
        leases.revoke("import");
        waitInVainFor("import");
    }

    private void waitInVainFor(String leaseName) {
        FutureTask<Lease> waiting =
                new FutureTask<>(() -> manager.acquire(leaseName, leases.leaseTime(), Duration.ofDays(1)));
        new Thread(waiting).start();
        inVain = waiting;
        await().until(() -> node.lease(leaseName).filter(LeaseStatus::candidate).isPresent());
    }

    @Test
    @Order(6)
    void whatOnlyTheTestStoodForIsFree() {
        assertThat(inVain)
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LeaseUnavailableException.class);
        assertThat(manager.election("report").isLeader()).isFalse();
        assertThat(manager.tryAcquire("report", leases.leaseTime())).isPresent();
        assertThat(manager.tryAcquire("import", leases.leaseTime())).isPresent();
    }

    @Test
    void eventsHaveArrivedWhenTheMethodReturns() {
        leases.revoke("job");
        assertThat(recorder.events).hasAtLeastOneElementOfType(LeaseLostEvent.class);
        assertThat(recorder.events.get(recorder.events.size() - 1))
                .isInstanceOfSatisfying(
                        LeaderChangedEvent.class,
                        changed -> assertThat(changed.leader()).contains("billing-1"));

        leases.grant("job");
        assertThat(recorder.events).hasAtLeastOneElementOfType(LeaseAcquiredEvent.class);
    }

    @Test
    void alsoIfTheLossInterruptsTheTest() {
        job.runInterruptibly(() -> {
            leases.revoke("job");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            assertThat(recorder.events).hasAtLeastOneElementOfType(LeaseLostEvent.class);
        });
    }

    @Test
    void aCallWithinTheObjectIsSeenToBeUnguarded() {
        job.run();

        assertThatThrownBy(job::runByItself).isInstanceOf(AssertionError.class).hasMessageContaining("same object");
    }

    @Test
    void healthIsThatOfTheCellInMemory(@Autowired HealthIndicator paxosleaseHealthIndicator) {
        assertThat(paxosleaseHealthIndicator.health().getStatus()).isEqualTo(Status.UP);

        leases.partition();

        assertThat(paxosleaseHealthIndicator.health().getStatus()).isEqualTo(Status.DOWN);
    }

    @Test
    void theMembersAreThoseOfTheConfiguration() {
        assertThat(node.settings().cell().acceptors()).containsExactly("billing-1", "billing-2", "billing-3");
        assertThat(node.settings().nodeId()).isEqualTo("application");
    }

    @Test
    void theStartWarnsOfNothing(CapturedOutput output) {
        assertThat(output).contains("PaxosLease: node 'application'").doesNotContain("WARN");
    }

    @Test
    void anotherNodeCanLeadWhatTheApplicationIsSetNeverToSeek() {
        leases.revoke("archive");
        assertThat(manager.tryAcquire("archive", leases.leaseTime())).isEmpty();

        assertThatThrownBy(() -> leases.grant("archive")).hasMessageContaining("paxoslease.leases.archive.candidate");
    }

    @Nested
    class InANestedClass {

        @Test
        void theCellIsTheSame(@Autowired TestLeases here) {
            assertThat(here).isSameAs(leases);
            job.run();
            assertThat(recorder.runs).hasSize(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Job.class, Auditor.class, Recorder.class})
    static class Application {}

    static class Auditor {

        @EventListener(ApplicationReadyEvent.class)
        void stand(ApplicationReadyEvent ready) {
            ready.getApplicationContext()
                    .getBean(LeaseManager.class)
                    .election("audit")
                    .start();
        }
    }

    static class Job {

        private final Recorder recorder;

        Job(Recorder recorder) {
            this.recorder = recorder;
        }

        @LeaderOnly("job")
        void run() {
            recorder.runs.add(LeaderOnlyAssert.assertGuarded("job"));
        }

        @LeaderOnly(value = "job", onLoss = LeaderOnly.OnLoss.INTERRUPT)
        void runInterruptibly(Runnable work) {
            work.run();
        }

        void runByItself() {
            run();
        }
    }

    static class Recorder {

        final List<Lease> runs = new CopyOnWriteArrayList<>();
        final List<LeaseEvent> events = new CopyOnWriteArrayList<>();

        /** Slow, so that a method that does not wait for it is found out. */
        @EventListener
        void on(LeaseEvent event) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            events.add(event);
        }
    }
}
