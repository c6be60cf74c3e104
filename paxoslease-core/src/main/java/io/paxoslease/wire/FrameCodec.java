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
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Frames as bytes and back, version 1. {@code docs/protocol.md} specifies every byte.
 *
 * <p>Decoding throws nothing but {@link MalformedFrameException}, and allocates in proportion to the bytes that are there, whatever counts
 * they claim. MACs are written here but checked by the caller, over all bytes, before it decodes.
 */
final class FrameCodec {

    /** The first byte of every frame. Versions stay below 9, which is white space, so that no text can be taken for a frame. */
    static final int VERSION = 1;

    /** No frame is shorter: version and flags. */
    static final int MIN_BYTES = 2;

    /** A frame has no more requests, because they are counted with two bytes. */
    static final int MAX_REQUESTS = 0xffff;

    /** What the frames of requests and of answers have beside their texts, responses and MAC, and an answer for a request that was granted. */
    private static final int REQUEST_HEADER_BYTES = 47;

    private static final int ANSWER_HEADER_BYTES = 59;
    private static final int GRANTED_BYTES = 2;

    /** More than any frame needs beside its requests, responses and members. */
    static final int MAX_HEADER_BYTES = 2_048;

    /** How long an answer to one request is at most, if no node id has more than 29 bytes. */
    static final int USUAL_RESPONSE_BYTES = 64;

    private static final int FLAG_ANSWER = 1;
    private static final int FLAG_MAC = 2;
    private static final int FLAG_MAJORITY = 4;

    private static final int PREPARE = 1;
    private static final int PROPOSE = 2;
    private static final int RELEASE = 3;
    private static final int NO_RESPONSE = 0;

    private static final int GRANTED = 1;
    private static final int LEASE = 2;

    private static final int MIN_REQUEST_BYTES = 11;
    private static final int MAX_TEXT_BYTES = 255;

    private FrameCodec() {}

    // What can be told without decoding; for frames of at least MIN_BYTES.

    static int version(byte[] frame) {
        return frame[0] & 0xff;
    }

    static boolean hasMac(byte[] frame) {
        return (frame[1] & FLAG_MAC) != 0;
    }

    // Requests.

    static byte[] encode(RequestFrame frame, @Nullable FrameMac mac) {
        List<Request> requests = frame.requests();
        FrameWriter out = new FrameWriter(expectedBytes(frame) + macBytes(mac));
        out.u8(VERSION);
        RequestFrame.Hello hello = frame.hello();
        out.u8((mac == null ? 0 : FLAG_MAC) | (hello != null && hello.majorityVotes() ? FLAG_MAJORITY : 0));
        out.text(frame.cell());
        incarnation(frame.sender(), out);
        out.text(frame.receiver());
        out.i64(frame.receiverNonce());
        out.i64(frame.session());
        out.i64(frame.fingerprint());
        out.i64(frame.sequence());
        if (hello != null) {
            hello(hello, out);
        } else {
            out.u16(count(requests.size()));
            for (int i = 0; i < requests.size(); i++) {
                request(requests.get(i), out);
            }
        }
        return seal(out, mac);
    }

