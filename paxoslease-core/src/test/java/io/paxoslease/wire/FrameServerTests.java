package io.paxoslease.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.HeardLog;
import io.paxoslease.node.RequestHandler;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.wire.AnswerFrame.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Who gets through to the acceptor, and what the others are told. */
class FrameServerTests {

    private final ManualClock clock = new ManualClock();
    private final GrantingAcceptor acceptor = new GrantingAcceptor();
    private final List<String> heard = new ArrayList<>();
    private Executor log = Runnable::run;
    private FrameServer server = server(Samples.settings());
    private @Nullable FrameMac mac;

    @Nested
    class Sessions {

        @Test
        void aHelloOpensASessionAndHandlesNothing() throws Exception {
            AnswerFrame answer = send(200, Samples.hello(Samples.NODE_1, "node-2", 1));
            assertThat(answer.status()).isEqualTo(Status.NEW_SESSION);
            assertThat(answer.session()).isNotZero();
            assertThat(answer.sender()).isEqualTo(Samples.NODE_2);
            assertThat(answer.asker()).isEqualTo(Samples.NODE_1);
            assertThat(answer.sequence()).isEqualTo(1);
            assertThat(answer.acceptor()).isEqualTo(RequestHandler.AcceptorState.VOTING);
            assertThat(acceptor.handled).isEmpty();
        }

        @Test
        void requestsOfASessionAreAnsweredInOrder() throws Exception {
            long session = open(Samples.NODE_1, 1);
            List<Request> requests = List.of(
                    Samples.propose("a", 5, Samples.NODE_1), release("b"), Samples.propose("c", 7, Samples.NODE_1));
            AnswerFrame answer = send(200, frame(session, 2, requests));
            assertThat(answer.status()).isEqualTo(Status.OK);
            assertThat(answer.session()).isEqualTo(session);
            assertThat(answer.responses()).containsExactly(granted(requests.get(0)), null, granted(requests.get(2)));
            assertThat(acceptor.handled).isEqualTo(requests);
        }

        @Test
        void aProbeIsAnsweredWithTheStateOfTheAcceptor() throws Exception {
            acceptor.state = RequestHandler.AcceptorState.QUARANTINED;
            acceptor.quarantineNanos = 77;
            AnswerFrame answer = send(200, frame(open(Samples.NODE_1, 1), 2, List.of()));
            assertThat(answer.acceptor()).isEqualTo(RequestHandler.AcceptorState.QUARANTINED);
            assertThat(answer.quarantineNanos()).isEqualTo(77);
        }

        @Test
        void aHelloIsToldToTheNodeIfItOpensASession() throws Exception {
            send(200, Samples.hello(Samples.NODE_1, "node-2", 1));
            send(409, Samples.hello(Samples.NODE_1, "node-2", 1));
            send(409, Samples.hello(Samples.NODE_3, "node-1", 1));
            assertThat(acceptor.greeted).containsExactly(Samples.NODE_1);
        }

        @Test
        void aSecondHelloTellsTheSessionAgain() throws Exception {
            long session = open(Samples.NODE_1, 1);
            assertThat(open(Samples.NODE_1, 2)).isEqualTo(session);
            assertThat(send(200, frame(session, 3, List.of())).status()).isEqualTo(Status.OK);
        }

        @Test
        void anUnknownSessionAsksForAHello() throws Exception {
            AnswerFrame answer = send(409, frame(4711, 1, oneRequest()));
            assertThat(answer.status()).isEqualTo(Status.NEW_SESSION);
            assertThat(answer.session()).isZero();
            assertThat(acceptor.handled).isEmpty();
        }

        @Test
        void theSessionOfAnotherSenderIsUnknown() throws Exception {
            long session = open(Samples.NODE_3, 1);
            assertThat(send(409, frame(session, 2, oneRequest())).status()).isEqualTo(Status.NEW_SESSION);
            assertThat(acceptor.handled).isEmpty();
        }

        @Test
        void aFrameForAnEarlierLifeAsksForAHello() throws Exception {
            long session = open(Samples.NODE_1, 1);
            RequestFrame late =
                    Samples.frame(Samples.NODE_1, new Incarnation("node-2", 0x9999), session, 2, oneRequest());
            assertThat(send(409, late).status()).isEqualTo(Status.NEW_SESSION);
            assertThat(acceptor.handled).isEmpty();
        }

