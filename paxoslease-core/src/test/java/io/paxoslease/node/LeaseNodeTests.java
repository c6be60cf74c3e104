package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import io.paxoslease.HeardLog;
import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseLostException;
import io.paxoslease.LeaseScope;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.node.LeaseTransition.Kind;
import io.paxoslease.protocol.Acceptor.Refusal;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.logging.LogRecord;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The shell as applications meet it: one standalone node on clocks that the test moves. */
class LeaseNodeTests {

    private static final Duration TIME = Duration.ofSeconds(10);
    private static final String TIMER = "paxoslease-solo-timer";

    private final ManualClock clock = new ManualClock();
    private final BlockingQueue<LeaseTransition> transitions = new LinkedBlockingQueue<>();
    private LeaseNode node;

    /** Both clocks, moved by hand. */
    private static final class ManualClock implements NodeClock {
        private final AtomicReference<Now> now = new AtomicReference<>(new Now(Long.MAX_VALUE - 5, 1_800_000_000_000L));
        private volatile @Nullable Now readByTimer;

        @Override
        public Now now() {
            Now read = now.get();
            if (Thread.currentThread().getName().equals(TIMER)) {
                readByTimer = read;
            }
            return read;
        }

        /** Whether the timer knows what time it is. */
        boolean isReadByTimer() {
            return readByTimer == now.get();
        }

        void advance(Duration time) {
            suspend(time);
            now.updateAndGet(was -> new Now(was.nanos() + time.toNanos(), was.wallMillis()));
        }

        /** A suspended machine: its monotonic clock stands still. */
        void suspend(Duration time) {
            now.updateAndGet(was -> new Now(was.nanos(), was.wallMillis() + time.toMillis()));
        }

        void stepWallClock(Duration step) {
            suspend(step);
        }
    }

    /** The node has no timer then. */
    private static NodeClock driven(Supplier<Now> now) {
        return new NodeClock() {
            @Override
            public Now now() {
                return now.get();
            }

            @Override
            public boolean isDriven() {
                return true;
            }
        };
    }

    @BeforeEach
    void startStandaloneNode() {
        node = new LeaseNode(NodeSettings.standalone("solo", TIME), new NoTransport(), new SplittableRandom(1), clock);
        node.addListener(transitions::add);
        node.openAcceptor();
        node.start();
    }

    @AfterEach
    void closeNode() {
        node.close();
    }

    private Lease taken(String name) {
        return node.tryAcquire(name, TIME).orElseThrow();
    }

    /** Any call about a lease settles it; the timer thread would do the same in real time. */
    private void settle(String name) {
        assertThat(node.tryAcquire(name, TIME)).isPresent();
    }

    private LeaseTransition next() throws InterruptedException {
        LeaseTransition transition = transitions.poll(10, TimeUnit.SECONDS);
        assertThat(transition).as("a transition").isNotNull();
        return transition.kind() == Kind.LEADER_CHANGED ? next() : transition;
    }

    @Nested
    class ALease {

        @Test
        void isHeldUntilALittleBeforeItsTimeIsOver() {
            Lease lease = taken("job");

            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.owner()).isEqualTo("solo");
            assertThat(lease.remaining()).isBetween(Duration.ofMillis(9790), Duration.ofMillis(9802));
            clock.advance(Duration.ofMillis(9790));
            assertThat(lease.isHeld()).isTrue();
            clock.advance(Duration.ofMillis(12));
            assertThat(lease.isHeld()).isFalse();
            assertThat(lease.remaining()).isZero();
            assertThatExceptionOfType(LeaseLostException.class)
                    .isThrownBy(lease::checkHeld)
                    .withMessageContainingAll("job", String.valueOf(lease.fencingToken()));
        }

        @Test
        void endsAlsoIfTheMachineWasSuspended() {
            Lease lease = taken("job");

            clock.suspend(TIME);

            assertThat(lease.isHeld()).isFalse();
        }

        /** The timer looks each second, and only each five seconds where nothing is held. */
        @Test
        void itsEndIsToldSoonAfterTheMachineWasSuspended() throws InterruptedException {
            awaitTimerAsleep();
            taken("job");
            assertThat(next().kind()).isEqualTo(Kind.ACQUIRED);
            // The round of the acquisition has a timer, which must not be what wakes it.
            clock.advance(Duration.ofSeconds(1));
            awaitTimerAsleep();

            clock.suspend(TIME);

            assertTimeout(Duration.ofSeconds(4), () -> assertThat(next().kind()).isEqualTo(Kind.LOST));
        }

        private void awaitTimerAsleep() {
            while (!clock.isReadByTimer()
                    || Thread.getAllStackTraces().keySet().stream()
                            .noneMatch(thread -> thread.getName().equals(TIMER)
                                    && thread.getState() == Thread.State.TIMED_WAITING)) {
                Thread.onSpinWait();
            }
        }

        @Test
        void isNotProlongedByAWallClockThatStepsBack() {
            Lease lease = taken("job");

            clock.stepWallClock(Duration.ofHours(-1));
            clock.advance(TIME);

            assertThat(lease.isHeld()).isFalse();
        }

        @Test
        void thatWasSeenToBeOverStaysOverAlsoIfTheWallClockIsSetBack() throws InterruptedException {
            LeaderElection election = node.election("leader");
            election.start();
            Lease lease = election.lease().orElseThrow();

            clock.stepWallClock(TIME);
            assertThat(lease.isHeld()).isFalse();
            clock.stepWallClock(TIME.negated());

            assertThat(lease.isHeld()).isFalse();
            assertThat(next().kind()).isEqualTo(Kind.ACQUIRED);
            assertThat(next().kind()).isEqualTo(Kind.LOST);
        }

