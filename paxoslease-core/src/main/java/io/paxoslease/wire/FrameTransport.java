package io.paxoslease.wire;

import io.paxoslease.node.NodeClock;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests in frames: at once to a member that is idle, together while an exchange with it is under way, or two where very many wait and
 * up to four where the member is far away. So frames grow with the load and the round trips do not.
 *
 * <p>A request is lost if its frame is, and is then reported as unanswered. It is sent a second time only where the member has said that it
 * handled nothing because it does not know the session, for example after its restart. Answers are handled by the thread of the channel that
 * brings them, which also calls the receiver; time-outs, probes and what fails by one daemon thread; frames are sent by the thread that flushes,
 * or by that one where they wait for a pause. None of them waits until the log has taken what became of a member.
 */
public final class FrameTransport implements Transport {

    private static final System.Logger LOG = System.getLogger(FrameTransport.class.getName());

    /** A few hundred milliseconds of a busy owner, so that a pause of a garbage collector drops nothing. */
    private static final int MAX_QUEUED = 100_000;

    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** An idle node wakes at one of so many ticks at least, for exchanges that did not end by themselves. */
    private static final int MOST_TICKS_APART = 20;

    /** How much later than its time limit an exchange must have ended by itself. */
    private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final long NANOS_PER_MILLI = 1_000_000;
    /** Channels may give up early by this part of the time limit. */
    private static final int EARLY = 10;
    /** How long closing waits for what is under way, so that releases still go out. */
    private static final long CLOSE_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private final WireSettings settings;
    private final FrameChannel channel;
    private final WireListener listener;
    private final NodeClock clock;
    private final int maxQueued;
    private final @Nullable FrameMac mac;
    private final AnswerCheck check;

    private volatile @Nullable Running running;
    private volatile @Nullable ExecutorService thread;

    /** Has a task run after so many nanoseconds. */
    interface Later {
        void run(Runnable task, long nanos);
    }

    /** What there is once the transport was started. */
    private record Running(
            Receiver receiver,
            List<MemberLink> links,
            @Nullable MemberLink[] byAcceptor,
            Executor thread,
            Later later,
            Lines lines,
            @Nullable OwnAddress own,
            @Nullable Ticker ticker) {}

    /**
     * Creates a transport that sends nothing until it is started. It closes the channel when it is closed.
     *
     * @param settings what both ends of the wire are told
     * @param channel carries the frames
     * @param listener told about traffic
     * @param clock measures round trips
     */
    public FrameTransport(WireSettings settings, FrameChannel channel, WireListener listener, NodeClock clock) {
        this(settings, channel, listener, clock, MAX_QUEUED);
    }

    FrameTransport(WireSettings settings, FrameChannel channel, WireListener listener, NodeClock clock, int maxQueued) {
        this.settings = settings;
        this.channel = channel;
        this.listener = listener;
        this.clock = clock;
        this.maxQueued = maxQueued;
        this.mac = settings.secrets().isEmpty()
                ? null
                : new FrameMac(settings.secrets().get(0));
        this.check = new AnswerCheck(settings, mac);
    }

    @Override
    public void start(Incarnation self, Receiver receiver) {
        ScheduledThreadPoolExecutor wire = new ScheduledThreadPoolExecutor(
                1,
                task -> Lines.daemon(task, "paxoslease-" + self.nodeId() + "-wire"),
                new ThreadPoolExecutor.DiscardPolicy());
        wire.setRemoveOnCancelPolicy(true);
        start(self, receiver, wire, Lines.threadsOf(self.nodeId()));
    }

    /** Starts with the given threads: one ticks, the other writes to the log. */
    void start(Incarnation self, Receiver receiver, ScheduledExecutorService wire, Executor log) {
        thread = wire;
        Ticker ticker = new Ticker(wire);
        start(self, receiver, wire, (task, nanos) -> wire.schedule(task, nanos, TimeUnit.NANOSECONDS), log, ticker);
        wire.execute(ticker);
    }

