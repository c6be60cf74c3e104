package io.paxoslease.wire;

import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One member as this node sees it: what waits for it, the exchange under way, the session, and how it is. Each method is one step under
 * the link's lock; nothing in here calls out. What is to be logged is noted in the same step, and so in order.
 *
 * <p>What comes while an exchange is under way waits for its end and then travels together, with three exceptions. A few releases hold nothing
 * up, since nobody waits for their answer: one small frame may pass them. If many requests wait, the member gets the next frame while it answers
 * the last. And where the answer takes long because the member is far away, and something had to wait for an answer of late, up to four frames are
 * under way, each the later after the one before the more there are:
 *
 * <pre>
 *   frames under way     1      2      3      4
 *   the next follows   1/16    1/4    1/2     -      of the shortest round trip after the last
 * </pre>
 *
 * <p>So a request waits for a part of the round trip only, and what many threads ask for at once takes two frames. Who seldom sends waits: more
 * frames take more connections, and to open one takes longer than to wait. Frames may arrive in another order than they were sent in.
 *
 * <pre>
 *   no session --hello--> session --frame--> session     requests that were not handled because the session was gone
 *       ^                    |                           are sent once more, after a new hello
 *       +-- unknown, refused-+
 * </pre>
 */
final class MemberLink {

    /** What an ended exchange leaves to be told. */
    record Ended(List<Request> unanswered, boolean good, long nextProbeNanos) {}

    private static final int FAILURES_BEFORE_NEWS = 3;
    /** How often it is told that the reason is another one by now, until the member is reachable again. */
    private static final int MOST_CHANGES_TOLD = 2;

    private static final String TIME_OUT = "time-out";

    private static final long LEAST_PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long IDLE_PROBE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** As many as a channel has connections for. */
    static final int MOST_UNDER_WAY = 4;
    /** From which round trip on a member is far away: on one machine or in one rack it is less, unless the machines are busy. */
    private static final long FAR_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    /** For how long a member that is far away counts as busy; its connections stay open for longer. */
    private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Up to how many requests a frame passes, or is passed by, another. */
    private static final int FEW = 4;
    /** How many waiting requests are worth a frame of their own while another is under way. */
    static final int MANY = 512;

    private enum Standing {
        UNKNOWN,
        REACHABLE,
        UNREACHABLE,
        REFUSED
    }

    final int acceptor;
    final String nodeId;

    private final Incarnation self;
    private final WireSettings settings;
    private final long fingerprint;
    private final int maxQueued;
    private final Lines lines;
    private final int maxRequestBytes;
    private final int maxRequests;
    private final TimeLimit timeLimit;

    private final RequestQueue queue = new RequestQueue();
    private List<Request> dropped = new ArrayList<>();
    /** What was sent to a session that the member does not know any more, to be sent once more. */
    private final RequestQueue notHandled = new RequestQueue();

    /** In the order in which they began. */
    private final List<Exchange> underWay = new ArrayList<>(MOST_UNDER_WAY);

    private long session = RequestFrame.NO_SESSION;
    private long nonce;
    private long sequence;
    /** The shortest round trip of the session; 0 before there was one. */
    private long shortestNanos;
    /** Whether {@link #shortestNanos} says that the member is far away. */
    private volatile boolean far;
    /** Until when it counts that something had to wait for an answer. */
    private long busyUntilNanos;
    /** Whether somebody comes back when what waits may pass. */
    private boolean awaited;

    private Standing standing = Standing.UNKNOWN;
    private long toldNanos;
    private int failures;
    /** The highest number of a frame that was answered: that an earlier one is lost says nothing of the member. */
    private long newestAnswered;
    /** The highest number of a frame that was under way at a failure: those that fail after it count as one with it. */
    private long newestInLoss;

    private boolean reachable;
    /** Whether it votes for this cell. */
    private volatile boolean votes;

    private boolean refused;
    private @Nullable String problem;
    /** The problem; the same for all time-outs, whose words change with the time limit. */
    private @Nullable String reason;
    /** How many exchanges in a row had this reason. */
    private int lasting;

    private @Nullable String toldReason;
    private @Nullable String toldProblem;
    private int changesTold;
    private @Nullable AcceptorState state;
    private long nextProbeNanos;