        @Test
        void aFrameOfAnEarlierLifeOfTheSenderAsksForAHello() throws Exception {
            long session = open(Samples.NODE_1, 1);
            Incarnation other = new Incarnation("node-1", 0x9999);
            RequestFrame late = Samples.frame(other, Samples.NODE_2, session, 2, oneRequest());
            assertThat(send(409, late).status()).isEqualTo(Status.NEW_SESSION);
        }

        @Test
        void anEvictedSessionIsNeverValidAgain() throws Exception {
            server = server(Samples.settings(), 2);
            long first = open(Samples.NODE_1, 1);
            long third = open(Samples.NODE_3, 1);
            assertThat(send(200, frame(first, 2, List.of())).status()).isEqualTo(Status.OK);
            open(new Incarnation("node-9", 9), 1);
            assertThat(send(200, frame(first, 3, List.of())).status())
                    .as("the one that was idle longest made room")
                    .isEqualTo(Status.OK);
            RequestFrame evicted = Samples.frame(Samples.NODE_3, Samples.NODE_2, third, 2, oneRequest());
            assertThat(send(409, evicted).status()).isEqualTo(Status.NEW_SESSION);
            assertThat(open(Samples.NODE_3, 3)).isNotEqualTo(third);
            assertThat(send(409, evicted).status()).isEqualTo(Status.NEW_SESSION);
            assertThat(acceptor.handled).isEmpty();
        }
    }

    @Nested
    class Replays {

        @Test
        void aFrameThatComesTwiceIsHandledOnce() throws Exception {
            long session = open(Samples.NODE_1, 1);
            byte[] frame = FrameCodec.encode(frame(session, 2, oneRequest()), mac);
            assertThat(server.handle(frame, null).status()).isEqualTo(200);
            FrameReply second = server.handle(frame, null);
            assertThat(second.status()).isEqualTo(409);
            assertThat(FrameCodec.decodeAnswer(second.body(), oneRequest()).status())
                    .isEqualTo(Status.REPLAYED);
            assertThat(acceptor.handled).hasSize(1);
            assertThat(heard).endsWith("frame replayed");
        }

        @Test
        void aFrameThatWasOvertakenIsHandledOnce() throws Exception {
            long session = open(Samples.NODE_1, 1);
            send(200, frame(session, 3, List.of()));
            assertThat(send(200, frame(session, 2, oneRequest())).status()).isEqualTo(Status.OK);
            assertThat(send(409, frame(session, 2, oneRequest())).status()).isEqualTo(Status.REPLAYED);
            assertThat(acceptor.handled).hasSize(1);
        }

        @Test
        void aFrameThatWasOvertakenByTooManyIsNotHandled() throws Exception {
            useSecret();
            long session = open(Samples.NODE_1, 1);
            send(200, frame(session, 66, List.of()));
            assertThat(send(409, frame(session, 2, oneRequest())).status()).isEqualTo(Status.REPLAYED);
            assertThat(acceptor.handled).isEmpty();
            assertThat(send(200, frame(session, 3, oneRequest())).status()).isEqualTo(Status.OK);
        }

        @Test
        void aFrameThatWasOvertakenByTooManyAsksForAHelloWhereNothingIsAuthenticated() throws Exception {
            long session = open(Samples.NODE_1, 1);
            send(200, frame(session, 66, List.of()));
            assertThat(send(409, frame(session, 2, oneRequest())).status()).isEqualTo(Status.NEW_SESSION);
            assertThat(acceptor.handled).isEmpty();
            assertThat(send(200, frame(session, 3, oneRequest())).status()).isEqualTo(Status.OK);
        }

        /** Without a secret nothing keeps a damaged number out, and its sender would be refused for the rest of its life. */
        @Test
        void aDamagedNumberEndsWithTheSession() throws Exception {
            long spoilt = open(Samples.NODE_1, 1);
            send(200, frame(spoilt, 1L << 40, List.of()));
            long session = open(Samples.NODE_1, 3);
            assertThat(session).isNotEqualTo(spoilt);
            assertThat(send(409, frame(spoilt, (1L << 40) + 1, oneRequest())).status())
                    .isEqualTo(Status.NEW_SESSION);
            assertThat(acceptor.handled).isEmpty();
            assertThat(send(200, frame(session, 4, oneRequest())).status()).isEqualTo(Status.OK);
        }

