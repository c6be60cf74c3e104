package io.paxoslease.node;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Names;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.ResourceIndex;
import io.paxoslease.protocol.Response;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One life of one node: what applications, the network and dashboards ask of it. {@link NodeLoop} reads the clock once per event, feeds
 * {@link LeaseEngine} and {@link LocalAcceptor} and performs what they want; {@link News} tells the application.
 *
 * <p>Threads: one timer thread; every other event runs on the thread that brings it, or on that of another event which holds the lock just then.
 * The one lock is never held while waiting, doing I/O or running application code. Listeners run on threads that may block.
 *
 * <p>Life: made, then {@link #openAcceptor()} once the node's own port is bound (A4), {@link #start()}, {@link #close()}.
 */
public final class LeaseNode implements LeaseManager, RequestHandler, Transport.Receiver, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeaseNode.class.getName());
    private static final int ROUNDS_PER_CALL = 4;
    private static final int ANSWERS_PER_EVENT = 64;
    private static final int RELEASED_PER_STEP = 4_096;

    private final NodeSettings settings;
    private final Incarnation self;
    private final NodeClock clock;
    private final Transport transport;
    private final @Nullable LocalAcceptor acceptor;
    private final LeaseEngine engine;
    private final PeerRequests peers;
    private final Dispatcher dispatcher;
    private final News news;
    private final NodeLoop loop;
    private final Statuses statuses;
    private final Map<String, NodeElection> elections = new ConcurrentHashMap<>();
    private final List<Claim> waitingForStart = new ArrayList<>();
    private volatile boolean started;

    /**
     * Makes a node with the clocks of the system.
     *
     * @param settings its settings
     * @param transport carries messages to the other acceptors; closed with the node
     * @param random draws the incarnation's nonce and the seeds of the tables ({@link ResourceIndex}) and of the back-offs: nobody outside should be able
     *     to tell what comes next
     */
    public LeaseNode(NodeSettings settings, Transport transport, RandomGenerator random) {
        this(settings, transport, random, NodeClock.SYSTEM);
    }

    /**
     * Makes a node.
     *
     * @param settings its settings
     * @param transport carries messages to the other acceptors; closed with the node
     * @param random draws the incarnation's nonce and the seeds of the tables ({@link ResourceIndex}) and of the back-offs: nobody outside should be able
     *     to tell what comes next
     * @param clock the clocks
     */
    public LeaseNode(NodeSettings settings, Transport transport, RandomGenerator random, NodeClock clock) {
        this.settings = settings;
        this.transport = transport;
        this.clock = clock;
        this.self = new Incarnation(settings.nodeId(), random.nextLong());
        Now now = clock.now();
        BallotSequence ballots = new BallotSequence(now);
        ResourceIndex index = new ResourceIndex(random.nextLong());
        this.dispatcher = new Dispatcher(settings.nodeId());
        this.acceptor = settings.cell().indexOf(settings.nodeId()) < 0
                ? null
                : new LocalAcceptor(
                        new Acceptor(settings.timing(), settings.maxResources(), now, index), ballots, dispatcher::log);
        ballots.observe(now.counterFloor(), now);
        this.engine = new LeaseEngine(
                self,
                new Proposer(self, settings.cell(), settings.timing(), ballots, index),
                settings.oneRoundTrip(),
                settings.roundTimeout().toNanos(),
                // Under the lock, where a generator that reads a file has no place.
                new SplittableRandom(random.nextLong()));
        this.news = new News(this, settings.cell(), clock, dispatcher);
        this.loop = new NodeLoop(self, settings.cell(), clock, transport, acceptor, engine, news, dispatcher);
        this.peers = new PeerRequests(acceptor, engine, clock, loop::run, loop::failAndTell);
        this.statuses = new Statuses(settings, clock, engine, loop);
    }

    /**
     * A4. Starts the quarantine of this node's acceptor; to be called once the node's own listening port is bound. A standalone cell votes
     * at once. Does nothing for a proposer-only node or a second time.
     */
    public void openAcceptor() {
        if (acceptor != null) {
            acceptor.open(settings.standalone(), clock.now());
        }
    }

    /**
     * A4. Silences this node's acceptor, also for the proposer beside it, until it is opened again; to be called before the node's own listening
     * port is given up, since the quarantine of the next process that binds it begins then. What the node holds it keeps if others are a majority.
     */
    public void closeAcceptor() {
        if (acceptor != null) {
            acceptor.close();
        }
    }

    /** Starts the transport and the timer; elections that were started before begin now. */
    public void start() {
        transport.start(self, this);
        loop.start();
        loop.run((now, output) -> {
            started = true;
            waitingForStart.forEach(claim -> engine.submit(claim, now, output));
            waitingForStart.clear();
        });
    }

    /** Releases every lease, tells the cell, and stops. The acceptor answers until the last. */
    @Override
    public void close() {
        if (loop.isClosed()) {
            return;
        }
        releaseAll(true);
        loop.close();
        transport.close();
        dispatcher.close();
    }

    /**
     * Stops every election and releases their leases; what code acquired itself goes on. Does not wait for the network.
     *
     * @return the elections that were started, for who wants to start them again
     */
    public List<LeaderElection> stopElections() {
        List<LeaderElection> stopped = new ArrayList<>();
        for (NodeElection election : elections.values()) {
            if (election.withdraw()) {
                stopped.add(election);
            }
        }
        return stopped;
    }

    /** Stops every election, ends every wait and releases every lease; the node can be used further. Does not wait for the network. */
    public void releaseAll() {
        releaseAll(false);
    }

    /** If it closes the node, in the step that ends the last claim, so that none comes behind it and is never answered. */
    private void releaseAll(boolean closing) {
        stopElections();
        boolean more = true;
        while (more) {
            more = loop.run((now, output) -> {
                        engine.withdrawAll(RELEASED_PER_STEP, now, output);
                        if (closing && engine.parked() == 0) {
                            loop.close();
                        }
                    })
                    && (closing ? !loop.isClosed() : loop.ask(engine::parked) > 0);
        }
    }

    /** This life of this node. */
    public Incarnation incarnation() {
        return self;
    }

    /** What this node was told when it was made. */
    public NodeSettings settings() {
        return settings;
    }

    /**
     * Adds a listener for everything that happens from now on.
     *
     * @param listener the listener
     */
    public void addListener(LeaseListener listener) {
        news.addListener(listener);
    }

    /**
     * Removes a listener. It may still be told what happened before.
     *
     * @param listener the listener that was added
     */
    public void removeListener(LeaseListener listener) {
        news.removeListener(listener);
    }

    /**
     * Adds a listener for every attempt from now on. Without one attempts cost nothing more.
     *
     * @param listener the listener
     */
    public void addAttemptListener(AttemptListener listener) {
        news.addAttemptListener(listener);
        loop.run((now, output) -> engine.tellAttempts());
    }

    /**
     * Records in a history what happens from now on. Without one nothing is recorded.
     *
     * @param kept where to; of this node alone
     */
    public void keepHistory(LeaseHistory kept) {
        news.keepHistory(kept);
    }

    /**
     * What happened to a lease on this node; empty if no history is kept, or nothing is known of this lease.
     *
     * @param leaseName the name of the lease
     */
    public Optional<LeaseHistory.Snapshot> history(String leaseName) {
        LeaseHistory kept = news.history();
        if (kept == null) {
            return Optional.empty();
        }
        Now now = clock.now();
        Optional<LeaseHistory.Snapshot> known = kept.of(leaseName, now);
        return known.isPresent() || !engine.knows(leaseName)
                ? known
                : Optional.of(new LeaseHistory.Snapshot(now, 0, List.of()));
    }

    // What applications call.

    @Override
    public LeaderElection election(String leaseName) {
        return nodeElection(leaseName);
    }

    private NodeElection nodeElection(String leaseName) {
        Names.require("lease name", leaseName, Names.MAX_RESOURCE_BYTES);
        NodeElection election = elections.get(leaseName);
        return election != null ? election : watch(leaseName);
    }

    private NodeElection watch(String leaseName) {
        NodeElection election = loop.ask(
                () -> elections.computeIfAbsent(leaseName, name -> new NodeElection(this, engine.watch(name))));
        loop.run((now, output) -> peers.hint(leaseName, now, output));
        return election;
    }

    /** The election of a name if there was a call of {@link #election} or {@link #need} for it. */
    public Optional<LeaderElection> existingElection(String leaseName) {
        return Optional.ofNullable(elections.get(leaseName));
    }

    /** The elections that are started, in no order. */
    public List<LeaderElection> startedElections() {
        return elections.values().stream()
                .filter(NodeElection::isStarted)
                .<LeaderElection>map(election -> election)
                .toList();
    }

    /**
     * Says that somebody needs the election of a lease, which others may need too. Starts nothing.
     *
     * @param leaseName the name of the lease
     * @param who whoever needs it, once however often it says so
     */
    public void need(String leaseName, Object who) {
        nodeElection(leaseName).need(who);
    }

    /**
     * Takes {@link #need} back, and stops the election if nobody else needs it. Who started it without saying so does not count. Does nothing for
     * somebody who did not need it.
     *
     * @param leaseName the name of the lease
     * @param who whoever needed it
     */
    public void needNoMore(String leaseName, Object who) {
        NodeElection election = elections.get(leaseName);
        if (election != null) {
            election.needNoMore(who);
        }
    }

    /**
     * Starts the election of a lease for somebody who {@linkplain #need needs} it.
     *
     * @param leaseName the name of the lease
     * @param who whoever needs it
     */
    public void startNeeded(String leaseName, Object who) {
        nodeElection(leaseName).startNeeded(who);
    }

    /**
     * Whether somebody else {@linkplain #need needs} the election of a lease, or started it without saying so.
     *
     * @param leaseName the name of the lease
     * @param who whose own need does not count
     */
    public boolean isNeededByOthers(String leaseName, Object who) {
        NodeElection election = elections.get(leaseName);
        return election != null && election.isNeededByOthers(who);
    }

    @Override
    public Optional<Lease> tryAcquire(String name, Duration time) {
        awaitRoomForNews();
        Claim claim = submitOnce(name, time);
        try {
            return claim.result.get(roundsNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException failure) {
            LOG.log(Level.DEBUG, "No answer for lease ''{0}'': {1}", name, failure);
        }
        withdraw(claim);
        return Optional.empty();
    }

    @Override
    public CompletionStage<Optional<Lease>> tryAcquireAsync(String name, Duration time) {
        Claim claim = submitOnce(name, time);
        CompletableFuture<Optional<Lease>> answer = claim.result.thenApplyAsync(lease -> lease, dispatcher::execute);
        answer.whenComplete((told, failure) -> {
            // Cancelled, or completed by somebody else: nobody would give the lease back.
            if (!claim.result.isDone() || !claim.result.join().equals(told)) {
                loop.post((now, output) -> engine.withdraw(claim, now, output));
            }
        });
        return answer;
    }

    @Override
    public Lease acquire(String name, Duration time, Duration maxWait)
            throws InterruptedException, LeaseUnavailableException {
        Names.require("lease name", name, Names.MAX_RESOURCE_BYTES);
        long leaseNanos = settings.timing().requireLeaseTime(TimeUnit.NANOSECONDS.convert(time));
        long waitNanos = Math.max(0, Math.min(TimeUnit.NANOSECONDS.convert(maxWait), TimeUnit.DAYS.toNanos(365)));
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        awaitRoomForNews();
        // Without any time to wait there is still the time that it takes to ask.
        Claim claim = waitNanos == 0
                ? submitOnce(name, leaseNanos)
                : submit(Claim.patient(name, leaseNanos, clock.now().nanos() + waitNanos));
        try {
            Optional<Lease> lease = claim.result.get(waitNanos + roundsNanos(), TimeUnit.NANOSECONDS);
            if (lease.isPresent()) {
                return lease.get();
            }
        } catch (InterruptedException interrupt) {
            withdraw(claim);
            throw interrupt;
        } catch (ExecutionException | TimeoutException failure) {
            withdraw(claim);
        }
        throw new LeaseUnavailableException(Names.printable(
                "Lease '" + name + "' could not be acquired within " + maxWait + ": " + whyUnavailable(claim)));
    }

    private String whyUnavailable(Claim claim) {
        if (loop.isFailed()) {
            return "this node failed because of a defect; restart it";
        }
        if (loop.isClosed()) {
            return "this node was closed";
        }
        return started ? claim.unavailableReason : "this node has not been started yet";
    }

    private Claim submitOnce(String name, Duration time) {
        Names.require("lease name", name, Names.MAX_RESOURCE_BYTES);
        return submitOnce(name, settings.timing().requireLeaseTime(TimeUnit.NANOSECONDS.convert(time)));
    }

    private Claim submitOnce(String name, long leaseNanos) {
        return submit(Claim.once(
                name, leaseNanos, clock.now().nanos() + settings.roundTimeout().toNanos()));
    }

    private Claim submit(Claim claim) {
        loop.post((now, output) -> engine.submit(claim, now, output), () -> claim.result.complete(Optional.empty()));
        return claim;
    }

    /** Not for long: listeners must not keep others from leases. What {@link #tryAcquireAsync} answers waits behind the news anyway. */
    private void awaitRoomForNews() {
        dispatcher.awaitRoom(settings.roundTimeout().toNanos());
    }

    private long roundsNanos() {
        return ROUNDS_PER_CALL * settings.roundTimeout().toNanos();
    }

    // What leases and elections call.

    Now now() {
        return clock.now();
    }

    /** Whether this node gave up all its leases, and its vote, for good because of a defect; it must be restarted. */
    public boolean isFailed() {
        return loop.isFailed();
    }

    @Nullable
    Hint hint(Candidacy candidacy, Now now) {
        return loop.hint(candidacy, now);
    }

    boolean mayStand(String name) {
        return settings.lease(name).candidate();
    }

    /** A standing claim, for {@link #stand(Claim)}. */
    Claim standing(String name) {
        NodeSettings.LeaseSettings lease = settings.lease(name);
        long yieldNanos =
                (NodeSettings.LeaseSettings.HIGHEST_PRIORITY - lease.priority()) * TimeUnit.MILLISECONDS.toNanos(20);
        return Claim.standing(name, lease.leaseTime().toNanos(), yieldNanos);
    }

    /** Submits a claim now, or when the node starts. */
    void stand(Claim claim) {
        loop.run((now, output) -> {
            if (started) {
                engine.submit(claim, now, output);
            } else {
                waitingForStart.add(claim);
            }
        });
    }

    void withdraw(Claim claim) {
        loop.run((now, output) -> {
            waitingForStart.remove(claim);
            engine.withdraw(claim, now, output);
        });
    }

    void resign(Claim claim) {
        loop.run((now, output) -> engine.resign(claim, now, output));
    }

    /** P6. The step ends the tenure before anything is sent. */
    void release(Claim claim, long token) {
        loop.post((now, output) -> {
            if (claim.tenure(token) == null) {
                return;
            }
            if (claim.isStanding()) {
                engine.resign(claim, now, output);
            } else {
                engine.withdraw(claim, now, output);
            }
        });
    }

    /** A reader saw the deadline pass. Does not block it. */
    void endTenure(Claim claim, long token, Now seen) {
        dispatcher.execute(() -> loop.run((now, output) -> {
            if (claim.tenure(token) != null) {
                engine.endTenure(claim, seen, now, output);
            }
        }));
    }

    void autoExtend(Claim claim) {
        loop.post((now, output) -> engine.autoExtend(claim, now, output));
    }

    boolean extend(Claim claim, long token) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        boolean performed = loop.run((now, output) -> {
            engine.extend(claim, now, output);
            if (claim.tenure(token) == null) {
                answer.complete(false);
            } else {
                claim.awaitExtension(answer);
            }
        });
        if (!performed) {
            return false;
        }
        try {
            return answer.get(roundsNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | TimeoutException failure) {
            return false;
        }
    }

    /** An application that gave a claim's lease an action need not keep the lease. */
    void pin(Claim claim) {
        loop.run((now, output) -> engine.pin(claim, now, output));
    }

    /** What stops because of a loss must neither wait for others nor hold up the news of its lease. */
    void runLossAction(Runnable action) {
        dispatcher.executeAtOnce(action);
    }

    // What the network calls.

    @Override
    public void onResponse(int acceptor, Response response) {
        loop.post((now, output) -> engine.onResponse(acceptor, response, now, output));
    }

    @Override
    public void onUnanswered(int acceptor, Request request) {
        loop.post((now, output) -> engine.onUnanswered(acceptor, request, now, output));
    }

    /** As many answers as come together are one event, but not so many that others wait for the lock for long. */
    @Override
    public void onAnswers(int acceptor, List<Request> requests, List<@Nullable Response> responses) {
        for (int from = 0; from < requests.size(); from += ANSWERS_PER_EVENT) {
            int first = from;
            int end = Math.min(requests.size(), from + ANSWERS_PER_EVENT);
            loop.post((now, output) -> {
                for (int i = first; i < end; i++) {
                    engine.onAnswer(acceptor, requests.get(i), responses.get(i), now, output);
                }
            });
        }
    }

    @Override
    public List<@Nullable Response> onRequests(List<Request> requests) {
        return peers.answer(requests);
    }

    @Override
    public void onHello(Incarnation sender) {
        transport.onHello(sender);
    }

    /** The node with the shorter one is to hear of the longer one before it votes. */
    @Override
    public void onOtherMaximum(Incarnation sender, long maxLeaseNanos) {
        if (maxLeaseNanos < settings.timing().maxLeaseNanos()) {
            transport.onHello(sender);
        } else if (acceptor != null) {
            acceptor.outlast(sender.nodeId(), maxLeaseNanos, clock.now());
        }
    }

    @Override
    public boolean awaitsVote() {
        return acceptorState() == AcceptorState.QUARANTINED;
    }

    @Override
    public void onOtherVoter(String who) {
        if (acceptor != null) {
            acceptor.standAside(who, clock.now());
        }
    }

    @Override
    public boolean majorityVotes() {
        return transport.majorityVotes();
    }

    /** Because of whom this node's acceptor does not vote, as a sentence; empty if it votes, or waits for nothing but its quarantine. */
    public Optional<String> standsAsideFor() {
        return acceptor == null ? Optional.empty() : Optional.ofNullable(acceptor.standsAsideFor(clock.now()));
    }

    @Override
    public AcceptorState acceptorState() {
        return acceptor == null ? AcceptorState.NONE : acceptor.state(clock.now());
    }

    @Override
    public long quarantineRemainingNanos() {
        return acceptor == null ? 0 : acceptor.quarantineRemainingNanos(clock.now());
    }

    // What dashboards read.

    /** This node's acceptor now. */
    public AcceptorStatus acceptorStatus() {
        return acceptor == null
                ? new AcceptorStatus(AcceptorState.NONE, Duration.ZERO, 0, Map.of())
                : acceptor.status(clock.now());
    }

    /**
     * A lease that somebody on this node wants or watches, or that it holds; empty if there is no such lease. Costs the same however many there are.
     *
     * @param leaseName the name of the lease
     */
    public Optional<LeaseStatus> lease(String leaseName) {
        return statuses.of(leaseName);
    }

    /** Every lease that somebody on this node wants or watches, or that it holds, by name. */
    public Map<String, LeaseStatus> leases() {
        return leases(Integer.MAX_VALUE);
    }

    /**
     * Some leases that somebody on this node wants or watches, or that it holds, by name. Where there are thousands the node goes on with its work
     * meanwhile, and one that changes just then is told as it was before or after.
     *
     * @param limit how many at most; those that are merely held come last
     */
    public Map<String, LeaseStatus> leases(int limit) {
        return statuses.all(limit);
    }

    /**
     * Does what is due now. The timer calls it, or where the clock is driven, whoever drives it. Calling it early, late or twice is harmless.
     *
     * @return when it is to be called next, by the node's monotonic clock; empty if nothing is due
     */
    public OptionalLong onTime() {
        return loop.onTime();
    }

    /**
     * Has a line written to the log, after those before it, by a thread for which nobody waits: a log that blocks holds up no listener either.
     *
     * @param line writes it
     */
    public void log(Runnable line) {
        dispatcher.log(line);
    }

    /**
     * Waits until listeners, and whoever waits for the end of a lease, have been told all that happened so far.
     *
     * @param atMost how long to wait at most, in real time
     * @return whether all have; false also if this thread was interrupted, which stays set
     */
    public boolean awaitTold(Duration atMost) {
        // What this thread asked for may wait for another that holds the lock.
        loop.run((now, output) -> {});
        return dispatcher.awaitIdle(atMost);
    }

    @Override
    public String toString() {
        return "LeaseNode[" + self + " of cell " + settings.cell().name() + "]";
    }
}
