package io.paxoslease.spring.boot;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseStatus;
import io.paxoslease.node.RequestHandler.AcceptorState;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Names;
import io.paxoslease.spring.events.ApplicationReadiness;
import io.paxoslease.spring.events.LeaseEventPublisher;
import io.paxoslease.spring.interception.GuardedLeases;
import io.paxoslease.spring.interception.LeaderOnlyRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.SmartApplicationListener;

/**
 * Starts the node after the web server and stops its elections before: while the application stops, running guarded calls drain, then the leases
 * of elections are released so that another node takes over at once, and this node's acceptor answers until the web server begins to stop. What
 * code acquired itself it may use until it has stopped, too: {@link #releaseRest()}.
 */
final class PaxosLeaseLifecycle implements SmartLifecycle, SmartApplicationListener {

    /** Below the default of user beans, above the web server: stopped after the former and before the latter. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 512;

    private static final Log LOG = LogFactory.getLog("io.paxoslease");

    private final CellConfiguration cell;
    private final PaxosLeaseProperties properties;
    private final LeaseNode node;
    private final AcceptorServers servers;
    private final ObjectProvider<GuardedLeases> guarded;
    private final NeededElections elections;
    private final ObjectProvider<LeaseEventPublisher> events;
    private final ApplicationContext context;

    /** How long the application may take to become ready before a warning says what waits for it. */
    Duration readyWithin = Duration.ofSeconds(30);

    /** How long a stop waits for listeners to be told of the end of their leases. */
    Duration eventsWithin = Duration.ofSeconds(2);

    /** What waits to be told at its time. Until then the timer of the JDK keeps all of this. */
    private final List<CompletableFuture<Void>> later = new CopyOnWriteArrayList<>();

    private boolean nodeStarted;
    private boolean ready;
    /** Whether it is to be told when the quarantine ends. */
    private boolean awaitsVote;

    private volatile boolean running;
    /** How often it was started: what a stop began ends with the next start. */
    private volatile int starts;
    /** The last stop, until it has stopped the elections. */
    private volatile CompletableFuture<Void> stopping = CompletableFuture.completedFuture(null);

