package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What goes wrong once must not cut a node off from all others for ever. The test delivers. */
class InProcessNetworkTests {

    private static final Incarnation SELF = new Incarnation("n1", 1);
    private static final Request REQUEST = new PrepareRequest("lease", new Ballot(1, SELF), 1);

    private final ArrayDeque<Runnable> deliveries = new ArrayDeque<>();
    private final InProcessNetwork network =
            new InProcessNetwork(new Cell("cell", List.of("n1", "n2", "n3")), this::carry);
    private final Transport transport = network.transport();
    private final List<Integer> unanswered = new ArrayList<>();
    private boolean full;

    private void carry(Runnable delivery) {
        if (full) {
            throw new RejectedExecutionException("on purpose");
        }
        deliveries.add(delivery);
    }

    @BeforeEach
    void start() {
        transport.start(SELF, new Transport.Receiver() {
            @Override
            public void onResponse(int acceptor, Response response) {}

            @Override
            public void onUnanswered(int acceptor, Request request) {
                unanswered.add(acceptor);
            }
        });
    }

    @Test
    void aNodeThatThrowsDoesNotKeepMessagesFromTheOthers() {
        network.attach("n2", new Defective());
        transport.send(1, REQUEST);
        transport.send(2, REQUEST);
        transport.flush();

        assertThatIllegalStateException().isThrownBy(deliveries.remove()::run);

        deliveries.remove().run();
        assertThat(unanswered).containsExactly(2);
        transport.send(2, REQUEST);
        transport.flush();
        deliveries.remove().run();
        assertThat(unanswered).containsExactly(2, 2);
    }

    @Test
    void onlyWhatTheExecutorRefusesIsLost() {
        full = true;
        transport.send(1, REQUEST);
        assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(transport::flush);
        full = false;

        transport.send(2, REQUEST);
        transport.flush();

        deliveries.remove().run();
        assertThat(unanswered).containsExactly(2);
    }

    private static final class Defective implements RequestHandler {

        @Override
        public List<@Nullable Response> onRequests(List<Request> requests) {
            throw new IllegalStateException("on purpose");
        }

        @Override
        public AcceptorState acceptorState() {
            return AcceptorState.VOTING;
        }

        @Override
        public long quarantineRemainingNanos() {
            return 0;
        }
    }
}
