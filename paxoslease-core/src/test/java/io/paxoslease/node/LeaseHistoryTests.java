package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.paxoslease.node.HistoryEvent.Kind;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** What a node remembers of what happened to its leases. */
class LeaseHistoryTests {

    private static final Now NOW = new Now(1_000, 1_800_000_000_000L);

    private static HistoryEvent event(Kind kind, long token, int second, String... rejectedBy) {
        Now at = new Now(NOW.nanos() + second * 1_000_000_000L, NOW.wallMillis() + second * 1_000L);
        boolean failed = kind == Kind.EXTENSION_FAILED || kind == Kind.ATTEMPT_FAILED;
        return new HistoryEvent(kind, 1, at, at, token, null, null, failed ? "no majority" : null, List.of(rejectedBy));
    }

    private static List<Kind> kinds(LeaseHistory history, String lease) {
        return history.of(lease, NOW).orElseThrow().events().stream()
                .map(HistoryEvent::kind)
                .toList();
    }

    @Nested
    class IsBounded {

        @Test
        void theOldestEventsOfALeaseAreDroppedAndCounted() {
            LeaseHistory history = new LeaseHistory(3, 10);
            for (int tenure = 1; tenure <= 10; tenure++) {
                history.record("job", event(Kind.ACQUIRED, tenure, 2 * tenure));
                history.record("job", event(Kind.RELEASED, tenure, 2 * tenure + 1));
            }

            LeaseHistory.Snapshot snapshot = history.of("job", NOW).orElseThrow();

            assertThat(snapshot.dropped()).isEqualTo(17);
            assertThat(snapshot.events()).extracting(HistoryEvent::fencingToken).containsExactly(9L, 10L, 10L);
        }

        @Test
        void extensionsInARowAreOneEvent() {
            LeaseHistory history = new LeaseHistory(3, 10);
            history.record("job", event(Kind.ACQUIRED, 7, 0));
            for (int second = 1; second <= 10_000; second++) {
                history.record("job", event(Kind.EXTENDED, 7, second));
            }

            LeaseHistory.Snapshot snapshot = history.of("job", NOW).orElseThrow();

            assertThat(snapshot.dropped()).isZero();
            assertThat(kinds(history, "job")).containsExactly(Kind.ACQUIRED, Kind.EXTENDED);
            HistoryEvent extensions = snapshot.events().get(1);
            assertThat(extensions.count()).isEqualTo(10_000);
            assertThat(extensions.first()).isEqualTo(event(Kind.EXTENDED, 7, 1).first());
            assertThat(extensions.last())
                    .isEqualTo(event(Kind.EXTENDED, 7, 10_000).last());
        }

        @Test
        void failuresOfOtherCausesStayApart() {
            LeaseHistory history = new LeaseHistory(9, 10);
            history.record("job", event(Kind.ATTEMPT_FAILED, 0, 1, "a"));
            history.record("job", event(Kind.ATTEMPT_FAILED, 0, 2, "a"));
            history.record("job", event(Kind.ATTEMPT_FAILED, 0, 3, "a", "b"));

            assertThat(history.of("job", NOW).orElseThrow().events())
                    .extracting(HistoryEvent::count)
                    .containsExactly(2L, 1L);
        }

        @Test
        void theLeaseNotHeardOfForLongestMakesRoom() {
            LeaseHistory history = new LeaseHistory(3, 2);
            history.record("first", event(Kind.LOST, 1, 1));
            history.record("second", event(Kind.LOST, 2, 2));
            history.record("first", event(Kind.LOST, 3, 3));
            history.record("third", event(Kind.ACQUIRED, 4, 4));

            assertThat(history.of("second", NOW)).isEmpty();
            assertThat(history.of("first", NOW)).isPresent();
            assertThat(history.of("third", NOW)).isPresent();
        }

        @Test
        void aHeldLeaseNeverMakesRoom() {
            LeaseHistory history = new LeaseHistory(3, 1);
            history.record("held", event(Kind.ACQUIRED, 1, 1));
            history.record("other", event(Kind.ACQUIRED, 2, 2));

            assertThat(history.of("other", NOW)).isEmpty();
            assertThat(kinds(history, "held")).containsExactly(Kind.ACQUIRED);
        }

        @Test
        void aHeldLeaseIsNotInTheWayOfOthers() {
            LeaseHistory history = new LeaseHistory(3, 3);
            history.record("held", event(Kind.ACQUIRED, 1, 1));
            for (int i = 2; i < 100; i++) {
                history.record("other " + i, event(Kind.LOST, i, i));
            }

            assertThat(kinds(history, "held")).containsExactly(Kind.ACQUIRED);
            assertThat(history.of("other 98", NOW)).isPresent();
            assertThat(history.of("other 99", NOW)).isPresent();
        }

        @Test
        void roomForNothingIsRefused() {
            assertThatIllegalArgumentException().isThrownBy(() -> new LeaseHistory(0, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> new LeaseHistory(1, 0));
        }
    }

