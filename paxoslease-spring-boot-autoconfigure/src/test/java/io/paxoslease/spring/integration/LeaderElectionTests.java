package io.paxoslease.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.spring.boot.PaxosLeaseIntegrationAutoConfiguration;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.LifecycleProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.dsl.Pollers;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;
import org.springframework.integration.leader.event.OnGrantedEvent;
import org.springframework.integration.leader.event.OnRevokedEvent;
import org.springframework.integration.support.SmartLifecycleRoleController;

/** Applications written for Spring Integration's leader election, two nodes of a cell of three. */
class LeaderElectionTests {

    private static final Duration SOON = LocalCell.leaseTime().multipliedBy(5);
    /** How long Spring waits for what does not stop. */
    private static final Duration LONG = SOON.multipliedBy(2);

    private static LocalCell cell;

    private final List<AnnotationConfigApplicationContext> contexts = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void startCell() {
        cell = LocalCell.of(3);
    }

    @AfterAll
    static void closeCell() {
        cell.close();
    }

    @AfterEach
    void closeContexts() {
        contexts.forEach(AnnotationConfigApplicationContext::close);
    }

    @Test
    void oneOfTwoApplicationsIsGrantedTheRole() {
        Application first = start(1, Application.class).getBean(Application.class);
        await().atMost(SOON).until(() -> first.candidate.isLeader());
        Application second = start(2, Application.class).getBean(Application.class);

        await().pollDelay(LocalCell.leaseTime()).until(() -> true);

        assertThat(first.calls).containsExactly("onGranted reports", "OnGrantedEvent reports");
        assertThat(second.calls).isEmpty();
        assertThat(second.initiator().getContext().isLeader()).isFalse();
        assertThat(first.initiator().getContext().isLeader()).isTrue();
    }

    @Test
    void whoYieldsIsRevokedAndTheOtherIsGranted() {
        Application first = start(1, Application.class).getBean(Application.class);
        await().atMost(SOON).until(() -> first.calls.contains("OnGrantedEvent reports"));
        Application second = start(2, Application.class).getBean(Application.class);

        first.candidate.context.yield();

        assertThat(first.candidate.isLeader()).isFalse();
        handOver(first.initiator(), () -> second.calls.contains("OnGrantedEvent reports"));
        assertThat(first.calls.subList(0, 4))
                .containsExactly(
                        "onGranted reports", "OnGrantedEvent reports", "onRevoked reports", "OnRevokedEvent reports");
    }

    @Test
    void whoLosesTheLeaseIsRevokedAndGrantedAgainLater() {
        Application first = start(1, Application.class).getBean(Application.class);
        await().atMost(SOON).until(() -> first.calls.contains("OnGrantedEvent reports"));
        Application second = start(2, Application.class).getBean(Application.class);
        cell.isolate(1);
        try {
            await().atMost(SOON).until(() -> second.calls.contains("OnGrantedEvent reports"));
            assertThat(first.candidate.isLeader()).isFalse();
            await().atMost(SOON).until(() -> first.calls.contains("OnRevokedEvent reports"));
        } finally {
            cell.rejoin(1);
        }

        handOver(second.initiator(), () -> first.calls.size() == 6);

        assertThat(first.candidate.isLeader()).isTrue();
    }

    @Test
    void closingTheApplicationRevokesBeforeTheOtherIsGranted() {
        AnnotationConfigApplicationContext closing = start(1, Application.class);
        Application first = closing.getBean(Application.class);
        await().atMost(SOON).until(() -> first.calls.contains("OnGrantedEvent reports"));
        Application second = start(2, Application.class).getBean(Application.class);

        closing.close();

        assertThat(first.calls).endsWith("onRevoked reports", "OnRevokedEvent reports");
        await().atMost(SOON).until(() -> second.candidate.isLeader());
    }

    @Test
    void canBeStoppedAndStartedAgain() {
        AnnotationConfigApplicationContext context = start(1, Application.class);
        Application application = context.getBean(Application.class);
        await().atMost(SOON).until(() -> application.candidate.isLeader());
        PaxosLeaseLeaderInitiators initiators = context.getBean(PaxosLeaseLeaderInitiators.class);

        initiators.stop();
        await().atMost(SOON).until(() -> application.calls.contains("OnRevokedEvent reports"));
        initiators.start();

        await().atMost(SOON).until(() -> application.calls.size() == 6);
        assertThat(application.candidate.isLeader()).isTrue();
    }

