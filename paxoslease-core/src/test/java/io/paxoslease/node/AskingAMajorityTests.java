package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whom a node asks for a lease that is not to last, and whom it tells that it gave it up. A cell of three; its clock and messages are moved by the test. */
class AskingAMajorityTests {

    private static final Duration TIME = Duration.ofSeconds(10);
    private static final Cell CELL = new Cell("cell", List.of("n1", "n2", "n3"));

    private final BlockingQueue<Runnable> deliveries = new LinkedBlockingQueue<>();
    private final InProcessNetwork network = new InProcessNetwork(CELL, deliveries::add);
    private final Map<String, LeaseNode> nodes = new TreeMap<>();
    private final List<String> heard = new ArrayList<>();
    /** What happens while a node handles what it hears next. */
    private final Map<String, Map<Integer, Runnable>> meanwhile = new HashMap<>();

    private Now now = new Now(0, 1_800_000_000_000L);

    @BeforeEach
    void startCell() {
        for (String id : CELL.acceptors()) {
            LeaseNode node = new LeaseNode(
                    new NodeSettings(
                            id,
                            CELL,
                            new Timing(TIME.toNanos(), 0.01),
                            TIME,
                            Duration.ofMillis(500),
                            false,
                            true,
                            100,
                            Map.of()),
                    network.transport(),
                    new SplittableRandom(id.hashCode()),
                    new DrivenClock());
            network.attach(id, new Listening(id, node));
            nodes.put(id, node);
            node.openAcceptor();
            node.start();
        }
        pass(TIME.toMillis() + 1_000);
        assertThat(nodes.values()).allMatch(node -> node.acceptorState() == RequestHandler.AcceptorState.VOTING);
        heard.clear();
    }

    @AfterEach
    void closeCell() {
        nodes.values().forEach(LeaseNode::close);
    }

    private final class DrivenClock implements NodeClock {
        @Override
        public Now now() {
            return now;
        }

        @Override
        public boolean isDriven() {
            return true;
        }
    }

    /** Notes what a node is sent before it handles it. */
    private final class Listening implements RequestHandler {
        private final String id;
        private final LeaseNode node;

        Listening(String id, LeaseNode node) {
            this.id = id;
            this.node = node;
        }

        @Override
        public List<@Nullable Response> onRequests(List<Request> requests) {
            for (Request request : requests) {
                String type = request instanceof ProposeRequest
                        ? "propose"
                        : request instanceof ReleaseRequest ? "release" : "prepare";
                heard.add(id + " " + type + " " + request.ballot().owner().nodeId());
            }
            Map<Integer, Runnable> events = meanwhile.remove(id);
            return node.onRequests(events == null ? requests : new Interrupted(requests, events));
        }

        @Override
        public void onHello(Incarnation sender) {
            node.onHello(sender);
        }

        @Override
        public AcceptorState acceptorState() {
            return node.acceptorState();
        }

        @Override
        public long quarantineRemainingNanos() {
            return node.quarantineRemainingNanos();
        }
    }

    /** Requests whose handling is interrupted: something happens before one is looked at for the n-th time. */
    private static final class Interrupted extends AbstractList<Request> {
        private final List<Request> requests;
        private final Map<Integer, Runnable> events;
        private int looks;

        Interrupted(List<Request> requests, Map<Integer, Runnable> events) {
            this.requests = requests;
            this.events = events;
        }

        @Override
        public Request get(int index) {
            events.getOrDefault(++looks, () -> {}).run();
            return requests.get(index);
        }

        @Override
        public int size() {
            return requests.size();
        }
    }

    private void deliver() {
        Runnable delivery;
        while ((delivery = deliveries.poll()) != null) {
            delivery.run();
        }
    }

    private void pass(long millis) {
        for (long i = 0; i < millis; i++) {
            now = new Now(now.nanos() + 1_000_000, now.wallMillis() + 1);
            nodes.values().forEach(LeaseNode::onTime);
            deliver();
        }
    }

    private CompletableFuture<Optional<Lease>> asks(String id) {
        return nodes.get(id).tryAcquireAsync("r", TIME).toCompletableFuture();
    }

    private static Optional<Lease> got(CompletableFuture<Optional<Lease>> answer) {
        return answer.orTimeout(10, TimeUnit.SECONDS).join();
    }

    private Lease takes(String id) {
        CompletableFuture<Optional<Lease>> answer = asks(id);
        deliver();
        return got(answer).orElseThrow();
    }

    /** Another thread waits for the lease; its first request is left to be delivered. */
    private FutureTask<Lease> waits(String id) throws InterruptedException {
        FutureTask<Lease> answer = new FutureTask<>(() -> nodes.get(id).acquire("r", TIME, TIME));
        Thread thread = new Thread(answer);
        thread.setDaemon(true);
        thread.start();
        Runnable delivery = deliveries.poll(10, TimeUnit.SECONDS);
        assertThat(delivery).isNotNull();
        deliveries.add(delivery);
        return answer;
    }

    private boolean holds(String id) {
        LeaseStatus status = nodes.get(id).leases().get("r");
        return status != null && status.state() == LeaseStatus.State.HELD;
    }

    /** Takes and gives back a lease; the network of the test delivers in the order of the members. */
    private void learnsWhomToAsk(String id) {
        takes(id).release();
        deliver();
        pass(1);
        heard.clear();
    }

