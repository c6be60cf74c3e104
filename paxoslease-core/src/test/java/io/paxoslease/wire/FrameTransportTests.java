package io.paxoslease.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.HeardLog;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.wire.HeldFrameChannel.Held;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How node-1 talks to node-2 and node-3. Time passes only where a test says so, and no thread runs but the test's. */
class FrameTransportTests {

    private static final String PEER = "node-2";
    private static final int PEER_ACCEPTOR = 1;

    private final ManualClock clock = new ManualClock();
    private final ManualThread thread = new ManualThread();
    private final HeldFrameChannel channel = new HeldFrameChannel();
    private final GrantingAcceptor acceptor = new GrantingAcceptor();
    private final Map<String, FrameServer> servers = new HashMap<>();
    private final List<String> told = new ArrayList<>();
    private final List<String> otherVoters = new ArrayList<>();
    private boolean awaitsVote;
    private Runnable afterAnswer = () -> {};
    private long counter;
    private final List<Task> later = new ArrayList<>();
    private boolean nobodyWaits;
    private FrameTransport transport = transport(Samples.settings(), channel, 10);

    {
        serve(Samples.NODE_2, Samples.settings());
        serve(Samples.NODE_3, Samples.settings());
    }

    @Nested
    class Sending {

        @Test
        void anIdleMemberGetsARequestAtOnce() {
            connect();
            send("a");
            transport.flush();
            assertThat(resources(channel.underWay(PEER))).containsExactly("a");
            answer(PEER);
            assertThat(told).containsExactly("1 answered a");
        }

        @Test
        void anAnswerIsToldByTheThreadThatBringsIt() {
            connect();
            send("a");
            Held held = begin();
            held.reply().complete(servers.get(PEER).handle(held.frame(), null));
            assertThat(told).containsExactly("1 answered a");
        }

        @Test
        void nothingGoesOutBeforeTheFlush() {
            connect();
            send("a");
            assertThat(channel.isIdle(PEER)).isTrue();
        }

        @Test
        void aHelloGoesFirst() {
            send("a");
            transport.flush();
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            answer(PEER);
            assertThat(resources(channel.underWay(PEER))).containsExactly("a");
            answer(PEER);
            assertThat(told).containsExactly("1 answered a");
        }

        @Test
        void whatComesWhileAFrameIsUnderWayGoesTogether() {
            connect();
            send("a");
            transport.flush();
            for (String resource : List.of("b", "c", "d")) {
                send(resource);
                transport.flush();
            }
            assertThat(resources(channel.underWay(PEER))).containsExactly("a");
            answer(PEER);
            assertThat(resources(channel.underWay(PEER))).containsExactly("b", "c", "d");
            answer(PEER);
            assertThat(told).containsExactly("1 answered a", "1 answered b", "1 answered c", "1 answered d");
        }

        @Test
        void nothingPassesAHello() {
            send("a");
            Held hello = begin();
            send("b");
            waitsFor(hello);
            assertThat(resources(channel.underWay(PEER))).containsExactly("a", "b");
        }

        @Test
        void aFewReleasesHoldNothingUp() {
            connect();
            List.of("a", "b", "c", "d").forEach(FrameTransportTests.this::release);
            Held releases = begin();
            List.of("e", "f", "g", "h").forEach(FrameTransportTests.this::send);
            transport.flush();
            answer(PEER);
            assertThat(told).containsExactly("1 answered e", "1 answered f", "1 answered g", "1 answered h");
            reply(releases);
            assertThat(acceptor.handled).hasSize(8);
        }

        @Test
        void onlyOneFramePassesAnother() {
            connect();
            release("a");
            Held first = begin();
            release("b");
            Held second = begin();
            send("c");
            waitsFor(second);
            assertThat(resources(channel.underWay(PEER))).containsExactly("c");
            send("d");
            transport.flush();
            reply(first);
            assertThat(resources(channel.take(PEER))).containsExactly("c");
            assertThat(channel.isIdle(PEER)).as("c is to be waited for").isTrue();
        }

        @Test
        void aReleaseIsPassedByARequestForTheSameResource() {
            connect();
            release("a");
            Held release = begin();
            send("a");
            assertThat(resources(begin())).containsExactly("a");
            reply(release);
        }

        @Test
        void aFailureDoesNotHoldUpTheThreadThatBringsAnswers() {
            connect();
            send("a");
            begin().reply().completeExceptionally(new IOException("connection refused"));
            assertThat(told).isEmpty();
            thread.runAll();
            assertThat(told).containsExactly("1 unanswered a");
        }

        @Test
        void manyRequestsPassNothing() {
            connect();
            release("a");
            Held release = begin();
            List<String> many = List.of("b", "c", "d", "e", "f");
            many.forEach(FrameTransportTests.this::send);
            waitsFor(release);
            assertThat(resources(channel.underWay(PEER))).containsExactlyElementsOf(many);
        }

        @Test
        void manyReleasesAreNotPassed() {
            connect();
            List<String> many = List.of("a", "b", "c", "d", "e");
            many.forEach(FrameTransportTests.this::release);
            Held releases = begin();
            send("f");
            waitsFor(releases);
            assertThat(resources(channel.underWay(PEER))).containsExactly("f");
        }

        @Test
        void aProposalAmongReleasesIsWaitedFor() {
            connect();
            release("a");
            send("b");
            Held both = begin();
            send("c");
            waitsFor(both);
            assertThat(resources(channel.underWay(PEER))).containsExactly("c");
        }

        @Test
        void manyRequestsDoNotWaitForTheAnswersToOthers() {
            useLongQueue();
            send("a");
            Held first = begin();
            sendMany("b", MemberLink.MANY);
            Held second = begin();
            reply(second);
            assertThat(told).hasSize(MemberLink.MANY).contains("1 answered b0");
            reply(first);
            assertThat(told).hasSize(MemberLink.MANY + 1).contains("1 answered a");
        }

        @Test
        void noMoreThanTwoFramesAreUnderWay() {
            useLongQueue();
            send("a");
            Held first = begin();
            sendMany("b", MemberLink.MANY);
            Held second = begin();
            sendMany("c", MemberLink.MANY);
            waitsFor(second);
            assertThat(channel.take(PEER).decoded().requests()).hasSize(MemberLink.MANY);
            reply(first);
        }

        @Test
        void fewerRequestsWait() {
            useLongQueue();
            send("a");
            Held first = begin();
            sendMany("b", MemberLink.MANY - 1);
            waitsFor(first);
            assertThat(channel.take(PEER).decoded().requests()).hasSize(MemberLink.MANY - 1);
        }

        /** The member accepts no proposal that comes after the release of its ballot. */
        @Test
        void manyRequestsDoNotWaitThoughThereIsAReleaseAmongThem() {
            useLongQueue();
            send("a");
            Held first = begin();
            sendMany("b", MemberLink.MANY - 1);
            release("a");
            assertThat(resources(begin())).hasSize(MemberLink.MANY).endsWith("a");
            reply(first);
        }

        @Test
        void aSlowMemberDoesNotHoldUpAnother() {
            connect();
            send("a");
            transport.flush();
            transport.send(2, Samples.propose("b", 1, Samples.NODE_1));
            transport.flush();
            answer("node-3");
            assertThat(told).containsExactly("2 answered b");
        }

        @Test
        void sequenceNumbersGrow() {
            connect();
            long before = 0;
            for (int i = 0; i < 5; i++) {
                send("a");
                transport.flush();
                long sequence = channel.underWay(PEER).decoded().sequence();
                assertThat(sequence).isGreaterThan(before);
                before = sequence;
                answer(PEER);
            }
        }

        @Test
        void aFullQueueDropsTheNewRequestAndSaysSoLater() {
            connect();
            send("under way");
            transport.flush();
            for (int i = 0; i < 12; i++) {
                send("r" + i);
            }
            release("not missed");
            transport.flush();
            assertThat(told).isEmpty();
            thread.runAll();
            assertThat(told).containsExactly("1 unanswered r10", "1 unanswered r11");
            answer(PEER);
            assertThat(resources(channel.underWay(PEER))).hasSize(10);
        }

        @Test
        void framesAndAnswersStayBelowTheLimit() {
            WireSettings small = new WireSettings(
                    Samples.CELL, Samples.settings().timing(), Duration.ofSeconds(1), List.of(), 4_096);
            serve(Samples.NODE_2, small);
            transport = transport(small, channel, 10_000);
            connect();
            for (int i = 0; i < 500; i++) {
                send(i % 7 == 0 || i >= 450 ? "漢".repeat(85) : "r" + i);
            }
            transport.flush();
            int frames = 0;
            while (!channel.isIdle(PEER)) {
                assertThat(channel.underWay(PEER).frame().length).isLessThanOrEqualTo(4_096);
                answer(PEER);
                frames++;
            }
            assertThat(told).hasSize(500).allMatch(line -> line.startsWith("1 answered"));
            assertThat(frames).isBetween(15, 50);
        }

        /** A refusal is longer than a request for a short name. */
        @Test
        void noAnswerIsLeftOutThoughAllAreRefusals() {
            acceptor.holder = new Incarnation("a-node-id-of-no-unusual-bytes", 1);
            useLongQueue();
            sendMany("r", 5_000);
            transport.flush();
            while (!channel.isIdle(PEER)) {
                answer(PEER);
            }
            assertThat(told).hasSize(5_000).allMatch(line -> line.startsWith("1 answered"));
        }

