package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MemberLinkTests {

    private final WireSettings settings = Samples.settings();
    private final Lines lines = new Lines(System.getLogger("unused"), task -> {}, new ManualClock());
    private final MemberLink link = new MemberLink(1, Samples.NODE_1, settings, 10, lines, 0);
    private final FrameServer member = server(Samples.NODE_2);
    private final AnswerCheck check = new AnswerCheck(settings, null);

    private long now;

    /** Each exchange begins when even an idle member is asked. */
    private Exchange begin() {
        now += TimeUnit.MINUTES.toNanos(1);
        Exchange exchange = link.begin(now);
        assertThat(exchange).isNotNull();
        return exchange;
    }

    private FrameServer server(Incarnation incarnation) {
        return new FrameServer(
                incarnation,
                settings,
                new GrantingAcceptor(),
                WireListener.NONE,
                new Sessions(1, false, Samples.random(1)),
                new ManualClock(),
                Runnable::run);
    }

    private void answer(Exchange exchange) {
        answer(member, exchange);
    }

    private void answer(FrameServer server, Exchange exchange) {
        FrameReply reply = server.handle(FrameCodec.encode(exchange.frame(), null), null);
        assertThat(link.end(exchange, check.judge(reply, exchange.frame()), false, now))
                .isNotNull();
    }

    /** So that releases still arrive when a node stops. */
    @Test
    @Timeout(60)
    void whoClosesWaitsForWhatIsUnderWay() throws Exception {
        answer(begin());
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Exchange release = begin();
        Thread closing = closing();
        answer(release);
        closing.join();
    }

    /** As a release that came while another frame was under way, and is sent when that is answered. */
    @Test
    @Timeout(60)
    void whoClosesWaitsForWhatIsStillToBeSent() throws Exception {
        answer(begin());
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Thread closing = closing();
        answer(begin());
        closing.join();
    }

    /** What a member in a new life did not handle is neither under way nor queued for the moment in which its end is noted. */
    @Test
    @Timeout(60)
    void whoClosesWaitsForWhatIsSentOnceMore() throws Exception {
        answer(begin());
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Exchange release = begin();
        FrameServer restarted = server(new Incarnation("node-2", 0x9999));
        answer(restarted, release);
        Thread closing = closing();
        answer(restarted, begin());
        answer(restarted, begin());
        closing.join();
    }

    /** One lost frame is nothing: what is sent next may well be answered. */
    @Test
    @Timeout(60)
    void whoClosesWaitsForAMemberThatFailedOnce() throws Exception {
        answer(begin());
        link.end(begin(), Verdict.lost("reset"), false, now);
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Thread closing = closing();
        answer(begin());
        closing.join();
    }

    @Test
    @Timeout(60)
    void whoClosesDoesNotWaitForAMemberThatIsGone() {
        answer(begin());
        for (int i = 0; i < 3; i++) {
            link.end(begin(), Verdict.lost("reset"), false, now);
        }
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        awaitIdle();
    }

    @Test
    @Timeout(60)
    void whoClosesDoesNotWaitForAMemberThatDoesNotFit() {
        answer(begin());
        link.end(begin(), Verdict.refused("on purpose"), false, now);
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        awaitIdle();
    }

    @Test
    @Timeout(60)
    void whoClosesDoesNotWaitForAMemberThatIsNotReachable() {
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        awaitIdle();
    }

    @Test
    @Timeout(60)
    void whoIsInterruptedDoesNotWait() {
        answer(begin());
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Thread.currentThread().interrupt();
        awaitIdle();
        assertThat(Thread.interrupted()).isTrue();
    }

    /** Whatever the reason was, it may be another member by then. */
    @Test
    void whoWasRefusedIntroducesItselfAgain() {
        answer(begin());
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Exchange refused = begin();
        assertThat(refused.isHello()).isFalse();
        link.end(refused, Verdict.refused("on purpose"), false, now);
        assertThat(begin().isHello()).isTrue();
    }

    /** For longer than any test takes; waiting is the one thing here that takes real time. */
    private void awaitIdle() {
        link.awaitIdle(TimeUnit.MINUTES.toNanos(10));
    }

    /** A thread that waits until nothing is to be done. */
    private Thread closing() {
        Thread closing = new Thread(this::awaitIdle);
        closing.setDaemon(true);
        closing.start();
        Thread.State state;
        do {
            state = closing.getState();
        } while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED);
        assertThat(state).isEqualTo(Thread.State.TIMED_WAITING);
        return closing;
    }

    /** What found no place is told to its proposer, and even that is bounded for a member that does not answer. */
    @Test
    void whatFindsTheQueueFullIsNotedUpToTheSameBound() {
        List<Request> requests = new ArrayList<>();
        for (int i = 1; i <= 100; i++) {
            requests.add(new ReleaseRequest("a", new Ballot(i, Samples.NODE_1)));
        }
        assertThat(link.offer(requests)).isEqualTo(10);
        assertThat(link.drop(requests.get(10))).as("the first is to be fetched").isTrue();
        for (Request request : requests.subList(11, 100)) {
            assertThat(link.drop(request)).isFalse();
        }
        assertThat(link.takeDropped()).isEqualTo(requests.subList(10, 20));
        assertThat(link.drop(requests.get(99))).as("the first again").isTrue();
    }

    /** They are counted with two bytes. */
    @Test
    void aFrameHasNoMoreRequestsThanItCanCount() {
        WireSettings large =
                new WireSettings(Samples.CELL, settings.timing(), settings.roundTimeout(), List.of(), 8 * 1024 * 1024);
        MemberLink busy = new MemberLink(1, Samples.NODE_1, large, 70_000, lines, 0);
        Exchange hello = busy.begin(now);
        FrameReply reply = member.handle(FrameCodec.encode(hello.frame(), null), null);
        busy.end(hello, check.judge(reply, hello.frame()), false, now);
        busy.offer(Collections.nCopies(70_000, Samples.propose("a", 1, Samples.NODE_1)));
        assertThat(busy.begin(now).frame().requests()).hasSize(65_535);
    }

    @Nested
    class TheNews {

        private static final String REFUSED = "connection refused by http://b:8080/paxoslease/messages";
        private static final String NOT_FOUND = "answers with HTTP status 404 (is the URL right?)";

        private final List<String> news = new ArrayList<>();

        private void lose(String... problems) {
            lose(false, problems);
        }

        private void lose(boolean timedOut, String... problems) {
            for (String problem : problems) {
                MemberLink.Ended ended = link.end(begin(), Verdict.lost(problem), timedOut, now);
                assertThat(ended).isNotNull();
                news.addAll(warnings());
            }
        }

        private List<String> warnings() {
            List<String> warnings = new ArrayList<>();
            for (Lines.Line line = lines.next(); line != null; line = lines.next()) {
                if (line.level() == Level.WARNING) {
                    warnings.add(line.text());
                }
            }
            return warnings;
        }

        @Test
        void areToldOnceForAReasonThatLasts() {
            lose(REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED);
            assertThat(news).containsExactly("Member node-2 is not reachable: " + REFUSED);
        }

        /** Who starts before the others is refused by them first, and learns only then that the URL is wrong. */
        @Test
        void areToldAgainWhenAnotherReasonLasts() {
            lose(REFUSED, REFUSED, REFUSED, NOT_FOUND, NOT_FOUND, NOT_FOUND, NOT_FOUND);
            assertThat(news)
                    .containsExactly(
                            "Member node-2 is not reachable: " + REFUSED,
                            "Member node-2 is still not reachable: " + NOT_FOUND);
        }

        /** Each time-out doubles the time limit, which its words name. They must not use up what may be told of a host that boots. */
        @Test
        void takeTimeOutsForOneReason() {
            lose(true, "within 100 ms", "within 200 ms", "within 400 ms", "within 800 ms");
            lose(true, "within 1000 ms", "within 1000 ms", "within 1000 ms");
            lose(REFUSED, REFUSED, REFUSED, NOT_FOUND, NOT_FOUND, NOT_FOUND);
            assertThat(news)
                    .containsExactly(
                            "Member node-2 is not reachable: within 400 ms",
                            "Member node-2 is still not reachable: " + REFUSED,
                            "Member node-2 is still not reachable: " + NOT_FOUND);
        }

        /** As of a host without a route: the error comes now at the end of one exchange, now in the middle of another. */
        @Test
        void areNotToldAgainInTheSameWords() {
            lose(true, "no route", "no route", "no route");
            lose("no route", "no route", "no route");
            assertThat(news).containsExactly("Member node-2 is not reachable: no route");
        }

        /** It knows no session of its former life, whatever its settings are now: only the hello that follows tells whether they fit. */
        @Test
        void doNotCallAMemberReachableThatOnlyForgotItsSession() {
            answer(begin());
            lose(REFUSED, REFUSED, REFUSED);
            answer(server(new Incarnation("node-2", 0x9999)), begin());
            assertThat(link.status().reachable()).isFalse();
            assertThat(lines.next()).isNull();
            assertThat(begin().isHello()).isTrue();
        }

        /** It is there, whatever it knows; that an earlier frame is lost says nothing of it. */
        @Test
        void doNotCountALossBeforeAnAnswerThatKnowsNoSession() {
            answer(begin());
            Exchange first = begin();
            link.offer(List.of(Samples.propose("a", 1, Samples.NODE_1)));
            now += TimeUnit.MILLISECONDS.toNanos(80);
            answer(first);
            Exchange earlier = beginAtOnce();
            now += TimeUnit.MILLISECONDS.toNanos(40);
            Exchange later = beginAtOnce();
            answer(server(new Incarnation("node-2", 0x9999)), later);
            link.end(earlier, Verdict.lost(REFUSED), false, now);
            assertThat(link.status().reachable()).isTrue();
            assertThat(begin().isHello()).isTrue();
        }

        @Test
        void leaveOutReasonsThatDoNotLast() {
            lose(REFUSED, REFUSED, REFUSED, NOT_FOUND, NOT_FOUND, REFUSED, REFUSED, REFUSED, NOT_FOUND, REFUSED);
            assertThat(news).hasSize(1);
        }

        @Test
        void areBoundedForAMemberThatFailsInTurns() {
            for (int i = 0; i < 10; i++) {
                lose(REFUSED, REFUSED, REFUSED, NOT_FOUND, NOT_FOUND, NOT_FOUND);
            }
            assertThat(news).hasSize(3);
        }

        /** One connection may have carried them all. */
        @Test
        void countFramesThatAreLostTogetherAsOne() {
            answer(begin());
            Exchange first = begin();
            link.offer(List.of(Samples.propose("a", 1, Samples.NODE_1)));
            now += TimeUnit.MILLISECONDS.toNanos(80);
            answer(first);
            List<Exchange> lost = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                lost.add(beginAtOnce());
                now += TimeUnit.MILLISECONDS.toNanos(40);
            }
            lost.forEach(each -> link.end(each, Verdict.lost(REFUSED), false, now));
            lose(REFUSED);
            assertThat(news).isEmpty();
            lose(REFUSED);
            assertThat(news).containsExactly("Member node-2 is not reachable: " + REFUSED);
        }

        /** As behind a proxy that refuses some frames at once. */
        @Test
        void areFewOfAMemberThatComesAndGoes() {
            answer(begin());
            for (int i = 0; i < 30; i++) {
                Exchange exchange = beginAtOnce();
                if (i % 4 == 3) {
                    answer(exchange);
                } else {
                    link.end(exchange, Verdict.lost(REFUSED), false, now);
                    assertThat(warnings()).isEmpty();
                }
            }
            lose(REFUSED);
            assertThat(news).containsExactly("Member node-2 is not reachable: " + REFUSED);
        }

        private Exchange beginAtOnce() {
            link.offer(List.of(Samples.propose("a", 1, Samples.NODE_1)));
            return link.begin(now);
        }

        @Test
        void beginAnewWhenTheMemberWasReachable() {
            lose(REFUSED, REFUSED, REFUSED);
            answer(begin());
            lose(REFUSED, REFUSED);
            assertThat(news).hasSize(1);
            lose(REFUSED, NOT_FOUND, NOT_FOUND, NOT_FOUND);
            assertThat(news).hasSize(3);
        }

        /** What may be told of one outage is not used up by those before. */
        @Test
        void areAsManyInEachOutage() {
            for (int outage = 1; outage <= 3; outage++) {
                lose(REFUSED, REFUSED, REFUSED, NOT_FOUND, NOT_FOUND, NOT_FOUND);
                assertThat(news).hasSize(2 * outage);
                answer(begin());
            }
        }
    }
}