    @Test
    void anAcquisitionAndItsReleaseGoToAMajorityAndOnceInTenSecondsToEverybody() {
        List<String> everybody = List.of("n2 propose n1", "n3 propose n1", "n2 release n1", "n3 release n1");
        takes("n1").release();
        deliver();
        assertThat(heard).containsExactlyInAnyOrderElementsOf(everybody);

        pass(9_900);
        heard.clear();
        takes("n1").release();
        deliver();
        assertThat(heard).containsExactly("n2 propose n1", "n2 release n1");

        pass(100);
        heard.clear();
        takes("n1").release();
        deliver();
        assertThat(heard).containsExactlyInAnyOrderElementsOf(everybody);
    }

    @Test
    void whatWasHeldForLongIsToldToEverybody() {
        learnsWhomToAsk("n1");
        Lease lease = takes("n1");
        pass(25);
        lease.release();
        deliver();
        assertThat(heard).containsExactlyInAnyOrder("n2 propose n1", "n2 release n1", "n3 release n1");
    }

    @Test
    void whatIsToLastIsToldToEverybody() {
        learnsWhomToAsk("n1");
        Lease lease = takes("n1");
        assertThat(heard).containsExactly("n2 propose n1");
        heard.clear();
        lease.autoExtend();
        pass(TIME.toMillis() / 2 + 100);
        assertThat(heard).containsExactlyInAnyOrder("n2 propose n1", "n3 propose n1");

        heard.clear();
        lease.release();
        deliver();
        assertThat(heard).containsExactlyInAnyOrder("n2 release n1", "n3 release n1");
    }

    @Test
    void anElectionAsksEverybody() {
        learnsWhomToAsk("n1");
        nodes.get("n1").election("r").start();
        deliver();
        assertThat(heard).containsExactlyInAnyOrder("n2 propose n1", "n3 propose n1");
        pass(1);
        assertThat(nodes.get("n3").election("r").leader()).isPresent();
    }

    @Test
    void aMemberThatIsDownIsReplacedAtOnce() {
        learnsWhomToAsk("n1");
        network.isolate("n2");
        takes("n1").release();
        deliver();
        assertThat(heard).containsExactlyInAnyOrder("n3 propose n1", "n3 release n1");

        learnsWhomToAsk("n1");
        network.rejoin("n2");
        takes("n1").release();
        deliver();
        assertThat(heard).containsExactly("n3 propose n1", "n3 release n1");
    }

    @Test
    void ofTwoAtOnceOneWins() {
        learnsWhomToAsk("n1");
        learnsWhomToAsk("n2");
        CompletableFuture<Optional<Lease>> first = asks("n1");
        CompletableFuture<Optional<Lease>> second = asks("n2");
        deliver();
        assertThat(got(first).isPresent()).isNotEqualTo(got(second).isPresent());
    }

    /** Who holds the lease asked one that the waiting node does not ask first; each of the three may wait for each other one. */
    @Test
    void whoeverWaitsIsToldOfTheRelease() throws Exception {
        for (String holder : CELL.acceptors()) {
            for (String waiting : CELL.acceptors()) {
                if (!holder.equals(waiting)) {
                    learnsWhomToAsk(holder);
                    learnsWhomToAsk(waiting);
                    // Others who asked before have their turn.
                    pass(20);
                    Lease lease = takes(holder);
                    assertThat(heard).hasSize(1);
                    FutureTask<Lease> answer = waits(waiting);
                    deliver();
                    pass(10);
                    assertThat(holds(holder)).as(holder).isTrue();

                    lease.release();
                    deliver();
                    pass(20);
                    assertThat(holds(waiting)).as(waiting + " after " + holder).isTrue();
                    answer.get(10, TimeUnit.SECONDS).release();
                    deliver();
                    pass(1_000);
                }
            }
        }
    }

    /** The holder's node knows of whom its acceptor refused, though of a lease that is parked it keeps nothing but the tenure. */
    @Test
    void whoeverWaitsHasATurnAlthoughTheHoldersNodeWantsTheLeaseAgain() throws Exception {
        Lease lease = takes("n1").autoExtend();
        nodes.get("n1").tryAcquireAsync("else", TIME);
        deliver();
        FutureTask<Lease> answer = waits("n3");
        deliver();
        nodes.get("n1").election("r").start();
        pass(200);
        assertThat(holds("n3")).isFalse();

        lease.release();
        deliver();
        pass(20);
        assertThat(holds("n3")).isTrue();
        answer.get(10, TimeUnit.SECONDS).release();
    }

    /** It was noted as somebody who wants the lease when that had been given up already, and waited for the rest of its time. */
    @Test
    void whoeverIsRefusedAsTheLeaseIsGivenUpIsToldOfThat() throws Exception {
        learnsWhomToAsk("n1");
        List<CompletableFuture<Optional<Lease>>> taken = new ArrayList<>();
        Runnable takes = () -> taken.add(asks("n1"));
        Runnable gives = () -> {
            deliver();
            got(taken.get(0)).orElseThrow().release();
        };
        meanwhile.put("n1", Map.of(2, takes, 3, gives));

        FutureTask<Lease> answer = waits("n3");
        deliver();
        assertThat(heard).containsSubsequence("n1 propose n3", "n2 propose n1", "n2 propose n3", "n2 release n1");
        pass(20);
        assertThat(holds("n3")).isTrue();
        answer.get(10, TimeUnit.SECONDS).release();
    }
}