        @Test
        void aChannelThatEndsAtOnceIsHandledOnAnotherThread() {
            transport = transport(Samples.settings(), new InstantChannel(), 10);
            for (int i = 0; i < 5; i++) {
                send("a");
                transport.flush();
                transport.tick();
                assertThat(told).as("nothing on the calling thread").isEmpty();
            }
            thread.runAll();
            assertThat(told).hasSize(5).containsOnly("1 answered a");
        }

        @Test
        void aDefectInHandlingAnAnswerDoesNotEndTheThread() {
            transport = transport(Samples.settings(), new InstantChannel(), 10);
            afterAnswer = () -> {
                afterAnswer = () -> {};
                throw new OutOfMemoryError("as the test wants it");
            };
            for (int i = 1; i <= 2; i++) {
                send("a");
                transport.flush();
                thread.runAll();
                assertThat(told).hasSize(i);
            }
        }

        @Test
        void aChannelThatThrowsIsLikeALostFrame() {
            isLikeALostFrame(() -> {
                throw new IllegalStateException("as the test wants it");
            });
            isLikeALostFrame(() -> {
                throw new OutOfMemoryError("as the test wants it");
            });
        }

        private void isLikeALostFrame(Runnable thrower) {
            told.clear();
            transport = transport(Samples.settings(), new ThrowingChannel(thrower), 10);
            send("a");
            transport.flush();
            assertThat(told).isEmpty();
            thread.runAll();
            assertThat(told).containsExactly("1 unanswered a");
        }

        @Test
        void theOwnAcceptorIsNotAmongTheMembers() {
            assertThat(transport.members()).containsOnlyKeys("node-2", "node-3");
            assertThatThrownBy(() -> transport.send(0, Samples.propose("a", 1, Samples.NODE_1)))
                    .isInstanceOf(IllegalStateException.class);
        }

        @Test
        void aNodeThatIsNoMemberTalksToAll() {
            FrameTransport worker = new FrameTransport(Samples.settings(), channel, WireListener.NONE, clock, 10);
            assertThat(worker.members()).isEmpty();
            worker.startWithoutTicks(
                    new Incarnation("worker-1", 5), new Told(), thread, FrameTransportTests.this::later);
            assertThat(worker.members()).containsOnlyKeys("node-1", "node-2", "node-3");
        }

        @Test
        void nothingIsSentAfterTheEnd() {
            connect();
            transport.close();
            assertThat(channel.closed).isTrue();
            int before = channel.exchanges;
            send("a");
            transport.flush();
            transport.tick();
            assertThat(channel.exchanges).isEqualTo(before);
        }

        /** So that releases still arrive. It is a moment only, and a busy machine may miss it. */
        @Test
        @Timeout(60)
        void whoClosesWaitsForWhatIsUnderWay() throws InterruptedException {
            boolean waited = false;
            while (!waited) {
                transport = transport(Samples.settings(), channel, 10);
                connect();
                release("a");
                begin();
                Thread closing = new Thread(transport::close);
                closing.start();
                while (closing.isAlive() && !waited) {
                    waited = closing.getState() == Thread.State.TIMED_WAITING;
                }
                closing.join();
            }
        }
    }

    /** A member whose answers take 80 ms. */
    @Nested
    class FarAway {

        private static final Duration ROUND_TRIP = Duration.ofMillis(80);

        private void connectFarAway() {
            connect();
            waitForAnswer();
        }

        private void waitForAnswer() {
            send("first");
            Held first = begin();
            send("second");
            advance(ROUND_TRIP);
            waitsFor(first);
            advance(ROUND_TRIP);
            answer(PEER);
            told.clear();
        }

        private void beginsAfter(Duration pause) {
            transport.flush();
            advance(pause.minusNanos(1));
            assertThat(channel.isIdle(PEER)).isTrue();
            advance(Duration.ofNanos(1));
            thread.runAll();
        }

        /** More frames would take more connections, and to open one takes longer than to wait. */
        @Test
        void whoSeldomSendsWaits() {
            connectFarAway();
            clock.advance(Duration.ofSeconds(10));
            send("a");
            Held first = begin();
            send("b");
            transport.flush();
            assertThat(later).isEmpty();
            advance(ROUND_TRIP);
            waitsFor(first);
            channel.take(PEER);
            send("c");
            beginsAfter(Duration.ofMillis(5));
        }

        /** Nobody flushes again: the pause ends by itself. */
        @Test
        void whatManyAskForAtOnceTakesTwoFrames() {
            connectFarAway();
            send("a");
            Held first = begin();
            send("b");
            transport.flush();
            advance(Duration.ofMillis(1));
            send("c");
            beginsAfter(Duration.ofMillis(4));
            assertThat(resources(channel.take(PEER))).containsExactly("b", "c");
            reply(first);
            assertThat(later).isEmpty();
        }

        @Test
        void upToFourFramesAreUnderWay() {
            connectFarAway();
            send("a");
            Held first = begin();
            List<Held> others = new ArrayList<>();
            for (long pause : List.of(5, 20, 40)) {
                send("b");
                beginsAfter(Duration.ofMillis(pause));
                others.add(channel.take(PEER));
            }
            send("c");
            transport.flush();
            assertThat(later).isEmpty();
            advance(ROUND_TRIP);
            assertThat(channel.isIdle(PEER)).isTrue();
            reply(first);
            assertThat(resources(channel.take(PEER))).containsExactly("c");
            others.forEach(FrameTransportTests.this::reply);
            assertThat(told).containsExactly("1 answered a", "1 answered b", "1 answered b", "1 answered b");
        }

        /** So that each call of a busy thread does not leave something to do behind. */
        @Test
        void oneWhoWaitsForThePauseIsEnough() {
            connectFarAway();
            send("a");
            Held first = begin();
            for (int i = 0; i < 5; i++) {
                send("b");
                transport.flush();
            }
            assertThat(later).hasSize(1);
            reply(first);
        }

        @Test
        void whatIsToWaitForAPauseGoesWithTheAnswerWhereNobodyCanWait() {
            connectFarAway();
            send("a");
            Held first = begin();
            send("b");
            nobodyWaits = true;
            transport.flush();
            nobodyWaits = false;
            advance(ROUND_TRIP);
            assertThat(channel.isIdle(PEER)).isTrue();
            reply(first);
            assertThat(resources(channel.take(PEER))).containsExactly("b");
            send("c");
            beginsAfter(Duration.ofMillis(5));
            assertThat(resources(channel.take(PEER))).containsExactly("c");
        }

        @Test
        void aProbePassesNothing() {
            connectFarAway();
            clock.advance(Duration.ofSeconds(10));
            transport.tick();
            channel.take(PEER);
            transport.tick();
            assertThat(channel.isIdle(PEER)).isTrue();
        }

        /** One answer that was quicker shows that it was not the way that took so long. */
        @Test
        void isNoMoreWhoOnceAnsweredSooner() {
            connectFarAway();
            send("a");
            Held quick = begin();
            advance(Duration.ofNanos(499_999));
            reply(quick);
            send("b");
            Held second = begin();
            send("c");
            advance(Duration.ofMillis(80));
            waitsFor(second);
        }

        /** It may be another machine. */
        @Test
        void isNotKnownOfAMemberInANewLife() {
            connectFarAway();
            serve(new Incarnation(PEER, 0x9999), Samples.settings());
            send("a");
            transport.flush();
            answer(PEER);
            answer(PEER);
            Held again = channel.take(PEER);
            send("b");
            advance(ROUND_TRIP);
            waitsFor(again);
        }

        /** There is nothing to come back for before both have ended and a hello was answered. */
        @Test
        void nobodyWaitsForAPauseWhereThereIsNoSession() {
            connectFarAway();
            serve(new Incarnation(PEER, 0x9999), Samples.settings());
            send("a");
            Held first = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            Held second = channel.take(PEER);
            reply(first);
            send("c");
            transport.flush();
            assertThat(later).isEmpty();
            reply(second);
            answer(PEER);
            answer(PEER);
            answer(PEER);
            assertThat(told).containsExactly("1 answered a", "1 answered b", "1 answered c");
        }

        @Test
        void aLostFrameSaysNothingOfAMemberThatAnsweredALaterOne() {
            connectFarAway();
            send("a");
            Held lost = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            answer(PEER);
            fail(lost);
            assertThat(told).containsExactly("1 answered b", "1 unanswered a");
            assertThat(status().reachable()).isTrue();
        }

        /** As where a packet is lost on a way of half a millisecond, or one of the member's threads stands still. */
        @Test
        void aFrameThatTooManyPassedIsSentOnceMoreAfterAHello() {
            connect();
            reply(passByTooMany());
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            answer(PEER);
            answer(PEER);
            assertThat(told).containsExactly("1 answered late");
        }

        @Test
        void aFrameThatTooManyPassedIsLostWhereThereAreSecrets() {
            useSecrets();
            reply(passByTooMany());
            assertThat(told).containsExactly("1 unanswered late");
            assertThat(status().reachable()).isTrue();
            send("a");
            transport.flush();
            answer(PEER);
            assertThat(told).endsWith("1 answered a");
        }