    /** Ticks, and sleeps for as long as there is nothing to do but what {@link #wakeBy} tells it of. */
    private final class Ticker implements Runnable {
        private final ScheduledExecutorService wire;
        private @Nullable Future<?> next;
        private volatile long wakesNanos;

        Ticker(ScheduledExecutorService wire) {
            this.wire = wire;
        }

        @Override
        public void run() {
            if (next != null) {
                next.cancel(false);
            }
            try {
                tick();
            } finally {
                while (!isNextCertain() && !wire.isShutdown()) {
                    LockSupport.parkNanos(RETRY_NANOS);
                }
            }
        }

        /** False where there is no memory, for example. Nobody else would ever tick. */
        private boolean isNextCertain() {
            try {
                // First: what becomes due earlier during the search is either found or wakes this thread.
                wakesNanos = clock.now().nanos() + MOST_TICKS_APART * TICK_NANOS;
                long pauseNanos = ticksToNext() * TICK_NANOS;
                wakesNanos = clock.now().nanos() + pauseNanos;
                next = wire.schedule(this, pauseNanos, TimeUnit.NANOSECONDS);
                return true;
            } catch (RuntimeException | Error failure) {
                return false;
            }
        }

        void wakeBy(long nanos) {
            if (nanos - wakesNanos < 0) {
                wire.execute(this);
            }
        }
    }

    /** An idle node sleeps through most ticks before its next probes. */
    int ticksToNext() {
        Running running = this.running;
        if (running == null) {
            return MOST_TICKS_APART;
        }
        long now = clock.now().nanos();
        long quiet = MOST_TICKS_APART * TICK_NANOS;
        for (MemberLink link : running.links()) {
            quiet = Math.min(quiet, link.quietNanos(now));
        }
        if (running.own() != null && running.receiver().awaitsVote()) {
            quiet = Math.min(quiet, running.own().quietNanos(now));
        }
        return (int) Math.max(1, (quiet + TICK_NANOS - 1) / TICK_NANOS);
    }

    /** Starts with the given thread, which also writes to the log, and leaves it to the caller to {@link #tick}. */
    void startWithoutTicks(Incarnation self, Receiver receiver, Executor executor, Later later) {
        start(self, receiver, executor, later, executor, null);
    }

    private void start(
            Incarnation self,
            Receiver receiver,
            Executor executor,
            Later later,
            Executor log,
            @Nullable Ticker ticker) {
        Lines lines = new Lines(LOG, log, clock);
        long now = clock.now().nanos();
        List<String> acceptors = settings.cell().acceptors();
        List<MemberLink> links = new ArrayList<>(acceptors.size());
        @Nullable MemberLink[] byAcceptor = new @Nullable MemberLink[acceptors.size()];
        for (int i = 0; i < byAcceptor.length; i++) {
            if (!acceptors.get(i).equals(self.nodeId())) {
                MemberLink link = new MemberLink(i, self, settings, maxQueued, lines, now);
                byAcceptor[i] = link;
                links.add(link);
            }
        }
        running = new Running(
                receiver,
                links,
                byAcceptor,
                task -> executor.execute(() -> run(lines, task)),
                (task, nanos) -> later.run(() -> run(lines, task), nanos),
                lines,
                links.size() < byAcceptor.length ? new OwnAddress(self, settings, now) : null,
                ticker);
    }

