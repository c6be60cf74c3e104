package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.ReleaseRequest;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MemberLinkTests {

    private final WireSettings settings = Samples.settings();
    private final MemberLink link = new MemberLink(1, Samples.NODE_1, settings, 10, 0);
    private final FrameServer member = new FrameServer(
            Samples.NODE_2,
            settings,
            new GrantingAcceptor(),
            WireListener.NONE,
            new Sessions(1, Samples.random(1)),
            new ManualClock());
    private final AnswerCheck check = new AnswerCheck(settings, null);

    private Exchange begin() {
        Exchange exchange = link.begin(0);
        assertThat(exchange).isNotNull();
        return exchange;
    }

    private void answer(Exchange exchange) {
        FrameReply reply = member.handle(FrameCodec.encode(exchange.frame(), null));
        assertThat(link.end(exchange, check.judge(reply, exchange.frame()), false, 0))
                .isNotNull();
    }

    /** So that releases still arrive when a node stops. */
    @Test
    @Timeout(60)
    void whoClosesWaitsForWhatIsUnderWay() throws Exception {
        answer(begin());
        link.offer(List.of(new ReleaseRequest("a", new Ballot(1, Samples.NODE_1))));
        Exchange release = begin();
        Thread closing = new Thread(() -> link.awaitIdle(System.nanoTime() + TimeUnit.MINUTES.toNanos(10)));
        closing.setDaemon(true);
        closing.start();
        Thread.State state;
        do {
            state = closing.getState();
        } while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED);
        assertThat(state).isEqualTo(Thread.State.TIMED_WAITING);
        answer(release);
        closing.join();
    }
}
