package io.paxoslease.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.paxoslease.node.NodeClock;
import io.paxoslease.node.RequestHandler;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.wire.AnswerFrame.Status;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Admits frames to the acceptor of this node, or says why not. A frame passes, in this order: size, version, MAC, syntax, cell and
 * receiver, session (X9 and M when it is opened), sequence number. Whatever does not pass all of them changes nothing.
 */
public final class FrameServer implements FrameHandler {

    /** How the words begin with which a node refuses a frame, with 409, that came another way than those that need no shared secret. */
    public static final String OTHER_WAY = "has no shared secret, and so takes ";

    private static final System.Logger LOG = System.getLogger(FrameServer.class.getName());

    private static final String OTHER_VERSION = "speaks protocol version ";
    private static final String NO_SECRET = "has no shared secret, the frame has a MAC";
    private static final String NO_MAC = "has a shared secret, the frame has no MAC";
    private static final String OTHER_SECRET = "does not know the secret of the frame's MAC";

    private static final int MAX_SESSIONS = 1_024;
    private static final int MAX_PROBLEMS = 32;
    private static final long PROBLEM_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Incarnation self;
    private final WireSettings settings;
    private final long fingerprint;
    private final RequestHandler handler;
    private final WireListener listener;
    private final NodeClock clock;
    private final List<FrameMac> macs;
    private final Sessions sessions;
    private final Problems refused = new Problems(MAX_PROBLEMS, PROBLEM_NANOS);
    private final Problems duplicates = new Problems(MAX_PROBLEMS, PROBLEM_NANOS);
    /** The thread that brings a frame may be the one that brings all others. */
    private final Lines lines;

    private final AtomicBoolean defectLogged = new AtomicBoolean();

    /**
     * Creates a server; it answers from now on.
     *
     * @param self this life of this node
     * @param settings what both ends of the wire are told
     * @param handler the acceptor
     * @param listener told about traffic
     * @param random draws session numbers that nobody can guess
     */
    public FrameServer(
            Incarnation self,
            WireSettings settings,
            RequestHandler handler,
            WireListener listener,
            RandomGenerator random) {
        this(
                self,
                settings,
                handler,
                listener,
                new Sessions(MAX_SESSIONS, !settings.secrets().isEmpty(), random),
                NodeClock.SYSTEM,
                Lines.threadsOf(self.nodeId()));
    }

    FrameServer(
            Incarnation self,
            WireSettings settings,
            RequestHandler handler,
            WireListener listener,
            Sessions sessions,
            NodeClock clock,
            Executor log) {
        this.self = self;
        this.settings = settings;
        this.fingerprint = settings.cell().fingerprint();
        this.handler = handler;
        this.listener = listener;
        this.clock = clock;
        this.macs = settings.secrets().stream().map(FrameMac::new).toList();
        this.sessions = sessions;
        this.lines = new Lines(LOG, log, clock);
    }

    @Override
    public int maxFrameBytes() {
        return settings.maxFrameBytes();
    }

    @Override
    public FrameReply oversized() {
        listener.onMessage("frame", "oversized");
        return FrameHandler.super.oversized();
    }

    /**
     * Nodes whose frames were refused, and node ids that two processes use at once, each with what is wrong in words. Bounded; what does
     * not happen again is forgotten after a minute.
     */
    public Map<String, String> problems() {
        Now now = clock.now();
        Map<String, String> problems = new TreeMap<>();
        refused.copyTo(problems, now);
        duplicates.copyTo(problems, now);
        return problems;
    }

    @Override
    public FrameReply handle(byte[] frame, @Nullable String address) {
        // For which there was no thread.
        lines.write();
        try {
            return authenticate(frame, address);
        } catch (RuntimeException impossible) {
            if (defectLogged.compareAndSet(false, true)) {
                lines.tell(Level.ERROR, "A frame could not be handled because of a defect", impossible);
            }
            return text(503, "defect", "could not handle the frame");
        }
    }

    private FrameReply authenticate(byte[] bytes, @Nullable String address) {
        if (bytes.length > settings.maxFrameBytes()) {
            return oversized();
        }
        if (bytes.length < FrameCodec.MIN_BYTES) {
            return text(400, "malformed", "The frame has " + bytes.length + " bytes");
        }
        if (FrameCodec.version(bytes) != FrameCodec.VERSION) {
            return text(
                    409,
                    "other-version",
                    OTHER_VERSION + FrameCodec.VERSION + ", the frame is of version " + FrameCodec.version(bytes));
        }
        if (FrameCodec.hasMac(bytes) == macs.isEmpty()) {
            return text(401, "unauthenticated", macs.isEmpty() ? NO_SECRET : NO_MAC);
        }
        FrameMac mac = null;
        if (!macs.isEmpty()) {
            mac = matching(bytes);
            if (mac == null) {
                return text(401, "unauthenticated", OTHER_SECRET);
            }
        }
        try {
            return admit(FrameCodec.decodeRequest(bytes, sessions::known), mac, address);
        } catch (MalformedFrameException malformed) {
            return text(400, "malformed", String.valueOf(malformed.getMessage()));
        }
    }