    PaxosLeaseLifecycle(
            CellConfiguration cell,
            PaxosLeaseProperties properties,
            LeaseNode node,
            AcceptorServers servers,
            ObjectProvider<GuardedLeases> guarded,
            ObjectProvider<LeaderOnlyRegistry> guardedNames,
            ObjectProvider<LeaseEventPublisher> events,
            ApplicationContext context) {
        this.cell = cell;
        this.properties = properties;
        this.node = node;
        this.servers = servers;
        this.guarded = guarded;
        this.elections = new NeededElections(properties, node, guardedNames);
        this.events = events;
        this.context = context;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public synchronized void start() {
        if (!nodeStarted) {
            servers.requireBound();
            logStart();
            if (servers.canBeCalled()) {
                openAcceptor();
            } else {
                LOG.warn(
                        "PaxosLease: this application listens nowhere, as in a test with a mock web environment, so the"
                                + " acceptor of node '" + cell.node().nodeId()
                                + "' does not vote: a process that does listen may"
                                + " have its name. For leases in tests use @AutoConfigureTestLeases.");
            }
            node.start();
            later(readyWithin.toNanos(), this::warnUnlessReady);
            nodeStarted = true;
        } else if (servers.canBeCalled()) {
            openAcceptor();
        }
        starts++;
        running = true;
        elections.need();
        guarded.ifAvailable(GuardedLeases::resume);
        elections.goOn();
        if (ready) {
            elections.begin();
        }
    }

    private void logStart() {
        cell.warnings().forEach(LOG::warn);
        if (context.containsBean(PaxosLeaseAutoConfiguration.CHANNEL)) {
            cell.channelWarnings().forEach(LOG::warn);
        }
        if (cell.standalone()) {
            LOG.info("PaxosLease: standalone cell of one, node '" + cell.node().nodeId() + "', leases "
                    + elections.leaseNames()
                    + ": it leads whatever it asks for. To share leases between instances, list them:"
                    + " paxoslease.members.<node-id>=<base URL>");
            return;
        }
        Cell members = cell.node().cell();
        LOG.info("PaxosLease: node '" + cell.node().nodeId() + "' of cell '" + members.name() + "', members "
                + members.acceptors() + ", majority " + members.majority() + ", leases " + elections.leaseNames()
                + (cell.isAcceptor()
                        ? (cell.answersOverTcp() ? "; listens on port " + servers.tcpPort() : "")
                                + "; its acceptor votes in "
                                + seconds(cell.node().timing().quarantineNanos())
                        : "; it can lead but has no vote")
                + " (incarnation " + node.incarnation() + ")");
    }

    /** Again where the context is started again: the acceptor was closed before the web server gave up its port. */
    private void openAcceptor() {
        node.openAcceptor();
        if (!awaitsVote && node.acceptorState() == AcceptorState.QUARANTINED) {
            awaitsVote = true;
            logEndOfQuarantine();
        }
    }

    /** A restarted acceptor is silent for so long that its end is worth a line. */
    private void logEndOfQuarantine() {
        later(node.quarantineRemainingNanos(), this::tellEndOfQuarantine);
    }

    /** Not of a node that gave up meanwhile: its acceptor never votes. */
    void tellEndOfQuarantine() {
        if (awaitsVoteStill()) {
            logEndOfQuarantine();
        } else if (running && node.acceptorState() == AcceptorState.VOTING) {
            LOG.info("PaxosLease: the quarantine of node '" + cell.node().nodeId() + "' is over, its acceptor votes");
        }
    }

    /** Known when a start that is under way has ended. Who asks logs afterwards: a log that blocks must not hold up the release. */
    private synchronized boolean awaitsVoteStill() {
        awaitsVote = running && node.quarantineRemainingNanos() > 0;
        return awaitsVote;
    }

    /** On a thread that begins then and ends at once, with a name that tells in the log where the line comes from. */
    private void later(long delayNanos, Runnable line) {
        CompletableFuture<Void> time = new CompletableFuture<>();
        later.add(time);
        time.thenRunAsync(line, task -> {
            Thread thread = new Thread(task, "paxoslease-" + cell.node().nodeId() + "-start");
            thread.setDaemon(true);
            thread.start();
        });
        time.whenComplete((come, closed) -> later.remove(time));
        time.completeOnTimeout(null, delayNanos, TimeUnit.NANOSECONDS);
    }

    /** What keeps an application from being ready keeps its jobs from running, and nothing else says so. */
    void warnUnlessReady() {
        Set<String> names = leasesThatWait();
        if (!names.isEmpty()) {
            LOG.warn("PaxosLease: the application is not ready " + readyWithin
                    + " after its node started. Until it is, this"
                    + " node does not stand for the leases " + names + ", and what they guard does not run. What an"
                    + " ApplicationRunner or CommandLineRunner does without end belongs on a thread of its own.");
        }
    }

    private synchronized Set<String> leasesThatWait() {
        return running && !ready ? elections.leaseNames() : Set.of();
    }

    private static String seconds(long nanos) {
        return nanos / 1_000_000_000.0 + " s";
    }

    @Override
    public boolean supportsEventType(Class<? extends ApplicationEvent> eventType) {
        return ApplicationReadiness.mayBeToldBy(eventType) || ContextClosedEvent.class.isAssignableFrom(eventType);
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (ApplicationReadiness.isToldBy(event, context)) {
            ready();
        } else if (event instanceof ContextClosedEvent closed && closed.getApplicationContext() == context) {
            later.forEach(time -> time.cancel(false));
            giveUpScheduled();
        }
    }

    private void ready() {
        if (becomesReady()) {
            elections.forEachGuarded(this::beginElectionOfLateBean);
        }
    }

    private synchronized boolean becomesReady() {
        if (ready) {
            return false;
        }
        ready = true;
        if (running) {
            elections.begin();
        }
        return true;
    }

    /** Of a guarded bean that was made after the application became ready. */
    private void beginElectionOfLateBean(String leaseName) {
        if (beginsLate(leaseName)) {
            LOG.info("PaxosLease: a bean with methods guarded by lease '" + Names.printable(leaseName)
                    + "' was made only now, so this node begins to stand for it only now, and a call that follows at once"
                    + " may be skipped or refused. With paxoslease.leases["
                    + Names.printable(leaseName) + "].candidate=true it stands from the start.");
        }
    }

    /** Before the leases are released, or not at all. */
    private synchronized boolean beginsLate(String leaseName) {
        return running && elections.beginLate(leaseName);
    }

    @Override
    public void stop() {
        stop(() -> {});
    }

    @Override
    public void stop(Runnable callback) {
        int startsBefore = starts;
        running = false;
        Thread stopper = Thread.currentThread();
        CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);
        GuardedLeases leases = guarded.getIfAvailable();
        if (leases != null) {
            leases.beginDraining();
            elections.giveUpGuarded(leases);
            idle = leases.whenIdle().toCompletableFuture();
        }
        Duration drainTimeout = properties.shutdown().drainTimeout();
        stopping = idle.copy()
                .orTimeout(drainTimeout.toMillis(), TimeUnit.MILLISECONDS)
                .handleAsync(
                        (done, late) -> stopElections(late, startsBefore, stopper),
                        PaxosLeaseLifecycle::onThreadOfItsOwn);
        // Once it has ended: whoever goes on now may come to the last release at once.
        stopping.whenComplete((done, failure) -> callback.run());
    }