        private Held passByTooMany() {
            waitForAnswer();
            send("late");
            Held passed = begin();
            for (int i = 0; i < 64; i++) {
                advance(Duration.ofMillis(5));
                send("a");
                Held passing = begin();
                advance(ROUND_TRIP);
                reply(passing);
            }
            told.clear();
            return passed;
        }

        /** Else the health of a cell would go down for a moment with one connection to each member. */
        @Test
        void aLostFrameSaysNothingYetOfAMemberThatMayAnswerALaterOne() {
            connectFarAway();
            send("a");
            Held lost = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            Held later = channel.take(PEER);
            fail(lost);
            assertThat(status().reachable()).isTrue();
            assertThat(status().problem()).isNull();
            fail(later);
            assertThat(status().reachable()).isFalse();
            assertThat(status().problem()).isEqualTo("reset");
        }

        /** As where each frame that fails at once makes room for another, while one hangs. */
        @Test
        void twoFailuresSaySomethingThoughALaterFrameIsUnderWay() {
            connectFarAway();
            send("a");
            Held first = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            Held hangs = channel.take(PEER);
            fail(first);
            send("c");
            beginsAfter(Duration.ofMillis(5));
            Held third = channel.take(PEER);
            send("d");
            beginsAfter(Duration.ofMillis(20));
            assertThat(status().reachable()).isTrue();
            fail(third);
            assertThat(status().reachable()).isFalse();
            reply(hangs);
            assertThat(status().reachable()).isTrue();
            answer(PEER);
        }

        /** As where the connections to a member that died end one after another, and an answer was still to be read. */
        @Test
        void aLostFrameSaysSomethingWhereTheLaterOnesAreLostAlready() {
            connectFarAway();
            send("a");
            Held first = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            Held second = channel.take(PEER);
            send("c");
            beginsAfter(Duration.ofMillis(20));
            Held third = channel.take(PEER);
            fail(third);
            reply(first);
            fail(second);
            assertThat(status().reachable()).isFalse();
            assertThat(status().problem()).isEqualTo("reset");
        }

        private void fail(Held lost) {
            lost.reply().completeExceptionally(new IOException("reset"));
            thread.runAll();
        }

        /** It doubles once. */
        @Test
        void framesThatAreLostTogetherChangeTheLimitAsOne() {
            connectFarAway();
            long limit = limitAtDistance();
            List<Held> lost = new ArrayList<>();
            for (long pause : List.of(0, 5, 20, 40)) {
                send("a");
                transport.flush();
                advance(Duration.ofMillis(pause));
                thread.runAll();
                lost.add(channel.take(PEER));
            }
            clock.advance(Duration.ofNanos(lost.get(0).timeoutNanos()));
            for (Held each : lost) {
                each.reply().completeExceptionally(new IOException("no answer"));
                thread.runAll();
            }
            assertThat(status().reachable()).isFalse();
            send("b");
            assertThat(begin().timeoutNanos()).isEqualTo(Math.min(seconds(1), 2 * limit));
        }

        @Test
        void framesThatAreLostTogetherAreOneFailure() {
            connectFarAway();
            clock.advance(Duration.ofSeconds(10));
            waitForAnswer();
            List<String> lines = new ArrayList<>();
            try (HeardLog log = new HeardLog(FrameTransport.class, line -> lines.add(line.getMessage()))) {
                for (int times = 1; times <= 3; times++) {
                    assertThat(lines).isEmpty();
                    loseTogether();
                }
            }
            assertThat(lines).containsExactly("Member node-2 is not reachable: reset");
        }

        private void loseTogether() {
            send("a");
            Held first = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            Held second = channel.take(PEER);
            send("c");
            beginsAfter(Duration.ofMillis(20));
            Held third = channel.take(PEER);
            for (Held each : List.of(first, second, third)) {
                each.reply().completeExceptionally(new IOException("reset"));
                thread.runAll();
            }
        }

        /** It was told once more after three more refusals, as if the reason had become another one. */
        @Test
        void aRefusalIsToldOnceThoughAFrameWasLostWithIt() {
            connectFarAway();
            clock.advance(Duration.ofSeconds(10));
            waitForAnswer();
            send("a");
            Held lost = begin();
            send("b");
            beginsAfter(Duration.ofMillis(5));
            Held refused = channel.take(PEER);
            servers.put(PEER, servers.get("node-3"));
            List<String> lines = new ArrayList<>();
            try (HeardLog log = new HeardLog(FrameTransport.class, line -> lines.add(line.getMessage()))) {
                lost.reply().completeExceptionally(new IOException("reset"));
                thread.runAll();
                reply(refused);
                for (int i = 0; i < 4; i++) {
                    send("c");
                    transport.flush();
                    answer(PEER);
                }
            }
            assertThat(lines)
                    .containsExactly(
                            "Member node-2 does not fit: answers as node-3 instead of node-2 (is the URL right?)");
        }

        private long limitAtDistance() {
            for (int i = 0; i < 100; i++) {
                send("a");
                Held held = begin();
                advance(Duration.ofMillis(40));
                reply(held);
            }
            send("a");
            Held held = begin();
            advance(Duration.ofMillis(40));
            reply(held);
            return held.timeoutNanos();
        }
    }

    @Nested
    class SessionRenewal {

        @Test
        void afterARestartOfTheMemberTheRequestsAreSentOnceMore() {
            connect();
            serve(new Incarnation(PEER, 0x9999), Samples.settings());
            send("a");
            release("b");
            transport.flush();
            long first = channel.underWay(PEER).decoded().sequence();
            answer(PEER);
            assertThat(told).isEmpty();
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            send("c");
            transport.flush();
            answer(PEER);
            assertThat(resources(channel.underWay(PEER))).containsExactly("a", "b");
            assertThat(channel.underWay(PEER).decoded().sequence()).isGreaterThan(first);
            answer(PEER);
            assertThat(resources(channel.underWay(PEER))).containsExactly("c");
            answer(PEER);
            assertThat(told).containsExactly("1 answered a", "1 answered c");
            assertThat(acceptor.handled).hasSize(3);
        }

        @Test
        void afterARestartWhatPassedIsSentOnceMoreToo() {
            connect();
            serve(new Incarnation(PEER, 0x9999), Samples.settings());
            release("a");
            Held release = begin();
            send("b");
            transport.flush();
            answer(PEER);
            assertThat(channel.isIdle(PEER)).isTrue();
            reply(release);
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            answer(PEER);
            assertThat(resources(channel.underWay(PEER))).containsExactly("b", "a");
            answer(PEER);
            assertThat(told).containsExactly("1 answered b");
            assertThat(acceptor.handled).hasSize(2);
        }

        /** Both frames became one, which the member refused to read: a busy owner lost every request of two frames. */
        @Test
        void afterARestartTwoFullFramesAreSentOnceMoreWithinTheLimit() {
            transport = transport(Samples.settings(), channel, 100_000);
            connect();
            int count = 9_000;
            for (int i = 0; i < count; i++) {
                send(String.format("lease-%010d", i));
            }
            Held first = begin();
            Held second = begin();
            serve(new Incarnation(PEER, 0x9999), Samples.settings());
            reply(first);
            reply(second);
            while (!channel.isIdle(PEER)) {
                assertThat(channel.underWay(PEER).frame().length)
                        .isLessThanOrEqualTo(Samples.settings().maxFrameBytes());
                answer(PEER);
            }
            assertThat(told).hasSize(count).allMatch(line -> line.startsWith("1 answered"));
        }

        @Test
        void aProbeFindsARestartOutAndAHelloFollowsAtOnce() {
            connect();
            serve(new Incarnation(PEER, 0x9999), Samples.settings());
            clock.advance(Duration.ofSeconds(10));
            transport.tick();
            assertThat(channel.underWay(PEER).decoded().requests()).isEmpty();
            answer(PEER);
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            answer(PEER);
            assertThat(channel.isIdle(PEER)).isTrue();
            assertThat(status().reachable()).isTrue();
        }

        @Test
        void butNotASecondTime() {
            connect();
            send("a");
            release("b");
            transport.flush();
            serve(new Incarnation(PEER, 1), Samples.settings());
            answer(PEER);
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            answer(PEER);
            serve(new Incarnation(PEER, 2), Samples.settings());
            answer(PEER);
            assertThat(told).containsExactly("1 unanswered a");
            assertThat(acceptor.handled).isEmpty();
        }

        @Test
        void whatWaitsForAFailedHelloIsUnanswered() {
            send("a");
            release("b");
            transport.flush();
            fail(PEER, new IOException("connection refused"));
            assertThat(told).containsExactly("1 unanswered a");
            assertThat(channel.isIdle(PEER)).isTrue();
        }

        /** Sent much later, it might come behind what has overtaken it. */
        @Test
        void whatWasNotHandledFallsWithAFailedHelloToo() {
            connect();
            send("a");
            transport.flush();
            serve(new Incarnation(PEER, 7), Samples.settings());
            answer(PEER);
            fail(PEER, new IOException("connection refused"));
            assertThat(told).containsExactly("1 unanswered a");
            connect();
            assertThat(acceptor.handled).isEmpty();
        }

