package io.paxoslease.wire;

import io.paxoslease.node.NodeClock;
import io.paxoslease.node.RequestHandler;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Opens the production wire to the simulation, which lives in another package and brings its own time and threads. */
public final class SimulatedWire {

    /** Bytes that the production codec refused. */
    public static final class Refused extends Exception {

        private static final long serialVersionUID = 1L;

        Refused(MalformedFrameException malformed) {
            super(malformed.getMessage(), malformed, false, false);
        }
    }

    private static final long SESSION = 1;
    private static final int MAX_FRAME_BYTES = 64 * 1024;

    private SimulatedWire() {}

    /** One request or answer in a frame of its own, without sessions and secrets. */
    public static final class Codec {

        private final Cell cell;
        private final long fingerprint;
        private final Incarnation self;

        public Codec(Cell cell, Incarnation self) {
            this.cell = cell;
            this.fingerprint = cell.fingerprint();
            this.self = self;
        }

        public byte[] encode(String receiver, Request request) {
            return FrameCodec.encode(
                    new RequestFrame(cell.name(), self, receiver, 0, SESSION, fingerprint, 1, null, List.of(request)),
                    null);
        }

        public byte[] encode(Request request, @Nullable Response response) {
            AnswerFrame answer = new AnswerFrame(
                    cell.name(),
                    self,
                    request.ballot().owner(),
                    SESSION,
                    fingerprint,
                    1,
                    AnswerFrame.Status.OK,
                    "",
                    RequestHandler.AcceptorState.VOTING,
                    0,
                    Collections.singletonList(response));
            return FrameCodec.encode(answer, List.of(request), null, MAX_FRAME_BYTES);
        }

        public Request decodeRequest(byte[] frame) throws Refused {
            try {
                List<Request> requests =
                        FrameCodec.decodeRequest(frame, sender -> sender).requests();
                if (requests.isEmpty()) {
                    throw new MalformedFrameException("The frame has no request");
                }
                return requests.get(0);
            } catch (MalformedFrameException malformed) {
                throw new Refused(malformed);
            }
        }

        public @Nullable Response decodeAnswer(byte[] frame, Request request) throws Refused {
            try {
                List<@Nullable Response> responses =
                        FrameCodec.decodeAnswer(frame, List.of(request)).responses();
                return responses.isEmpty() ? null : responses.get(0);
            } catch (MalformedFrameException malformed) {
                throw new Refused(malformed);
            }
        }
    }

    // The whole wire.

    public static WireSettings settings(Cell cell, Timing timing, long roundTimeoutNanos, boolean secret) {
        return new WireSettings(
                cell,
                timing,
                Duration.ofNanos(roundTimeoutNanos),
                secret ? List.of(new WireSettings.Secret(Samples.SECRET)) : List.of(),
                MAX_FRAME_BYTES);
    }

    /** A server whose session numbers and times are those of the simulation. */
    public static FrameServer server(
            Incarnation self,
            WireSettings settings,
            RequestHandler handler,
            WireListener listener,
            RandomGenerator random,
            NodeClock clock) {
        return new FrameServer(
                self,
                settings,
                handler,
                listener,
                new Sessions(1_024, !settings.secrets().isEmpty(), random),
                clock,
                Runnable::run);
    }

    /** Starts a transport without its thread; {@link #tick} is to be called now and then. */
    public static void start(
            FrameTransport transport,
            Incarnation self,
            Transport.Receiver receiver,
            Executor executor,
            BiConsumer<Runnable, Long> later) {
        transport.startWithoutTicks(self, receiver, executor, later::accept);
    }

    public static void tick(FrameTransport transport) {
        transport.tick();
    }
}