    MemberLink(int acceptor, Incarnation self, WireSettings settings, int maxQueued, Lines lines, long nowNanos) {
        this.acceptor = acceptor;
        this.nodeId = settings.cell().acceptors().get(acceptor);
        this.self = self;
        this.settings = settings;
        this.fingerprint = settings.cell().fingerprint();
        this.maxQueued = maxQueued;
        this.lines = lines;
        this.maxRequestBytes = settings.maxFrameBytes() - FrameCodec.MAX_HEADER_BYTES;
        this.maxRequests = Math.min(FrameCodec.MAX_REQUESTS, maxRequestBytes / FrameCodec.USUAL_RESPONSE_BYTES);
        this.timeLimit = new TimeLimit(settings.roundTimeout().toNanos());
        this.nextProbeNanos = nowNanos;
        this.busyUntilNanos = nowNanos;
    }

    /** Queues requests in order; less than all if the queue becomes full. Answers how many. */
    synchronized int offer(List<Request> requests) {
        int taken = Math.min(requests.size(), maxQueued - queue.size());
        for (int i = 0; i < taken; i++) {
            queue.add(requests.get(i));
        }
        return taken;
    }

    /** Notes that a request found the queue full; true if {@link #takeDropped} is to be called. What is noted is bounded as well. */
    synchronized boolean drop(Request request) {
        if (dropped.size() >= maxQueued) {
            return false;
        }
        dropped.add(request);
        return dropped.size() == 1;
    }

    synchronized List<Request> takeDropped() {
        List<Request> taken = dropped;
        dropped = new ArrayList<>();
        return taken;
    }

    /** Begins the next exchange if none holds it up and something waits or a probe is due; else null. The caller must end it. */
    synchronized @Nullable Exchange begin(long nowNanos) {
        if (!underWay.isEmpty() && !mayPass(nowNanos)) {
            return null;
        }
        boolean waiting = !notHandled.isEmpty() || !queue.isEmpty();
        if (!waiting && nowNanos - nextProbeNanos < 0) {
            return null;
        }
        Exchange exchange = session == RequestFrame.NO_SESSION ? hello(nowNanos) : frame(nowNanos);
        underWay.add(exchange);
        return exchange;
    }

    /** Whether what waits can do without the end of what is under way. */
    private boolean mayPass(long nowNanos) {
        if (!waitsForOthersOnly()) {
            return false;
        }
        if (isFarAndBusy(nowNanos)) {
            return underWay.size() < MOST_UNDER_WAY && nanosToPass(nowNanos) <= 0;
        }
        return underWay.size() == 1
                && (queue.size() >= MANY
                        || mayPassReleases(underWay.get(0).frame().requests()));
    }

    /** Whether something waits, and for nothing but what is under way. */
    private boolean waitsForOthersOnly() {
        return session != RequestFrame.NO_SESSION && notHandled.isEmpty() && !queue.isEmpty() && !underWay.isEmpty();
    }

    private boolean isFarAndBusy(long nowNanos) {
        return far && busyUntilNanos - nowNanos > 0;
    }

    private boolean mayPassReleases(List<Request> first) {
        if (queue.size() > FEW || first.size() > FEW) {
            return false;
        }
        for (int i = 0; i < first.size(); i++) {
            if (!(first.get(i) instanceof ReleaseRequest)) {
                return false;
            }
        }
        return true;
    }

    private long nanosToPass(long nowNanos) {
        int frames = underWay.size();
        int part = frames == 1 ? 16 : frames == 2 ? 4 : 2;
        return underWay.get(frames - 1).sentNanos() + shortestNanos / part - nowNanos;
    }

    /** Whether {@link #awaitPassing} is to be called where nothing began; without the lock, since that is seldom so. */
    boolean isFar() {
        return far;
    }

    /** After how long {@link #begin} is worth another call because what waits may pass by then; 0 if it is not, or somebody was told already. */
    synchronized long awaitPassing(long nowNanos) {
        boolean passes = isFarAndBusy(nowNanos) && !awaited && waitsForOthersOnly() && underWay.size() < MOST_UNDER_WAY;
        awaited |= passes;
        return passes ? Math.max(1, nanosToPass(nowNanos)) : 0;
    }

    /** Who was told by {@link #awaitPassing} has come, or cannot. */
    synchronized void endWait() {
        awaited = false;
    }

    private Exchange hello(long nowNanos) {
        RequestFrame hello = RequestFrame.hello(settings, self, nodeId, nonce, ++sequence);
        return new Exchange(hello, nowNanos, settings.roundTimeout().toNanos(), false);
    }