        /** Without a secret. Otherwise the link would be dead until one of the two nodes is restarted. */
        @Test
        void aDamagedSequenceNumberCostsOneHello() {
            connect();
            send("a");
            Held held = begin();
            RequestFrame sent = held.decoded();
            RequestFrame damaged = new RequestFrame(
                    sent.cell(),
                    sent.sender(),
                    sent.receiver(),
                    sent.receiverNonce(),
                    sent.session(),
                    sent.fingerprint(),
                    sent.sequence() + (1L << 40),
                    null,
                    sent.requests());
            held.reply().complete(servers.get(PEER).handle(FrameCodec.encode(damaged, null), null));
            thread.runAll();
            send("b");
            transport.flush();
            answer(PEER);
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
            answer(PEER);
            answer(PEER);
            assertThat(told).containsExactly("1 unanswered a", "1 answered b");
        }

        @Test
        void aLostFrameIsNotSentAgain() {
            connect();
            send("a");
            transport.flush();
            fail(PEER, new IOException("reset"));
            assertThat(told).containsExactly("1 unanswered a");
            assertThat(channel.isIdle(PEER)).isTrue();
        }

        @Test
        void requestsThatAnAcceptorTakesNoPartInAreUnanswered() {
            acceptor.state = AcceptorState.QUARANTINED;
            connect();
            send("a");
            release("b");
            transport.flush();
            answer(PEER);
            assertThat(told).containsExactly("1 unanswered a");
            assertThat(status().state()).isEqualTo(AcceptorState.QUARANTINED);
            assertThat(status().reachable()).isTrue();
        }
    }

    @Nested
    class WrongAnswers {

        @Test
        void anotherMemberAnswers() {
            connect();
            servers.put(PEER, servers.get("node-3"));
            assertLost("answers as node-3 instead of node-2 (is the URL right?)", reply -> reply);
            assertThat(status().refused()).isTrue();
        }

        @Test
        void thisNodeAnswersItself() {
            connect();
            serve(Samples.NODE_1, Samples.settings());
            servers.put(PEER, servers.get("node-1"));
            assertLost(
                    "answers as node-1 instead of node-2: the URL leads to this node itself (is its node id right?)",
                    reply -> reply);
            assertThat(status().refused()).isTrue();
        }

        @Test
        void anotherProcessAnswersWithTheIdOfThisNode() {
            connect();
            serve(new Incarnation("node-1", 0x4444444444444444L), Samples.settings());
            servers.put(PEER, servers.get("node-1"));
            assertLost("answers as node-1 instead of node-2: another process uses this node's id", reply -> reply);
            assertThat(status().refused()).isTrue();
        }

        @Test
        void theAnswerToAnEarlierFrame() {
            connect();
            send("before");
            Held held = begin();
            FrameReply early = servers.get(PEER).handle(held.frame(), null);
            held.reply().complete(early);
            thread.runAll();
            told.clear();
            assertLost("gave the answer to another frame", reply -> early);
        }

        @Test
        void theAnswerToAnotherNode() {
            connect();
            AnswerFrame other = new AnswerFrame(
                    "default",
                    Samples.NODE_2,
                    Samples.NODE_3,
                    0,
                    0,
                    2,
                    AnswerFrame.Status.REPLAYED,
                    "",
                    AcceptorState.VOTING,
                    0,
                    List.of());
            assertLost(
                    "gave the answer to another frame",
                    reply -> new FrameReply(409, FrameCodec.encode(other, List.of(), null, 4_096)));
        }

        @Test
        void anAnswerOfALifeOrSessionThatWasNotAsked() throws Exception {
            connect();
            send("a");
            transport.flush();
            RequestFrame asked = channel.underWay(PEER).decoded();
            AnswerCheck check = new AnswerCheck(Samples.settings(), null);
            assertThat(check.judge(ok(asked, Samples.NODE_2, asked.session()), asked)
                            .kind())
                    .isEqualTo(Verdict.Kind.ANSWERED);
            assertThat(check.judge(ok(asked, new Incarnation(PEER, 0x9999), asked.session()), asked)
                            .kind())
                    .isEqualTo(Verdict.Kind.LOST);
            assertThat(check.judge(ok(asked, Samples.NODE_2, asked.session() + 1), asked)
                            .kind())
                    .isEqualTo(Verdict.Kind.LOST);
            assertThat(check.judge(ok("other", asked, Samples.NODE_2, asked.session()), asked)
                            .kind())
                    .isEqualTo(Verdict.Kind.LOST);
            RequestFrame hello = Samples.hello(Samples.NODE_1, PEER, 1);
            FrameReply noSession = ok(hello, new Incarnation(PEER, hello.receiverNonce()), hello.session());
            assertThat(check.judge(noSession, hello).kind()).isEqualTo(Verdict.Kind.LOST);
        }

        /** Else the next hello would follow at once, and so on. */
        @Test
        void aSessionWithoutANumber() throws Exception {
            assertThat(verdictWithoutASession(200, AnswerFrame.Status.NEW_SESSION, "")
                            .kind())
                    .isEqualTo(Verdict.Kind.LOST);
        }

        /** On an answer to a hello that names none. */
        private static Verdict verdictWithoutASession(int httpStatus, AnswerFrame.Status status, String reason) {
            RequestFrame hello = Samples.hello(Samples.NODE_1, PEER, 1);
            AnswerFrame answer = new AnswerFrame(
                    hello.cell(),
                    Samples.NODE_2,
                    hello.sender(),
                    RequestFrame.NO_SESSION,
                    hello.fingerprint(),
                    hello.sequence(),
                    status,
                    reason,
                    AcceptorState.VOTING,
                    0,
                    List.of());
            FrameReply reply = new FrameReply(httpStatus, FrameCodec.encode(answer, List.of(), null, 4_096));
            return new AnswerCheck(Samples.settings(), null).judge(reply, hello);
        }

        private static FrameReply ok(RequestFrame asked, Incarnation sender, long session) {
            return ok(asked.cell(), asked, sender, session);
        }

        private static FrameReply ok(String cell, RequestFrame asked, Incarnation sender, long session) {
            AnswerFrame answer = new AnswerFrame(
                    cell,
                    sender,
                    asked.sender(),
                    session,
                    asked.fingerprint(),
                    asked.sequence(),
                    AnswerFrame.Status.OK,
                    "",
                    AcceptorState.VOTING,
                    0,
                    java.util.Collections.nCopies(asked.requests().size(), null));
            return new FrameReply(200, FrameCodec.encode(answer, asked.requests(), null, 4_096));
        }

        @Test
        void anAnswerWithoutAMac() {
            useSecrets();
            assertLost("does not know the shared secret, or has another one", reply -> {
                byte[] body = java.util.Arrays.copyOf(reply.body(), reply.body().length - 32);
                body[1] = 1;
                return new FrameReply(200, body);
            });
            assertThat(status().refused()).isTrue();
        }

        @Test
        void anAnswerWithAMacWhereThisNodeHasNoSecret() {
            connect();
            assertLost("has a shared secret, this node has none", reply -> {
                byte[] body = java.util.Arrays.copyOf(reply.body(), reply.body().length + 32);
                body[1] |= 2;
                return new FrameReply(200, body);
            });
            assertThat(status().refused()).isTrue();
        }

        @Test
        void aReasonThatWouldForgeALine() {
            assertThat(verdictWithoutASession(409, AnswerFrame.Status.REFUSED, "no\nERROR all is lost")
                            .problem())
                    .isEqualTo("no?ERROR all is lost");
        }

        @Test
        void noBitOfASignedAnswerCanBeFlipped() {
            useSecrets();
            send("a");
            Held held = begin();
            FrameReply reply = servers.get(PEER).handle(held.frame(), null);
            AnswerCheck check = new AnswerCheck(Samples.settings(Samples.SECRET), Samples.mac(Samples.SECRET));
            assertThat(check.judge(reply, held.decoded()).kind()).isEqualTo(Verdict.Kind.ANSWERED);
            for (int bit = 0; bit < reply.body().length * 8; bit++) {
                FrameReply flipped = new FrameReply(200, FrameCodecTests.flip(reply.body(), bit));
                assertThat(check.judge(flipped, held.decoded()).answer()).isNull();
            }
            for (int length = 0; length < reply.body().length; length++) {
                FrameReply cut = new FrameReply(200, java.util.Arrays.copyOf(reply.body(), length));
                assertThat(check.judge(cut, held.decoded()).answer()).isNull();
            }
        }

        @Test
        void theFrameItselfComesBack() {
            connect();
            send("a");
            Held held = begin();
            held.reply().complete(new FrameReply(200, held.frame()));
            thread.runAll();
            assertThat(told).containsExactly("1 unanswered a");
            assertThat(status().problem()).isEqualTo("gave an answer that is no frame: The frame has the flags 0");
        }

        @Test
        void aFrameThatWasDeliveredTwiceIsAskedOnlyOnce() {
            connect();
            send("a");
            Held held = begin();
            servers.get(PEER).handle(held.frame(), null);
            held.reply().complete(servers.get(PEER).handle(held.frame(), null));
            thread.runAll();
            assertThat(told).containsExactly("1 unanswered a");
            assertThat(status().problem()).isEqualTo("got a frame twice or late");
            assertThat(status().refused()).isFalse();
            assertThat(acceptor.handled).hasSize(1);
        }