        @Test
        void aHelloOfLongAgoIsAReplayWhereThereIsASecret() throws Exception {
            useSecret();
            long session = open(Samples.NODE_1, 1);
            send(200, frame(session, 66, List.of()));
            assertThat(send(409, Samples.hello(Samples.NODE_1, "node-2", 2)).status())
                    .isEqualTo(Status.REPLAYED);
            assertThat(send(200, frame(session, 67, oneRequest())).status()).isEqualTo(Status.OK);
        }

        @Test
        void whatCameBeforeTheSessionIsNotHandled() throws Exception {
            long session = open(Samples.NODE_1, 5);
            assertThat(send(409, frame(session, 4, oneRequest())).status()).isEqualTo(Status.REPLAYED);
            assertThat(acceptor.handled).isEmpty();
        }

        @Test
        void aHelloThatComesTwiceOpensNothing() throws Exception {
            open(Samples.NODE_1, 1);
            assertThat(send(409, Samples.hello(Samples.NODE_1, "node-2", 1)).status())
                    .isEqualTo(Status.REPLAYED);
        }
    }

    @Nested
    class Secrets {

        @Test
        void aFrameWithoutAMacIsRefusedWhereThereIsASecret() {
            server = server(Samples.settings(Samples.SECRET));
            assertText(401, "has a shared secret, the frame has no MAC", hello());
        }

        @Test
        void aFrameWithAMacIsRefusedWhereThereIsNoSecret() {
            mac = Samples.mac(Samples.SECRET);
            assertText(401, "has no shared secret, the frame has a MAC", hello());
        }

        @Test
        void aFrameWithAnotherSecretIsRefused() {
            server = server(Samples.settings(Samples.SECRET));
            mac = Samples.mac(Samples.OTHER_SECRET);
            assertText(401, "does not know the secret of the frame's MAC", hello());
            assertThat(heard).containsExactly("frame unauthenticated");
        }

        @Test
        void theAnswerIsSignedWithTheSecretOfTheFrame() throws Exception {
            server = server(Samples.settings(Samples.SECRET, Samples.OTHER_SECRET));
            for (String secret : List.of(Samples.SECRET, Samples.OTHER_SECRET)) {
                mac = Samples.mac(secret);
                FrameReply reply = server.handle(
                        FrameCodec.encode(
                                Samples.hello(Samples.NODE_1, "node-2", secret.equals(Samples.SECRET) ? 1 : 2), mac),
                        null);
                assertThat(reply.status()).isEqualTo(200);
                assertThat(mac.matches(reply.body())).isTrue();
            }
        }

        @Test
        void noBitOfASignedFrameCanBeFlipped() throws Exception {
            server = server(Samples.settings(Samples.SECRET));
            mac = Samples.mac(Samples.SECRET);
            long session = open(Samples.NODE_1, 1);
            byte[] frame = FrameCodec.encode(frame(session, 2, oneRequest()), mac);
            for (int bit = 0; bit < frame.length * 8; bit++) {
                int status =
                        server.handle(FrameCodecTests.flip(frame, bit), null).status();
                assertThat(status).as("bit " + bit).isEqualTo(bit < 8 ? 409 : 401);
            }
            for (int length = 0; length < frame.length; length++) {
                assertThat(server.handle(Arrays.copyOf(frame, length), null).status())
                        .as("length " + length)
                        .isIn(400, 401);
            }
            assertThat(acceptor.handled).isEmpty();
            assertThat(server.handle(frame, null).status()).isEqualTo(200);
        }
    }

    @Nested
    class Refusals {

        @Test
        void tooLongFramesAreNotRead() {
            byte[] huge = new byte[100 * 1024 * 1024];
            FrameReply reply = server.handle(huge, null);
            assertThat(reply.status()).isEqualTo(413);
            assertThat(new String(reply.body(), UTF_8)).isEqualTo("reads frames of up to 262144 bytes");
            assertThat(server.oversized()).usingRecursiveComparison().isEqualTo(reply);
            assertThat(heard).containsExactly("frame oversized", "frame oversized");
        }

        @Test
        void anotherVersionIsNamed() {
            byte[] frame = FrameCodec.encode(hello(), null);
            frame[0] = 2;
            FrameReply reply = server.handle(frame, null);
            assertThat(reply.status()).isEqualTo(409);
            assertThat(new String(reply.body(), UTF_8))
                    .isEqualTo("speaks protocol version 1, the frame is of version 2");
        }

        @Test
        void aMalformedFrameIsRefusedWithASentence() {
            byte[] frame = FrameCodec.encode(hello(), null);
            FrameReply reply = server.handle(Arrays.copyOf(frame, 20), null);
            assertThat(reply.status()).isEqualTo(400);
            assertThat(new String(reply.body(), UTF_8)).isEqualTo("The frame ends within the nonce");
        }