    /** How long the frame is without MAC, if it is no hello and all its texts are ASCII; otherwise it is longer. */
    static int expectedBytes(RequestFrame frame) {
        int bytes = REQUEST_HEADER_BYTES
                + frame.cell().length()
                + frame.sender().nodeId().length()
                + frame.receiver().length();
        List<Request> requests = frame.requests();
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            bytes += bytesBeside(request) + request.resource().length();
        }
        return bytes;
    }

    private static void hello(RequestFrame.Hello hello, FrameWriter out) {
        out.i64(hello.maxLeaseNanos());
        List<String> members = hello.members().acceptors();
        out.u8(members.size());
        members.forEach(out::text);
    }

    private static void request(Request request, FrameWriter out) {
        if (request instanceof PrepareRequest prepare) {
            request(PREPARE, request, out);
            out.i64(prepare.leaseNanos());
        } else if (request instanceof ProposeRequest propose) {
            request(PROPOSE, request, out);
            out.i64(propose.leaseNanos());
        } else if (request instanceof ReleaseRequest) {
            request(RELEASE, request, out);
        } else {
            throw new IllegalArgumentException("There is no type byte for " + request);
        }
    }

    private static void request(int type, Request request, FrameWriter out) {
        out.u8(type);
        out.text(request.resource());
        out.i64(request.ballot().counter());
    }

    /** How many bytes a request takes in a frame at most. */
    static int mostBytes(Request request) {
        return bytesBeside(request) + mostBytes(request.resource());
    }

    /** How many bytes a request takes beside the name of its resource. */
    private static int bytesBeside(Request request) {
        return MIN_REQUEST_BYTES - 1 + (request instanceof ReleaseRequest ? 0 : 8);
    }

    /** How many bytes a hello takes at most. */
    static int helloBytes(Cell cell) {
        int bytes = MAX_HEADER_BYTES;
        for (String acceptor : cell.acceptors()) {
            bytes += 1 + mostBytes(acceptor);
        }
        return bytes;
    }

    /** How many bytes a text of at most 255 bytes takes at most, which is quicker to tell than how many it takes. */
    private static int mostBytes(String text) {
        return Math.min(3 * text.length(), MAX_TEXT_BYTES);
    }

    /**
     * Decodes a request frame.
     *
     * @param bytes the frame with its MAC, if it has one
     * @param known exchanges the sender for an equal one that is kept anyway, so that tables full of owners share one object
     */
    static RequestFrame decodeRequest(byte[] bytes, UnaryOperator<Incarnation> known) throws MalformedFrameException {
        FrameReader in = open(bytes, 0, FLAG_MAC | FLAG_MAJORITY);
        boolean majorityVotes = (bytes[1] & FLAG_MAJORITY) != 0;
        String cell = in.text("cell name");
        Incarnation sender = known.apply(incarnation("sender", in));
        String receiver = in.text("receiver");
        long receiverNonce = in.i64("receiver's nonce");
        long session = in.i64("session");
        long fingerprint = in.i64("fingerprint");
        long sequence = in.natural("sequence number");
        RequestFrame.Hello hello = null;
        List<Request> requests = List.of();
        if (session == RequestFrame.NO_SESSION) {
            hello = hello(cell, fingerprint, majorityVotes, in);
        } else if (majorityVotes) {
            throw new MalformedFrameException("The frame has the flags of a hello");
        } else {
            requests = requests(sender, in);
        }
        in.requireEnd();
        return new RequestFrame(cell, sender, receiver, receiverNonce, session, fingerprint, sequence, hello, requests);
    }

    private static RequestFrame.Hello hello(String cell, long fingerprint, boolean majorityVotes, FrameReader in)
            throws MalformedFrameException {
        long maxLeaseNanos = in.natural("maximum lease time");
        int count = in.u8("number of members");
        List<String> acceptors = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            acceptors.add(in.text("member"));
        }
        Cell members;
        try {
            members = new Cell(cell, acceptors);
        } catch (IllegalArgumentException nonsense) {
            throw new MalformedFrameException("The members are no cell: " + Words.clean(nonsense.getMessage()));
        }
        if (!members.acceptors().equals(acceptors) || members.fingerprint() != fingerprint) {
            throw new MalformedFrameException("The members are not sorted, or not those of the fingerprint");
        }
        return new RequestFrame.Hello(maxLeaseNanos, members, majorityVotes);
    }

    private static List<Request> requests(Incarnation sender, FrameReader in) throws MalformedFrameException {
        int count = in.u16("number of requests");
        List<Request> requests = new ArrayList<>(Math.min(count, in.remaining() / MIN_REQUEST_BYTES));
        for (int i = 0; i < count; i++) {
            requests.add(request(sender, in));
        }
        return requests;
    }

    private static Request request(Incarnation sender, FrameReader in) throws MalformedFrameException {
        int type = in.u8("type of a request");
        String resource = in.text("resource");
        Ballot ballot = new Ballot(in.counter("ballot's counter", 1), sender);
        return switch (type) {
            case PREPARE -> new PrepareRequest(resource, ballot, in.natural("lease time"));
            case PROPOSE -> new ProposeRequest(resource, ballot, in.natural("lease time"));
            case RELEASE -> new ReleaseRequest(resource, ballot);
            default -> throw new MalformedFrameException("There is no request of type " + type);
        };
    }

    // Answers.

    /**
     * Encodes an answer frame.
     *
     * @param maxBytes how long it may be; responses that do not fit any more are left out, like lost messages
     */
    static byte[] encode(AnswerFrame frame, List<Request> requests, @Nullable FrameMac mac, int maxBytes) {
        FrameWriter out = new FrameWriter(expectedBytes(frame, requests) + macBytes(mac));
        out.u8(VERSION);
        out.u8(mac == null ? FLAG_ANSWER : FLAG_ANSWER | FLAG_MAC);
        out.text(frame.cell());
        incarnation(frame.sender(), out);
        incarnation(frame.asker(), out);
        out.i64(frame.session());
        out.i64(frame.fingerprint());
        out.i64(frame.sequence());
        out.u8(byteOf(frame.status()));
        out.longText(frame.reason());
        out.u8(byteOf(frame.acceptor()));
        out.i64(frame.quarantineNanos());
        if (frame.status() == AnswerFrame.Status.OK) {
            out.u16(count(requests.size()));
            for (int i = 0; i < requests.size(); i++) {
                int left = maxBytes - out.length() - FrameMac.BYTES - (requests.size() - i);
                response(frame.responses().get(i), left, out);
            }
        }
        return seal(out, mac);
    }

    /** How long the frame is without MAC, if all was granted and all its texts are ASCII; otherwise it is longer. */
    static int expectedBytes(AnswerFrame frame, List<Request> requests) {
        return ANSWER_HEADER_BYTES
                + frame.cell().length()
                + frame.sender().nodeId().length()
                + frame.asker().nodeId().length()
                + frame.reason().length()
                + GRANTED_BYTES * requests.size();
    }

    private static void response(@Nullable Response response, int bytesLeft, FrameWriter out) {
        if (response == null || mostBytes(response) > bytesLeft) {
            out.u8(NO_RESPONSE);
        } else if (response instanceof PrepareResponse prepare) {
            response(PREPARE, prepare.promised(), response, out);
        } else if (response instanceof ProposeResponse propose) {
            response(PROPOSE, propose.accepted(), response, out);
        } else {
            throw new IllegalArgumentException("There is no type byte for " + response);
        }
    }

    private static void response(int type, boolean granted, Response response, FrameWriter out) {
        AcceptedLease lease = response.lease();
        out.u8(type);
        out.u8((granted ? GRANTED : 0) | (lease == null ? 0 : LEASE));
        if (!granted) {
            out.i64(response.promisedCounter());
        }
        if (lease != null) {
            incarnation(lease.ballot().owner(), out);
            out.i64(lease.ballot().counter());
            out.i64(lease.remainingNanos());
        }
    }

    private static int mostBytes(Response response) {
        AcceptedLease lease = response.lease();
        return lease == null ? 10 : 35 + mostBytes(lease.ballot().owner().nodeId());
    }

    /**
     * Decodes an answer frame.
     *
     * @param bytes the frame with its MAC, if it has one
     * @param requests the requests that it should answer
     */
    static AnswerFrame decodeAnswer(byte[] bytes, List<Request> requests) throws MalformedFrameException {
        FrameReader in = open(bytes, FLAG_ANSWER, FLAG_MAC);
        String cell = in.text("cell name");
        Incarnation sender = incarnation("sender", in);
        Incarnation asker = incarnation("asker", in);
        long session = in.i64("session");
        long fingerprint = in.i64("fingerprint");
        long sequence = in.natural("sequence number");
        AnswerFrame.Status status = status(in.u8("status"));
        String reason = in.longText("reason");
        AcceptorState acceptor = acceptorState(in.u8("state of the acceptor"));
        long quarantineNanos = in.natural("quarantine");
        List<@Nullable Response> responses =
                status == AnswerFrame.Status.OK ? responses(sender, asker, requests, in) : List.of();
        in.requireEnd();
        return new AnswerFrame(
                cell,
                sender,
                asker,
                session,
                fingerprint,
                sequence,
                status,
                reason,
                acceptor,
                quarantineNanos,
                responses);
    }

    private static List<@Nullable Response> responses(
            Incarnation sender, Incarnation asker, List<Request> requests, FrameReader in)
            throws MalformedFrameException {
        int count = in.u16("number of responses");
        if (count != requests.size()) {
            throw new MalformedFrameException(
                    "The answer has " + count + " responses to " + requests.size() + " requests");
        }
        List<@Nullable Response> responses = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            responses.add(response(sender, asker, requests.get(i), in));
        }
        return responses;
    }

    private static @Nullable Response response(Incarnation sender, Incarnation asker, Request request, FrameReader in)
            throws MalformedFrameException {
        int type = in.u8("type of a response");
        if (type == NO_RESPONSE) {
            return null;
        }
        if (type != responseType(request)) {
            throw new MalformedFrameException("A response of type " + type + " does not answer "
                    + request.getClass().getSimpleName());
        }
        int flags = in.u8("flags of a response");
        if ((flags & ~(GRANTED | LEASE)) != 0) {
            throw new MalformedFrameException("A response has no flags " + flags);
        }
        boolean granted = (flags & GRANTED) != 0;
        long promised = granted ? request.ballot().counter() : in.counter("promised counter", 0);
        AcceptedLease lease = null;
        if ((flags & LEASE) != 0) {
            Incarnation owner = incarnation("owner", in);
            owner = owner.equals(asker) ? request.ballot().owner() : owner.equals(sender) ? sender : owner;
            Ballot ballot = new Ballot(in.counter("owner's counter", 1), owner);
            lease = new AcceptedLease(ballot, in.natural("remaining time"));
        }
        return type == PREPARE
                ? new PrepareResponse(request.resource(), request.ballot(), granted, promised, lease)
                : new ProposeResponse(request.resource(), request.ballot(), granted, promised, lease);
    }

    private static int responseType(Request request) {
        return request instanceof PrepareRequest ? PREPARE : request instanceof ProposeRequest ? PROPOSE : NO_RESPONSE;
    }

    // What both have.

    private static FrameReader open(byte[] bytes, int kind, int others) throws MalformedFrameException {
        if (bytes.length < MIN_BYTES) {
            throw new MalformedFrameException("The frame has " + bytes.length + " bytes");
        }
        if (version(bytes) != VERSION) {
            throw new MalformedFrameException("The frame is of protocol version " + version(bytes));
        }
        int flags = bytes[1];
        if ((flags & ~others) != kind) {
            throw new MalformedFrameException("The frame has the flags " + (flags & 0xff));
        }
        int end = bytes.length - (hasMac(bytes) ? FrameMac.BYTES : 0);
        return new FrameReader(bytes, MIN_BYTES, end);
    }

    private static int macBytes(@Nullable FrameMac mac) {
        return mac == null ? 0 : FrameMac.BYTES;
    }

    private static byte[] seal(FrameWriter out, @Nullable FrameMac mac) {
        if (mac != null) {
            out.raw(mac.of(out.array(), out.length()));
        }
        return out.toByteArray();
    }

    private static void incarnation(Incarnation incarnation, FrameWriter out) {
        out.text(incarnation.nodeId());
        out.i64(incarnation.nonce());
    }

    private static Incarnation incarnation(String what, FrameReader in) throws MalformedFrameException {
        return new Incarnation(in.text(what), in.i64("nonce"));
    }

    private static int count(int count) {
        if (count > MAX_REQUESTS) {
            throw new IllegalArgumentException("A frame may have " + MAX_REQUESTS + " requests, not " + count);
        }
        return count;
    }

    private static int byteOf(AnswerFrame.Status status) {
        return switch (status) {
            case OK -> 0;
            case NEW_SESSION -> 1;
            case REFUSED -> 2;
            case REPLAYED -> 3;
            case OTHER_MAJORITY -> 4;
        };
    }

    private static AnswerFrame.Status status(int value) throws MalformedFrameException {
        return switch (value) {
            case 0 -> AnswerFrame.Status.OK;
            case 1 -> AnswerFrame.Status.NEW_SESSION;
            case 2 -> AnswerFrame.Status.REFUSED;
            case 3 -> AnswerFrame.Status.REPLAYED;
            case 4 -> AnswerFrame.Status.OTHER_MAJORITY;
            default -> throw new MalformedFrameException("There is no status " + value);
        };
    }

    private static int byteOf(AcceptorState state) {
        return switch (state) {
            case NONE -> 0;
            case QUARANTINED -> 1;
            case VOTING -> 2;
        };
    }

    private static AcceptorState acceptorState(int value) throws MalformedFrameException {
        return switch (value) {
            case 0 -> AcceptorState.NONE;
            case 1 -> AcceptorState.QUARANTINED;
            case 2 -> AcceptorState.VOTING;
            default -> throw new MalformedFrameException("There is no acceptor state " + value);
        };
    }
}