        @Test
        void aPageOfSomethingElse() {
            connect();
            assertLost(
                    "does not answer with a frame (is the URL right?)",
                    reply -> new FrameReply(200, "<html>".getBytes(UTF_8)));
            assertLost(
                    "does not answer with a frame (is the URL right?)",
                    reply -> new FrameReply(200, "\uFEFF<html>".getBytes(UTF_8)));
            assertLost(
                    "does not answer with a frame (is the URL right?)",
                    reply -> new FrameReply(200, "\r\n<!DOCTYPE html>".getBytes(UTF_8)));
            assertLost(
                    "does not answer with a frame (is the URL right?)",
                    reply -> new FrameReply(200, new byte[] {FrameCodec.VERSION}));
            assertLost("answers with HTTP status 404 (is the URL right?)", reply -> new FrameReply(404, reply.body()));
            assertLost("answers with HTTP status 404 (is the URL right?)", reply -> new FrameReply(404, new byte[0]));
            assertLost("answers with HTTP status 401 (is the URL right?)", reply -> new FrameReply(401, new byte[0]));
            assertLost(
                    "answers with HTTP status 401 (is the URL right?)",
                    reply -> new FrameReply(401, "{\"status\":401,\"error\":\"Unauthorized\"}".getBytes(UTF_8)));
            assertLost(
                    "answers with HTTP status 400 (does it expect https?)", reply -> new FrameReply(400, new byte[0]));
            assertLost("answers with HTTP status 409 (is the URL right?)", reply -> new FrameReply(409, new byte[0]));
            assertThat(status().refused()).isFalse();
            assertLost(
                    "answers with HTTP status 409 (is the URL right?)",
                    reply -> new FrameReply(409, "{\"status\":409,\"error\":\"Conflict\"}".getBytes(UTF_8)));
            assertLost(
                    "answers with HTTP status 409 (is the URL right?)",
                    reply -> new FrameReply(409, "\t{\"status\":409}".getBytes(UTF_8)));
            assertThat(status().refused()).isFalse();
            assertLost("answers with status 413: too long", reply -> new FrameReply(413, "too long".getBytes(UTF_8)));
            assertLost("answers with HTTP status 503", reply -> new FrameReply(503, new byte[0]));
            assertLost("answers with status 503: sorry", reply -> new FrameReply(503, "sorry".getBytes(UTF_8)));
        }

        @Test
        void anotherProtocolVersion() {
            connect();
            assertLost("speaks protocol version 2, this node speaks 1", reply -> {
                reply.body()[0] = 2;
                return reply;
            });
            assertThat(status().refused()).isTrue();
            assertLost("speaks protocol version 8, this node speaks 1", reply -> {
                reply.body()[0] = 8;
                return reply;
            });
            assertLost(
                    "speaks protocol version 2, the frame is of version 1",
                    reply -> new FrameReply(
                            409, "speaks protocol version 2, the frame is of version 1".getBytes(UTF_8)));
        }

        /** As where its port is mapped into a container: not the URL is wrong, but a secret is missing. */
        @Test
        void aMemberThatFramesReachAnotherWayThanIsSafe() {
            connect();
            String reason = FrameServer.OTHER_WAY + "frames from its own machine only";
            assertLost(reason, reply -> new FrameReply(409, reason.getBytes(UTF_8)));
            assertThat(status().refused()).isTrue();
        }

        private void assertLost(String problem, UnaryOperator<FrameReply> forgery) {
            told.clear();
            send("a");
            transport.flush();
            if (channel.underWay(PEER).decoded().hello() != null) {
                answer(PEER);
            }
            Held held = channel.take(PEER);
            held.reply().complete(forgery.apply(servers.get(PEER).handle(held.frame(), null)));
            thread.runAll();
            assertThat(status().problem()).isEqualTo(problem);
            assertThat(status().reachable()).isFalse();
            assertThat(told).containsExactly("1 unanswered a");
        }
    }

    @Nested
    class Configuration {

        @Test
        void anotherMaximumLeaseTimeIsShownWithBothValues() {
            serve(Samples.NODE_2, Samples.settings(Samples.CELL, Duration.ofSeconds(20)));
            assertRefused("max-lease-time is 20s there and 10s here");
        }

        @Test
        void anotherListOfMembersIsShown() {
            serve(Samples.NODE_2, settingsOfOtherMembers());
            assertRefused(
                    "two nodes may lead at once, since the list of members lacks [node-1, node-3] there and [node-8, node-9] here");
        }

        private static WireSettings settingsOfOtherMembers() {
            return Samples.settings(new Cell("default", List.of("node-2", "node-8", "node-9")), Samples.MAX_LEASE_TIME);
        }

        /** X9. This node's acceptor is to stand aside. */
        @Test
        void eachAnswerOfOneWithOtherMembersOfWhichAMajorityVotesIsTold() {
            acceptor.majorityVotes = true;
            serve(Samples.NODE_2, settingsOfOtherMembers());
            for (int answers = 0; answers < 3; answers++) {
                assertThat(otherVoters)
                        .hasSize(answers)
                        .allMatch("Node node-2 has another list of members, of which a majority votes"::equals);
                send("a");
                transport.flush();
                answer(PEER);
            }
            assertThat(status().refused()).isTrue();
        }

        /** Were it to stand aside for a single one with a wrong list, that one would stop the cell. */
        @Test
        void oneWithOtherMembersThatVotesAloneIsNotTold() {
            serve(Samples.NODE_2, settingsOfOtherMembers());
            send("a");
            transport.flush();
            answer(PEER);
            assertThat(status().refused()).isTrue();
            assertThat(status().state()).isEqualTo(AcceptorState.VOTING);
            assertThat(otherVoters).isEmpty();
        }

        /** X9. Those that start and are not asked by this node, since its list lacks them, hear of it so. */
        @Test
        void aHelloTellsWhetherAMajorityVotes() {
            serve(Samples.NODE_2, settingsOfOtherMembers());
            acceptor.state = AcceptorState.QUARANTINED;
            connect();
            assertThat(transport.majorityVotes()).as("this node alone").isFalse();
            assertThat(helloTellsOfAMajority()).isFalse();

            acceptor.state = AcceptorState.VOTING;
            connect();
            assertThat(transport.majorityVotes()).as("this node and node-3").isTrue();
            assertThat(helloTellsOfAMajority()).isTrue();

            awaitsVote = true;
            assertThat(transport.majorityVotes()).as("node-3 alone").isFalse();
            awaitsVote = false;
            clock.advance(Duration.ofSeconds(10));
            transport.tick();
            fail("node-3", new IOException("connection refused"));
            assertThat(transport.majorityVotes()).isFalse();
        }

        /** And that this is said to the life that the member is in: nobody else can have recorded it. */
        private boolean helloTellsOfAMajority() {
            clock.advance(Duration.ofSeconds(1));
            transport.tick();
            if (!channel.isIdle("node-3")) {
                answer("node-3");
            }
            Held held = channel.take(PEER);
            reply(held);
            assertThat(held.decoded().receiverNonce()).isEqualTo(Samples.NODE_2.nonce());
            return held.decoded().hello().majorityVotes();
        }

        /** Where both nodes have the same members. */
        @Test
        void oneWithAnotherMaximumLeaseTimeIsNoOtherVoter() {
            acceptor.majorityVotes = true;
            serve(Samples.NODE_2, Samples.settings(Samples.CELL, Duration.ofSeconds(20)));
            assertRefused("max-lease-time is 20s there and 10s here");
            assertThat(otherVoters).isEmpty();
        }

        @Test
        void anotherListOfMembersThatIsSafeIsMentioned() {
            serve(
                    Samples.NODE_2,
                    Samples.settings(
                            new Cell("default", List.of("node-1", "node-2", "node-3", "node-4")),
                            Samples.MAX_LEASE_TIME));
            connect();
            assertThat(status().reachable()).isTrue();
            assertThat(status().problem())
                    .isEqualTo("has another list of members, which is safe because any two majorities meet");
        }

        @Test
        void anotherSecretIsShown() {
            serve(Samples.NODE_2, Samples.settings(Samples.OTHER_SECRET));
            transport = transport(Samples.settings(Samples.SECRET), channel, 10);
            assertRefused("does not know the shared secret, or has another one");
        }

        @Test
        void aSecretThatOnlyTheMemberHasIsShown() {
            serve(Samples.NODE_2, Samples.settings(Samples.SECRET));
            assertRefused("has a shared secret, this node has none");
        }

        @Test
        void aSecretThatOnlyThisNodeHasIsShown() {
            transport = transport(Samples.settings(Samples.SECRET), channel, 10);
            assertRefused("does not know the shared secret, or has another one");
        }

        @Test
        void aMemberThatFitsAgainIsReachableAgain() {
            serve(Samples.NODE_2, Samples.settings(Samples.CELL, Duration.ofSeconds(20)));
            assertRefused("max-lease-time is 20s there and 10s here");
            serve(Samples.NODE_2, Samples.settings());
            connect();
            assertThat(status().refused()).isFalse();
            assertThat(status().problem()).isNull();
        }