    /** Whether this is what a node says to a frame without a right MAC; whatever else answers 401 wants a password. */
    static boolean isUnauthenticated(String text) {
        return text.equals(NO_SECRET) || text.equals(NO_MAC) || text.equals(OTHER_SECRET);
    }

    /** Whether a node says this to a frame of another version or that came another way; whatever else answers 409 has a conflict of its own. */
    static boolean isRefusal(String text) {
        return text.startsWith(OTHER_VERSION) || text.startsWith(OTHER_WAY);
    }

    private @Nullable FrameMac matching(byte[] bytes) {
        for (int i = 0; i < macs.size(); i++) {
            if (macs.get(i).matches(bytes)) {
                return macs.get(i);
            }
        }
        return null;
    }

    private FrameReply admit(RequestFrame frame, @Nullable FrameMac mac, @Nullable String address) {
        Difference difference = difference(frame);
        if (difference != null) {
            if (frame.receiver().equals(self.nodeId())) {
                noteRefused(frame.sender(), address, difference);
            }
            listener.onMessage("frame", "refused");
            return answer(409, frame, compare(frame), 0, difference.asSeenFromOutside(), List.of(), mac);
        }
        return frame.hello() != null ? welcome(frame, mac, address) : enter(frame, mac);
    }

    private FrameReply welcome(RequestFrame hello, @Nullable FrameMac mac, @Nullable String address) {
        Sessions.Opened opened = sessions.open(hello.sender(), address, hello.fingerprint(), hello.sequence());
        if (opened.entry() == Sessions.Entry.REPLAYED) {
            return replayed(hello, mac);
        }
        refused.remove(Words.clean(hello.sender().nodeId()));
        noteDuplicate(hello.sender(), opened.entry());
        handler.onHello(hello.sender());
        listener.onMessage("frame", "session-opened");
        return answer(200, hello, Status.NEW_SESSION, opened.id(), "", List.of(), mac);
    }

    private FrameReply enter(RequestFrame frame, @Nullable FrameMac mac) {
        Sessions.Entry entry = frame.receiverNonce() == self.nonce()
                ? sessions.enter(frame.sender(), frame.session(), frame.fingerprint(), frame.sequence())
                : Sessions.Entry.UNKNOWN;
        if (entry == Sessions.Entry.UNKNOWN) {
            listener.onMessage("frame", "session-unknown");
            return answer(409, frame, Status.NEW_SESSION, 0, "", List.of(), mac);
        }
        if (entry == Sessions.Entry.REPLAYED) {
            return replayed(frame, mac);
        }
        noteDuplicate(frame.sender(), entry);
        listener.onMessage("frame", "accepted");
        List<@Nullable Response> responses = responses(frame.requests());
        return answer(200, frame, Status.OK, frame.session(), "", responses, mac);
    }

    private List<@Nullable Response> responses(List<Request> requests) {
        if (requests.isEmpty()) {
            return List.of();
        }
        for (int i = 0; i < requests.size(); i++) {
            listener.onMessage(type(requests.get(i)), "received");
        }
        List<@Nullable Response> responses = handler.onRequests(requests);
        if (responses.size() != requests.size()) {
            throw new IllegalStateException(
                    "The acceptor gave " + responses.size() + " answers to " + requests.size() + " requests");
        }
        return responses;
    }

    private FrameReply replayed(RequestFrame frame, @Nullable FrameMac mac) {
        listener.onMessage("frame", "replayed");
        return answer(409, frame, Status.REPLAYED, 0, "", List.of(), mac);
    }

    private FrameReply answer(
            int status,
            RequestFrame frame,
            Status outcome,
            long session,
            String reason,
            List<@Nullable Response> responses,
            @Nullable FrameMac mac) {
        AnswerFrame answer = new AnswerFrame(
                settings.cell().name(),
                self,
                frame.sender(),
                session,
                fingerprint,
                frame.sequence(),
                outcome,
                reason,
                handler.acceptorState(),
                handler.quarantineRemainingNanos(),
                responses);
        return new FrameReply(status, FrameCodec.encode(answer, frame.requests(), mac, settings.maxFrameBytes()));
    }

