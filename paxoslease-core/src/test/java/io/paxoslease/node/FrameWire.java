package io.paxoslease.node;

import io.paxoslease.node.Simulation.Damage;
import io.paxoslease.node.Simulation.Host;
import io.paxoslease.node.Simulation.Life;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.wire.FrameChannel;
import io.paxoslease.wire.FrameReply;
import io.paxoslease.wire.FrameServer;
import io.paxoslease.wire.FrameTransport;
import io.paxoslease.wire.SimulatedWire;
import io.paxoslease.wire.WireListener;
import io.paxoslease.wire.WireSettings;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The production wire: each life has a {@link FrameTransport}, and a {@link FrameServer} if it has a port. Frames with sessions and sequence
 * numbers, many requests in one, hellos, probes, time limits; with a secret also MACs, and then every change of a frame must be seen.
 */
final class FrameWire implements Wire {

    /** Production ticks five times as often; only how late a probe is depends on it. */
    private static final long TICK_NANOS = 500_000_000L;

    /** Kept, so that its level is: every refused frame would be logged. */
    private static final Logger LOGGER = Logger.getLogger("io.paxoslease.wire");

    private final Simulation simulation;
    private final boolean secret;

    FrameWire(Simulation simulation, boolean secret) {
        this.simulation = simulation;
        this.secret = secret;
        LOGGER.setLevel(Level.OFF);
    }

    /** What one life has of the wire. */
    static final class Ends {
        final FrameTransport transport;
        final FrameServer server;
        long framesServed;

        Ends(FrameTransport transport, FrameServer server) {
            this.transport = transport;
            this.server = server;
        }
    }

    @Override
    public void boot(Life life) {
        NodeClock clock = () -> simulation.now(life.host);
        WireSettings settings =
                SimulatedWire.settings(life.cell, life.host.timing, simulation.roundTimeoutNanos(), secret);
        Channel channel = new Channel(life);
        FrameServer server = life.acceptor == null
                ? null
                : SimulatedWire.server(
                        life.self, settings, new Handler(life), new Listener(), new Dice(life.self.nonce()), clock);
        life.ends = new Ends(new FrameTransport(settings, channel, WireListener.NONE, clock), server);
        SimulatedWire.start(life.ends.transport, life.self, channel, channel::execute, channel::executeLater);
        tick(life);
    }

    private void tick(Life life) {
        simulation.whenAwake(life, simulation.trueNanos() + TICK_NANOS, () -> {
            SimulatedWire.tick(life.ends.transport);
            tick(life);
        });
    }

    @Override
    public void send(Life from, int acceptor, Request request) {
        if (!from.cell.acceptors().get(acceptor).equals(from.host.nodeId)) {
            from.ends.transport.send(acceptor, request);
        } else if (!(request instanceof ReleaseRequest)) {
            // A second process under the id of a member: what it calls by that id is itself, and has no port.
            simulation.whenAwake(from, simulation.trueNanos(), () -> simulation.onUnanswered(from, acceptor, request));
        }
    }

    @Override
    public void flush(Life from) {
        from.ends.transport.flush();
    }

    /** The near end: carries frames. What the transport gives to a thread of its own is an event of its own. */
    private final class Channel implements FrameChannel, Transport.Receiver {
        private final Life life;
        private final Map<String, Integer> underWay = new HashMap<>();
        private Damage judged = Damage.NONE;

        Channel(Life life) {
            this.life = life;
        }

        void execute(Runnable task) {
            simulation.whenAwake(life, simulation.trueNanos(), task);
        }

        void executeLater(Runnable task, long nanos) {
            simulation.whenAwake(life, simulation.trueNanos() + life.host.machine.trueNanos(nanos) + 1, task);
        }

        @Override
        public CompletionStage<FrameReply> exchange(String member, byte[] frame, long timeoutNanos) {
            CompletableFuture<FrameReply> reply = new CompletableFuture<>();
            // More than one that is passed by another are under way to no member nearby.
            simulation.count(Happening.FRAMES_UNDER_WAY_TO_FAR_MEMBER, underWay.merge(member, 1, Integer::sum) > 2);
            reply.whenComplete((answer, failure) -> underWay.merge(member, -1, Integer::sum));
            Host to = simulation.hostOf(member);
            simulation.travel(life.host, to, frame.length, frame, (bytes, damage) -> serve(to, bytes, damage, reply));
            long limit = simulation.trueNanos() + life.host.machine.trueNanos(timeoutNanos) + 1;
            simulation.whenAwake(life, limit, () -> {
                if (!reply.isDone()) {
                    simulation.count(Happening.EXCHANGE_TIMED_OUT, true);
                    reply.completeExceptionally(new IOException("timed out"));
                }
            });
            return reply;
        }

