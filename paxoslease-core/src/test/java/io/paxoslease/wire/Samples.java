package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Timing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** Settings and frames for tests; what is random follows from the generator. */
final class Samples {

    static final Cell CELL = new Cell("default", List.of("node-1", "node-2", "node-3"));
    static final Duration MAX_LEASE_TIME = Duration.ofSeconds(10);
    static final Incarnation NODE_1 = new Incarnation("node-1", 0x1111111111111111L);
    static final Incarnation NODE_2 = new Incarnation("node-2", 0x2222222222222222L);
    static final Incarnation NODE_3 = new Incarnation("node-3", 0x3333333333333333L);
    static final String SECRET = "correct horse battery staple";
    static final String OTHER_SECRET = "another secret of some length";

    private static final String[] LETTERS = {"a", "7", "-", "é", "λ", "漢", "🦜", "\n"};

    private Samples() {}

    /** Settings of {@link #CELL} with the given secrets. */
    static WireSettings settings(String... secrets) {
        return settings(CELL, MAX_LEASE_TIME, secrets);
    }

    static WireSettings settings(Cell cell, Duration maxLeaseTime, String... secrets) {
        return new WireSettings(
                cell,
                new Timing(maxLeaseTime.toNanos(), 0.01),
                Duration.ofSeconds(1),
                List.of(secrets).stream().map(WireSettings.Secret::new).toList(),
                WireSettings.DEFAULT_MAX_FRAME_BYTES);
    }

    static FrameMac mac(String secret) {
        return new FrameMac(new WireSettings.Secret(secret));
    }

    static RequestFrame hello(Incarnation sender, String receiver, long sequence) {
        return hello(CELL, MAX_LEASE_TIME, sender, receiver, sequence);
    }

    static RequestFrame hello(Cell cell, Duration maxLeaseTime, Incarnation sender, String receiver, long sequence) {
        return new RequestFrame(
                cell.name(),
                sender,
                receiver,
                0,
                RequestFrame.NO_SESSION,
                cell.fingerprint(),
                sequence,
                new RequestFrame.Hello(maxLeaseTime.toNanos(), cell, false),
                List.of());
    }

    static RequestFrame frame(
            Incarnation sender, Incarnation receiver, long session, long sequence, List<Request> requests) {
        return new RequestFrame(
                CELL.name(),
                sender,
                receiver.nodeId(),
                receiver.nonce(),
                session,
                CELL.fingerprint(),
                sequence,
                null,
                requests);
    }

    static ProposeRequest propose(String resource, long counter, Incarnation owner) {
        return new ProposeRequest(
                resource, new Ballot(counter, owner), Duration.ofSeconds(10).toNanos());
    }

    // Random ones.

    static RandomGenerator random(long seed) {
        return new SplittableRandom(seed);
    }

    static RequestFrame requestFrame(RandomGenerator random) {
        Cell cell = cell(random);
        Incarnation sender = incarnation(random);
        boolean hello = random.nextInt(5) == 0;
        List<Request> requests = new ArrayList<>();
        for (int i = hello ? 0 : random.nextInt(20); i > 0; i--) {
            requests.add(request(sender, random));
        }
        return new RequestFrame(
                cell.name(),
                sender,
                name(random),
                random.nextLong(),
                hello ? RequestFrame.NO_SESSION : random.nextLong() | 1,
                cell.fingerprint(),
                natural(random),
                hello ? new RequestFrame.Hello(natural(random), cell, random.nextBoolean()) : null,
                requests);
    }

    static AnswerFrame answerFrame(RequestFrame asked, RandomGenerator random) {
        AnswerFrame.Status status = AnswerFrame.Status.values()[random.nextInt(5)];
        List<Response> responses = new ArrayList<>();
        if (status == AnswerFrame.Status.OK) {
            for (Request request : asked.requests()) {
                responses.add(response(request, random));
            }
        }
        return new AnswerFrame(
                name(random),
                incarnation(random),
                asked.sender(),
                random.nextLong(),
                random.nextLong(),
                asked.sequence(),
                status,
                random.nextBoolean() ? "" : name(random),
                AcceptorState.values()[random.nextInt(3)],
                natural(random),
                responses);
    }

    static Request request(Incarnation sender, RandomGenerator random) {
        Ballot ballot = new Ballot(counter(random), sender);
        return switch (random.nextInt(3)) {
            case 0 -> new PrepareRequest(name(random), ballot, natural(random));
            case 1 -> new ProposeRequest(name(random), ballot, natural(random));
            default -> new ReleaseRequest(name(random), ballot);
        };
    }

    static Response response(Request request, RandomGenerator random) {
        if (request instanceof ReleaseRequest || random.nextInt(4) == 0) {
            return null;
        }
        AcceptedLease lease = switch (random.nextInt(3)) {
            case 0 -> null;
            case 1 -> new AcceptedLease(request.ballot(), natural(random));
            default -> new AcceptedLease(new Ballot(counter(random), incarnation(random)), natural(random));
        };
        boolean granted = random.nextBoolean();
        long promised = granted ? request.ballot().counter() : random.nextBoolean() ? counter(random) : 0;
        return request instanceof PrepareRequest
                ? new PrepareResponse(request.resource(), request.ballot(), granted, promised, lease)
                : new ProposeResponse(request.resource(), request.ballot(), granted, promised, lease);
    }

    private static Cell cell(RandomGenerator random) {
        List<String> acceptors = new ArrayList<>();
        for (int i = 1 + random.nextInt(random.nextInt(10) == 0 ? Cell.MAX_ACCEPTORS : 5); i > 0; i--) {
            acceptors.add("node-" + i);
        }
        return new Cell(name(random), acceptors);
    }

    private static Incarnation incarnation(RandomGenerator random) {
        return new Incarnation(name(random), random.nextLong());
    }

    private static long counter(RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> 1;
            case 1 -> Ballot.MAX_COUNTER;
            default -> random.nextLong(1, Ballot.MAX_COUNTER);
        };
    }

    private static long natural(RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> Long.MAX_VALUE;
            default -> random.nextLong(Long.MAX_VALUE);
        };
    }

    /** 1 to 255 bytes of UTF-8, with letters of one to four bytes. */
    private static String name(RandomGenerator random) {
        if (random.nextInt(20) == 0) {
            return "x".repeat(255);
        }
        StringBuilder name = new StringBuilder("n");
        for (int i = random.nextInt(random.nextInt(10) == 0 ? 60 : 8); i > 0; i--) {
            name.append(LETTERS[random.nextInt(LETTERS.length)]);
        }
        return name.toString();
    }
}