    @Test
    void leadsOnIfItIsStartedAgainBeforeItsCandidateIsRevoked() throws InterruptedException {
        AnnotationConfigApplicationContext context = start(1, UnhurriedApplication.class);
        UnhurriedApplication application = context.getBean(UnhurriedApplication.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        PaxosLeaseLeaderInitiators initiators = context.getBean(PaxosLeaseLeaderInitiators.class);
        CountDownLatch stopped = new CountDownLatch(1);

        initiators.stop(stopped::countDown);
        initiators.start();
        application.mayEnd.countDown();

        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        await().pollDelay(Duration.ofMillis(500))
                .atMost(SOON)
                .until(() -> application.initiator().getContext().isLeader());
        assertThat(application.calls).hasSize(6);
    }

    @Test
    void stoppingWaitsForACandidateThatIsRevokedBecauseTheLeaseWasReleasedBefore() throws InterruptedException {
        AnnotationConfigApplicationContext context = start(1, UnhurriedApplication.class);
        UnhurriedApplication application = context.getBean(UnhurriedApplication.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        cell.node(1).election("reports").resign();
        assertThat(application.revoking.await(10, TimeUnit.SECONDS)).isTrue();
        CountDownLatch stopped = new CountDownLatch(1);

        context.getBean(PaxosLeaseLeaderInitiators.class).stop(stopped::countDown);

        assertThat(stopped.await(300, TimeUnit.MILLISECONDS)).isFalse();
        application.mayEnd.countDown();
        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(application.calls).contains("OnRevokedEvent reports");
    }

    @Test
    void whileItIsStoppedItIsNotGrantedALeaseThatOthersNeed() {
        cell.node(1).need("reports", this);
        AnnotationConfigApplicationContext context = start(1, Application.class);
        Application application = context.getBean(Application.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        context.getBean(PaxosLeaseLeaderInitiators.class).stop();
        await().atMost(SOON).until(() -> application.calls.contains("OnRevokedEvent reports"));
        LeaderElection election = cell.node(1).election("reports");

        election.resign();
        await().atMost(SOON).until(election::isLeader);
        assertThat(cell.node(1).awaitTold(SOON)).isTrue();

        assertThat(application.initiator().getContext().isLeader()).isFalse();
        assertThat(application.calls).hasSize(4);
        cell.node(1).needNoMore("reports", this);
    }

    /** As when the application closes after something stopped the initiator of one role. */
    @Test
    void stoppingTwiceDoesNotReleaseTheLeaseBeforeTheCandidateIsRevoked() throws InterruptedException {
        UnhurriedApplication application = start(1, UnhurriedApplication.class).getBean(UnhurriedApplication.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        CountDownLatch stopped = new CountDownLatch(1);

        application.initiator().stop();
        application.initiator().stop(stopped::countDown);

        LeaderElection election = cell.node(1).election("reports");
        assertThat(election.isLeader()).isTrue();
        application.mayEnd.countDown();
        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(election.isLeader()).isFalse();
    }

    @Test
    void aCandidateThatWorksInsideOnGrantedIsInterruptedToYield() throws InterruptedException {
        Worker worker = start(1, WorkingApplication.class).getBean(Worker.class);
        assertThat(worker.began.await(10, TimeUnit.SECONDS)).isTrue();

        worker.context.yield();

        assertThat(worker.interrupted.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(worker.revoked.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aCandidateThatYieldsInsideOnGrantedIsRevokedOnceAndNotInterrupted() {
        YieldingApplication application = start(1, YieldingApplication.class).getBean(YieldingApplication.class);

        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));

        assertThat(application.calls)
                .containsExactly(
                        "onGranted reports",
                        "onRevoked reports",
                        "OnRevokedEvent reports",
                        "onGranted reports",
                        "OnGrantedEvent reports");
    }

    @Test
    void aCandidateThatClosesItsApplicationIsRevokedAndNotWaitedFor() throws InterruptedException {
        ClosingApplication application = start(1, ClosingApplication.class).getBean(ClosingApplication.class);
        application.mayEnd.complete(null);

        assertThat(application.closed.await(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();

        assertThat(application.calls)
                .containsExactly("onGranted reports", "onRevoked reports", "OnRevokedEvent reports", "closed");
        assertThat(cell.node(1).election("reports").isLeader()).isFalse();
    }

    @Test
    void aCandidateThatClosesItsApplicationWhenItIsRevokedIsNotWaitedFor() throws InterruptedException {
        LeavingApplication application = start(1, LeavingApplication.class).getBean(LeavingApplication.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));

        cell.node(1).election("reports").resign();

        assertThat(application.closed.await(SOON.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
        assertThat(application.calls).containsSequence("onRevoked reports", "closed");
    }

    /** With a time to live it would have to be started again for the revocation, which fails where threads run short. */
    @Test
    void theThreadOfARoleIsKeptWhileItsCandidateLeads() throws InterruptedException {
        AtomicReference<Thread> role = new AtomicReference<>();
        ReportsCandidate candidate = new ReportsCandidate("kept", new CopyOnWriteArrayList<>()) {
            @Override
            public void onGranted(Context granted) {
                role.set(Thread.currentThread());
            }
        };
        PaxosLeaseLeaderInitiator initiator =
                new PaxosLeaseLeaderInitiator(cell.node(1), candidate, new DefaultLeaderEventPublisher(event -> {}));
        initiator.start();
        await().atMost(SOON).until(() -> role.get() != null && role.get().getState() == Thread.State.WAITING);
        CountDownLatch stopped = new CountDownLatch(1);

        initiator.stop(stopped::countDown);

        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        await().until(() -> role.get().getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void aNodeWithoutAThreadForItsCandidateGivesTheLeadershipUp() {
        List<String> calls = new CopyOnWriteArrayList<>();
        AtomicBoolean failing = new AtomicBoolean();
        ReportsCandidate candidate = new ReportsCandidate("threadless", calls) {
            @Override
            public String getRole() {
                if (failing.get()) {
                    throw new IllegalStateException("the name of a thread is asked for");
                }
                return super.getRole();
            }
        };
        List<LeaseTransition.Kind> told = new CopyOnWriteArrayList<>();
        cell.node(1).addListener(transition -> {
            if (transition.leaseName().equals("threadless")) {
                told.add(transition.kind());
            }
        });
        PaxosLeaseLeaderInitiator initiator =
                new PaxosLeaseLeaderInitiator(cell.node(1), candidate, new DefaultLeaderEventPublisher(event -> {}));
        failing.set(true);
        // It fails too if the node leads by then.
        assertThat(CompletableFuture.runAsync(initiator::start).handle((started, failure) -> "called"))
                .succeedsWithin(SOON);
        await().atMost(SOON).until(() -> told.contains(LeaseTransition.Kind.RELEASED));

        failing.set(false);

        await().atMost(SOON).until(() -> calls.contains("onGranted threadless"));
        initiator.stop();
    }

    /** As that of a Camel route which does not begin. */
    @Test
    void aListenerOfTheNodeThatDoesNotReturnKeepsNoLossFromTheCandidate() throws InterruptedException {
        Worker worker = new Worker();
        PaxosLeaseLeaderInitiator initiator =
                new PaxosLeaseLeaderInitiator(cell.node(1), worker, new DefaultLeaderEventPublisher(event -> {}));
        Semaphore mayReturn = new Semaphore(0);
        cell.node(1).addListener(transition -> {
            if (transition.leaseName().equals("work")) {
                mayReturn.acquireUninterruptibly();
            }
        });
        initiator.start();
        assertThat(worker.began.await(10, TimeUnit.SECONDS)).isTrue();
        cell.isolate(1);
        try {
            assertThat(worker.interrupted.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(worker.revoked.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            cell.rejoin(1);
            mayReturn.release(1_000);
            initiator.stop();
        }
    }

    /** The candidate has the first leadership before its beginning is told, and the second before the end of the first is. */
    @Test
    void whatIsToldLateOfOneTenureNeitherEndsNorRepeatsTheNext() throws InterruptedException {
        LeaderElection election = cell.node(1).election("late");
        Semaphore mayBeTold = new Semaphore(0);
        cell.node(1).addListener(transition -> {
            if (transition.leaseName().equals("late") && transition.kind() == LeaseTransition.Kind.ACQUIRED) {
                mayBeTold.acquireUninterruptibly();
            }
        });
        List<String> calls = new CopyOnWriteArrayList<>();
        PaxosLeaseLeaderInitiator initiator = new PaxosLeaseLeaderInitiator(
                cell.node(1), new ReportsCandidate("late", calls), new DefaultLeaderEventPublisher(event -> {}));
        cell.node(1).startNeeded("late", this);
        await().atMost(SOON).until(election::isLeader);
        Lease first = election.lease().orElseThrow();
        try {
            initiator.start();
            await().atMost(SOON).until(() -> calls.size() == 1);
            election.resign();
            await().atMost(SOON).until(() -> !first.isHeld() && election.isLeader());
            mayBeTold.release();
            await().atMost(SOON).until(() -> calls.lastIndexOf("onGranted late") > 0);
        } finally {
            mayBeTold.release(1_000);
        }
        assertThat(cell.node(1).awaitTold(SOON)).isTrue();
        CountDownLatch stopped = new CountDownLatch(1);

        initiator.stop(stopped::countDown);

        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(calls).containsExactly("onGranted late", "onRevoked late", "onGranted late", "onRevoked late");
        cell.node(1).needNoMore("late", this);
    }

    @Test
    void whoYieldsALeadershipThatEndedDoesNotReleaseTheLeaseOfTheNextOne() throws InterruptedException {
        UnhurriedApplication application = start(1, UnhurriedApplication.class).getBean(UnhurriedApplication.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        Context ended = application.candidate().context;
        cell.node(1).need("reports", this);
        Lease lease = cell.node(1).election("reports").lease().orElseThrow();
        CountDownLatch stopped = new CountDownLatch(1);
        application.initiator().stop();
        application.initiator().start();

        ended.yield();

        application.initiator().stop(stopped::countDown);
        application.mayEnd.countDown();
        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(lease.isHeld()).isTrue();
        cell.node(1).needNoMore("reports", this);
    }

    @Test
    void aLeadershipThatEndedBeforeTheCandidateHadItIsNotMentioned() throws InterruptedException {
        UnhurriedApplication application = start(1, UnhurriedApplication.class).getBean(UnhurriedApplication.class);
        LeaderElection election = cell.node(1).election("reports");
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        election.resign();
        assertThat(application.revoking.await(10, TimeUnit.SECONDS)).isTrue();
        await().atMost(SOON).until(election::isLeader);
        election.resign();
        assertThat(cell.node(1).awaitTold(SOON)).isTrue();

        application.mayEnd.countDown();

        await().atMost(SOON)
                .until(() -> application.initiator().getContext().isLeader()
                        && application.calls.lastIndexOf("OnGrantedEvent reports") > 1);
        assertThat(application.calls)
                .containsExactly(
                        "onGranted reports",
                        "OnGrantedEvent reports",
                        "onRevoked reports",
                        "OnRevokedEvent reports",
                        "onGranted reports",
                        "OnGrantedEvent reports");
    }

    @Test
    void aCandidateThatCannotTakeTheLeadershipYieldsIt() {
        start(1, FailingApplication.class);
        Application second = start(2, FailingApplicationsRival.class).getBean(Application.class);

        await().atMost(SOON.multipliedBy(2)).until(() -> second.candidate.isLeader());
    }

    @Test
    void aCandidateThatFailsWithAnErrorYieldsToo() {
        start(1, ErroneousApplication.class);
        Application second = start(2, FailingApplicationsRival.class).getBean(Application.class);

        await().atMost(SOON.multipliedBy(2)).until(() -> second.candidate.isLeader());
    }

    @Test
    void errorsOfTheCandidateAndOfListenersWhenItIsRevokedHoldNothingUp() throws InterruptedException {
        AnnotationConfigApplicationContext context = start(1, UnrevocableApplication.class);
        Application application = context.getBean(Application.class);
        await().atMost(SOON).until(() -> application.calls.contains("OnGrantedEvent reports"));
        CountDownLatch stopped = new CountDownLatch(1);

        context.getBean(PaxosLeaseLeaderInitiators.class).stop(stopped::countDown);

        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(application.calls).contains("OnRevokedEvent reports");
    }

    @Test
    void endpointsOfARoleRunWhereTheLeaderIs() {
        EndpointApplication first = start(1, EndpointApplication.class).getBean(EndpointApplication.class);
        await().atMost(SOON).until(() -> first.polls.size() > 2);
        AnnotationConfigApplicationContext secondContext = start(2, EndpointApplication.class);
        EndpointApplication second = secondContext.getBean(EndpointApplication.class);
        SmartLifecycleRoleController roles = contexts.get(0).getBean(SmartLifecycleRoleController.class);
        assertThat(roles.allEndpointsRunning("cluster")).isTrue();
        assertThat(second.polls).isEmpty();

        handOver(
                contexts.get(0)
                        .getBean(PaxosLeaseLeaderInitiators.class)
                        .initiator("cluster")
                        .orElseThrow(),
                () -> !second.polls.isEmpty());

        assertThat(roles.noEndpointsRunning("cluster")).isTrue();
    }

    /** Yields, and again each time that the other node was too slow and this one got the lease back. */
    private static void handOver(PaxosLeaseLeaderInitiator leader, Callable<Boolean> done) {
        await().atMost(SOON.multipliedBy(3))
                .pollDelay(Duration.ZERO)
                .pollInterval(LocalCell.leaseTime())
                .until(() -> {
                    if (done.call()) {
                        return true;
                    }
                    leader.getContext().yield();
                    return false;
                });
    }

    private AnnotationConfigApplicationContext start(int node, Class<?> application) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of("paxoslease.integration.roles=cluster").applyTo(context);
        // The cell outlives the contexts.
        context.registerBean(
                "leaseNode", LeaseNode.class, () -> cell.node(node), definition -> definition.setDestroyMethodName(""));
        context.registerBean(AbstractApplicationContext.LIFECYCLE_PROCESSOR_BEAN_NAME, LifecycleProcessor.class, () -> {
            DefaultLifecycleProcessor patient = new DefaultLifecycleProcessor();
            patient.setTimeoutPerShutdownPhase(LONG.toMillis());
            return patient;
        });
        context.register(PaxosLeaseIntegrationAutoConfiguration.class, application);
        contexts.add(context);
        context.refresh();
        return context;
    }

    /** A candidate and listeners, as in Spring Integration's documentation. */
    @Configuration
    static class Application {

        final List<String> calls = new CopyOnWriteArrayList<>();
        final ReportsCandidate candidate = new ReportsCandidate("reports", calls);

        @Bean
        ReportsCandidate candidate() {
            return candidate;
        }

        @EventListener
        void granted(OnGrantedEvent event) {
            if (event.getRole().equals(candidate.getRole())) {
                calls.add("OnGrantedEvent " + event.getRole());
            }
        }

        @EventListener
        void revoked(OnRevokedEvent event) {
            if (event.getRole().equals(candidate.getRole())) {
                calls.add("OnRevokedEvent " + event.getRole());
            }
        }

        @Autowired
        ObjectProvider<PaxosLeaseLeaderInitiators> provider;

        PaxosLeaseLeaderInitiator initiator() {
            return provider.getObject().initiator("reports").orElseThrow();
        }
    }

    static class ReportsCandidate extends AbstractCandidate {

        private final List<String> calls;
        volatile Context context;

        ReportsCandidate(String role, List<String> calls) {
            super(null, role);
            this.calls = calls;
        }

        boolean isLeader() {
            return context != null && context.isLeader();
        }

        @Override
        public void onGranted(Context granted) {
            context = granted;
            calls.add("onGranted " + getRole());
        }

        @Override
        public void onRevoked(Context revoked) {
            calls.add("onRevoked " + getRole());
        }
    }

    @Configuration
    static class WorkingApplication {

        @Bean
        Worker worker() {
            return new Worker();
        }
    }

    static class Worker extends AbstractCandidate {

        final CountDownLatch began = new CountDownLatch(1);
        final CountDownLatch interrupted = new CountDownLatch(1);
        final CountDownLatch revoked = new CountDownLatch(1);
        volatile Context context;

        Worker() {
            super(null, "work");
        }

        @Override
        public void onGranted(Context granted) throws InterruptedException {
            context = granted;
            began.countDown();
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException yielded) {
                interrupted.countDown();
                throw yielded;
            }
        }

        @Override
        public void onRevoked(Context ended) {
            revoked.countDown();
        }
    }

    @Configuration
    static class FailingApplication {

        @Bean
        AbstractCandidate candidate() {
            return new AbstractCandidate(null, "fragile") {
                @Override
                public void onGranted(Context context) {
                    throw new IllegalStateException("on purpose");
                }

                @Override
                public void onRevoked(Context context) {}
            };
        }
    }

    @Configuration
    static class ErroneousApplication {

        @Bean
        AbstractCandidate candidate() {
            return new AbstractCandidate(null, "fragile") {
                @Override
                public void onGranted(Context context) {
                    throw new NoClassDefFoundError("on purpose");
                }

                @Override
                public void onRevoked(Context context) {}
            };
        }
    }

    @Configuration
    static class UnrevocableApplication extends Application {

        @Override
        @EventListener
        void revoked(OnRevokedEvent event) {
            super.revoked(event);
            throw new NoClassDefFoundError("on purpose");
        }

        @Override
        @Bean
        ReportsCandidate candidate() {
            return new ReportsCandidate("reports", calls) {
                @Override
                public void onRevoked(Context revoked) {
                    throw new NoClassDefFoundError("on purpose");
                }
            };
        }
    }

    @Configuration
    static class UnhurriedApplication extends Application {

        final CountDownLatch revoking = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        @Bean
        ReportsCandidate candidate() {
            return new ReportsCandidate("reports", calls) {
                @Override
                public void onRevoked(Context revoked) {
                    revoking.countDown();
                    try {
                        assertThat(mayEnd.await(10, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException unexpected) {
                        throw new IllegalStateException(unexpected);
                    }
                    super.onRevoked(revoked);
                }
            };
        }
    }

    /** Is closed by its candidate. */
    abstract static class EndingApplication extends Application {

        final CountDownLatch closed = new CountDownLatch(1);

        @Autowired
        ConfigurableApplicationContext application;

        void end() {
            application.close();
            calls.add("closed");
            closed.countDown();
        }
    }

    /** Closes its application as soon as it leads. */
    @Configuration
    static class ClosingApplication extends EndingApplication {

        final CompletableFuture<Void> mayEnd = new CompletableFuture<>();

        @Override
        @Bean
        ReportsCandidate candidate() {
            return new ReportsCandidate("reports", calls) {
                @Override
                public void onGranted(Context granted) {
                    super.onGranted(granted);
                    // The test must have had the bean.
                    mayEnd.join();
                    end();
                }
            };
        }
    }

    /** Closes its application when it leads no more. */
    @Configuration
    static class LeavingApplication extends EndingApplication {

        @Override
        @Bean
        ReportsCandidate candidate() {
            return new ReportsCandidate("reports", calls) {
                @Override
                public void onRevoked(Context revoked) {
                    super.onRevoked(revoked);
                    end();
                }
            };
        }
    }

    /** Yields the first leadership as soon as it is granted. */
    @Configuration
    static class YieldingApplication extends Application {

        @Override
        @Bean
        ReportsCandidate candidate() {
            return new ReportsCandidate("reports", calls) {
                @Override
                public void onGranted(Context granted) {
                    boolean isFirst = context == null;
                    super.onGranted(granted);
                    if (isFirst) {
                        granted.yield();
                    }
                    if (Thread.currentThread().isInterrupted()) {
                        calls.add("interrupted");
                    }
                }
            };
        }
    }

    @Configuration
    static class FailingApplicationsRival extends Application {

        @Override
        @Bean
        ReportsCandidate candidate() {
            return new ReportsCandidate("fragile", calls) {
                @Override
                public void onGranted(Context granted) {
                    candidate.context = granted;
                }
            };
        }
    }

    /** No candidate of its own: its role is named in paxoslease.integration.roles. */
    @Configuration
    @EnableIntegration
    static class EndpointApplication {

        final List<String> polls = new CopyOnWriteArrayList<>();

        @Bean
        IntegrationFlow reports() {
            return IntegrationFlow.fromSupplier(
                            () -> "report",
                            source -> source.poller(Pollers.fixedDelay(20))
                                    .role("cluster")
                                    .autoStartup(false))
                    .handle(message -> polls.add("poll"))
                    .get();
        }
    }
}