        private void serve(Host to, byte[] frame, Damage damage, CompletableFuture<FrameReply> reply) {
            Life receiver = simulation.receiver(to);
            Ends ends = receiver == null ? null : receiver.ends;
            if (ends == null || ends.server == null) {
                if (simulation.refusesConnection()) {
                    simulation.whenAwake(
                            life,
                            simulation.trueNanos(),
                            () -> reply.completeExceptionally(new IOException("connection refused")));
                }
                return;
            }
            long before = ends.framesServed;
            FrameReply answer = ends.server.handle(frame, null);
            boolean admitted = answer.status() == 200 || ends.framesServed != before;
            if (damage != Damage.NONE) {
                simulation.count(Happening.DAMAGED_FRAME_REFUSED, true);
                if (admitted) {
                    simulation.violate("a frame was admitted although it was damaged: " + damage);
                }
            } else if (answer.status() != 200 && answer.status() != 409) {
                simulation.violate("a whole frame got the status " + answer.status());
            }
            simulation.travel(to, life.host, answer.status(), answer.body(), (body, harm) -> {
                if (life.host.life == life) {
                    judged = harm;
                    reply.complete(new FrameReply(answer.status(), body));
                    judged = Damage.NONE;
                }
            });
        }

        @Override
        public void onResponse(int acceptor, Response response) {
            simulation.violate("an answer came by itself");
        }

        @Override
        public void onAnswers(int acceptor, List<Request> requests, List<Response> responses) {
            if (judged != Damage.NONE) {
                simulation.violate("answers counted although they were damaged: " + judged);
            }
            simulation.count(Happening.ANSWERS_IN_ONE_EVENT, requests.size() > 1);
            guarded(() -> simulation.onAnswers(life, acceptor, requests, responses));
        }

        @Override
        public void onUnanswered(int acceptor, Request request) {
            simulation.count(Happening.DAMAGED_ANSWER_REFUSED, judged != Damage.NONE);
            guarded(() -> simulation.onUnanswered(life, acceptor, request));
        }

        /** The transport catches and logs what should never be thrown. */
        private void guarded(Runnable event) {
            try {
                event.run();
            } catch (RuntimeException impossible) {
                simulation.violate(impossible);
            }
        }

        @Override
        public void close() {}
    }

    /** The far end. */
    private final class Handler implements RequestHandler {
        private final Life life;

        Handler(Life life) {
            this.life = life;
        }

        @Override
        public List<Response> onRequests(List<Request> requests) {
            life.ends.framesServed++;
            simulation.count(Happening.FRAME_OF_MANY_REQUESTS, requests.size() > 1);
            return simulation.serve(life, requests);
        }

        @Override
        public void onHello(Incarnation sender) {
            life.ends.transport.onHello(sender);
        }

        @Override
        public AcceptorState acceptorState() {
            return life.acceptor.state(simulation.now(life.host));
        }

        @Override
        public long quarantineRemainingNanos() {
            return life.acceptor.quarantineRemainingNanos(simulation.now(life.host));
        }
    }

    private final class Listener implements WireListener {

        @Override
        public void onMessage(String type, String outcome) {
            if (!type.equals("frame")) {
                return;
            }
            switch (outcome) {
                case "session-opened" -> simulation.count(Happening.SESSION_OPENED, true);
                case "session-unknown" -> simulation.count(Happening.SESSION_UNKNOWN, true);
                case "replayed" -> simulation.count(Happening.FRAME_REPLAYED, true);
                case "refused" -> simulation.count(Happening.FRAME_REFUSED_BY_SETTINGS, true);
                case "malformed" -> simulation.count(Happening.FRAME_MALFORMED, true);
                case "unauthenticated" -> simulation.count(Happening.FRAME_UNAUTHENTICATED, true);
                default -> {}
            }
        }
    }
}
