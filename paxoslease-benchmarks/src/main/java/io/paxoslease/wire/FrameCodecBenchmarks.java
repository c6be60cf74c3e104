package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Frames of proposals to bytes and back; one operation is one frame. */
@SuppressWarnings("NullAway.Init") // JMH calls the set-up method first
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class FrameCodecBenchmarks {

    /** How many messages a frame has. */
    @Param({"1", "100"})
    private int messages;

    private final Incarnation asker = new Incarnation("n1", 1);
    private final Incarnation answerer = new Incarnation("n2", 2);
    private RequestFrame request;
    private AnswerFrame answer;
    private byte[] requestBytes;
    private byte[] answerBytes;

    /** Makes a frame and its answer. */
    @Setup
    public void fill() {
        Cell cell = new Cell("bench", List.of("n1", "n2", "n3"));
        List<Request> requests = new ArrayList<>();
        List<Response> responses = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            Ballot ballot = new Ballot(1_795_000_000_000_000L + i, asker);
            String name = String.format("lease-%010d", i);
            requests.add(new ProposeRequest(name, ballot, 10_000_000_000L));
            // As an acceptor answers: whoever proposed knows what was accepted.
            responses.add(new ProposeResponse(name, ballot, true, ballot.counter(), null));
        }
        request = new RequestFrame("bench", asker, "n2", 2, 77, cell.fingerprint(), 1, null, requests);
        answer = new AnswerFrame(
                "bench",
                answerer,
                asker,
                77,
                cell.fingerprint(),
                1,
                AnswerFrame.Status.OK,
                "",
                AcceptorState.VOTING,
                0,
                responses);
        requestBytes = encodeRequest();
        answerBytes = encodeAnswer();
    }

    /** The proposer's side. */
    @Benchmark
    public byte[] encodeRequest() {
        return FrameCodec.encode(request, null);
    }

    /** The acceptor's side. */
    @Benchmark
    public Object decodeRequest() throws MalformedFrameException {
        return FrameCodec.decodeRequest(requestBytes, sender -> asker);
    }

    /** The acceptor's side. */
    @Benchmark
    public byte[] encodeAnswer() {
        return FrameCodec.encode(answer, request.requests(), null, WireSettings.DEFAULT_MAX_FRAME_BYTES);
    }

    /** The proposer's side. */
    @Benchmark
    public Object decodeAnswer() throws MalformedFrameException {
        return FrameCodec.decodeAnswer(answerBytes, request.requests());
    }
}
