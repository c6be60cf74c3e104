package io.paxoslease.node;

import io.paxoslease.LeaderElection;
import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.LeaseUnavailableException;
import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Names;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.ResourceIndex;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Tenure;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One life of one node: the shell that reads the clock once per event, feeds {@link LeaseEngine} and {@link LocalAcceptor}, performs what they
 * want, and tells the application.
 *
 * <p>Threads: one timer thread; every other event runs on the thread that brings it, or on that of another event which holds the lock just then.
 * The one lock is never held while waiting, doing I/O or running application code. Listeners run on threads of their own kind.
 *
 * <p>Life: made, then {@link #openAcceptor()} once the node's own port is bound (A4), {@link #start()}, {@link #close()}.
 */
public final class LeaseNode implements LeaseManager, RequestHandler, Transport.Receiver, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeaseNode.class.getName());
    /** How long the timer of an owner sleeps at most: so late it tells of a lease that ended while the machine was suspended. */
    private static final long LONGEST_SLEEP_NANOS = 1_000_000_000L;
    /** And that of a node that holds none. */
    private static final long LONGEST_IDLE_SLEEP_NANOS = 5_000_000_000L;

    private static final long SUSPEND_MILLIS = 100;
    private static final int ROWS_PER_SWEEP = 4_096;
    private static final int ROUNDS_PER_CALL = 4;
    private static final int ANSWERS_PER_EVENT = 64;
    /** How many requests of a frame the acceptor handles before others have their turn. */
    private static final int REQUESTS_AT_ONCE = 64;

    private static final int RELEASED_PER_STEP = 4_096;
    /** How many parked leases are looked at before others have their turn. */
    private static final int SLOTS_PER_LOOK = 4_096;
    /** How many posted steps are performed without letting go of the lock, and how often one thread takes it for those of others. */
    private static final int POSTED_PER_LOCK = 64;

    private static final int TURNS_FOR_OTHERS = 4;

    private final NodeSettings settings;
    private final Incarnation self;
    private final int selfIndex;
    private final NodeClock clock;
    private final Transport transport;
    private final @Nullable LocalAcceptor acceptor;
    private final BallotSequence ballots;
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<Posted> posted = new ConcurrentLinkedQueue<>();
    private final LeaseEngine engine;
    private final Dispatcher dispatcher;
    private final Thread timer;
    private final Map<String, NodeElection> elections = new ConcurrentHashMap<>();
    private final List<LeaseListener> listeners = new CopyOnWriteArrayList<>();
    private final List<AttemptListener> attemptListeners = new CopyOnWriteArrayList<>();
    /** What listeners are still to be told. Guarded by the lock. */
    private List<Dispatcher.Task> untold = new ArrayList<>();

    /** Who needs the election of a lease. Guarded by itself. */
    private final Map<String, Set<Object>> needs = new HashMap<>();

    private volatile @Nullable LeaseHistory history;
    private final List<Claim> waitingForStart = new ArrayList<>();
    private volatile boolean timerWoken;
    private volatile long timerWakesNanos;
    private volatile boolean started;
    private volatile boolean closed;
    private volatile boolean failed;

    /**
     * Makes a node with the clocks of the system.
     *
     * @param settings its settings
     * @param transport carries messages to the other acceptors; closed with the node
     * @param random draws the incarnation's nonce, the seed of the tables ({@link ResourceIndex}) and the back-offs: nobody outside should be able to
     *     tell what comes next
     */
    public LeaseNode(NodeSettings settings, Transport transport, RandomGenerator random) {
        this(settings, transport, random, NodeClock.SYSTEM);
    }

    /**
     * Makes a node.
     *
     * @param settings its settings
     * @param transport carries messages to the other acceptors; closed with the node
     * @param random draws the incarnation's nonce, the seed of the tables ({@link ResourceIndex}) and the back-offs: nobody outside should be able to
     *     tell what comes next
     * @param clock the clocks
     */
    public LeaseNode(NodeSettings settings, Transport transport, RandomGenerator random, NodeClock clock) {
        this.settings = settings;
        this.transport = transport;
        this.clock = clock;
        this.self = new Incarnation(settings.nodeId(), random.nextLong());
        this.selfIndex = settings.cell().indexOf(settings.nodeId());
        Now now = clock.now();
        this.ballots = new BallotSequence(now);
        ResourceIndex index = new ResourceIndex(random.nextLong());
        this.acceptor = selfIndex < 0
                ? null
                : new LocalAcceptor(new Acceptor(settings.timing(), settings.maxResources(), now, index), ballots);
        ballots.observe(now.counterFloor(), now);
        this.engine = new LeaseEngine(
                self,
                new Proposer(self, settings.cell(), settings.timing(), ballots, index),
                settings.oneRoundTrip(),
                settings.roundTimeout().toNanos(),
                random);
        this.dispatcher = new Dispatcher(settings.nodeId());
        this.timer = new Thread(this::runTimer, "paxoslease-" + settings.nodeId() + "-timer");
        this.timer.setDaemon(true);
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

    /** Starts the transport and the timer; elections that were started before begin now. */
    public void start() {
        transport.start(self, this);
        if (!clock.isDriven()) {
            timer.start();
        }
        run((now, output) -> {
            started = true;
            waitingForStart.forEach(claim -> engine.submit(claim, now, output));
            waitingForStart.clear();
        });
    }

    /** Releases every lease, tells the cell, and stops. The acceptor answers until the last. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        releaseAll(true);
        closed = true;
        LockSupport.unpark(timer);
        transport.close();
        dispatcher.close();
    }

    /**
     * Stops every election and releases every lease; the node can be used further. Does not wait for the network.
     *
     * @return the elections that were started, for who wants to start them again
     */
    public List<LeaderElection> releaseAll() {
        return releaseAll(false);
    }

    /** If it closes the node, in the step that ends the last claim, so that none comes behind it and is never answered. */
    private List<LeaderElection> releaseAll(boolean closing) {
        List<LeaderElection> stopped = new ArrayList<>();
        for (NodeElection election : elections.values()) {
            if (election.withdraw()) {
                stopped.add(election);
            }
        }
        boolean more = true;
        while (more) {
            more = run((now, output) -> {
                        engine.withdrawAll(RELEASED_PER_STEP, now, output);
                        if (closing && engine.parked() == 0) {
                            closed = true;
                        }
                    })
                    && ask(engine::parked) > 0;
        }
        return stopped;
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
        listeners.add(listener);
    }

    /**
     * Adds a listener for every attempt from now on. Without one attempts cost nothing more.
     *
     * @param listener the listener
     */
    public void addAttemptListener(AttemptListener listener) {
        attemptListeners.add(listener);
        run((now, output) -> engine.tellAttempts());
    }

    /**
     * Records in a history what happens from now on. Without one nothing is recorded.
     *
     * @param kept where to; of this node alone
     */
    public void keepHistory(LeaseHistory kept) {
        history = kept;
    }

    /**
     * What happened to a lease on this node; empty if no history is kept, or nothing is known of this lease.
     *
     * @param leaseName the name of the lease
     */
    public Optional<LeaseHistory.Snapshot> history(String leaseName) {
        LeaseHistory kept = history;
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
        Names.require("lease name", leaseName, Names.MAX_RESOURCE_BYTES);
        NodeElection election = elections.get(leaseName);
        return election != null ? election : watch(leaseName);
    }

    private NodeElection watch(String leaseName) {
        NodeElection election =
                ask(() -> elections.computeIfAbsent(leaseName, name -> new NodeElection(this, engine.watch(name))));
        run((now, output) -> hint(leaseName, now, output));
        return election;
    }

    /** X6. What this node's acceptor knows of the owner. */
    private void hint(String leaseName, Now now, Output output) {
        AcceptedLease accepted = acceptor == null ? null : acceptor.lease(leaseName, now);
        if (accepted != null) {
            engine.onOwnerSeen(leaseName, accepted.ballot().owner(), accepted.remainingNanos(), now, output);
        }
    }

    /** The election of a name if there was a call of {@link #election} for it. */
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
        synchronized (needs) {
            needs.computeIfAbsent(leaseName, name -> new HashSet<>()).add(who);
        }
    }

    /**
     * Takes {@link #need} back, and stops the election if nobody else needs it. Who started it without saying so does not count. Does nothing for
     * somebody who did not need it.
     *
     * @param leaseName the name of the lease
     * @param who whoever needed it
     */
    public void needNoMore(String leaseName, Object who) {
        synchronized (needs) {
            Set<Object> all = needs.get(leaseName);
            if (all != null && all.remove(who) && all.isEmpty()) {
                needs.remove(leaseName);
                // Before anybody else can need it and start it.
                existingElection(leaseName).ifPresent(LeaderElection::stop);
            }
        }
    }

    @Override
    public Optional<Lease> tryAcquire(String name, Duration time) {
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
        return submitOnce(name, time).result.thenApplyAsync(lease -> lease, dispatcher::execute);
    }

    @Override
    public Lease acquire(String name, Duration time, Duration maxWait)
            throws InterruptedException, LeaseUnavailableException {
        Names.require("lease name", name, Names.MAX_RESOURCE_BYTES);
        long leaseNanos = settings.timing().requireLeaseTime(nanos(time));
        long waitNanos = Math.max(0, Math.min(nanos(maxWait), TimeUnit.DAYS.toNanos(365)));
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
        throw new LeaseUnavailableException(
                "Lease '" + name + "' could not be acquired within " + maxWait + ": " + claim.unavailableReason);
    }

    private Claim submitOnce(String name, Duration time) {
        Names.require("lease name", name, Names.MAX_RESOURCE_BYTES);
        return submitOnce(name, settings.timing().requireLeaseTime(nanos(time)));
    }

    private Claim submitOnce(String name, long leaseNanos) {
        return submit(Claim.once(
                name, leaseNanos, clock.now().nanos() + settings.roundTimeout().toNanos()));
    }

    private Claim submit(Claim claim) {
        post((now, output) -> engine.submit(claim, now, output), () -> claim.result.complete(Optional.empty()));
        return claim;
    }

    private static long nanos(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException outOfRange) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
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
        return failed;
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
        run((now, output) -> {
            if (started) {
                engine.submit(claim, now, output);
            } else {
                waitingForStart.add(claim);
            }
        });
    }

    void withdraw(Claim claim) {
        run((now, output) -> {
            waitingForStart.remove(claim);
            engine.withdraw(claim, now, output);
        });
    }

    void resign(Claim claim) {
        run((now, output) -> engine.resign(claim, now, output));
    }

    /** The caller has made sure already that the lease does not count as held any more. */
    void release(Claim claim, long token) {
        post((now, output) -> {
            Tenure tenure = claim.tenure;
            if (tenure == null || tenure.token() != token) {
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
        dispatcher.execute(() -> run((now, output) -> {
            Tenure tenure = claim.tenure;
            if (tenure != null && tenure.token() == token) {
                engine.endTenure(claim, seen, now, output);
            }
        }));
    }

    void autoExtend(Claim claim) {
        post((now, output) -> engine.autoExtend(claim, now, output));
    }

    boolean extend(Claim claim, long token) {
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        run((now, output) -> {
            engine.extend(claim, now, output);
            Tenure tenure = claim.tenure;
            if (tenure == null || tenure.token() != token) {
                answer.complete(false);
            } else if (!answered(output, claim, answer)) {
                claim.awaitExtension(answer);
            }
        });
        try {
            return answer.get(roundsNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | TimeoutException failure) {
            return false;
        }
    }

    /** Whether the extension was decided at once, as it is in a cell of one. */
    private static boolean answered(Output output, Claim claim, CompletableFuture<Boolean> answer) {
        for (Notice notice : output.notices) {
            if (notice instanceof Notice.Extended extended && extended.claim() == claim) {
                return answer.complete(true);
            } else if (notice instanceof Notice.ExtensionFailed failed && failed.claim() == claim) {
                return answer.complete(false);
            }
        }
        return false;
    }

    /** An application that gave a claim's lease an action need not keep the lease. */
    void pin(Claim claim) {
        run((now, output) -> engine.pin(claim, now, output));
    }

    /** What stops because of a loss must neither wait for others nor hold up the news of its lease. */
    void runLossAction(Runnable action) {
        dispatcher.executeAtOnce(action);
    }

    // What the network calls.

    @Override
    public void onResponse(int acceptor, Response response) {
        post((now, output) -> engine.onResponse(acceptor, response, now, output));
    }

    @Override
    public void onUnanswered(int acceptor, Request request) {
        post((now, output) -> engine.onUnanswered(acceptor, request, now, output));
    }

    /** As many answers as come together are one event, but not so many that others wait for the lock for long. */
    @Override
    public void onAnswers(int acceptor, List<Request> requests, List<@Nullable Response> responses) {
        for (int from = 0; from < requests.size(); from += ANSWERS_PER_EVENT) {
            int first = from;
            int end = Math.min(requests.size(), from + ANSWERS_PER_EVENT);
            post((now, output) -> {
                for (int i = first; i < end; i++) {
                    Response response = responses.get(i);
                    if (response != null) {
                        engine.onResponse(acceptor, response, now, output);
                    } else if (!(requests.get(i) instanceof ReleaseRequest)) {
                        engine.onUnanswered(acceptor, requests.get(i), now, output);
                    }
                }
            });
        }
    }

    @Override
    public List<@Nullable Response> onRequests(List<Request> requests) {
        List<@Nullable Response> responses = new ArrayList<>(requests.size());
        // Read after the requests arrived, so that no exclusion ends before its T counted from the sending has passed.
        Now arrived = clock.now();
        for (int from = 0; from < requests.size(); from += REQUESTS_AT_ONCE) {
            answer(requests.subList(from, Math.min(requests.size(), from + REQUESTS_AT_ONCE)), arrived, responses);
        }
        for (int i = 0; i < requests.size(); i++) {
            if (engine.cares(requests.get(i).resource())) {
                run((now, output) -> hint(requests, responses, now, output));
                break;
            }
        }
        return responses;
    }

    private void answer(List<Request> requests, Now arrived, List<@Nullable Response> responses) {
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            if (engine.shouldKnowRivals(request.resource()) && !(request instanceof ReleaseRequest)) {
                // Before the rival is refused: a release that follows must find it noted.
                run((now, output) -> engine.onRival(request.resource()));
            }
        }
        if (acceptor == null) {
            responses.addAll(Collections.nCopies(requests.size(), null));
        } else {
            try {
                acceptor.handle(requests, arrived, responses);
            } catch (RuntimeException | Error defect) {
                failAndTell(defect);
                throw defect;
            }
        }
    }

    /** X6. What this node's acceptor learns helps its own candidates to wait for the right moment. */
    private void hint(List<Request> requests, List<@Nullable Response> responses, Now now, Output output) {
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            if (request instanceof ReleaseRequest release) {
                engine.onOwnerGone(release.resource(), release.ballot().owner(), now, output);
                continue;
            }
            engine.onRival(request.resource());
            if (responses.get(i) instanceof ProposeResponse response && response.accepted()) {
                hint(request.resource(), now, output);
            }
        }
    }

    @Override
    public void onHello(Incarnation sender) {
        transport.onHello(sender);
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
        return ask(() -> {
            Candidacy candidacy = engine.picture(leaseName);
            return candidacy == null ? Optional.empty() : Optional.of(status(candidacy, clock.now()));
        });
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
        Map<String, LeaseStatus> leases = new TreeMap<>();
        boolean more = ask(() -> {
            add(engine.candidacies(), limit, leases);
            add(engine.parked(0, SLOTS_PER_LOOK), limit, leases);
            return engine.slots() > SLOTS_PER_LOOK;
        });
        for (int from = SLOTS_PER_LOOK; more && leases.size() < limit; from += SLOTS_PER_LOOK) {
            int first = from;
            more = ask(() -> {
                add(engine.parked(first, first + SLOTS_PER_LOOK), limit, leases);
                boolean last = engine.slots() - first <= SLOTS_PER_LOOK;
                if (last) {
                    // What was parked at the first look need not have been so when its slot came.
                    add(engine.candidacies(), limit, leases);
                }
                return !last;
            });
        }
        return leases;
    }

    private void add(Collection<Candidacy> candidacies, int limit, Map<String, LeaseStatus> leases) {
        Now now = clock.now();
        for (Candidacy candidacy : candidacies) {
            if (leases.size() >= limit) {
                return;
            }
            leases.put(candidacy.resource, status(candidacy, now));
        }
    }

    private LeaseStatus status(Candidacy candidacy, Now now) {
        Claim claim = candidacy.claims.peek();
        Tenure tenure = claim == null || failed ? null : claim.tenure;
        boolean held = tenure != null && tenure.isActive(now);
        Hint hint = candidacy.hint;
        boolean hinted = hint != null && !now.hasReached(hint.freeAtNanos());
        LeaseStatus.State state = held
                ? LeaseStatus.State.HELD
                : claim == null
                        ? LeaseStatus.State.STOPPED
                        : hinted ? LeaseStatus.State.FOLLOWING : LeaseStatus.State.SEEKING;
        return new LeaseStatus(
                candidacy.resource,
                state,
                held ? self.nodeId() : hint != null && hinted ? hint.owner().nodeId() : null,
                held,
                tenure != null && held ? (Long) tenure.token() : null,
                claim == null ? settings.lease(candidacy.resource).leaseTime() : Duration.ofNanos(claim.leaseNanos),
                tenure != null && held
                        ? Duration.ofNanos(tenure.deadline().remainingNanos(now))
                        : hint != null && hinted ? Duration.ofNanos(hint.freeAtNanos() - now.nanos()) : null,
                claim != null && held ? Instant.ofEpochMilli(claim.acquiredAtMillis) : null,
                claim != null && held && claim.autoExtend
                        ? Duration.ofNanos(Math.max(0, candidacy.resumeNanos - now.nanos()))
                        : null,
                claim != null && held ? claim.extensionCount : 0,
                claim != null);
    }

    // The loop.

    private interface Step {
        void run(Now now, Output output);
    }

    /** A step that whoever holds the lock performs, and what is done instead if the node has failed or is closed. */
    private record Posted(Step step, Runnable otherwise) {}

    /** What is to be done once the lock is free: waking others before would only make them wait for it. */
    private static final class Afterwards {
        final List<Runnable> answers = new ArrayList<>(0);
        boolean wakeTimer;

        @Nullable
        Now last;
    }

    /** Performs a step at once. False if the node has failed or is closed. */
    private boolean run(Step step) {
        Afterwards afterwards = new Afterwards();
        boolean performed;
        lock.lock();
        try {
            performPosted(afterwards);
            performed = perform(step, afterwards);
            performDue(afterwards);
            dispatch();
        } finally {
            lock.unlock();
        }
        finish(afterwards);
        performPosted();
        return performed;
    }

    /**
     * Has a step performed before long, by this thread or by the one that holds the lock. Where many threads want something, they do not
     * wait for each other, and what they want travels together.
     */
    private void post(Step step, Runnable otherwise) {
        posted.add(new Posted(step, otherwise));
        performPosted();
    }

    private void post(Step step) {
        post(step, () -> {});
    }

    /** To be called after each time the lock was held: meanwhile others may have relied on the holder. */
    private void performPosted() {
        for (int turn = 0; !posted.isEmpty(); turn++) {
            if (turn >= TURNS_FOR_OTHERS && !closed && !failed && timer.isAlive()) {
                LockSupport.unpark(timer);
                return;
            }
            if (!lock.tryLock()) {
                return;
            }
            Afterwards afterwards = new Afterwards();
            try {
                performPosted(afterwards);
                performDue(afterwards);
                dispatch();
            } finally {
                lock.unlock();
            }
            finish(afterwards);
        }
    }

    private void performPosted(Afterwards afterwards) {
        for (int i = 0; i < POSTED_PER_LOCK; i++) {
            Posted next = posted.poll();
            if (next == null) {
                break;
            }
            if (!perform(next.step(), afterwards)) {
                afterwards.answers.add(next.otherwise());
            }
        }
    }

    private void performDue(Afterwards afterwards) {
        Now last = afterwards.last;
        if (!clock.isDriven() && last != null && isDue(last.nanos())) {
            // The timer may be waiting for the lock, and where many want it, for long.
            perform(engine::onTime, afterwards);
        }
        afterwards.wakeTimer = isDue(timerWakesNanos - 1);
    }

    /** While the lock is held, so that news stay in order; all at once, because whoever tells them would be in the way of each of them. */
    private void dispatch() {
        if (!untold.isEmpty()) {
            dispatcher.dispatch(untold);
            untold = new ArrayList<>();
        }
    }

    private boolean isDue(long nanos) {
        OptionalLong next = failed ? OptionalLong.empty() : engine.nextWakeNanos();
        return next.isPresent() && next.getAsLong() - nanos <= 0;
    }

    private void finish(Afterwards afterwards) {
        try {
            transport.flush();
        } catch (RuntimeException | Error failure) {
            // What was to be sent is lost, as on a network; what follows must not be.
            logSafely(Level.WARNING, "The transport of node " + self + " failed", failure);
        }
        for (int i = 0; i < afterwards.answers.size(); i++) {
            afterwards.answers.get(i).run();
        }
        if (afterwards.wakeTimer) {
            timerWoken = true;
            LockSupport.unpark(timer);
        }
    }

    private <T> T ask(Supplier<T> question) {
        lock.lock();
        try {
            return question.get();
        } finally {
            lock.unlock();
            performPosted();
        }
    }

    /** One event: reads the clock once, lets the engine decide, and performs what it wants. False if the node has failed or is closed. */
    private boolean perform(Step step, Afterwards afterwards) {
        if (failed || closed) {
            return false;
        }
        Output output = new Output();
        Now now = null;
        try {
            now = clock.now();
            afterwards.last = now;
            step.run(now, output);
            send(now, output);
            tellAll(output, now, afterwards);
            record(output, now);
            return true;
        } catch (RuntimeException | Error impossible) {
            try {
                if (now != null) {
                    tellTheRest(output, now, afterwards);
                }
            } finally {
                fail(impossible);
            }
            return false;
        }
    }

    private void tellAll(Output output, Now now, Afterwards afterwards) {
        while (output.told < output.notices.size()) {
            tell(output.notices.get(output.told++), now, afterwards);
        }
    }

    /** What had happened before the defect: nobody else knows of a claim that has ended. */
    private void tellTheRest(Output output, Now now, Afterwards afterwards) {
        while (output.told < output.notices.size()) {
            try {
                tellAll(output, now, afterwards);
            } catch (RuntimeException | Error defect) {
                LOG.log(Level.ERROR, "Not everything that had happened could be told", defect);
            }
        }
    }

    /** Sends what is to be sent. The acceptor in this process answers at once, which may cause further requests. */
    private void send(Now now, Output output) {
        List<Request> requests = output.requests;
        for (int i = 0; i < requests.size(); i++) {
            if (acceptor != null && output.isFor(selfIndex, i)) {
                answerHere(acceptor, requests.get(i), now, output);
            }
        }
        for (int i = 0; i < settings.cell().size() && !requests.isEmpty(); i++) {
            List<Request> some = i == selfIndex ? List.of() : output.requestsFor(i);
            if (!some.isEmpty()) {
                transport.sendAll(i, some);
            }
        }
    }

    private void answerHere(LocalAcceptor acceptor, Request request, Now now, Output output) {
        Response response = acceptor.handle(request, now);
        if (response != null) {
            engine.onResponse(selfIndex, response, now, output);
        } else if (!(request instanceof ReleaseRequest)) {
            engine.onUnanswered(selfIndex, request, now, output);
        }
    }

    private void tell(Notice notice, Now now, Afterwards afterwards) {
        if (notice instanceof Notice.Acquired acquired) {
            Claim claim = acquired.claim();
            NodeLease lease = new NodeLease(this, claim, acquired.tenure().token());
            claim.lease = lease;
            claim.acquiredAtMillis = now.wallMillis();
            claim.extensionCount = 0;
            publish(LeaseTransition.Kind.ACQUIRED, notice.resource(), acquired.tenure(), null, acquired.tookNanos());
            afterwards.answers.add(() -> claim.result.complete(Optional.of(lease)));
        } else if (notice instanceof Notice.Extended extended) {
            Claim claim = extended.claim();
            if (claim != null) {
                claim.extensionCount++;
                claim.answerExtensions(true);
            }
            publish(LeaseTransition.Kind.EXTENDED, notice.resource(), extended.tenure(), null, extended.tookNanos());
        } else if (notice instanceof Notice.ExtensionFailed failure) {
            failure.claim().answerExtensions(false);
            publish(
                    LeaseTransition.Kind.EXTENSION_FAILED,
                    notice.resource(),
                    failure.tenure(),
                    failure.reason(),
                    failure.tookNanos());
        } else if (notice instanceof Notice.Lost lost) {
            ended(lost.claim(), true);
            publish(LeaseTransition.Kind.LOST, notice.resource(), lost.tenure(), null, 0);
        } else if (notice instanceof Notice.Released released) {
            ended(released.claim(), false);
            publish(LeaseTransition.Kind.RELEASED, notice.resource(), released.tenure(), null, 0);
        } else if (notice instanceof Notice.Unavailable unavailable) {
            unavailable.claim().unavailableReason = unavailable.reason();
            afterwards.answers.add(() -> unavailable.claim().result.complete(Optional.empty()));
        } else if (notice instanceof Notice.LeaderChanged changed) {
            Incarnation leader = changed.leader();
            publish(new LeaseTransition(
                    LeaseTransition.Kind.LEADER_CHANGED,
                    notice.resource(),
                    0,
                    leader == null ? null : leader.nodeId(),
                    null,
                    Duration.ZERO));
        } else if (notice instanceof Notice.AttemptBegan began) {
            publish(
                    began.resource(),
                    attemptListeners,
                    listener -> listener.onBegin(began.resource(), began.purpose()));
        } else if (notice instanceof Notice.AttemptEnded ended) {
            publish(
                    ended.resource(),
                    attemptListeners,
                    listener -> listener.onEnd(ended.resource(), ended.outcome(), ended.reason()));
        }
    }

    private void record(Output output, Now now) {
        LeaseHistory kept = history;
        if (kept != null) {
            output.notices.forEach(notice -> record(kept, notice, now));
            output.failedAttempts.forEach(
                    failure -> kept.record(failure.resource(), HistoryEvent.of(failure, now, settings.cell())));
        }
    }

    private void record(LeaseHistory kept, Notice notice, Now now) {
        HistoryEvent event = HistoryEvent.of(notice, now, settings.cell());
        if (event != null) {
            kept.record(notice.resource(), event);
        }
    }

    private static void ended(Claim claim, boolean lost) {
        NodeLease lease = claim.lease;
        claim.lease = null;
        claim.answerExtensions(false);
        if (lease != null) {
            lease.ended(lost);
        }
    }

    private void publish(
            LeaseTransition.Kind kind, String name, Tenure tenure, @Nullable String reason, long tookNanos) {
        publish(new LeaseTransition(kind, name, tenure.token(), null, reason, Duration.ofNanos(tookNanos)));
    }

    private void publish(LeaseTransition transition) {
        publish(transition.leaseName(), listeners, listener -> listener.onTransition(transition));
    }

    /** One task for all who listen now: more would have another thread watch them. */
    private <L> void publish(String leaseName, List<L> listeners, Consumer<L> news) {
        if (!listeners.isEmpty()) {
            Iterator<L> told = listeners.iterator();
            untold.add(new Dispatcher.Task(
                    leaseName,
                    () -> told.forEachRemaining(
                            listener -> Dispatcher.runSafely(leaseName, () -> news.accept(listener)))));
        }
    }

    /** Something that cannot happen has happened: no answer beats two leaders, so this node stops being the owner of anything. */
    private void fail(Throwable impossible) {
        failed = true;
        if (acceptor != null) {
            // It shares its names with the proposer.
            acceptor.silence();
        }
        loseAll(engine::candidacies);
        for (int from = 0; from < engine.slots(); from += SLOTS_PER_LOOK) {
            int first = from;
            loseAll(() -> engine.parked(first, first + SLOTS_PER_LOOK));
        }
        logSafely(
                Level.ERROR,
                "Node " + self + " gave up all its leases for good because of a defect; restart it",
                impossible);
    }

    /** Where memory is short, some losses told are better than none. */
    private void loseAll(Supplier<Collection<Candidacy>> candidacies) {
        try {
            loseAll(candidacies.get());
        } catch (RuntimeException | Error defect) {
            logSafely(Level.ERROR, "Not every loss of node " + self + " could be told", defect);
        }
    }

    /** Where memory is short there may be none for a line either. */
    private static void logSafely(Level level, String message, Throwable failure) {
        try {
            LOG.log(level, message, failure);
        } catch (RuntimeException | Error unheard) {
            // nobody is left to tell
        }
    }

    private void loseAll(Collection<Candidacy> candidacies) {
        for (Candidacy candidacy : candidacies) {
            for (Claim claim : candidacy.claims) {
                Tenure tenure = claim.tenure;
                claim.tenure = null;
                claim.result.complete(Optional.empty());
                if (tenure != null) {
                    ended(claim, true);
                    publish(LeaseTransition.Kind.LOST, candidacy.resource, tenure, null, 0);
                    LeaseHistory kept = history;
                    if (kept != null) {
                        record(kept, new Notice.Lost(claim, tenure), clock.now());
                    }
                }
            }
        }
    }

    /**
     * Does what is due now. The timer calls it, or where the clock is driven, whoever drives it. Calling it early, late or twice is harmless.
     *
     * @return when it is to be called next, by the node's monotonic clock; empty if nothing is due
     */
    public OptionalLong onTime() {
        if (!run(engine::onTime)) {
            return OptionalLong.empty();
        }
        if (acceptor != null) {
            acceptor.sweep(ROWS_PER_SWEEP, clock.now());
        }
        dispatcher.summonIfNeeded();
        return ask(engine::nextWakeNanos);
    }

    /**
     * Waits until listeners, and whoever waits for the end of a lease, have been told all that happened so far.
     *
     * @param atMost how long to wait at most, in real time
     * @return whether all have; false also if this thread was interrupted, which stays set
     */
    public boolean awaitTold(Duration atMost) {
        // What this thread asked for may wait for another that holds the lock.
        run((now, output) -> {});
        return dispatcher.awaitIdle(atMost);
    }

    private void runTimer() {
        try {
            doWhatIsDue();
        } catch (RuntimeException | Error impossible) {
            failAndTell(impossible);
        }
        performPosted();
    }

    private void failAndTell(Throwable impossible) {
        lock.lock();
        try {
            fail(impossible);
            dispatch();
        } finally {
            lock.unlock();
        }
        performPosted();
    }

    private void doWhatIsDue() {
        Now before = clock.now();
        while (!closed && !failed) {
            onTime();
            Now now = clock.now();
            long wallAhead = now.wallMillis() - before.wallMillis() - (now.nanos() - before.nanos()) / 1_000_000;
            if (wallAhead > SUSPEND_MILLIS) {
                run((later, output) -> engine.settleAll(later, output));
            }
            before = now;
            sleep();
        }
    }

    private void sleep() {
        long pause = ask(() -> {
            timerWoken = false;
            long latest =
                    clock.now().nanos() + (engine.heldLeases() > 0 ? LONGEST_SLEEP_NANOS : LONGEST_IDLE_SLEEP_NANOS);
            OptionalLong next = engine.nextWakeNanos();
            timerWakesNanos = next.isPresent() && next.getAsLong() - latest < 0 ? next.getAsLong() : latest;
            return timerWakesNanos - clock.now().nanos();
        });
        // Whoever wakes this thread while it waits for a lock would be forgotten.
        if (pause > 0 && !timerWoken) {
            LockSupport.parkNanos(this, pause);
        }
    }
}