        @Test
        void extendsForItsFullTimeAndKeepsItsToken() {
            Lease lease = taken("job");
            long token = lease.fencingToken();
            clock.advance(Duration.ofSeconds(8));

            assertThat(lease.extend()).isTrue();

            clock.advance(Duration.ofSeconds(8));
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.fencingToken()).isEqualTo(token);
        }

        @Test
        void neverComesBackOnceItEnded() {
            Lease lost = taken("job");
            clock.advance(TIME);
            Lease successor = taken("job");

            assertThat(lost.isHeld()).isFalse();
            assertThat(lost.extend()).isFalse();
            assertThat(successor.fencingToken()).isGreaterThan(lost.fencingToken());
            lost.release();
            assertThat(successor.isHeld()).as("a stale release ends nothing").isTrue();
        }

        @Test
        void isFreeAtOnceAfterItsRelease() {
            Lease first = taken("job");

            first.close();

            assertThat(first.isHeld()).isFalse();
            assertThat(taken("job").fencingToken()).isGreaterThan(first.fencingToken());
        }

        @Test
        void hasOneUserAtATimeAlsoWithinTheNode() {
            taken("job");

            assertThat(node.tryAcquire("job", TIME)).isEmpty();
        }

        @Test
        void tellsItsLossOnceAndNeverItsRelease() throws InterruptedException {
            BlockingQueue<String> told = new LinkedBlockingQueue<>();
            Lease lost = taken("job");
            lost.onLost(() -> told.add("lost"));
            clock.advance(TIME);
            settle("job");
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("lost");
            lost.onLost(() -> told.add("lost before it was asked"));
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("lost before it was asked");

            Lease released = taken("other");
            released.onLost(() -> told.add("must not be told"));
            released.release();
            released.onLost(() -> told.add("must not be told either"));
            taken("third").onLost(() -> {});
            assertThat(node.awaitTold(TIME)).isTrue();
            assertThat(told).isEmpty();
        }

        /** It ended the leadership of the whole node when the lease was lost. */
        @Test
        void takesNoActionThatIsMissing() {
            Lease lease = taken("job");
            assertThatNullPointerException().isThrownBy(() -> lease.onLost(null));
            clock.advance(TIME);
            settle("job");
            assertThat(node.isFailed()).isFalse();
        }

        @Test
        void isBoundToTheThreadByItsScopes() {
            Lease outer = taken("outer");
            Lease inner = taken("inner");

            assertThat(Lease.current()).isEmpty();
            try (LeaseScope outerScope = LeaseScope.open(outer)) {
                try (LeaseScope innerScope = LeaseScope.open(inner)) {
                    assertThat(Lease.current()).contains(inner);
                }
                assertThat(Lease.current()).contains(outer);
            }
            assertThat(Lease.current()).isEmpty();
        }
    }

    @Nested
    class Acquiring {

        @Test
        void waitsForAnotherUserOfThisNode() throws Exception {
            Lease first = taken("job");
            AtomicReference<@Nullable Lease> second = new AtomicReference<>();
            Thread waiter = new Thread(() -> {
                try {
                    second.set(node.acquire("job", TIME, Duration.ofMinutes(1)));
                } catch (InterruptedException | LeaseUnavailableException failure) {
                    throw new AssertionError(failure);
                }
            });
            waiter.start();

            first.release();
            waiter.join(10_000);

            assertThat(second.get()).isNotNull().matches(Lease::isHeld, "is held");
        }

        @Test
        void saysWhyItGaveUp() {
            taken("job");

            assertUnavailable(node, "this node itself seeks or holds the lease already");
        }

        @Test
        void saysThatTheNodeHasNotBeenStarted() {
            NodeSettings quick = memberOfThree(Duration.ofMillis(1));
            try (LeaseNode early = new LeaseNode(quick, new Silence(), new SplittableRandom(3), clock)) {
                assertUnavailable(early, "this node has not been started yet");
            }
        }

        @Test
        void saysThatTheNodeWasClosed() {
            node.close();

            assertUnavailable(node, "this node was closed");
        }

        @Test
        void saysThatTheNodeFailed() {
            Silence broken = new Silence();
            broken.defect.set(new IllegalStateException("planted"));
            try (LeaseNode member = new LeaseNode(memberOfThree(), broken, new SplittableRandom(3), clock)) {
                member.start();
                member.tryAcquire("other", TIME);

                assertUnavailable(member, "this node failed because of a defect; restart it");
            }
        }

        /** The message goes to logs, and an application may make names of what its users write. */
        @Test
        void saysItInOneLine() {
            taken("a\nERROR b");

            assertThatExceptionOfType(LeaseUnavailableException.class)
                    .isThrownBy(() -> node.acquire("a\nERROR b", TIME, Duration.ZERO))
                    .withMessageStartingWith("Lease 'a?ERROR b' could");
        }

        private void assertUnavailable(LeaseNode asked, String reason) {
            assertThatExceptionOfType(LeaseUnavailableException.class)
                    .isThrownBy(() -> asked.acquire("job", TIME, Duration.ZERO))
                    .withMessage("Lease 'job' could not be acquired within PT0S: " + reason);
        }

        /** As everything that waits does, also where it would not have had to wait. */
        @Test
        void takesNothingForAThreadThatIsInterruptedAlready() {
            Thread.currentThread().interrupt();

            assertThatExceptionOfType(InterruptedException.class)
                    .isThrownBy(() -> node.acquire("job", TIME, Duration.ofMinutes(1)));

            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThat(node.tryAcquire("job", TIME)).isPresent();
        }

        @Test
        void leavesNothingBehindWhenItIsInterrupted() throws Exception {
            Lease first = taken("job");
            CountDownLatch interrupted = new CountDownLatch(1);
            Thread waiter = new Thread(() -> {
                try {
                    node.acquire("job", TIME, Duration.ofMinutes(1));
                } catch (InterruptedException expected) {
                    interrupted.countDown();
                } catch (LeaseUnavailableException failure) {
                    throw new AssertionError(failure);
                }
            });
            waiter.start();
            waiter.interrupt();

            assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
            first.release();
            assertThat(node.tryAcquire("job", TIME)).isPresent();
        }

        @Test
        void completesAsynchronouslyOffTheProtocol() throws Exception {
            Optional<Lease> lease =
                    node.tryAcquireAsync("job", TIME).toCompletableFuture().get(10, TimeUnit.SECONDS);

            assertThat(lease).get().matches(Lease::isHeld, "is held");
        }

        /** By a library that cancels it, or because it took too long. */
        @ParameterizedTest
        @MethodSource("io.paxoslease.node.LeaseNodeTests#waysToWaitNoMore")
        void isGivenUpBySomebodyWhoWaitsForItNoMore(Consumer<CompletableFuture<Optional<Lease>>> waitNoMore) {
            List<Request> sent = new CopyOnWriteArrayList<>();
            Silence network = new Silence() {
                @Override
                public void send(int acceptor, Request request) {
                    sent.add(request);
                }
            };
            try (LeaseNode member =
                    new LeaseNode(memberOfThree(), network, new SplittableRandom(2), driven(clock::now))) {
                member.start();
                waitNoMore.accept(member.tryAcquireAsync("job", TIME).toCompletableFuture());

                Ballot ballot = sent.get(0).ballot();
                assertThat(sent).contains(new ReleaseRequest("job", ballot));
                member.onResponse(1, new ProposeResponse("job", ballot, true, ballot.counter(), null));
                member.onResponse(2, new ProposeResponse("job", ballot, true, ballot.counter(), null));
                assertThat(member.lease("job")).isEmpty();
            }
        }

        @Test
        void thatNobodyWaitedForAnyMoreIsReleased() throws Exception {
            CountDownLatch go = new CountDownLatch(1);
            node.addListener(transition -> awaitSafely(go));
            CompletableFuture<Optional<Lease>> answer =
                    node.tryAcquireAsync("job", TIME).toCompletableFuture();
            boolean cancelled = answer.cancel(true);
            go.countDown();

            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();
            assertThat(node.tryAcquire("job", TIME).isPresent()).isEqualTo(cancelled);
        }

        @Test
        void refusesTimesAndNamesOutOfRange() {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> node.tryAcquire("job", TIME.plusMillis(1)))
                    .withMessageContainingAll("10000 ms", "10001 ms");
            assertThatIllegalArgumentException().isThrownBy(() -> node.tryAcquire("job", Duration.ZERO));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> node.tryAcquire("job", Duration.ofSeconds(Long.MAX_VALUE)));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> node.tryAcquire("", TIME))
                    .withMessageContaining("must not be empty");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> node.election("é".repeat(128)))
                    .withMessageContaining("255 bytes");
        }
    }

    @Nested
    class AnElection {

        @Test
        void tellsInALogWhatItIs() {
            LeaderElection election = node.election("job");
            assertThat(election).hasToString("LeaderElection[job]");
            election.start();
            assertThat(election).hasToString("LeaderElection[job, led here]");
            assertThat(node.toString()).matches("LeaseNode\\[solo/[0-9a-f]{16} of cell .+]");
        }

        @Test
        void isTheSameObjectForTheSameName() {
            assertThat(node.election("leader")).isSameAs(node.election("leader"));
        }

        @Test
        void leadsFromItsStartToItsStop() {
            LeaderElection election = node.election("leader");
            assertThat(election.isLeader()).isFalse();

            election.start();

            assertThat(election.isLeader()).isTrue();
            assertThat(election.lease()).get().matches(Lease::isHeld, "is held");
            assertThat(election.leader()).get().matches(hint -> hint.nodeId().equals("solo"));
            election.stop();
            assertThat(election.isLeader()).isFalse();
            assertThat(election.leader()).isEmpty();
        }

        /** Who heard of the tenure from another thread before {@code start} returned found no claim. */
        @Test
        void leadsForWhoeverIsToldBeforeItsStartReturns() throws InterruptedException {
            BlockingQueue<Boolean> leads = new LinkedBlockingQueue<>();
            CountDownLatch told = new CountDownLatch(1);
            AtomicReference<@Nullable Thread> starting = new AtomicReference<>();
            NodeSettings settings = NodeSettings.standalone("alone", TIME);
            Silence slow = new Silence() {
                @Override
                public void flush() {
                    if (Thread.currentThread() == starting.get()) {
                        awaitSafely(told);
                    }
                }
            };
            try (LeaseNode alone = new LeaseNode(settings, slow, new SplittableRandom(3), clock)) {
                alone.openAcceptor();
                alone.start();
                LeaderElection election = alone.election("leader");
                alone.addListener(transition -> {
                    if (transition.kind() == Kind.ACQUIRED) {
                        leads.add(election.isLeader());
                        told.countDown();
                    }
                });
                starting.set(Thread.currentThread());
                election.start();
                assertThat(leads.poll(10, TimeUnit.SECONDS)).isTrue();
            }
        }

        @Test
        void readsTheClockAtEveryCall() {
            LeaderElection election = node.election("leader");
            election.start();
            Lease tenure = election.lease().orElseThrow();

            clock.suspend(TIME);

            assertThat(tenure.isHeld()).isFalse();
            assertThat(election.lease())
                    .as("by now it may lead again, in another tenure")
                    .satisfies(next -> assertThat(next.map(Lease::fencingToken).orElse(Long.MAX_VALUE))
                            .isGreaterThan(tenure.fencingToken()));
        }

        @Test
        void staysACandidateAfterItResigned() {
            LeaderElection election = node.election("leader");
            election.start();

            election.resign();

            assertThat(election.isLeader()).isFalse();
            assertThat(node.leases().get("leader"))
                    .matches(LeaseStatus::candidate, "is a candidate")
                    .extracting(LeaseStatus::state)
                    .isEqualTo(LeaseStatus.State.SEEKING);
        }

        @Test
        void resignsWhenItsLeaseIsReleased() {
            LeaderElection election = node.election("leader");
            election.start();

            election.lease().orElseThrow().release();

            assertThat(node.leases().get("leader"))
                    .matches(LeaseStatus::candidate, "is a candidate")
                    .extracting(LeaseStatus::state)
                    .isEqualTo(LeaseStatus.State.SEEKING);
        }

        @Test
        void isNotStartedWhereItMayNotSeek() {
            NodeSettings settings = NodeSettings.standalone("solo", TIME);
            NodeSettings observer = new NodeSettings(
                    "solo",
                    settings.cell(),
                    settings.timing(),
                    TIME,
                    settings.roundTimeout(),
                    true,
                    true,
                    100,
                    Map.of("leader", new NodeSettings.LeaseSettings(TIME, false, 10)));
            try (LeaseNode other = new LeaseNode(observer, new NoTransport(), new SplittableRandom(2), clock)) {
                other.openAcceptor();
                other.start();
                other.election("leader").start();
                assertThat(other.election("leader").isLeader()).isFalse();
                assertThat(other.leases().get("leader").state()).isEqualTo(LeaseStatus.State.STOPPED);
            }
        }
    }

    @Nested
    class OnAClockThatIsDriven {

        private final LeaseNode driven = new LeaseNode(
                NodeSettings.standalone("driven", TIME),
                new NoTransport(),
                new SplittableRandom(1),
                driven(clock::now));

        @BeforeEach
        void start() {
            driven.addListener(transitions::add);
            driven.openAcceptor();
            driven.start();
        }

        @AfterEach
        void close() {
            driven.close();
        }

        @Test
        void hasNoTimer() {
            assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .contains("paxoslease-solo-timer")
                    .doesNotContain("paxoslease-driven-timer");
        }

        /** Requests have it forgotten too, but where nothing is asked any more memory and figures would stay as they were. */
        @Test
        void forgetsWhatOthersHeldWhenItIsCalled() {
            Ballot ballot = new Ballot(clock.now().counterFloor() + 1_000_000, new Incarnation("other", 1));
            driven.onRequests(List.of(new ProposeRequest("job", ballot, TIME.toNanos())));
            assertThat(driven.acceptorStatus().leases()).isOne();
            clock.advance(TIME);
            driven.onTime();

            assertThat(driven.acceptorStatus().leases()).isZero();
        }

        @Test
        void doesWhatIsDueWhenItIsCalled() throws InterruptedException {
            assertThat(driven.tryAcquire("job", TIME)).isPresent();
            assertThat(next().kind()).isEqualTo(Kind.ACQUIRED);
            assertThat(driven.onTime()).isPresent();

            clock.advance(TIME);
            assertThat(driven.onTime()).isEmpty();

            assertThat(next().kind()).isEqualTo(Kind.LOST);
        }
    }

    @Nested
    class AttemptListeners {

        private final List<String> news = new CopyOnWriteArrayList<>();

        private final AttemptListener listener = new AttemptListener() {
            @Override
            public void onBegin(String leaseName, Purpose purpose) {
                news.add(leaseName + " " + purpose);
            }

            @Override
            public void onEnd(String leaseName, Outcome outcome, @Nullable String reason) {
                news.add(leaseName + " " + outcome + (reason == null ? "" : " " + reason));
            }
        };

        @Test
        void hearEveryAttemptBeginAndEndInOrder() {
            node.addAttemptListener(listener);
            Lease lease = taken("job");
            lease.extend();
            lease.release();

            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();
            assertThat(news).containsExactly("job ACQUIRE", "job SUCCESS", "job EXTEND", "job SUCCESS");
        }

        @Test
        void hearWhatAFailedAttemptMet() {
            NodeSettings settings = NodeSettings.standalone("late", TIME);
            try (LeaseNode quarantined = new LeaseNode(settings, new NoTransport(), new SplittableRandom(2), clock)) {
                quarantined.addAttemptListener(listener);
                quarantined.start();
                quarantined.tryAcquireAsync("job", TIME);

                assertThat(quarantined.awaitTold(Duration.ofSeconds(10))).isTrue();
                assertThat(news).containsExactly("job ACQUIRE", "job FAILURE no majority of the cell answered");
            }
        }

        @Test
        void hearWhenNobodyWantsTheAnswerAnyMore() {
            try (LeaseNode member = new LeaseNode(memberOfThree(), new Silence(), new SplittableRandom(2), clock)) {
                member.addAttemptListener(listener);
                member.start();
                LeaderElection election = member.election("leader");
                election.start();
                election.stop();

                assertThat(member.awaitTold(Duration.ofSeconds(10))).isTrue();
                assertThat(news).containsExactly("leader ACQUIRE", "leader WITHDRAWN withdrawn");
            }
        }
    }

    /** Where several threads want something, one of them performs the steps of all while it has the lock. */
    @Nested
    class StepsThatWaitedForTheLock {

        private final List<String> sent = new CopyOnWriteArrayList<>();
        private final AtomicReference<@Nullable Runnable> meanwhile = new AtomicReference<>();

        private final Silence network = new Silence() {
            @Override
            public void send(int acceptor, Request request) {
                sent.add(acceptor + " " + request.resource());
                Runnable others = meanwhile.getAndSet(null);
                if (others != null) {
                    CompletableFuture.runAsync(others).join();
                }
            }
        };

        @Test
        void sendTheirOwnRequestsOnly() {
            try (LeaseNode member =
                    new LeaseNode(memberOfThree(), network, new SplittableRandom(2), driven(clock::now))) {
                member.start();
                meanwhile.set(() -> {
                    member.tryAcquireAsync("y", TIME);
                    member.tryAcquireAsync("z", TIME);
                });
                member.tryAcquireAsync("x", TIME);
                assertThat(sent).containsExactlyInAnyOrder("1 x", "2 x", "1 y", "2 y", "1 z", "2 z");
            }
        }
    }

    @Nested
    class Listeners {

        @ParameterizedTest
        @ValueSource(longs = {Long.MAX_VALUE / 1_000_000_000L, Long.MAX_VALUE})
        void canBeAwaitedForAsLongAsItTakes(long seconds) {
            CountDownLatch mayEnd = new CountDownLatch(1);
            node.addListener(transition -> awaitSafely(mayEnd));
            CompletableFuture.runAsync(() -> {
                while (transitions.isEmpty()) {
                    Thread.onSpinWait();
                }
                mayEnd.countDown();
            });
            taken("job");

            assertThat(node.awaitTold(Duration.ofSeconds(seconds, 999_999_999))).isTrue();
        }

        @Test
        void canBeAwaited() {
            CountDownLatch go = new CountDownLatch(1);
            node.addListener(transition -> {
                try {
                    go.await();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            });
            taken("job");

            assertThat(node.awaitTold(Duration.ofMillis(10))).isFalse();
            go.countDown();
            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();
            assertThat(transitions).hasSize(2);
        }

        @Test
        void hearEveryTenureBeginAndEndInOrder() throws InterruptedException {
            LeaderElection election = node.election("leader");
            election.start();
            long token = election.lease().orElseThrow().fencingToken();
            election.lease().orElseThrow().extend();
            election.stop();

            assertThat(List.of(next(), next(), next()))
                    .extracting(LeaseTransition::kind)
                    .containsExactly(Kind.ACQUIRED, Kind.EXTENDED, Kind.RELEASED);
            assertThat(token).isPositive();
        }

        @Test
        void hearWhatOneBeforeThemThrewAt() throws InterruptedException {
            BlockingQueue<LeaseTransition> later = new LinkedBlockingQueue<>();
            node.addListener(transition -> {
                throw new IllegalStateException("a listener's own trouble");
            });
            node.addListener(later::add);

            taken("job");

            assertThat(later.poll(10, TimeUnit.SECONDS))
                    .matches(transition -> transition.kind() == Kind.ACQUIRED
                            && transition.leaseName().equals("job"));
        }

        @Test
        void hearNothingMoreOnceTheyAreRemoved() throws InterruptedException {
            List<LeaseTransition> heard = new CopyOnWriteArrayList<>();
            LeaseListener removed = heard::add;
            node.addListener(removed);
            node.removeListener(removed);

            taken("job");

            assertThat(next().kind()).isEqualTo(Kind.ACQUIRED);
            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();
            assertThat(heard).isEmpty();
        }

        @Test
        void thatThrowOrBlockDoNotHoldUpOthers() throws InterruptedException {
            CountDownLatch never = new CountDownLatch(1);
            node.addListener(transition -> {
                if (transition.leaseName().equals("blocked")) {
                    try {
                        never.await();
                    } catch (InterruptedException stopped) {
                        Thread.currentThread().interrupt();
                    }
                }
                throw new IllegalStateException("a listener's own trouble");
            });

            Lease blocked = taken("blocked");
            assertThat(next().leaseName()).isEqualTo("blocked");
            Lease free = taken("free");
            free.release();

            assertThat(next().leaseName()).isEqualTo("free");
            assertThat(next().kind()).isEqualTo(Kind.RELEASED);
            blocked.release();
            never.countDown();
            assertThat(next())
                    .matches(transition -> transition.kind() == Kind.RELEASED
                            && transition.leaseName().equals("blocked"));
        }
    }

    @Test
    void tellsOfOneOrSomeOrAllOfThousandsOfLeases() {
        node.election("watched");
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            held.add(taken("job-" + i).autoExtend());
        }

        assertThat(node.lease("job-7777")).get().satisfies(lease -> {
            assertThat(lease.heldHere()).isTrue();
            assertThat(lease.fencingToken()).isEqualTo(held.get(7_777).fencingToken());
        });
        assertThat(node.lease("watched"))
                .get()
                .extracting(LeaseStatus::heldHere)
                .isEqualTo(false);
        assertThat(node.lease("unknown")).isEmpty();
        assertThat(node.leases()).hasSize(10_001).containsKeys("watched", "job-0", "job-9999");
        assertThat(node.leases(9_000)).hasSize(9_000).containsKey("watched");
    }

    /** It is parked at the first look, and not any more when its slot comes. */
    @Test
    void tellsOfALeaseThatIsAskedForWhileThousandsAreLookedAt() {
        int[] readingsUntilThen = {-1};
        LeaseNode[] asked = new LeaseNode[1];
        NodeClock clock = driven(() -> {
            if (readingsUntilThen[0]-- == 0) {
                assertThat(asked[0].tryAcquire("job-7777", TIME)).isEmpty();
            }
            return new Now(0, 1_000_000);
        });
        try (LeaseNode many = new LeaseNode(
                NodeSettings.standalone("many", TIME), new NoTransport(), new SplittableRandom(1), clock)) {
            asked[0] = many;
            many.openAcceptor();
            many.start();
            for (int i = 0; i < 10_000; i++) {
                many.tryAcquire("job-" + i, TIME).orElseThrow().autoExtend();
            }

            // One for those that are not parked, then one for the first slots.
            readingsUntilThen[0] = 1;
            assertThat(many.leases()).hasSize(10_000).containsKey("job-7777");
        }
    }

    @Test
    void closingReleasesEverything() throws InterruptedException {
        Lease lease = taken("job");
        node.election("leader").start();

        node.close();

        assertThat(lease.isHeld()).isFalse();
        assertThat(node.election("leader").isLeader()).isFalse();
        assertThat(List.of(next().kind(), next().kind(), next().kind(), next().kind()))
                .containsExactlyInAnyOrder(Kind.ACQUIRED, Kind.ACQUIRED, Kind.RELEASED, Kind.RELEASED);
    }

    @Test
    void aHintEndsWithTheRecordHoweverLongTheNodeWasBusyMeanwhile() {
        NodeClock slow = driven(() -> {
            clock.advance(Duration.ofMillis(10));
            return clock.now();
        });
        try (LeaseNode busy = new LeaseNode(
                NodeSettings.standalone("busy", TIME), new NoTransport(), new SplittableRandom(1), slow)) {
            busy.openAcceptor();
            LeaderElection election = busy.election("job");
            Now arrives = slow.now();
            Ballot ballot = new Ballot(arrives.counterFloor() + 1_000_000, new Incarnation("other", 1));
            busy.onRequests(List.of(new ProposeRequest("job", ballot, TIME.toNanos())));

            Duration remaining = election.leader().orElseThrow().remaining();
            Duration since =
                    Duration.ofNanos(clock.now().nanos() - arrives.nanos()).minusMillis(10);
            assertThat(since).isPositive();
            assertThat(remaining).isEqualTo(TIME.minus(since));
        }
    }

    /** X2. Its counters never go back, and its own acceptor refuses them. */
    @Test
    void aNodeWhoseWallClockIsSetBackByMoreThanADayAcquiresNothingUntilItIsRestarted() {
        clock.stepWallClock(Duration.ofHours(-25));
        assertThat(node.tryAcquire("job", TIME)).isEmpty();
        assertThat(node.acceptorStatus().refusals()).containsKey(Refusal.COUNTER_TOO_FAR_AHEAD);
        node.close();

        startStandaloneNode();
        assertThat(node.tryAcquire("job", TIME)).isPresent();
    }

    @Test
    void anElectionThatIsMadeLaterKnowsTheLeaderThatTheAcceptorKnows() {
        Ballot ballot = new Ballot(clock.now().counterFloor() + 1_000_000, new Incarnation("other", 1));
        node.onRequests(List.of(new ProposeRequest("job", ballot, TIME.toNanos())));
        clock.advance(Duration.ofSeconds(1));

        assertThat(node.election("job").leader())
                .get()
                .matches(hint -> hint.nodeId().equals("other"))
                .matches(hint -> hint.remaining().equals(TIME.minusSeconds(1)));
    }

    /** A frame with a release may be passed by a request for the same lease. */
    @Test
    void theReleaseOfALeaseThatItsOwnerHasTakenAgainIsNoReasonToTry() {
        Incarnation other = new Incarnation("other", 1);
        Ballot first = new Ballot(clock.now().counterFloor() + 1_000_000, other);
        Ballot second = new Ballot(first.counter() + 1, other);
        node.election("job");
        node.onRequests(List.of(new ProposeRequest("job", first, TIME.toNanos())));
        node.onRequests(List.of(new ProposeRequest("job", second, TIME.toNanos())));
        node.onRequests(List.of(new ReleaseRequest("job", first)));
        assertThat(node.election("job").leader()).isPresent();

        node.onRequests(List.of(new ReleaseRequest("job", second)));
        assertThat(node.election("job").leader()).isEmpty();
    }

    @Test
    void aClosedNodeTakesNothingMore() {
        node.close();

        assertThat(node.tryAcquire("job", TIME)).isEmpty();
        node.election("leader").start();
        assertThat(node.election("leader").isLeader()).isFalse();
    }

    @Test
    void theStatusIsThatOfTheTenureAndNotOfTheOneBefore() {
        Instant begin = Instant.ofEpochMilli(clock.now().wallMillis());
        node.election("job").start();
        clock.advance(Duration.ofSeconds(6));
        settle("first");
        assertThat(node.lease("job")).get().satisfies(first -> {
            assertThat(first.acquiredAt()).isEqualTo(begin);
            assertThat(first.extensions()).isEqualTo(1);
        });

        clock.advance(TIME.multipliedBy(2));
        settle("second");
        assertThat(node.lease("job")).get().satisfies(second -> {
            assertThat(second.acquiredAt()).isEqualTo(begin.plus(Duration.ofSeconds(26)));
            assertThat(second.extensions()).isZero();
        });
    }

    @Test
    void theStatusNamesWhoLeadsUntilThatIsOver() {
        Ballot ballot = new Ballot(clock.now().counterFloor() + 1_000_000, new Incarnation("other", 1));
        node.election("theirs");
        node.onRequests(List.of(new ProposeRequest("theirs", ballot, TIME.toNanos())));
        taken("ours");
        assertThat(node.lease("ours")).get().satisfies(ours -> {
            assertThat(ours.leader()).isEqualTo("solo");
            assertThat(ours.nextExtensionIn()).isNull();
        });
        assertThat(node.lease("theirs")).get().extracting(LeaseStatus::leader).isEqualTo("other");

        clock.advance(TIME);
        assertThat(node.lease("ours").filter(LeaseStatus::heldHere)).isEmpty();
        assertThat(node.lease("theirs")).get().satisfies(theirs -> {
            assertThat(theirs.leader()).isNull();
            assertThat(theirs.remaining()).isNull();
            assertThat(theirs.leaseTime()).isEqualTo(TIME);
        });
    }

    /** Nobody has settled it yet. */
    @Test
    void theStatusOfALeaseThatRanOutTellsNothingOfItsTenure() {
        node.close();
        node = new LeaseNode(
                NodeSettings.standalone("solo", TIME), new NoTransport(), new SplittableRandom(1), driven(clock::now));
        node.openAcceptor();
        node.start();
        taken("job").autoExtend();
        clock.advance(TIME);

        assertThat(node.lease("job")).get().satisfies(status -> {
            assertThat(status.state()).isEqualTo(LeaseStatus.State.SEEKING);
            assertThat(status.heldHere()).isFalse();
            assertThat(status.fencingToken()).isNull();
            assertThat(status.acquiredAt()).isNull();
            assertThat(status.nextExtensionIn()).isNull();
        });
    }

    /** What extends itself and needs nothing is kept apart, as if nobody had asked for anything else. */
    @Nested
    class ALeaseThatExtendsItself {

        @Test
        void isStillWatchedWhenItHasEnded() {
            node.election("job");
            Lease lease = taken("job").autoExtend();
            settle("other");
            lease.release();

            assertThat(node.lease("job")).get().extracting(LeaseStatus::state).isEqualTo(LeaseStatus.State.STOPPED);
        }

        @Test
        void goesToWhoWaitsForItOnTheSameNode() {
            Lease lease = taken("job");
            CompletableFuture<Lease> next = new CompletableFuture<>();
            Thread waiter = new Thread(() -> {
                try {
                    next.complete(node.acquire("job", TIME, Duration.ofMinutes(1)));
                } catch (Exception failure) {
                    next.completeExceptionally(failure);
                }
            });
            waiter.start();
            while (waiter.getState() != Thread.State.TIMED_WAITING) {
                Thread.yield();
            }
            lease.autoExtend();
            settle("other");
            lease.release();

            assertThat(next).succeedsWithin(TIME).matches(Lease::isHeld, "is held");
        }

        @Test
        void isToldToBeLostInADefectLikeEveryOther() throws InterruptedException {
            AtomicBoolean planted = new AtomicBoolean();
            NodeClock broken = driven(() -> planted.getAndSet(false) ? null : clock.now());
            BlockingQueue<String> lost = new LinkedBlockingQueue<>();
            try (LeaseNode solo = new LeaseNode(
                    NodeSettings.standalone("broken", TIME), new NoTransport(), new SplittableRandom(1), broken)) {
                solo.openAcceptor();
                solo.start();
                solo.tryAcquire("parked", TIME).orElseThrow().autoExtend();
                solo.tryAcquire("other", TIME);
                solo.addListener(transition -> {
                    if (transition.kind() == Kind.LOST) {
                        lost.add(transition.leaseName());
                    }
                });
                planted.set(true);
                solo.onTime();

                assertThat(solo.isFailed()).isTrue();
                assertThat(solo.awaitTold(TIME)).isTrue();
                assertThat(lost).containsExactlyInAnyOrder("parked", "other");
            }
        }
    }

    /** One of three; the test answers for another one. Calls are answered at once, and not when they have waited for long enough. */
    @Nested
    class AnExtensionThatIsAwaited {

        private final BlockingQueue<Request> sent = new LinkedBlockingQueue<>();
        private final LeaseNode member = new LeaseNode(
                memberOfThree(Duration.ofMinutes(1)),
                new Silence() {
                    @Override
                    public void send(int acceptor, Request request) {
                        if (acceptor == 1) {
                            sent.add(request);
                        }
                    }
                },
                new SplittableRandom(3),
                driven(clock::now));
        private Lease lease;
        private CompletableFuture<Boolean> answer;

        @BeforeEach
        void hold() throws Exception {
            member.addListener(transitions::add);
            member.openAcceptor();
            member.start();
            clock.advance(TIME);
            CompletableFuture<Optional<Lease>> acquired =
                    member.tryAcquireAsync("job", TIME).toCompletableFuture();
            accept();
            lease = acquired.get(10, TimeUnit.SECONDS).orElseThrow();
            assertThat(next().kind()).isEqualTo(Kind.ACQUIRED);
            answer = CompletableFuture.supplyAsync(lease::extend);
        }

        @AfterEach
        void close() {
            member.close();
        }

        private void accept() throws InterruptedException {
            ProposeRequest request = (ProposeRequest) sent.poll(10, TimeUnit.SECONDS);
            clock.advance(Duration.ofMillis(3));
            member.onResponse(
                    1,
                    new ProposeResponse(
                            "job", request.ballot(), true, request.ballot().counter(), null));
        }

        @Test
        void isAnsweredWhenItSucceeds() throws Exception {
            accept();

            assertThat(answer).succeedsWithin(TIME).isEqualTo(true);
            assertThat(next())
                    .matches(transition -> transition.kind() == Kind.EXTENDED)
                    .matches(transition -> transition.took().equals(Duration.ofMillis(3)));
        }

        @Test
        void isAnsweredWhenItFails() throws Exception {
            assertThat(sent.poll(10, TimeUnit.SECONDS)).isInstanceOf(ProposeRequest.class);
            clock.advance(Duration.ofSeconds(9));
            member.onTime();

            assertThat(answer).succeedsWithin(TIME).isEqualTo(false);
            assertThat(next())
                    .matches(transition -> transition.kind() == Kind.EXTENSION_FAILED)
                    .matches(transition -> transition.took().equals(Duration.ofSeconds(9)))
                    .matches(transition -> transition.reason() != null);
            assertThat(lease.isHeld()).isTrue();
        }

        @Test
        void isAnsweredWhenTheLeaseIsReleased() throws Exception {
            assertThat(sent.poll(10, TimeUnit.SECONDS)).isInstanceOf(ProposeRequest.class);
            lease.release();

            assertThat(answer).succeedsWithin(TIME).isEqualTo(false);
        }
    }

    /** Nobody would ever tell of an end any more. */
    @Test
    @Timeout(60)
    void aTimerThatMeetsADefectEndsAllLeadership() {
        NodeClock broken = () -> {
            if (Thread.currentThread().getName().endsWith("-timer")) {
                throw new IllegalStateException("planted");
            }
            return clock.now();
        };
        try (LeaseNode solo = new LeaseNode(
                NodeSettings.standalone("broken", TIME), new NoTransport(), new SplittableRandom(1), broken)) {
            solo.openAcceptor();
            solo.start();
            while (!solo.isFailed() && !Thread.currentThread().isInterrupted()) {
                Thread.yield();
            }
            assertThat(solo.isFailed()).isTrue();
        }
    }

    static List<Throwable> defects() {
        return List.of(new IllegalStateException("planted"), new StackOverflowError("planted"));
    }

    @ParameterizedTest
    @MethodSource("defects")
    void aDefectEndsAllLeadershipInsteadOfRiskingTwoLeaders(Throwable defect) {
        Silence broken = new Silence();
        try (LeaseNode member = new LeaseNode(memberOfThree(), broken, new SplittableRandom(3), clock)) {
            member.openAcceptor();
            member.start();
            LeaderElection election = member.election("leader");
            election.start();
            clock.advance(TIME);
            broken.defect.set(defect);

            assertThat(member.tryAcquireAsync("job", TIME).toCompletableFuture())
                    .isNotCompletedExceptionally();
            // The timer may hold the lock, and then it is the one that meets the defect.
            member.onTime();

            assertThat(member.isFailed()).isTrue();
            assertThat(election.isLeader()).isFalse();
            assertThat(member.acceptorState()).isEqualTo(RequestHandler.AcceptorState.QUARANTINED);
        }
    }

    /** A4. Only a cell that lives and dies with its process does without. */
    @Test
    void aMemberTakesNoPartUntilItsQuarantineHasPassed() {
        try (LeaseNode member = new LeaseNode(memberOfThree(), new NoTransport(), new SplittableRandom(3), clock)) {
            List<Request> requests = List.of(new ProposeRequest(
                    "job", new Ballot(clock.now().counterFloor(), new Incarnation("b", 1)), TIME.toNanos()));
            member.openAcceptor();

            assertThat(member.onRequests(requests)).containsOnlyNulls();
            clock.advance(TIME);
            assertThat(member.onRequests(requests)).doesNotContainNull();
        }
    }

    /** A4, T3. It may have accepted a lease of the other maximum before it was restarted. */
    @Test
    void aMemberTakesNoPartUntilALongerMaximumOfAnotherHasPassed() {
        try (LeaseNode member = new LeaseNode(memberOfThree(), new NoTransport(), new SplittableRandom(3), clock)) {
            member.openAcceptor();
            member.onOtherMaximum(new Incarnation("b", 1), TIME.toNanos() + 1);

            clock.advance(TIME);
            assertThat(member.acceptorState()).isEqualTo(RequestHandler.AcceptorState.QUARANTINED);
            assertThat(member.quarantineRemainingNanos()).isEqualTo(1);
        }
    }

    /** A4, X9. The other one may be of a majority for another leader. */
    @Test
    void aMemberStandsAsideForOneThatMustNotVoteAsWell() {
        try (LeaseNode member = new LeaseNode(memberOfThree(), new NoTransport(), new SplittableRandom(3), clock)) {
            assertThat(member.awaitsVote()).isTrue();
            member.openAcceptor();
            assertThat(member.standsAsideFor()).isEmpty();
            member.onOtherVoter("Somebody votes");
            assertThat(member.standsAsideFor()).hasValue("Somebody votes");

            clock.advance(TIME);
            assertThat(member.acceptorState()).isEqualTo(RequestHandler.AcceptorState.QUARANTINED);
            assertThat(member.awaitsVote()).isTrue();
            clock.advance(Duration.ofMinutes(1));
            assertThat(member.acceptorState()).isEqualTo(RequestHandler.AcceptorState.VOTING);
            assertThat(member.standsAsideFor()).isEmpty();
            assertThat(member.awaitsVote()).isFalse();
        }
    }

    @Test
    void asksTheTransportWhetherAMajorityVotes() {
        Transport network = new Silence() {
            @Override
            public boolean majorityVotes() {
                return true;
            }
        };
        try (LeaseNode member = new LeaseNode(memberOfThree(), network, new SplittableRandom(3), clock)) {
            assertThat(member.majorityVotes()).isTrue();
        }
        try (LeaseNode member = new LeaseNode(memberOfThree(), new Silence(), new SplittableRandom(3), clock)) {
            assertThat(member.majorityVotes()).isFalse();
        }
    }

    /** Were both to tell, each would answer the other for ever. */
    @Test
    void aMemberTellsOneWithAShorterMaximumOfItsOwnAndNoOther() {
        List<Incarnation> met = new ArrayList<>();
        Transport network = new Silence() {
            @Override
            public void onHello(Incarnation sender) {
                met.add(sender);
            }
        };
        try (LeaseNode member = new LeaseNode(memberOfThree(), network, new SplittableRandom(3), clock)) {
            member.openAcceptor();
            member.onOtherMaximum(new Incarnation("b", 1), TIME.toNanos() - 1);
            member.onOtherMaximum(new Incarnation("c", 1), TIME.toNanos() + 1);

            assertThat(met).containsExactly(new Incarnation("b", 1));
        }
    }

    /** Whoever is sent to the leader would be sent here, and whoever waits for a new one would wait in vain. */
    @Test
    void aNodeThatFailedNeitherNamesItselfAsLeaderNorSeeksAnything() {
        AtomicBoolean planted = new AtomicBoolean();
        NodeClock broken = driven(() -> planted.getAndSet(false) ? null : clock.now());
        try (LeaseNode solo = new LeaseNode(
                NodeSettings.standalone("broken", TIME), new NoTransport(), new SplittableRandom(1), broken)) {
            solo.openAcceptor();
            solo.start();
            LeaderElection election = solo.election("job");
            election.start();
            assertThat(election.leader()).isPresent();
            assertThat(solo.tryAcquire("held", TIME)).isPresent();
            assertThat(solo.leases().values()).extracting(LeaseStatus::leader).containsExactly("broken", "broken");

            planted.set(true);
            solo.onTime();

            assertThat(solo.isFailed()).isTrue();
            assertThat(election.leader()).isEmpty();
            assertThat(solo.leases().values())
                    .extracting(LeaseStatus::state)
                    .containsExactly(LeaseStatus.State.STOPPED, LeaseStatus.State.STOPPED);
            assertThat(solo.leases().values()).noneMatch(LeaseStatus::candidate);
            assertThat(solo.leases().values()).extracting(LeaseStatus::leader).containsOnlyNulls();
        }
    }

    /** There it can neither log nor tell anybody. */
    @Test
    @Timeout(60)
    void aDefectAtTheEndOfAStackIsToldAllTheSame() throws InterruptedException {
        Lease lease = taken("job");
        CountDownLatch lost = new CountDownLatch(1);
        lease.onLost(lost::countDown);
        List<LogRecord> lines = new CopyOnWriteArrayList<>();
        try (HeardLog log = new HeardLog(NodeLoop.class, lines::add)) {
            while (!node.isFailed()) {
                Thread diver = new Thread(null, () -> dive(lease, 100_000), "diver", 256 * 1024);
                diver.setUncaughtExceptionHandler((thread, overflow) -> {});
                diver.start();
                diver.join();
            }
            assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(next().kind()).isEqualTo(Kind.ACQUIRED);
            LeaseTransition last = next();
            while (last.kind() == Kind.EXTENDED) {
                last = next();
            }
            assertThat(last.kind()).isEqualTo(Kind.LOST);
            while (lines.isEmpty()) {
                Thread.onSpinWait();
            }
            assertThat(lines)
                    .singleElement()
                    .extracting(LogRecord::getMessage)
                    .asString()
                    .contains("gave up all its leases for good");
        }
    }

    /** Its acceptor tells of that in the middle of a step. */
    @Test
    @Timeout(60)
    void goesOnWhileTheLogBlocksInWhichItsWallClockIsBlamed() throws InterruptedException {
        CountDownLatch logged = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        Lease lease = taken("job");
        try (HeardLog log = new HeardLog(LocalAcceptor.class, line -> {
            logged.countDown();
            awaitSafely(mayGoOn);
        })) {
            clock.stepWallClock(Duration.ofDays(-2));
            node.tryAcquireAsync("other", TIME);
            logged.await();
            lease.release();
            assertThat(lease.isHeld()).isFalse();
        } finally {
            mayGoOn.countDown();
        }
    }

    /** What the application does with a lease must end although nobody can be told why. */
    @Test
    @Timeout(60)
    void aDefectIsToldAlthoughTheLogBlocks() throws InterruptedException {
        AtomicBoolean planted = new AtomicBoolean();
        NodeClock broken = () -> planted.getAndSet(false) ? null : NodeClock.SYSTEM.now();
        CountDownLatch logged = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        List<LogRecord> lines = new CopyOnWriteArrayList<>();
        Consumer<LogRecord> stuck = line -> {
            logged.countDown();
            try {
                awaitSafely(mayGoOn);
            } finally {
                lines.add(line);
            }
        };
        try (HeardLog log = new HeardLog(NodeLoop.class, stuck);
                LeaseNode solo = new LeaseNode(
                        NodeSettings.standalone("broken", TIME), new NoTransport(), new SplittableRandom(1), broken)) {
            solo.openAcceptor();
            solo.start();
            CountDownLatch lost = new CountDownLatch(1);
            solo.tryAcquire("job", TIME).orElseThrow().onLost(lost::countDown);
            planted.set(true);

            assertThat(logged.await(30, TimeUnit.SECONDS)).isTrue();

            assertThat(lost.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(solo.leases()).containsOnlyKeys("job");
            assertThat(lines).as("what the log has let go").isEmpty();
        } finally {
            mayGoOn.countDown();
        }
    }

    /** Whoever releases a lease with too little stack left may catch the error and go on. */
    @Test
    @Timeout(60)
    void noLeaseIsOverForTheApplicationAloneWhenItsReleaseFails() throws InterruptedException {
        taken("other").release();
        for (int i = 0; i < 5; i++) {
            try (LeaseNode solo = new LeaseNode(
                    NodeSettings.standalone("solo", TIME), new NoTransport(), new SplittableRandom(i), clock)) {
                solo.openAcceptor();
                solo.start();
                Lease lease = solo.tryAcquire("job", TIME).orElseThrow().autoExtend();
                Thread diver = new Thread(null, () -> comeUp(lease::release, 100_000), "diver", 256 * 1024);
                diver.start();
                diver.join();

                assertThat(lease.isHeld()).isFalse();
                assertThat(solo.isFailed() || solo.lease("job").isEmpty())
                        .as("over for the node")
                        .isTrue();
            }
        }
    }

    /** Does something at every depth, beginning with the end of the stack, where there is no room for it. */
    private static void comeUp(Runnable step, int further) {
        try {
            if (further > 0) {
                comeUp(step, further - 1);
            }
            step.run();
        } catch (StackOverflowError end) {
            // further up there is more room
        }
    }

    /** What the timer meets afterwards may only follow from it. */
    @Test
    @Timeout(60)
    void theFirstDefectIsTheOneThatIsLogged() {
        CountDownLatch timerGoesOn = new CountDownLatch(1);
        AtomicBoolean planted = new AtomicBoolean();
        NodeClock broken = () -> {
            if (Thread.currentThread().getName().endsWith("-timer")) {
                awaitSafely(timerGoesOn);
                throw new IllegalStateException("second");
            } else if (planted.get()) {
                throw new IllegalStateException("first");
            }
            return clock.now();
        };
        List<LogRecord> lines = new CopyOnWriteArrayList<>();
        try (HeardLog log = new HeardLog(NodeLoop.class, lines::add);
                LeaseNode solo = new LeaseNode(
                        NodeSettings.standalone("first", TIME), new NoTransport(), new SplittableRandom(1), broken)) {
            solo.openAcceptor();
            solo.start();
            planted.set(true);
            solo.onTime();
            assertThat(solo.isFailed()).isTrue();
            timerGoesOn.countDown();
            awaitEnd("paxoslease-first-timer");
            // Those of a test before may come late.
            assertThat(lines)
                    .filteredOn(line -> line.getMessage().contains("Node first/"))
                    .singleElement()
                    .extracting(line -> line.getThrown().getMessage())
                    .isEqualTo("first");
        }
    }

    /** The timer, which ends them one by one, may be late. */
    @Test
    @Timeout(60)
    void noLeaseIsHeldAnyMoreFromTheDefectOn() {
        CountDownLatch timerGoesOn = new CountDownLatch(1);
        AtomicBoolean planted = new AtomicBoolean();
        NodeClock broken = () -> {
            if (Thread.currentThread().getName().endsWith("-timer")) {
                awaitSafely(timerGoesOn);
            } else if (planted.getAndSet(false)) {
                throw new IllegalStateException("planted");
            }
            return clock.now();
        };
        try (LeaseNode solo = new LeaseNode(
                NodeSettings.standalone("late", TIME), new NoTransport(), new SplittableRandom(1), broken)) {
            solo.openAcceptor();
            solo.start();
            Lease lease = solo.tryAcquire("job", TIME).orElseThrow();
            planted.set(true);

            solo.onUnanswered(0, new ReleaseRequest("other", new Ballot(1, solo.incarnation())));

            assertThat(solo.isFailed()).isTrue();
            assertThat(lease.isHeld()).isFalse();
        } finally {
            timerGoesOn.countDown();
            awaitEnd("paxoslease-late-timer");
        }
    }

    private static void awaitEnd(String name) {
        while (Thread.getAllStackTraces().keySet().stream()
                        .anyMatch(thread -> thread.getName().equals(name))
                && !Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
    }

    private static void dive(Lease lease, int further) {
        lease.extend();
        if (further > 0) {
            dive(lease, further - 1);
        }
    }

    @Test
    void aNodeWhoseAcceptorHasADefectTakesNoPartInAnything() {
        AtomicBoolean planted = new AtomicBoolean();
        // The acceptor meets what the clock must not say.
        NodeClock broken = driven(() -> planted.getAndSet(false) ? null : clock.now());
        try (LeaseNode member = new LeaseNode(memberOfThree(), new Silence(), new SplittableRandom(3), broken)) {
            member.openAcceptor();
            member.start();
            clock.advance(TIME.multipliedBy(2));
            assertThat(member.acceptorState()).isEqualTo(RequestHandler.AcceptorState.VOTING);
            List<Request> requests = List.of(new ProposeRequest(
                    "job", new Ballot(clock.now().counterFloor(), new Incarnation("b", 1)), TIME.toNanos()));
            planted.set(true);

            assertThatNullPointerException().isThrownBy(() -> member.onRequests(requests));

            assertThat(member.isFailed()).isTrue();
            assertThat(member.acceptorState()).isEqualTo(RequestHandler.AcceptorState.QUARANTINED);
            assertThat(member.onRequests(requests)).containsOnlyNulls();
        }
    }

    @Test
    @Timeout(60)
    void anExtensionThatMeetsADefectIsAnsweredAtOnce() {
        AtomicBoolean planted = new AtomicBoolean();
        NodeClock broken = driven(() -> planted.getAndSet(false) ? null : clock.now());
        NodeSettings settings = new NodeSettings(
                "patient",
                new Cell("default", List.of("patient")),
                new Timing(TIME.toNanos(), 0.01),
                TIME,
                Duration.ofHours(1),
                true,
                true,
                100,
                Map.of());
        try (LeaseNode patient = new LeaseNode(settings, new NoTransport(), new SplittableRandom(1), broken)) {
            patient.openAcceptor();
            patient.start();
            Lease lease = patient.tryAcquire("job", TIME).orElseThrow();
            planted.set(true);

            assertThat(lease.extend()).isFalse();
            assertThat(patient.isFailed()).isTrue();
        }
    }

    @Test
    void aTransportThatFailsToSendLosesMessagesAndNothingElse() {
        AtomicBoolean fails = new AtomicBoolean();
        Silence transport = new Silence() {
            @Override
            public void flush() {
                if (fails.get()) {
                    throw new OutOfMemoryError("planted");
                }
            }
        };
        try (LeaseNode member = new LeaseNode(memberOfThree(), transport, new SplittableRandom(3), clock)) {
            member.openAcceptor();
            member.start();
            fails.set(true);

            CompletableFuture<Optional<Lease>> once =
                    member.tryAcquireAsync("job", TIME).toCompletableFuture();
            clock.advance(TIME);
            member.onTime();

            assertThat(once).succeedsWithin(TIME).isEqualTo(Optional.empty());
            assertThat(member.isFailed()).isFalse();
        }
    }

    @Test
    void whatHappenedBeforeADefectIsTold() {
        Silence broken = new Silence();
        try (LeaseNode member = new LeaseNode(memberOfThree(), broken, new SplittableRandom(3), clock)) {
            member.openAcceptor();
            member.start();
            CompletableFuture<Optional<Lease>> once =
                    member.tryAcquireAsync("job", TIME).toCompletableFuture();
            // It is sought for when the other one has given up, in the same event.
            member.election("job").start();
            broken.defect.set(new IllegalStateException("defect"));
            clock.advance(TIME);
            member.onTime();

            assertThat(member.isFailed()).isTrue();
            assertThat(once).succeedsWithin(TIME).isEqualTo(Optional.empty());
        }
    }

    @Test
    void whatIsAskedForWhileTheNodeClosesIsAnswered() {
        AtomicReference<CompletableFuture<Optional<Lease>>> late = new AtomicReference<>();
        Silence transport = new Silence() {
            @Override
            public void flush() {
                LeaseNode closing = node;
                if (closing != null && late.get() == null) {
                    late.set(new CompletableFuture<>());
                    late.set(closing.tryAcquireAsync("late", TIME).toCompletableFuture());
                }
            }
        };
        node.close();
        node = null;
        LeaseNode member = new LeaseNode(memberOfThree(), transport, new SplittableRandom(3), clock);
        member.openAcceptor();
        member.start();
        node = member;

        member.close();

        assertThat(late.get()).succeedsWithin(TIME).isEqualTo(Optional.empty());
    }

    /** A step of closing leaves some leases for the next; here there is nothing left by then but what came in between. */
    @Test
    void whatIsTakenWhileTheNodeClosesIsReleasedThoughOthersReleaseTheRest() {
        List<Lease> leases = new ArrayList<>();
        AtomicReference<Lease> late = new AtomicReference<>();
        AtomicBoolean closing = new AtomicBoolean();
        Silence transport = new Silence() {
            @Override
            public void flush() {
                if (closing.getAndSet(false)) {
                    leases.forEach(Lease::release);
                    late.set(taken("late"));
                }
            }
        };
        node.close();
        node = new LeaseNode(
                NodeSettings.standalone("solo", TIME), transport, new SplittableRandom(1), driven(clock::now));
        node.openAcceptor();
        node.start();
        for (int i = 0; i < 5_000; i++) {
            leases.add(taken("job-" + i));
        }
        closing.set(true);

        node.close();

        assertThat(late.get().isHeld()).isFalse();
    }

    @Test
    void aNodeThatFailedClosesItsTransportOnce() {
        AtomicInteger closings = new AtomicInteger();
        Silence transport = new Silence() {
            @Override
            public void close() {
                closings.incrementAndGet();
            }
        };
        transport.defect.set(new IllegalStateException("planted"));
        LeaseNode member = new LeaseNode(memberOfThree(), transport, new SplittableRandom(3), clock);
        member.openAcceptor();
        member.start();
        assertThat(member.tryAcquire("job", TIME)).isEmpty();
        assertThat(member.isFailed()).isTrue();

        member.close();
        member.close();

        assertThat(closings).hasValue(1);
    }

    @Test
    void whatCodeAcquiredGoesOnWhenElectionsAreStopped() {
        node.election("elected").start();
        Lease lease = node.tryAcquire("acquired", TIME).orElseThrow();
        assertThat(node.election("elected").isLeader()).isTrue();

        assertThat(node.stopElections()).containsExactly(node.election("elected"));

        assertThat(node.election("elected").isLeader()).isFalse();
        assertThat(lease.isHeld()).isTrue();
        node.releaseAll();
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void anElectionThatIsStartedWhileAllAreEndedCanBeStartedAgain() {
        AtomicBoolean ending = new AtomicBoolean();
        Silence transport = new Silence() {
            @Override
            public void flush() {
                if (ending.getAndSet(false)) {
                    node.election("a").start();
                }
            }
        };
        node.close();
        node = new LeaseNode(memberOfThree(), transport, new SplittableRandom(3), clock);
        node.openAcceptor();
        node.start();
        // In this order they are ended.
        node.election("a");
        node.election("b").start();
        ending.set(true);
        node.releaseAll();
        assertThat(ending).isFalse();

        node.election("a").start();

        assertThat(node.lease("a").orElseThrow().state()).isEqualTo(LeaseStatus.State.SEEKING);
    }

    @Test
    void anElectionGoesOnUntilNobodyNeedsIt() {
        node.need("a", "one");
        node.need("a", "other");
        node.election("a").start();

        node.needNoMore("a", "other");
        node.needNoMore("a", "other");
        assertThat(node.lease("a").orElseThrow().candidate()).isTrue();
        node.needNoMore("a", "one");
        assertThat(node.lease("a").orElseThrow().candidate()).isFalse();

        node.election("a").start();
        node.needNoMore("a", "one");
        assertThat(node.lease("a").orElseThrow().candidate()).isTrue();
    }

    /** Sending may take a while, and the other may be a thread that starts the application. */
    @Test
    @Timeout(60)
    void whoNeedsNoMoreHoldsUpNobodyWhoNeedsAnother() throws Exception {
        CountDownLatch flushing = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicReference<Thread> slow = new AtomicReference<>();
        Silence transport = new Silence() {
            @Override
            public void flush() {
                if (Thread.currentThread() == slow.get()) {
                    flushing.countDown();
                    awaitSafely(mayEnd);
                }
            }
        };
        try (LeaseNode member = new LeaseNode(memberOfThree(), transport, new SplittableRandom(3), clock)) {
            member.startNeeded("a", "one");
            Thread stopping = new Thread(() -> member.needNoMore("a", "one"));
            slow.set(stopping);
            stopping.start();
            flushing.await();

            try {
                assertThat(CompletableFuture.runAsync(() -> member.startNeeded("b", "other")))
                        .succeedsWithin(TIME);
                assertThat(member.isNeededByOthers("b", "one")).isTrue();
            } finally {
                mayEnd.countDown();
                stopping.join();
            }
        }
    }

    @Test
    void aLeaseThatIsHeldKeepsItsHistory() {
        node.keepHistory(new LeaseHistory(64, 1));
        assertThat(node.tryAcquire("held", TIME)).isPresent();
        assertThat(node.tryAcquire("other", TIME)).isPresent();

        assertThat(node.history("held").orElseThrow().events().get(0).kind()).isEqualTo(HistoryEvent.Kind.ACQUIRED);
        assertThat(node.history("other"))
                .hasValueSatisfying(history -> assertThat(history.events()).isEmpty());
    }

    private static void awaitSafely(CountDownLatch latch) {
        try {
            assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    static Stream<Named<Consumer<CompletableFuture<Optional<Lease>>>>> waysToWaitNoMore() {
        return Stream.of(
                Named.of("cancelled", answer -> answer.cancel(true)),
                Named.of("failed", answer -> answer.completeExceptionally(new TimeoutException())),
                Named.of("answered by somebody else", answer -> answer.complete(Optional.empty())));
    }

    private static NodeSettings memberOfThree() {
        return memberOfThree(Duration.ofSeconds(1));
    }

    private static NodeSettings memberOfThree(Duration roundTimeout) {
        return new NodeSettings(
                "a",
                new Cell("default", List.of("a", "b", "c")),
                new Timing(TIME.toNanos(), 0.01),
                TIME,
                roundTimeout,
                false,
                true,
                100,
                Map.of());
    }

    /** A network that carries nothing and can be made to throw. */
    private static class Silence implements Transport {

        private final AtomicReference<@Nullable Throwable> defect = new AtomicReference<>();

        @Override
        public void start(Incarnation self, Receiver receiver) {}

        @Override
        public void send(int acceptor, Request request) {
            Throwable planted = defect.get();
            if (planted instanceof Error error) {
                throw error;
            } else if (planted != null) {
                throw (RuntimeException) planted;
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