    private Exchange frame(long nowNanos) {
        boolean again = !notHandled.isEmpty();
        RequestQueue from = again ? notHandled : queue;
        List<Request> requests = from.take(maxRequests, maxRequestBytes);
        RequestFrame frame = new RequestFrame(
                settings.cell().name(), self, nodeId, nonce, session, fingerprint, ++sequence, null, requests);
        return new Exchange(frame, nowNanos, timeLimit.nanos(), again);
    }

    /**
     * Notes that the member introduced itself; true if the next probe is due by that, and was not before. If an exchange is under way, its
     * end tells more.
     */
    synchronized boolean onHello(Incarnation member, long nowNanos) {
        boolean known = session != RequestFrame.NO_SESSION && nonce == member.nonce();
        if (known || nextProbeNanos - nowNanos <= 0) {
            return false;
        }
        nextProbeNanos = nowNanos;
        return true;
    }

    /** Whether the member votes for this cell, by its last answer; without the lock. */
    boolean votes() {
        return votes;
    }

    /** How long nothing is to be done here but what {@link #offer} brings. */
    synchronized long quietNanos(long nowNanos) {
        return underWay.isEmpty() ? nextProbeNanos - nowNanos : 0;
    }

    /** An exchange under way that should have ended by itself long ago; else null. */
    synchronized @Nullable Exchange overdue(long nowNanos, long graceNanos) {
        for (Exchange exchange : underWay) {
            if (exchange.isOverdue(nowNanos, graceNanos)) {
                return exchange;
            }
        }
        return null;
    }

    /** Ends an exchange; null if it is not under way (any more): its end was noted before, and it must not count twice. */
    synchronized @Nullable Ended end(Exchange exchange, Verdict verdict, boolean timedOut, long nowNanos) {
        if (!underWay.remove(exchange)) {
            return null;
        }
        notifyAll();
        List<Request> unanswered = List.of();
        switch (verdict.kind()) {
            case ANSWERED -> measure(nowNanos - exchange.sentNanos(), nowNanos);
            case SESSION_OPENED -> open(verdict.answer());
            case SESSION_UNKNOWN -> {
                session = RequestFrame.NO_SESSION;
                if (exchange.retried()) {
                    unanswered = exchange.frame().requests();
                } else {
                    exchange.frame().requests().forEach(notHandled::add);
                }
            }
            case LOST ->
                unanswered = exchange.isHello() ? takeAll() : exchange.frame().requests();
            case REFUSED -> {
                session = RequestFrame.NO_SESSION;
                nonce = verdict.answer() == null
                        ? nonce
                        : verdict.answer().sender().nonce();
                unanswered = join(exchange.frame().requests(), takeAll());
            }
        }
        long number = exchange.frame().sequence();
        boolean good = verdict.isGood();
        if (good) {
            newestAnswered = Math.max(newestAnswered, number);
            timeLimit.onAnswer(nowNanos - exchange.sentNanos());
        } else if (timedOut) {
            timeLimit.onTimeOut(exchange.timeoutNanos());
        }
        boolean tells = tells(verdict, number);
        if (tells) {
            note(verdict, timedOut, number);
        }
        nextProbeNanos = nowNanos
                + (verdict.kind() == Verdict.Kind.SESSION_UNKNOWN ? 0 : probeNanos(good ? verdict.answer() : null));
        String news = tells ? news(nowNanos) : null;
        if (news != null) {
            lines.add(nodeId, good ? Level.INFO : Level.WARNING, news);
        }
        return new Ended(unanswered, good, nextProbeNanos);
    }

    private static List<Request> join(List<Request> some, List<Request> others) {
        List<Request> all = new ArrayList<>(some);
        all.addAll(others);
        return all;
    }

    private void open(@Nullable AnswerFrame answer) {
        if (answer != null) {
            session = answer.session();
            nonce = answer.sender().nonce();
            shortestNanos = 0;
            far = false;
        }
    }

    private void measure(long roundTripNanos, long nowNanos) {
        shortestNanos = shortestNanos == 0 ? roundTripNanos : Math.min(shortestNanos, roundTripNanos);
        far = shortestNanos >= FAR_NANOS;
        busyUntilNanos = queue.isEmpty() ? busyUntilNanos : nowNanos + BUSY_NANOS;
    }

    /** Nothing that waits can be sent without a session. */
    private List<Request> takeAll() {
        return join(notHandled.takeAll(), queue.takeAll());
    }