        private void assertRefused(String problem) {
            send("a");
            transport.flush();
            answer(PEER);
            assertThat(status().problem()).isEqualTo(problem);
            assertThat(status().refused()).isTrue();
            assertThat(status().reachable()).isFalse();
            assertThat(told).containsExactly("1 unanswered a");
            told.clear();
        }
    }

    @Nested
    class TimeLimits {

        @Test
        void aHelloMayTakeTheWholeRoundTimeout() {
            transport.tick();
            assertThat(channel.underWay(PEER).timeoutNanos()).isEqualTo(seconds(1));
        }

        /** To a member in a new life it is the first thing on a new connection. */
        @Test
        void aHelloMayTakeTheWholeRoundTimeoutHoweverShortRoundTripsAre() {
            connect();
            serve(new Incarnation(PEER, 7), Samples.settings());
            assertThat(limit()).isEqualTo(millis(100));
            assertThat(channel.underWay(PEER).timeoutNanos()).isEqualTo(seconds(1));
        }

        @Test
        void theLimitFollowsTheRoundTrips() {
            connect();
            assertThat(limit()).isEqualTo(millis(100));
            for (int i = 0; i < 100; i++) {
                exchangeIn(Duration.ofMillis(40));
            }
            assertThat(limit()).isBetween(millis(319), millis(330));
            for (int i = 0; i < 100; i++) {
                exchangeIn(Duration.ofMillis(400));
            }
            assertThat(status().roundTrip()).isBetween(Duration.ofMillis(395), Duration.ofMillis(400));
            assertThat(limit()).isEqualTo(seconds(1));
        }

        @Test
        void theLimitDoublesWhenItWasTooShort() {
            connect();
            for (long expected : List.of(100L, 200L, 400L, 800L, 1_000L, 1_000L)) {
                send("a");
                transport.flush();
                Held held = channel.take(PEER);
                assertThat(held.timeoutNanos()).isEqualTo(millis(expected));
                clock.advance(Duration.ofNanos(held.timeoutNanos() * 9 / 10));
                held.reply().completeExceptionally(new CompletionException(new IOException("no connection")));
                thread.runAll();
                assertThat(status().problem())
                        .as("more than that there was no answer")
                        .isEqualTo("no connection");
            }
            exchangeIn(Duration.ZERO);
            assertThat(limit()).isEqualTo(millis(100));
        }

        @Test
        void aLateAnswerThatIsWorthNothingDoesNotChangeTheLimit() {
            connect();
            send("a");
            Held held = begin();
            clock.advance(Duration.ofNanos(held.timeoutNanos()));
            held.reply().complete(new FrameReply(404, new byte[0]));
            thread.runAll();
            assertThat(limit()).isEqualTo(millis(100));
        }

        @Test
        void aRefusedConnectionDoesNotChangeTheLimit() {
            connect();
            send("a");
            transport.flush();
            fail(PEER, new CompletionException(new IOException("connection refused")));
            assertThat(status().problem()).isEqualTo("connection refused");
            assertThat(limit()).isEqualTo(millis(100));
        }

        @Test
        void anExchangeThatNeverEndsIsGivenUp() {
            connect();
            send("a");
            Held held = begin();
            FrameReply reply = servers.get(PEER).handle(held.frame(), null);
            clock.advance(Duration.ofMillis(349));
            transport.tick();
            assertThat(told).isEmpty();
            clock.advance(Duration.ofMillis(1));
            transport.tick();
            assertThat(told).containsExactly("1 unanswered a");
            held.reply().complete(reply);
            thread.runAll();
            assertThat(told).as("the late answer is dropped").containsExactly("1 unanswered a");
        }

        @Test
        void aPassedExchangeThatNeverEndsIsGivenUp() {
            connect();
            release("a");
            begin();
            send("b");
            transport.flush();
            answer(PEER);
            release("c");
            begin();
            clock.advance(Duration.ofMillis(350));
            transport.tick();
            send("a");
            transport.flush();
            assertThat(resources(channel.underWay(PEER))).containsExactly("a");
            assertThat(told).containsExactly("1 answered b");
        }

        private long limit() {
            send("a");
            transport.flush();
            long limit = channel.underWay(PEER).timeoutNanos();
            answer(PEER);
            return limit;
        }

        private void exchangeIn(Duration roundTrip) {
            send("a");
            transport.flush();
            clock.advance(roundTrip);
            answer(PEER);
        }
    }

    @Nested
    class Metrics {

        @Test
        void everyMessageAndRoundTripIsCounted() {
            List<String> heard = new ArrayList<>();
            WireListener listener = new WireListener() {
                @Override
                public void onMessage(String type, String outcome) {
                    heard.add(type + " " + outcome);
                }

                @Override
                public void onRoundTrip(String member, long nanos) {
                    heard.add(member + " in " + nanos + " ns");
                }
            };
            transport = new FrameTransport(Samples.settings(), channel, listener, clock, 2);
            transport.startWithoutTicks(Samples.NODE_1, new Told(), thread, FrameTransportTests.this::later);
            connect();
            heard.clear();
            send("a");
            release("b");
            send("c");
            transport.flush();
            clock.advance(Duration.ofNanos(5));
            answer(PEER);
            assertThat(heard)
                    .containsExactly(
                            "propose dropped",
                            "frame sent",
                            "propose sent",
                            "release sent",
                            "frame answered",
                            "node-2 in 5 ns",
                            "propose answered",
                            "propose unanswered");
            heard.clear();
            send("d");
            transport.flush();
            fail(PEER, new IOException("reset"));
            assertThat(heard).containsExactly("frame sent", "propose sent", "frame unanswered", "propose unanswered");
        }
    }

    @Nested
    class Probes {

        @Test
        void anIdleCellOfThreeProbesFewerThanTenTimesPerSecond() {
            connect();
            assertThat(exchangesIn(Duration.ofSeconds(60))).isBetween(10, 12);
        }

        @Test
        void theLastLineOfTheLogIsTrueHoweverLongTheOneBeforeTakes() {
            connect();
            clock.advance(Duration.ofSeconds(10));
            List<String> lines = new ArrayList<>();
            try (HeardLog log = new HeardLog(FrameTransport.class, line -> {
                if (line.getLevel() == Level.WARNING) {
                    // While it is written that the member is lost, that answers the next frame.
                    send("b");
                    Held next = begin();
                    next.reply().complete(servers.get(PEER).handle(next.frame(), null));
                }
                lines.add(line.getMessage());
            })) {
                for (int i = 0; i < 3; i++) {
                    send("a");
                    transport.flush();
                    fail(PEER, new IOException("reset"));
                }
            }
            assertThat(lines).containsExactly("Member node-2 is not reachable: reset", "Member node-2 is reachable");
            assertThat(status().reachable()).isTrue();
        }

        /** As where nobody reads the standard output, or a disk is full. */
        @Test
        @Timeout(60)
        void goOnWhileTheLogBlocks() throws Exception {
            CountDownLatch blocked = new CountDownLatch(1);
            CountDownLatch flows = new CountDownLatch(1);
            CountDownLatch written = new CountDownLatch(2);
            List<String> lines = new CopyOnWriteArrayList<>();
            Consumer<LogRecord> log = line -> {
                if (line.getMessage().contains(PEER)) {
                    blocked.countDown();
                    uninterrupted(flows);
                    lines.add(line.getMessage());
                    written.countDown();
                }
            };
            FrameChannel restarting = new FrameChannel() {
                @Override
                public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
                    return member.equals(PEER) && blocked.getCount() > 0
                            ? CompletableFuture.failedFuture(new IOException("connection refused"))
                            : CompletableFuture.completedFuture(
                                    servers.get(member).handle(frame, null));
                }

                @Override
                public void close() {}
            };
            try (FrameTransport running = new FrameTransport(Samples.settings(), restarting, WireListener.NONE, clock);
                    HeardLog heard = new HeardLog(FrameTransport.class, log)) {
                running.start(Samples.NODE_1, new Told());
                // The clock stands still, so that nothing but a hello makes a probe due.
                for (long nonce = 1; !running.members().get(PEER).reachable(); nonce++) {
                    running.onHello(new Incarnation(PEER, nonce));
                    assertThat(Thread.interrupted()).as("timed out").isFalse();
                }
                assertThat(blocked.getCount()).as("lines were due").isZero();
                assertThat(lines).isEmpty();
                flows.countDown();
                written.await();
            }
            assertThat(lines)
                    .containsExactly(
                            "Member node-2 is not reachable: connection refused", "Member node-2 is reachable");
        }

        /** One thread brings the answers of all members. */
        @Test
        void ofADefectAreWrittenByAThreadForWhichNobodyWaits() {
            List<String> lines = new ArrayList<>();
            ManualThread log = new ManualThread();
            ManualTimer timer = new ManualTimer();
            afterAnswer = () -> {
                throw new OutOfMemoryError("as the test wants it");
            };
            try (FrameTransport ticking = new FrameTransport(Samples.settings(), channel, WireListener.NONE, clock);
                    HeardLog heard = new HeardLog(FrameTransport.class, line -> lines.add(line.getMessage()))) {
                transport = ticking;
                ticking.start(Samples.NODE_1, new Told(), timer, log);
                thread.runAll();
                log.runAll();
                send("a");
                answer(PEER);
                answer(PEER);
                assertThat(told).containsExactly("1 answered a");
                assertThat(lines).doesNotContain("An answer could not be handled because of a defect");
                log.runAll();
                assertThat(lines).contains("An answer could not be handled because of a defect");
            }
        }