    private FrameReply text(int status, String outcome, String text) {
        listener.onMessage("frame", outcome);
        return new FrameReply(status, text.getBytes(UTF_8));
    }

    /** The name of a request's type, as metrics show it. */
    static String type(Request request) {
        return request instanceof PrepareRequest
                ? "prepare"
                : request instanceof ProposeRequest ? "propose" : "release";
    }

    // What does not fit.

    /** A setting that two nodes do not share. The same words with "there" and "here" exchanged serve on both ends. */
    private record Difference(String what, String own, String other, String remark) {

        String asSeenFromOutside() {
            return Words.clean(what + " " + own + " there and " + other + " here" + remark);
        }

        String asSeenFromHere() {
            return Words.clean(what + " " + other + " there and " + own + " here" + remark);
        }
    }

    private @Nullable Difference difference(RequestFrame frame) {
        if (!frame.cell().equals(settings.cell().name())) {
            return new Difference("the cell is", settings.cell().name(), frame.cell(), "");
        }
        if (!frame.receiver().equals(self.nodeId())) {
            return new Difference("the node id is", self.nodeId(), frame.receiver(), " (is the URL right?)");
        }
        RequestFrame.Hello hello = frame.hello();
        if (hello == null) {
            return null;
        }
        if (!settings.cell().majoritiesMeet(hello.members())) {
            return new Difference(
                    "two nodes may lead at once, since the list of members lacks",
                    lacking(settings.cell(), hello.members()),
                    lacking(hello.members(), settings.cell()),
                    "");
        }
        if (hello.maxLeaseNanos() != settings.timing().maxLeaseNanos()) {
            return new Difference(
                    "max-lease-time is",
                    Words.duration(settings.timing().maxLeaseNanos()),
                    Words.duration(hello.maxLeaseNanos()),
                    "");
        }
        return null;
    }

    /**
     * Tells the acceptor what is to keep it from voting, and answers what is to keep the sender from it. Leases of another cell are others. Of a list
     * that does not fit it counts only what was said to this life of this node: anybody can send on what he recorded.
     */
    private Status compare(RequestFrame frame) {
        RequestFrame.Hello hello = frame.hello();
        if (hello == null
                || !frame.cell().equals(settings.cell().name())
                || !frame.receiver().equals(self.nodeId())) {
            return Status.REFUSED;
        }
        if (hello.maxLeaseNanos() != settings.timing().maxLeaseNanos()) {
            handler.onOtherMaximum(frame.sender(), hello.maxLeaseNanos());
        }
        if (settings.cell().majoritiesMeet(hello.members())) {
            return Status.REFUSED;
        }
        if (hello.majorityVotes() && frame.receiverNonce() == self.nonce()) {
            handler.onOtherVoter(Words.otherMajority(frame.sender().nodeId()));
        }
        return handler.majorityVotes() ? Status.OTHER_MAJORITY : Status.REFUSED;
    }

    /** The members that only the other cell has. Not the whole list: two of long names are longer than what is shown of a text. */
    private static String lacking(Cell cell, Cell other) {
        List<String> members = other.acceptors().stream()
                .filter(member -> cell.indexOf(member) < 0)
                .toList();
        return members.isEmpty() ? "nobody" : members.toString();
    }

    /** Not for frames that are meant for another node: anybody can send on what he recorded, and the sender of a wrong URL reports it himself. */
    private void noteRefused(Incarnation sender, @Nullable String address, Difference difference) {
        String nodeId = Words.clean(sender.nodeId());
        String text = difference.asSeenFromHere();
        if (refused.add(nodeId, text, clock.now())) {
            String from = address == null ? "" : " at " + Words.clean(address);
            lines.tell(Level.WARNING, "Node " + self.nodeId() + " refuses " + nodeId + from + ": " + text, null);
        }
    }

    private void noteDuplicate(Incarnation sender, Sessions.Entry entry) {
        boolean hasOwnId = sender.nodeId().equals(self.nodeId()) && !sender.equals(self);
        if (hasOwnId || entry == Sessions.Entry.ALTERNATED) {
            String nodeId = Words.clean(sender.nodeId());
            String text =
                    "two processes use this node id" + places(sender.nodeId()) + "; every node needs one of its own";
            if (duplicates.add(nodeId, text, clock.now())) {
                lines.tell(Level.WARNING, "Node " + self.nodeId() + " was called by " + nodeId + ": " + text, null);
            }
        }
    }

    private String places(String nodeId) {
        Set<String> addresses = sessions.addresses(nodeId);
        return addresses.isEmpty() ? "" : ", at " + Words.clean(String.join(" and ", addresses));
    }
}