    private static void run(Lines lines, Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error impossible) {
            lines.tell(Level.ERROR, "An answer could not be handled because of a defect", impossible);
        }
    }

    /** The other members as they are known, by node id in the order of the cell; empty before the start. */
    public Map<String, MemberStatus> members() {
        Map<String, MemberStatus> members = new LinkedHashMap<>();
        Running running = this.running;
        if (running != null) {
            running.links().forEach(link -> members.put(link.nodeId, link.status()));
        }
        return Collections.unmodifiableMap(members);
    }

    @Override
    public void send(int acceptor, Request request) {
        sendAll(acceptor, List.of(request));
    }

    @Override
    public void sendAll(int acceptor, List<Request> requests) {
        Running running = this.running;
        if (running == null) {
            return;
        }
        MemberLink link = running.byAcceptor()[acceptor];
        if (link == null) {
            throw new IllegalStateException("Acceptor " + acceptor + " is in this node");
        }
        for (int i = link.offer(requests); i < requests.size(); i++) {
            listener.onMessage(FrameServer.type(requests.get(i)), "dropped");
            if (link.drop(requests.get(i))) {
                running.thread().execute(() -> tellUnanswered(running, link, link.takeDropped()));
            }
        }
    }

    @Override
    public void flush() {
        Running running = this.running;
        if (running != null) {
            running.links().forEach(link -> begin(running, link));
        }
    }

    /** A member in a new life does not know the session any more. Better to learn that now than when a request waits for it. */
    @Override
    public void onHello(Incarnation sender) {
        Running running = this.running;
        if (running == null) {
            return;
        }
        for (MemberLink link : running.links()) {
            if (link.nodeId.equals(sender.nodeId())
                    && link.onHello(sender, clock.now().nanos())) {
                running.thread().execute(() -> begin(running, link));
            }
        }
    }

    /** Ends exchanges that should have ended by themselves, and begins what is due; has lines written for which there was no thread. */
    void tick() {
        Running running = this.running;
        if (running != null) {
            run(running.lines(), () -> tick(running));
        }
    }

    private void tick(Running running) {
        for (MemberLink link : running.links()) {
            Exchange overdue = link.overdue(clock.now().nanos(), GRACE_NANOS);
            if (overdue != null) {
                end(running, link, overdue, null, null);
            } else {
                begin(running, link);
            }
        }
        if (running.own() != null && running.receiver().awaitsVote()) {
            askOwnAddress(running, running.own());
        }
        running.lines().write();
    }

    @Override
    public boolean majorityVotes() {
        Running running = this.running;
        if (running == null) {
            return false;
        }
        int votes = running.own() == null || running.receiver().awaitsVote() ? 0 : 1;
        for (MemberLink link : running.links()) {
            votes += link.votes() ? 1 : 0;
        }
        return votes >= settings.cell().majority();
    }

    private void askOwnAddress(Running running, OwnAddress own) {
        RequestFrame question = own.ask(clock.now().nanos());
        if (question != null) {
            channel.exchange(
                            question.receiver(),
                            FrameCodec.encode(question, mac),
                            settings.roundTimeout().toNanos())
                    .thenAccept(reply -> running.thread().execute(() -> {
                        AnswerFrame answer = check.judge(reply, question).answer();
                        if (answer != null && own.isOfOtherMember(answer)) {
                            running.receiver().onOtherVoter("Another process answers as " + question.receiver());
                        }
                    }));
        }
    }

    private void begin(Running running, MemberLink link) {
        Exchange exchange = link.begin(clock.now().nanos());
        if (exchange != null) {
            try {
                begin(running, link, exchange);
            } catch (RuntimeException | Error impossible) {
                running.thread().execute(() -> end(running, link, exchange, null, impossible));
            }
        } else if (link.isFar()) {
            beginLater(running, link);
        }
    }

    private void beginLater(Running running, MemberLink link) {
        long nanos = link.awaitPassing(clock.now().nanos());
        if (nanos > 0) {
            try {
                running.later()
                        .run(
                                () -> {
                                    link.endWait();
                                    begin(running, link);
                                },
                                nanos);
            } catch (RuntimeException | Error impossible) {
                // The end of what is under way lets it go, at the latest.
                link.endWait();
            }
        }
    }

    private void begin(Running running, MemberLink link, Exchange exchange) {
        listener.onMessage("frame", "sent");
        List<Request> requests = exchange.frame().requests();
        for (int i = 0; i < requests.size(); i++) {
            listener.onMessage(FrameServer.type(requests.get(i)), "sent");
        }
        Ending ending = new Ending(running, link, exchange);
        RequestFrame frame = exchange.isHello() ? exchange.frame().telling(majorityVotes()) : exchange.frame();
        channel.exchange(link.nodeId, FrameCodec.encode(frame, mac), exchange.timeoutNanos())
                .whenComplete(ending);
        ending.begun = true;
    }

    /**
     * Ends an exchange on the thread that completes it, unless that is the one that is just beginning it: what follows may begin the next. A
     * failure waits for the transport's own thread. When a member dies it comes just before the answers that decide who follows, and all that
     * deals with it runs for the first time.
     */
    private final class Ending implements BiConsumer<@Nullable FrameReply, @Nullable Throwable> {
        private final Running running;
        private final MemberLink link;
        private final Exchange exchange;
        private volatile boolean begun;

        Ending(Running running, MemberLink link, Exchange exchange) {
            this.running = running;
            this.link = link;
            this.exchange = exchange;
        }

        @Override
        public void accept(@Nullable FrameReply reply, @Nullable Throwable failure) {
            if (begun && failure == null) {
                run(running.lines(), () -> end(running, link, exchange, reply, failure));
            } else {
                running.thread().execute(() -> end(running, link, exchange, reply, failure));
            }
        }
    }

    private void end(
            Running running,
            MemberLink link,
            Exchange exchange,
            @Nullable FrameReply reply,
            @Nullable Throwable failure) {
        long now = clock.now().nanos();
        boolean timedOut = reply == null && exchange.isOverdue(now, -exchange.timeoutNanos() / EARLY);
        Verdict verdict = reply != null
                ? check.judge(reply, exchange.frame())
                : Verdict.lost(
                        failure == null
                                ? "no answer within " + exchange.timeoutNanos() / NANOS_PER_MILLI + " ms"
                                : Words.of(failure));
        MemberLink.Ended ended = link.end(exchange, verdict, timedOut, now);
        if (ended == null) {
            return;
        }
        running.lines().write();
        listener.onMessage("frame", ended.good() ? "answered" : "unanswered");
        if (ended.good()) {
            listener.onRoundTrip(link.nodeId, now - exchange.sentNanos());
        }
        begin(running, link);
        if (running.ticker() != null) {
            running.ticker().wakeBy(ended.nextProbeNanos());
        }
        AnswerFrame answer = verdict.answer();
        if (answer != null) {
            if (answer.status() == AnswerFrame.Status.OTHER_MAJORITY) {
                running.receiver().onOtherVoter(Words.otherMajority(link.nodeId));
            }
            tell(running, link, exchange.frame().requests(), answer.responses());
        }
        tellUnanswered(running, link, ended.unanswered());
    }

    private void tell(Running running, MemberLink link, List<Request> requests, List<@Nullable Response> responses) {
        if (responses.isEmpty()) {
            return;
        }
        for (int i = 0; i < responses.size(); i++) {
            Request request = requests.get(i);
            if (responses.get(i) != null) {
                listener.onMessage(FrameServer.type(request), "answered");
            } else if (!(request instanceof ReleaseRequest)) {
                listener.onMessage(FrameServer.type(request), "unanswered");
            }
        }
        running.receiver().onAnswers(link.acceptor, requests, responses);
    }

    private void tellUnanswered(Running running, MemberLink link, List<Request> requests) {
        for (int i = 0; i < requests.size(); i++) {
            tellUnanswered(running, link, requests.get(i));
        }
    }

    /** Nobody waits for an answer to a release. */
    private void tellUnanswered(Running running, MemberLink link, Request request) {
        if (!(request instanceof ReleaseRequest)) {
            listener.onMessage(FrameServer.type(request), "unanswered");
            running.receiver().onUnanswered(link.acceptor, request);
        }
    }

    /** Waits a moment for what is under way to members that may answer, above all releases; then stops. */
    @Override
    public void close() {
        Running running = this.running;
        if (running != null) {
            long endNanos = System.nanoTime() + CLOSE_NANOS;
            running.links().forEach(link -> link.awaitIdle(endNanos - System.nanoTime()));
        }
        this.running = null;
        ExecutorService thread = this.thread;
        if (thread != null) {
            thread.shutdownNow();
        }
        channel.close();
    }
}