        @Test
        void loseNothingForLackOfAThreadThatLogs() {
            AtomicInteger lacking = new AtomicInteger(1);
            Executor log = task -> {
                if (lacking.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("as where no more threads may be had");
                }
                thread.execute(task);
            };
            ManualTimer timer = new ManualTimer();
            List<String> lines = new ArrayList<>();
            try (FrameTransport ticking = new FrameTransport(Samples.settings(), channel, WireListener.NONE, clock);
                    HeardLog heard = new HeardLog(FrameTransport.class, line -> lines.add(line.getMessage()))) {
                transport = ticking;
                ticking.start(Samples.NODE_1, new Told(), timer, log);
                thread.runAll();
                send("a");
                answer(PEER);
                answer(PEER);
                assertThat(told).containsExactly("1 answered a");
                assertThat(lines).isEmpty();
                clock.advance(Duration.ofSeconds(1));
                timer.wakeUp();
                assertThat(lines).containsExactly("Member node-2 is reachable");
            }
        }

        @Test
        void anIdleNodeSleepsUntilItsNextProbes() {
            connect();
            assertThat(transport.ticksToNext()).as("of a quarter of a second").isEqualTo(20);
            clock.advance(Duration.ofMillis(9_700));
            assertThat(transport.ticksToNext()).isEqualTo(2);
            clock.advance(Duration.ofMillis(300));
            assertThat(transport.ticksToNext()).isEqualTo(1);
            transport.tick();
            answer(PEER);
            fail("node-3", new IOException("reset"));
            assertThat(transport.ticksToNext())
                    .as("to look again at who was lost")
                    .isEqualTo(3);
        }

        @Test
        void aNodeDoesNotSleepWhileAnAnswerMayBecomeOverdue() {
            connect();
            send("a");
            transport.flush();
            assertThat(transport.ticksToNext()).isEqualTo(1);
            answer(PEER);
            assertThat(transport.ticksToNext()).isEqualTo(20);
        }

        @Test
        void anUnreachableCellOfThreeIsProbedFewerThanTenTimesPerSecond() {
            servers.clear();
            assertThat(3 * exchangesIn(Duration.ofSeconds(60)) / 60).isBetween(5, 9);
        }

        @Test
        void trafficMakesProbesNeedless() {
            connect();
            int before = channel.exchanges;
            for (int i = 0; i < 100; i++) {
                send("a");
                transport.send(2, Samples.propose("a", 1, Samples.NODE_1));
                transport.flush();
                answer(PEER);
                answer("node-3");
                clock.advance(Duration.ofMillis(500));
                transport.tick();
            }
            assertThat(channel.exchanges - before).isEqualTo(200);
        }

        @Test
        void theEndOfAQuarantineIsNoticedSoon() {
            acceptor.state = AcceptorState.QUARANTINED;
            acceptor.quarantineNanos = seconds(1);
            connect();
            assertThat(status().state()).isEqualTo(AcceptorState.QUARANTINED);
            acceptor.state = AcceptorState.VOTING;
            clock.advance(Duration.ofSeconds(1));
            transport.tick();
            answer(PEER);
            assertThat(status().state()).isEqualTo(AcceptorState.VOTING);
        }

        @Test
        void aProbeDoesNotPassAProbe() {
            connect();
            clock.advance(Duration.ofSeconds(10));
            transport.tick();
            channel.take(PEER);
            transport.tick();
            assertThat(channel.isIdle(PEER)).isTrue();
        }

        @Test
        void aLongQuarantineDoesNotHideThatAMemberIsGone() {
            acceptor.state = AcceptorState.QUARANTINED;
            acceptor.quarantineNanos = seconds(3_600);
            connect();
            servers.remove(PEER);
            clock.advance(Duration.ofSeconds(10));
            transport.tick();
            answer(PEER);
            assertThat(status().reachable()).isFalse();
        }

        @Test
        void aMemberInANewLifeIsMetBeforeARequestWaitsForIt() {
            connect();
            Incarnation newLife = new Incarnation(PEER, 7);
            serve(newLife, Samples.settings());
            transport.onHello(newLife);
            thread.runAll();
            answer(PEER);
            answer(PEER);
            assertThat(status().problem()).isNull();

            send("a");
            transport.flush();
            answer(PEER);
            assertThat(told).as("with the first exchange").containsExactly("1 answered a");
        }

        @Test
        void aHelloThatTellsNothingNewCausesNoProbe() {
            connect();
            transport.onHello(Samples.NODE_2);
            transport.onHello(Samples.NODE_1);
            transport.onHello(new Incarnation("node-4", 7));
            thread.runAll();
            assertThat(channel.isIdle(PEER)).isTrue();
            assertThat(channel.isIdle("node-3")).isTrue();
        }

        @Test
        void aMemberWithoutASessionIsAskedWhenItIntroducesItself() {
            connect();
            serve(Samples.NODE_2, Samples.settings());
            send("a");
            transport.flush();
            answer(PEER);
            fail(PEER, new IOException("reset"));
            transport.onHello(Samples.NODE_2);
            thread.runAll();
            assertThat(channel.underWay(PEER).decoded().hello()).isNotNull();
        }

        @Test
        void manyHellosCauseOneProbeAndOneTask() {
            connect();
            for (int nonce = 0; nonce < 1_000; nonce++) {
                transport.onHello(new Incarnation(PEER, nonce));
            }
            assertThat(thread.tasks).hasSize(1);
            thread.runAll();
            answer(PEER);
            assertThat(channel.isIdle(PEER)).isTrue();
            assertThat(thread.tasks).isEmpty();
        }

        @Test
        void whoIsLostIsLookedForAgainAlthoughTheNodeSleeps() {
            ManualTimer timer = new ManualTimer();
            try (FrameTransport sleeping = new FrameTransport(Samples.settings(), channel, WireListener.NONE, clock)) {
                transport = sleeping;
                sleeping.start(Samples.NODE_1, new Told(), timer, thread);
                thread.runAll();
                answer(PEER);
                answer("node-3");
                timer.wakeUp();
                assertThat(timer.pause).hasSeconds(5);

                send("a");
                sleeping.flush();
                answer(PEER);
                assertThat(timer.wakes).as("an answer lets it sleep").isEqualTo(2);

                send("b");
                sleeping.flush();
                fail(PEER, new IOException("reset"));
                assertThat(timer.pause).hasMillis(750);
                clock.advance(Duration.ofMillis(750));
                timer.wakeUp();
                assertThat(channel.isIdle(PEER)).isFalse();
                assertThat(timer.getQueue())
                        .as("each tick is in place of the one before")
                        .filteredOn(tick -> !((Future<?>) tick).isCancelled())
                        .hasSize(1);
            }
            assertThat(timer.isShutdown()).isTrue();
        }

        @Test
        void goOnAlthoughThereWasNoMemoryForThem() {
            ManualTimer timer = new ManualTimer();
            AtomicInteger failures = new AtomicInteger();
            NodeClock failing = () -> {
                if (failures.getAndDecrement() > 0) {
                    throw new InternalError("as without memory");
                }
                return clock.now();
            };
            try (FrameTransport ticking = new FrameTransport(Samples.settings(), channel, WireListener.NONE, failing)) {
                ticking.start(Samples.NODE_1, new Told(), timer, thread);
                thread.runAll();
                assertThat(timer.wakes).isEqualTo(1);
                failures.set(2);
                timer.wakeUp();
                assertThat(failures)
                        .as("the tick failed, and so did the search for the next")
                        .hasNegativeValue();
                assertThat(timer.wakes).isEqualTo(2);
            }
        }