    /**
     * Spring's scheduler begins no more runs from here on, and beans that stop before this one, as containers of listeners do, may take long:
     * what only scheduled methods need moves to another node meanwhile.
     */
    private void giveUpScheduled() {
        GuardedLeases leases = running ? guarded.getIfAvailable() : null;
        if (leases != null) {
            elections.giveUpScheduled(leases);
        }
    }

    private @Nullable Void stopElections(@Nullable Throwable late, int startsBefore, Thread stopper) {
        if (unlessStarted(startsBefore, () -> node.stopElections().forEach(elections::givenUp))) {
            if (late != null) {
                LOG.warn("PaxosLease: guarded calls still run after "
                        + properties.shutdown().drainTimeout() + "; their leases are released all the same");
            }
            awaitDelivered(stopper, this::goesOn);
        }
        return null;
    }

    /** Whether code acquired the lease itself. */
    private boolean goesOn(String leaseName) {
        return node.existingElection(leaseName).isEmpty()
                || node.lease(leaseName).filter(LeaseStatus::heldHere).isPresent();
    }

    /**
     * Releases every lease. To be called when everything else has stopped; where a guarded call still runs, because it may take longer than the
     * context waits, it happens when that has ended.
     */
    void releaseRest() {
        int startsBefore = starts;
        Thread stopper = Thread.currentThread();
        stopping.whenComplete((done, noThread) -> {
            if (unlessStarted(startsBefore, node::releaseAll)) {
                awaitDelivered(stopper, leaseName -> false);
            }
        });
    }

    /** What drained for longer than the context waited may end when the context was started again: then nothing is given up. */
    private synchronized boolean unlessStarted(int startsBefore, Runnable giveUp) {
        if (starts != startsBefore) {
            return false;
        }
        giveUp.run();
        return true;
    }

    private void awaitDelivered(Thread stopper, Predicate<String> goesOn) {
        events.ifAvailable(publisher -> publisher.awaitDelivered(eventsWithin, stopper, goesOn));
    }

    private static void onThreadOfItsOwn(Runnable task) {
        new Thread(task, "paxoslease-stop").start();
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