        @Test
        void anotherCellIsRefused() throws Exception {
            Cell other = new Cell("other", Samples.CELL.acceptors());
            assertRefused(
                    "the cell is default there and other here",
                    Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
            assertThat(server.problems())
                    .containsExactly(java.util.Map.entry("node-1", "the cell is other there and default here"));
        }

        /** As where nobody reads the standard output: one thread may answer all members. */
        @Test
        @Timeout(60)
        void areAnsweredWhileTheLogBlocks() throws Exception {
            log = Lines.threadsOf("test");
            server = server(Samples.settings());
            CountDownLatch flows = new CountDownLatch(1);
            BlockingQueue<String> lines = new LinkedBlockingQueue<>();
            Cell other = new Cell("other", Samples.CELL.acceptors());
            try (HeardLog log = new HeardLog(FrameServer.class, line -> {
                uninterrupted(flows);
                lines.add(line.getMessage());
            })) {
                send(409, Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
                send(409, Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_3, "node-2", 1));
                long session = open(Samples.NODE_1, 2);
                acceptor.failure = new IllegalStateException("as the test wants it");
                assertText(503, "could not handle the frame", frame(session, 3, oneRequest()));
                assertThat(lines).isEmpty();
                flows.countDown();
                assertThat(lines.take())
                        .isEqualTo("Node node-2 refuses node-1: the cell is other there and default here");
                assertThat(lines.take())
                        .isEqualTo("Node node-2 refuses node-3: the cell is other there and default here");
                assertThat(lines.take()).isEqualTo("A frame could not be handled because of a defect");
            }
        }

        @Test
        void areToldWithTheNextFrameIfThereWasNoThread() throws Exception {
            AtomicBoolean scarce = new AtomicBoolean(true);
            log = task -> {
                if (scarce.get()) {
                    throw new OutOfMemoryError("as where no more threads may be had");
                }
                task.run();
            };
            server = server(Samples.settings());
            List<String> lines = new ArrayList<>();
            Cell other = new Cell("other", Samples.CELL.acceptors());
            try (HeardLog heard = new HeardLog(FrameServer.class, line -> lines.add(line.getMessage()))) {
                send(409, Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
                assertThat(lines).isEmpty();
                scarce.set(false);
                clock.advance(Duration.ofSeconds(1));
                open(Samples.NODE_3, 1);
                assertThat(lines)
                        .containsExactly("Node node-2 refuses node-1: the cell is other there and default here");
            }
        }

        /** Else two names that differ in one of them look the same. */
        @Test
        void charactersOfTwoUnitsAreShownAndLoneUnitsAreNot() throws Exception {
            Cell other = new Cell("x\uD834\uDD1E", Samples.CELL.acceptors());
            assertRefused(
                    "the cell is default there and x\uD834\uDD1E here",
                    Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
            assertThat(Words.clean("a\uD834\u0007\u200E\u2028\uFFFF\uDD1Eb")).isEqualTo("a??????b");
            assertThat(Words.clean("\uD834\uDD1E".repeat(1_000)).getBytes(UTF_8))
                    .hasSizeLessThan(1_000);
        }

        @Test
        void aFrameForAnotherNodeIsRefused() throws Exception {
            assertRefused(
                    "the node id is node-2 there and node-3 here (is the URL right?)",
                    Samples.hello(Samples.NODE_1, "node-3", 1));
        }

        /** Whoever recorded it could send it here; its sender learns of a wrong URL from the answer. */
        @Test
        void aFrameForAnotherNodeIsNoProblemOfThisOne() throws Exception {
            send(409, Samples.hello(Samples.NODE_1, "node-3", 1));
            assertThat(server.problems()).isEmpty();
        }

        /** X9. */
        @Test
        void membersWhoseMajoritiesNeedNotMeetAreRefused() throws Exception {
            Cell other = new Cell("default", List.of("node-1", "node-4", "node-5"));
            assertRefused(
                    "two nodes may lead at once, since the list of members lacks [node-4, node-5] there and [node-2, node-3] here",
                    Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
        }

        /** X9. */
        @Test
        void twoMembersMoreAreRefused() throws Exception {
            Cell other = new Cell("default", List.of("node-1", "node-2", "node-3", "node-4", "node-5"));
            assertRefused(
                    "two nodes may lead at once, since the list of members lacks [node-4, node-5] there and nobody here",
                    Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
        }

        /** Five whole names of hosts are longer than what is shown of a text. */
        @Test
        void ofLongListsIsShownWhereTheyDiffer() throws Exception {
            String host = ".billing.eu-central-1.production.example.com";
            server = server(Samples.settings(cell(host, "1", "2", "3", "4", "5"), Samples.MAX_LEASE_TIME));
            assertRefused(
                    "two nodes may lead at once, since the list of members lacks [6" + host + "] there and [5" + host
                            + "] here",
                    Samples.hello(
                            cell(host, "1", "2", "3", "4", "6"), Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1));
        }

        private static Cell cell(String host, String... names) {
            return new Cell("default", Stream.of(names).map(name -> name + host).toList());
        }

        /** X9. */
        @Test
        void otherMembersWhoseMajoritiesMeetAreWelcome() throws Exception {
            Cell other = new Cell("default", List.of("node-1", "node-2", "node-3", "node-4"));
            assertThat(send(200, Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1))
                            .status())
                    .isEqualTo(Status.NEW_SESSION);
        }

        @Test
        void aSessionIsForTheMembersItWasOpenedWith() throws Exception {
            Cell other = new Cell("default", List.of("node-1", "node-2", "node-3", "node-4"));
            long session = send(200, Samples.hello(other, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1))
                    .session();
            assertThat(send(409, frame(session, 2, oneRequest())).status()).isEqualTo(Status.NEW_SESSION);
        }

        /** T3: a quarantine covers only the leases that it knows the bound of. */
        @Test
        void anotherMaximumLeaseTimeIsRefused() throws Exception {
            assertRefused(
                    "max-lease-time is 10s there and 2500ms here",
                    Samples.hello(Samples.CELL, Duration.ofMillis(2500), Samples.NODE_1, "node-2", 1));
        }

        private List<String> maximaHeard(Cell cell, Duration maximum, String receiver) throws Exception {
            send(409, Samples.hello(cell, maximum, Samples.NODE_1, receiver, 1));
            return acceptor.maxima;
        }

        /** T3. The quarantine of this node is to cover it. */
        @Test
        void anotherMaximumLeaseTimeIsTold() throws Exception {
            assertThat(maximaHeard(Samples.CELL, Duration.ofSeconds(20), "node-2"))
                    .containsExactly("node-1 20s");
        }

        @Test
        void anotherMaximumLeaseTimeIsToldAlsoWhereTheListsDoNotFit() throws Exception {
            Cell other = new Cell("default", List.of("node-1", "node-4", "node-5"));
            assertThat(maximaHeard(other, Duration.ofSeconds(20), "node-2")).containsExactly("node-1 20s");
        }

        @Test
        void theMaximumLeaseTimeOfAnotherCellIsNotTold() throws Exception {
            Cell other = new Cell("other", Samples.CELL.acceptors());
            assertThat(maximaHeard(other, Duration.ofSeconds(20), "node-2")).isEmpty();
        }

        @Test
        void aMaximumLeaseTimeThatIsMeantForAnotherNodeIsNotTold() throws Exception {
            assertThat(maximaHeard(Samples.CELL, Duration.ofSeconds(20), "node-3"))
                    .isEmpty();
        }

        @Test
        void theSameMaximumLeaseTimeIsNotTold() throws Exception {
            Cell other = new Cell("default", List.of("node-1", "node-4", "node-5"));
            assertThat(maximaHeard(other, Samples.MAX_LEASE_TIME, "node-2")).isEmpty();
        }

        private static final Cell OTHER_LIST = new Cell("default", List.of("node-1", "node-4", "node-5"));

        private List<String> votersHeard(Cell cell, String receiver, long receiverNonce, boolean majorityVotes)
                throws Exception {
            RequestFrame hello = Samples.hello(cell, Samples.MAX_LEASE_TIME, Samples.NODE_1, receiver, 1)
                    .telling(majorityVotes);
            send(
                    409,
                    new RequestFrame(
                            hello.cell(),
                            hello.sender(),
                            receiver,
                            receiverNonce,
                            0,
                            hello.fingerprint(),
                            1,
                            hello.hello(),
                            List.of()));
            return acceptor.otherVoters;
        }

        /** X9. This node's list may lack all who vote, so that it asks none of them. */
        @Test
        void aMajorityOfOtherMembersIsTold() throws Exception {
            assertThat(votersHeard(OTHER_LIST, "node-2", Samples.NODE_2.nonce(), true))
                    .containsExactly("Node node-1 has another list of members, of which a majority votes");
        }

        @Test
        void whatIsNoMajorityOfOtherMembersOfThisCellIsNotTold() throws Exception {
            votersHeard(OTHER_LIST, "node-2", Samples.NODE_2.nonce(), false);
            votersHeard(new Cell("other", OTHER_LIST.acceptors()), "node-2", Samples.NODE_2.nonce(), true);
            votersHeard(OTHER_LIST, "node-3", Samples.NODE_2.nonce(), true);
            assertThat(acceptor.otherVoters).isEmpty();
        }

        /** Else whoever recorded it years ago could keep each life of this node from voting. */
        @Test
        void aMajorityOfOtherMembersIsNotToldIfItWasSaidToAFormerLife() throws Exception {
            assertThat(votersHeard(OTHER_LIST, "node-2", Samples.NODE_2.nonce() + 1, true))
                    .isEmpty();
            assertThat(votersHeard(OTHER_LIST, "node-2", 0, true)).isEmpty();
        }

        @Test
        void whetherAMajorityVotesIsSaidToOneWithOtherMembersOnly() throws Exception {
            acceptor.majorityVotes = true;
            RequestFrame otherMembers = Samples.hello(OTHER_LIST, Samples.MAX_LEASE_TIME, Samples.NODE_1, "node-2", 1);
            assertThat(send(409, otherMembers).status()).isEqualTo(Status.OTHER_MAJORITY);
            assertThat(send(409, Samples.hello(Samples.CELL, Duration.ofSeconds(20), Samples.NODE_1, "node-2", 1))
                            .status())
                    .isEqualTo(Status.REFUSED);
            acceptor.majorityVotes = false;
            assertThat(send(409, otherMembers).status()).isEqualTo(Status.REFUSED);
        }

        @Test
        void aNodeThatIsNoMemberMayPropose() throws Exception {
            assertThat(open(new Incarnation("worker-17", 5), 1)).isNotZero();
            assertThat(server.problems()).isEmpty();
        }

        private void assertRefused(String reason, RequestFrame frame) throws Exception {
            AnswerFrame answer = send(409, frame);
            assertThat(answer.status()).isEqualTo(Status.REFUSED);
            assertThat(answer.reason()).isEqualTo(reason);
            assertThat(answer.session()).isZero();
            assertThat(heard).endsWith("frame refused");
        }
    }

    @Nested
    class Reports {

        private final Incarnation first = new Incarnation("node-1", 1);
        private final Incarnation second = new Incarnation("node-1", 2);

        @Test
        void aRestartIsNoProblem() throws Exception {
            long before = open(first, 1);
            send(200, Samples.frame(first, Samples.NODE_2, before, 2, List.of()));
            long after = open(second, 1);
            send(200, Samples.frame(second, Samples.NODE_2, after, 2, List.of()));
            send(200, Samples.frame(second, Samples.NODE_2, after, 3, List.of()));
            assertThat(server.problems()).isEmpty();
        }

        /** The system of a process that was killed sends on for a while what it had taken, as soon as the network lets it. */
        @Test
        void framesOfAFormerLifeThatComeLateAreNoProblem() throws Exception {
            long before = open(first, 1);
            long after = open(second, 1);
            send(200, Samples.frame(second, Samples.NODE_2, after, 2, List.of()));
            send(200, Samples.frame(first, Samples.NODE_2, before, 2, List.of()));
            send(200, Samples.frame(first, Samples.NODE_2, before, 3, List.of()));
            send(200, Samples.frame(second, Samples.NODE_2, after, 3, List.of()));
            send(200, Samples.frame(second, Samples.NODE_2, after, 4, List.of()));
            assertThat(server.problems()).isEmpty();
        }

        /** To a node that is far away four frames are under way, each on a connection of its own. */
        @Test
        void framesOfAFormerLifeThatComeBetweenThoseOfTheNextAreNoProblem() throws Exception {
            alternate(open(first, 1), open(second, 1));
            assertThat(server.problems()).isEmpty();
        }

        /** As often as the frames of a process that was killed may. */
        private void alternate(long older, long newer) throws Exception {
            for (long number = 2; number <= 5; number++) {
                send(200, Samples.frame(first, Samples.NODE_2, older, number, List.of()));
                send(200, Samples.frame(second, Samples.NODE_2, newer, number, List.of()));
            }
        }

        @Test
        void twoLivesOfOneNodeInAlternationAreReportedUntilTheyEnd() throws Exception {
            long older = open(first, 1);
            long newer = open(second, 1);
            alternate(older, newer);
            AnswerFrame answer = send(200, Samples.frame(first, Samples.NODE_2, older, 6, List.of()));
            assertThat(answer.status()).as("safe by A2").isEqualTo(Status.OK);
            assertThat(server.problems())
                    .containsEntry("node-1", "two processes use this node id; every node needs one of its own");
            clock.advance(Duration.ofSeconds(59));
            send(200, Samples.frame(second, Samples.NODE_2, newer, 6, List.of()));
            clock.advance(Duration.ofSeconds(59));
            send(200, Samples.frame(second, Samples.NODE_2, newer, 7, List.of()));
            assertThat(server.problems()).isNotEmpty();
            clock.advance(Duration.ofSeconds(2));
            send(200, Samples.frame(second, Samples.NODE_2, newer, 8, List.of()));
            assertThat(server.problems()).isEmpty();
        }

        @ParameterizedTest
        @CsvSource({
            "10.0.0.7, 10.0.0.9, ', at 10.0.0.7 and 10.0.0.9'",
            "10.0.0.7, 10.0.0.7, ', at 10.0.0.7'",
            "'10.0.0.7\n', , ', at 10.0.0.7?'"
        })
        void twoLivesAreReportedWithWhereTheyAre(String one, @Nullable String other, String places) throws Exception {
            server.handle(FrameCodec.encode(Samples.hello(new Incarnation("node-1", 0), "node-2", 1), mac), "10.0.0.1");
            server.handle(FrameCodec.encode(Samples.hello(first, "node-2", 1), mac), one);
            server.handle(FrameCodec.encode(Samples.hello(second, "node-2", 1), mac), other);
            server.handle(FrameCodec.encode(Samples.hello(new Incarnation("node-3", 0), "node-2", 1), mac), "10.0.0.3");
            for (long number = 2; number <= 6; number++) {
                server.handle(FrameCodec.encode(Samples.hello(first, "node-2", number), mac), one);
                server.handle(FrameCodec.encode(Samples.hello(second, "node-2", number), mac), other);
            }
            assertThat(server.problems())
                    .containsEntry(
                            "node-1", "two processes use this node id" + places + "; every node needs one of its own");
        }

        /** It asks who answers at the address of its id. */
        @Test
        void anotherProcessWithTheIdOfThisNodeIsReportedAtOnce() throws Exception {
            send(200, Samples.hello(Samples.NODE_2, "node-2", 1));
            assertThat(server.problems()).as("this one itself").isEmpty();
            send(200, Samples.hello(new Incarnation("node-2", 7), "node-2", 1));
            assertThat(server.problems())
                    .containsEntry("node-2", "two processes use this node id; every node needs one of its own");
        }

        @Test
        void refusedNodesAreReportedUntilTheyAreWelcome() throws Exception {
            send(409, Samples.hello(Samples.CELL, Duration.ofSeconds(20), first, "node-2", 1));
            assertThat(server.problems()).containsEntry("node-1", "max-lease-time is 20s there and 10s here");
            open(second, 1);
            assertThat(server.problems()).isEmpty();
        }

        @Test
        void aFloodOfStrangersDisplacesNothing() throws Exception {
            for (int i = 0; i < 1_000; i++) {
                send(
                        409,
                        Samples.hello(
                                Samples.CELL,
                                Duration.ofSeconds(20),
                                new Incarnation("stranger-" + i, i),
                                "node-2",
                                1));
            }
            assertThat(server.problems()).hasSize(32).containsKey("stranger-0");
            clock.advance(Duration.ofSeconds(61));
            assertThat(server.problems()).isEmpty();
        }

        @Test
        void namesFromElsewhereCannotForgeALine() throws Exception {
            Incarnation evil = new Incarnation("x\nERROR all is lost", 1);
            send(409, Samples.hello(Samples.CELL, Duration.ofSeconds(20), evil, "node-2", 1));
            assertThat(server.problems()).containsOnlyKeys("x?ERROR all is lost");
        }
    }

    @Nested
    class Robustness {

        @Test
        void aDefectOfTheAcceptorIsNotTheSendersProblem() throws Exception {
            long session = open(Samples.NODE_1, 1);
            acceptor.failure = new IllegalStateException("as the test wants it");
            assertText(503, "could not handle the frame", frame(session, 2, oneRequest()));
        }

        @Test
        void noBitFlipWithoutAMacDoesMoreThanADeclaredRefusalOrACorrectFrame() throws Exception {
            long session = open(Samples.NODE_1, 1);
            byte[] frame = FrameCodec.encode(frame(session, 2, oneRequest()), null);
            for (int bit = 0; bit < frame.length * 8; bit++) {
                assertThat(server.handle(FrameCodecTests.flip(frame, bit), null).status())
                        .as("bit " + bit)
                        .isIn(200, 400, 401, 409);
            }
            assertThat(heard).doesNotContain("frame defect");
        }

        @Test
        void garbageIsRefused() {
            int rounds = Boolean.getBoolean("paxoslease.long") ? 10_000_000 : 200_000;
            RandomGenerator random = Samples.random(42);
            byte[][] frames = {
                FrameCodec.encode(hello(), null),
                FrameCodec.encode(
                        frame(
                                1,
                                2,
                                List.of(
                                        Samples.propose("é", 1, Samples.NODE_1),
                                        oneRequest().get(0))),
                        null)
            };
            // A thread that writes its lines would do so in the tests that follow, too.
            FrameServer quiet = server(Samples.settings(), 1_024, WireListener.NONE);
            for (int i = 0; i < rounds; i++) {
                byte[] garbage = random.nextBoolean() ? noise(random) : mutated(frames[random.nextInt(2)], random);
                int status = quiet.handle(garbage, null).status();
                if (status != 400 && status != 401 && status != 409 && status != 200) {
                    throw new AssertionError("Seed 42, round " + i + ": " + status);
                }
            }
            assertThat(acceptor.handled).isEmpty();
        }

        private static byte[] noise(RandomGenerator random) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            if (bytes.length > 2) {
                bytes[0] = 1;
                bytes[1] = (byte) (bytes[1] & 1);
            }
            return bytes;
        }

        private static byte[] mutated(byte[] frame, RandomGenerator random) {
            byte[] bytes =
                    random.nextInt(4) == 0 ? Arrays.copyOf(frame, random.nextInt(frame.length + 20)) : frame.clone();
            for (int i = random.nextInt(4); i >= 0 && bytes.length > 0; i--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            return bytes;
        }
    }

    // The words of these tests.

    private void useSecret() {
        mac = Samples.mac(Samples.SECRET);
        server = server(Samples.settings(Samples.SECRET));
    }

    private FrameServer server(WireSettings settings) {
        return server(settings, 1_024);
    }

    private FrameServer server(WireSettings settings, int sessions) {
        WireListener listener = new WireListener() {
            @Override
            public void onMessage(String type, String outcome) {
                heard.add(type + " " + outcome);
            }
        };
        return server(settings, sessions, listener);
    }

    private FrameServer server(WireSettings settings, int sessions, WireListener listener) {
        return new FrameServer(
                Samples.NODE_2,
                settings,
                acceptor,
                listener,
                new io.paxoslease.wire.Sessions(sessions, !settings.secrets().isEmpty(), Samples.random(7)),
                clock,
                log);
    }

    private long open(Incarnation sender, long sequence) throws Exception {
        return send(200, Samples.hello(sender, "node-2", sequence)).session();
    }

    private AnswerFrame send(int status, RequestFrame frame) throws Exception {
        FrameReply reply = server.handle(FrameCodec.encode(frame, mac), null);
        assertThat(reply.status()).isEqualTo(status);
        return FrameCodec.decodeAnswer(reply.body(), frame.requests());
    }

    private void assertText(int status, String text, RequestFrame frame) {
        FrameReply reply = server.handle(FrameCodec.encode(frame, mac), null);
        assertThat(reply.status()).isEqualTo(status);
        assertThat(new String(reply.body(), UTF_8)).isEqualTo(text);
        assertThat(acceptor.handled).isEmpty();
    }

    private static RequestFrame hello() {
        return Samples.hello(Samples.NODE_1, "node-2", 1);
    }

    private static RequestFrame frame(long session, long sequence, List<Request> requests) {
        return Samples.frame(Samples.NODE_1, Samples.NODE_2, session, sequence, requests);
    }

    private static List<Request> oneRequest() {
        return List.of(Samples.propose("leader", 5, Samples.NODE_1));
    }

    private static Request release(String resource) {
        return new ReleaseRequest(resource, new Ballot(6, Samples.NODE_1));
    }

    private static Response granted(Request request) {
        return GrantingAcceptor.granted((ProposeRequest) request);
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new IllegalStateException(interrupt);
        }
    }
}