    /** A life that knows no session has not said yet whether its settings fit: the hello that follows at once is answered by that. */
    private boolean tells(Verdict verdict, long number) {
        return switch (verdict.kind()) {
            case SESSION_UNKNOWN -> false;
            case LOST -> number > newestAnswered;
            default -> true;
        };
    }

    private void note(Verdict verdict, boolean timedOut, long number) {
        AnswerFrame answer = verdict.answer();
        boolean good = verdict.isGood();
        refused = verdict.kind() == Verdict.Kind.REFUSED;
        boolean counts = good || refused || number > newestInLoss;
        state = answer == null ? state : answer.acceptor();
        if (good) {
            failures = 0;
        } else if (counts) {
            newestInLoss = sequence;
            failures++;
        }
        boolean laterOnesTell = reachable && !good && !refused && failures <= 1 && isLaterUnderWay(number);
        if (!laterOnesTell) {
            reachable = good;
            problem = verdict.problem();
        }
        votes = reachable && state == AcceptorState.VOTING;
        if (!counts) {
            return;
        }
        String current = timedOut ? TIME_OUT : verdict.problem();
        lasting = Objects.equals(reason, current) ? lasting + 1 : 1;
        reason = current;
    }

    private boolean isLaterUnderWay(long number) {
        return !underWay.isEmpty() && underWay.get(underWay.size() - 1).frame().sequence() > number;
    }

    /**
     * What to log: the member's standing if it changed, lost frames only when there are several in a row, and another reason for the same
     * standing if it lasts. Without the latter a member that was refused a connection while another started would never learn from its log
     * that the URL is wrong. That a member went is told when it came a while ago: one that comes and goes with each frame would fill the log.
     */
    private @Nullable String news(long nowNanos) {
        Standing now = reachable
                ? Standing.REACHABLE
                : refused ? Standing.REFUSED : failures >= FAILURES_BEFORE_NEWS ? Standing.UNREACHABLE : standing;
        boolean another = now == standing;
        boolean hardlyThere = standing == Standing.REACHABLE && nowNanos - toldNanos < IDLE_PROBE_NANOS;
        if (another ? !isAnotherReason(now) : hardlyThere) {
            return null;
        }
        toldNanos = nowNanos;
        changesTold = now == Standing.REACHABLE ? 0 : another ? changesTold + 1 : changesTold;
        standing = now;
        toldReason = reason;
        toldProblem = problem;
        String member = "Member " + nodeId + " ";
        return switch (now) {
            case REACHABLE -> member + "is reachable" + (problem == null ? "" : ", but " + problem);
            case REFUSED -> member + "does not fit: " + problem;
            default -> member + (another ? "is still not reachable: " : "is not reachable: ") + problem;
        };
    }

    private boolean isAnotherReason(Standing now) {
        return now != Standing.REACHABLE
                && lasting >= FAILURES_BEFORE_NEWS
                && !Objects.equals(reason, toldReason)
                && !Objects.equals(problem, toldProblem)
                && changesTold < MOST_CHANGES_TOLD;
    }

    /**
     * When to look again. The whole cell stays below ten probes per second if it has three nodes, and every node below four per second
     * whatever its size.
     */
    private long probeNanos(@Nullable AnswerFrame answer) {
        long leastNanos = LEAST_PROBE_NANOS * settings.cell().size();
        long idleNanos = Math.max(IDLE_PROBE_NANOS, leastNanos);
        if (answer == null) {
            return leastNanos;
        }
        return answer.acceptor() == AcceptorState.QUARANTINED
                ? Math.min(idleNanos, Math.max(leastNanos, answer.quarantineNanos()))
                : idleNanos;
    }

    /** Blocks until nothing waits or is under way, unless the member never answered or does no more; in real time. */
    synchronized void awaitIdle(long atMostNanos) {
        long endNanos = System.nanoTime() + atMostNanos;
        long leftNanos;
        while (mayAnswer() && !isIdle() && (leftNanos = endNanos - System.nanoTime()) > 0) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, leftNanos);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private boolean mayAnswer() {
        return newestAnswered > 0 && !refused && failures < FAILURES_BEFORE_NEWS;
    }

    private boolean isIdle() {
        return underWay.isEmpty() && queue.isEmpty() && notHandled.isEmpty();
    }

    synchronized MemberStatus status() {
        return new MemberStatus(
                nodeId,
                reachable,
                timeLimit.isMeasured() ? Duration.ofNanos(timeLimit.smoothedNanos()) : null,
                state,
                refused,
                problem);
    }
}