        @Test
        void goOnByThemselves() throws Exception {
            CountDownLatch twiceEach = new CountDownLatch(4);
            FrameChannel deaf = new FrameChannel() {
                @Override
                public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
                    twiceEach.countDown();
                    return CompletableFuture.failedFuture(new IOException("nobody listens"));
                }

                @Override
                public void close() {}
            };
            try (FrameTransport running =
                    new FrameTransport(Samples.settings(), deaf, WireListener.NONE, NodeClock.SYSTEM)) {
                running.start(Samples.NODE_1, new Told());
                assertThat(twiceEach.await(10, TimeUnit.SECONDS)).isTrue();
            }
        }

        private int exchangesIn(Duration duration) {
            int before = channel.exchanges;
            for (long passed = 0; passed < duration.toMillis(); passed += 100) {
                transport.tick();
                for (String member : List.of("node-2", "node-3")) {
                    if (!channel.isIdle(member)) {
                        answer(member);
                    }
                }
                clock.advance(Duration.ofMillis(100));
            }
            return channel.exchanges - before;
        }
    }

    /** A4. Two processes that vote as one member can each give a majority to another owner. */
    @Nested
    class OwnAddress {

        private static final Incarnation OTHER_PROCESS = new Incarnation("node-1", 0x4444444444444444L);

        {
            awaitsVote = true;
        }

        private boolean asks() {
            transport.tick();
            return !channel.isIdle("node-1");
        }

        private void asksAndIsAnswered() {
            assertThat(asks()).isTrue();
            answer("node-1");
            clock.advance(Duration.ofSeconds(1));
        }

        @Test
        void isAskedOnceASecondUntilThisNodeAnswersThere() {
            asksAndIsAnswered();
            assertThat(asks()).as("nothing listens there yet").isTrue();
            fail("node-1", new IOException("connection refused"));
            clock.advance(Duration.ofMillis(999));
            assertThat(asks()).isFalse();
            assertThat(transport.ticksToNext()).isEqualTo(1);
            clock.advance(Duration.ofMillis(1));
            serve(Samples.NODE_1, Samples.settings());
            asksAndIsAnswered();
            clock.advance(Duration.ofSeconds(9));
            assertThat(asks()).isFalse();
            assertThat(otherVoters).isEmpty();
        }

        @Test
        void isNotAskedByANodeThatVotesOrHasNoVote() {
            awaitsVote = false;
            assertThat(asks()).isFalse();

            awaitsVote = true;
            FrameTransport guest = new FrameTransport(Samples.settings(), channel, WireListener.NONE, clock, 10);
            guest.startWithoutTicks(new Incarnation("guest", 1), new Told(), thread, FrameTransportTests.this::later);
            guest.tick();
            assertThat(channel.isIdle("guest")).isTrue();
        }

        @Test
        void whereAnotherProcessAnswersIsTold() {
            serve(OTHER_PROCESS, Samples.settings());
            asksAndIsAnswered();
            assertThat(otherVoters).containsExactly("Another process answers as node-1");
            asksAndIsAnswered();
            assertThat(otherVoters).hasSize(2);
        }

        @Test
        void whereAnotherProcessAnswersIsToldAlsoIfItsSettingsDoNotFit() {
            serve(OTHER_PROCESS, Samples.settings(Samples.CELL, Duration.ofSeconds(20)));
            asksAndIsAnswered();
            assertThat(otherVoters).hasSize(1);
        }

        /** Both may have been started at the same time. But with a list that lacks its id it never votes. */
        @Test
        void whereAnotherProcessAnswersThatDoesNotVoteYetIsTold() {
            acceptor.state = AcceptorState.NONE;
            serve(OTHER_PROCESS, Samples.settings());
            asksAndIsAnswered();
            assertThat(otherVoters).isEmpty();
            acceptor.state = AcceptorState.QUARANTINED;
            asksAndIsAnswered();
            assertThat(otherVoters).hasSize(1);
        }

        @Test
        void whereSomebodyElseAnswersIsNotTold() {
            WireSettings otherCell =
                    Samples.settings(new Cell("other", List.of("node-1", "node-2", "node-3")), Samples.MAX_LEASE_TIME);
            serve(OTHER_PROCESS, otherCell);
            asksAndIsAnswered();
            serve(OTHER_PROCESS, Samples.settings(Samples.SECRET));
            asksAndIsAnswered();
            servers.put("node-1", servers.get("node-3"));
            asksAndIsAnswered();
            assertThat(otherVoters).isEmpty();
        }

        @Test
        void anAnswerThatIsNoneIsNotTold() {
            serve(OTHER_PROCESS, Samples.settings());
            assertThat(asks()).isTrue();
            Held old = channel.take("node-1");
            clock.advance(Duration.ofSeconds(1));
            assertThat(asks()).isTrue();
            FrameReply answer = servers.get("node-1").handle(old.frame(), null);
            channel.take("node-1").reply().complete(answer);
            thread.runAll();
            for (FrameReply reply : List.of(
                    new FrameReply(503, answer.body()),
                    new FrameReply(200, java.util.Arrays.copyOf(answer.body(), answer.body().length - 1)),
                    new FrameReply(200, new byte[0]))) {
                clock.advance(Duration.ofSeconds(1));
                assertThat(asks()).isTrue();
                channel.take("node-1").reply().complete(reply);
                thread.runAll();
            }
            assertThat(otherVoters).isEmpty();
        }
    }

    private record Task(Runnable task, long atNanos) {}

    // The words of these tests.

    private void later(Runnable task, long nanos) {
        if (nobodyWaits) {
            throw new OutOfMemoryError("on purpose");
        }
        later.add(new Task(task, clock.now().nanos() + nanos));
    }

    /** Lets time pass, and what was to be done later come to its time. */
    private void advance(Duration duration) {
        clock.advance(duration);
        List<Task> due = later.stream()
                .filter(task -> task.atNanos() - clock.now().nanos() <= 0)
                .toList();
        later.removeAll(due);
        due.forEach(task -> task.task().run());
    }

    private FrameTransport transport(WireSettings settings, FrameChannel channel, int maxQueued) {
        FrameTransport transport = new FrameTransport(settings, channel, WireListener.NONE, clock, maxQueued);
        transport.startWithoutTicks(Samples.NODE_1, new Told(), thread, FrameTransportTests.this::later);
        return transport;
    }

    private void serve(Incarnation member, WireSettings settings) {
        servers.put(
                member.nodeId(),
                new FrameServer(
                        member,
                        settings,
                        acceptor,
                        WireListener.NONE,
                        new Sessions(10, !settings.secrets().isEmpty(), Samples.random(member.nonce())),
                        clock,
                        Runnable::run));
    }

    private void useSecrets() {
        serve(Samples.NODE_2, Samples.settings(Samples.SECRET));
        serve(Samples.NODE_3, Samples.settings(Samples.SECRET));
        transport = transport(Samples.settings(Samples.SECRET), channel, 10);
        connect();
    }

    /** Lets the first probe, or the next, open the sessions with both members. */
    private void connect() {
        clock.advance(Duration.ofSeconds(10));
        transport.tick();
        for (String member : List.of("node-2", "node-3")) {
            while (!channel.isIdle(member)) {
                answer(member);
            }
        }
    }

    private void useLongQueue() {
        transport = transport(Samples.settings(), channel, 10 * MemberLink.MANY);
        connect();
    }

    private void sendMany(String prefix, int count) {
        for (int i = 0; i < count; i++) {
            send(prefix + i);
        }
    }

    private void send(String resource) {
        transport.send(PEER_ACCEPTOR, Samples.propose(resource, ++counter, Samples.NODE_1));
    }

    private void release(String resource) {
        transport.send(PEER_ACCEPTOR, new ReleaseRequest(resource, new Ballot(++counter, Samples.NODE_1)));
    }

    /** Takes out the frame that goes with what was sent, for the test to end. */
    private Held begin() {
        transport.flush();
        return channel.take(PEER);
    }

    /** What was sent goes with no frame before the member has answered the one that was taken out. */
    private void waitsFor(Held held) {
        transport.flush();
        assertThat(channel.isIdle(PEER)).isTrue();
        reply(held);
    }

    /** Lets the member answer the exchange that is under way. */
    private void answer(String member) {
        reply(channel.take(member));
    }

    private void reply(Held held) {
        FrameServer server = servers.get(held.member());
        if (server == null) {
            held.reply().completeExceptionally(new IOException("connection refused"));
        } else {
            held.reply().complete(server.handle(held.frame(), null));
        }
        thread.runAll();
    }

    private void fail(String member, Exception failure) {
        channel.take(member).reply().completeExceptionally(failure);
        thread.runAll();
    }

    private MemberStatus status() {
        return transport.members().get(PEER);
    }

    private static List<String> resources(Held held) {
        return held.decoded().requests().stream().map(Request::resource).toList();
    }

    private static long millis(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }

    private static long seconds(long seconds) {
        return Duration.ofSeconds(seconds).toNanos();
    }

    private final class Told implements Transport.Receiver {

        @Override
        public void onResponse(int acceptor, Response response) {
            told.add(acceptor + " answered " + response.resource());
            afterAnswer.run();
        }

        @Override
        public void onUnanswered(int acceptor, Request request) {
            told.add(acceptor + " unanswered " + request.resource());
        }

        @Override
        public boolean awaitsVote() {
            return awaitsVote;
        }

        @Override
        public void onOtherVoter(String who) {
            otherVoters.add(who);
        }
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }

    /** Runs what it is given when the test says so. */
    private static final class ManualThread implements Executor {

        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void runAll() {
            while (!tasks.isEmpty()) {
                tasks.remove().run();
            }
        }
    }

    /** Wakes the transport when the test says so; runs nothing by itself. */
    private final class ManualTimer extends ScheduledThreadPoolExecutor {

        private Runnable task;
        private Duration pause;
        private int wakes;

        ManualTimer() {
            super(1);
        }

        @Override
        public void execute(Runnable command) {
            thread.execute(command);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
            task = command;
            pause = Duration.ofNanos(unit.toNanos(delay));
            wakes++;
            return super.schedule(() -> {}, 1, TimeUnit.DAYS);
        }

        void wakeUp() {
            task.run();
            thread.runAll();
        }
    }

    private final class InstantChannel implements FrameChannel {

        @Override
        public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
            return CompletableFuture.completedFuture(servers.get(member).handle(frame, null));
        }

        @Override
        public void close() {}
    }

    private record ThrowingChannel(Runnable thrower) implements FrameChannel {

        @Override
        public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
            thrower.run();
            return new CompletableFuture<>();
        }

        @Override
        public void close() {}
    }
}