    /** One node of three; the test answers for the other two. */
    @Nested
    class TellsWhatHappened {

        private static final Duration TIME = Duration.ofSeconds(10);

        private Now now = new Now(5, 1_800_000_000_000L);
        private final List<Request> sent = new ArrayList<>();
        private boolean broken;
        private @Nullable LeaseNode node;

        private LeaseNode node() {
            LeaseNode made = new LeaseNode(
                    settings("b"),
                    new Transport() {
                        @Override
                        public void start(Incarnation self, Receiver receiver) {}

                        @Override
                        public void send(int acceptor, Request request) {
                            if (broken) {
                                throw new IllegalStateException("planted");
                            }
                            if (acceptor == 0) {
                                sent.add(request);
                            }
                        }

                        @Override
                        public void flush() {}

                        @Override
                        public void close() {}
                    },
                    new SplittableRandom(1),
                    () -> now);
            made.keepHistory(new LeaseHistory(64, 4));
            made.openAcceptor();
            advance(TIME);
            node = made;
            return made;
        }

        private static NodeSettings settings(String id) {
            return new NodeSettings(
                    id,
                    new Cell("default", List.of("a", "b", "c")),
                    new Timing(TIME.toNanos(), 0.01),
                    TIME,
                    Duration.ofSeconds(1),
                    false,
                    false,
                    100,
                    Map.of());
        }

        private void advance(Duration time) {
            now = new Now(now.nanos() + time.toNanos(), now.wallMillis() + time.toMillis());
        }

        private List<HistoryEvent> events() {
            return node.history("job").orElseThrow().events().stream()
                    .filter(event -> event.kind() != Kind.LEADER_CHANGED)
                    .toList();
        }

        private Request last() {
            return sent.get(sent.size() - 1);
        }

        private void answer(int acceptor, LeaseNode other) {
            Response response = other.onRequests(List.of(last())).get(0);
            node.onResponse(acceptor, response);
        }

        @Test
        void aTenureFromItsBeginningToItsEnd() {
            LeaseNode b = node();
            LeaseNode a = votingNode("a");
            b.tryAcquireAsync("job", TIME);
            answer(0, a);
            advance(Duration.ofMillis(3));
            answer(0, a);
            Now acquired = now;
            HistoryEvent first = events().get(0);
            assertThat(first.kind()).isEqualTo(Kind.ACQUIRED);
            assertThat(first.last()).isEqualTo(acquired);
            assertThat(first.heldUntil().nanos())
                    .as("D after the first message")
                    .isLessThan(acquired.nanos() + TIME.toNanos());

            advance(Duration.ofSeconds(2));
            b.releaseAll();

            assertThat(events()).extracting(HistoryEvent::kind).containsExactly(Kind.ACQUIRED, Kind.RELEASED);
            assertThat(events().get(1).last()).isEqualTo(now);
            assertThat(events().get(1).fencingToken()).isEqualTo(first.fencingToken());
        }

        /** No notice comes of these losses, and they are what is asked for afterwards. */
        @Test
        void whatWasLostInADefect() {
            LeaseNode b = node();
            LeaseNode a = votingNode("a");
            b.tryAcquireAsync("job", TIME);
            answer(0, a);
            answer(0, a);
            broken = true;
            b.tryAcquireAsync("other", TIME);

            assertThat(b.isFailed()).isTrue();
            assertThat(events()).extracting(HistoryEvent::kind).containsExactly(Kind.ACQUIRED, Kind.LOST);
            assertThat(events().get(1).fencingToken()).isEqualTo(events().get(0).fencingToken());
        }

        @Test
        void whoRejectedAnAttemptAndWhy() {
            LeaseNode b = node();
            LeaseNode other = votingNode("a");
            b.tryAcquireAsync("job", TIME);
            // Another candidate was there before, at both other acceptors.
            LeaseNode rival = votingNode("c");
            Request mine = last();
            Request theirs = new ProposeRequest(
                    "job", new Ballot(mine.ballot().counter() + 5, new Incarnation("c", 9)), TIME.toNanos());
            other.onRequests(List.of(theirs));
            rival.onRequests(List.of(theirs));
            node.onResponse(0, other.onRequests(List.of(mine)).get(0));
            node.onResponse(2, rival.onRequests(List.of(mine)).get(0));

            HistoryEvent failure = events().get(0);
            assertThat(failure.kind()).isEqualTo(Kind.ATTEMPT_FAILED);
            assertThat(failure.reason()).isEqualTo("held by c");
            assertThat(failure.rejectedBy()).containsExactly("a", "c");
        }

        @Test
        void nothingOfALeaseThatNobodyEverWanted() {
            assertThat(node().history("other")).isEmpty();
        }

        /** An acceptor whose quarantine is over. */
        private LeaseNode votingNode(String id) {
            advance(TIME.negated());
            LeaseNode other = new LeaseNode(settings(id), new NoTransport(), new SplittableRandom(2), () -> now);
            other.openAcceptor();
            advance(TIME);
            return other;
        }
    }
}
