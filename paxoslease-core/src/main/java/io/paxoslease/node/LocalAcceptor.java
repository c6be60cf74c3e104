package io.paxoslease.node;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Names;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor of this process behind its own lock, for peers and for the proposer beside it alike (A4 holds for both). After a defect, such as
 * too little memory in the middle of a change, it cannot be believed any more and takes no part: no answer beats two leaders.
 */
final class LocalAcceptor {

    private static final System.Logger LOG = System.getLogger(LocalAcceptor.class.getName());
    private static final int MAX_FAR_AHEAD = 64;
    private static final long TOLD_AGAIN_NANOS = Duration.ofMinutes(1).toNanos();

    private final Acceptor acceptor;
    private final BallotSequence ballots;
    private final Executor log;
    private final Set<String> farAhead = ConcurrentHashMap.newKeySet();
    private boolean broken;
    /** For whom it stands aside, and when that was told. */
    private @Nullable String asideFor;

    private long asideToldNanos;

    // How often a full table was told, and when last.
    private long fullTold;
    private long fullToldNanos;

    /** Has lines written elsewhere: whoever calls may hold a lock of its own, or be the thread that answers all members. */
    LocalAcceptor(Acceptor acceptor, BallotSequence ballots, Executor log) {
        this.acceptor = acceptor;
        this.ballots = ballots;
        this.log = log;
    }

    /** Handles one request; null for releases and where the acceptor takes no part. */
    @Nullable
    Response handle(Request request, Now now) {
        Response response = answer(request, now);
        if (response == null) {
            noteSilence(request, now);
        }
        return response;
    }

    /** Handles some requests one after another, and appends the answers. */
    void handle(List<Request> requests, Now now, List<@Nullable Response> responses) {
        int first = responses.size();
        synchronized (this) {
            for (int i = 0; i < requests.size(); i++) {
                responses.add(answer(requests.get(i), now));
            }
        }
        for (int i = 0; i < requests.size(); i++) {
            if (responses.get(first + i) == null) {
                noteSilence(requests.get(i), now);
            }
        }
    }

    private synchronized @Nullable Response answer(Request request, Now now) {
        if (broken) {
            return null;
        }
        try {
            ballots.observe(request.ballot().counter(), now);
            return acceptor.onRequest(request, now);
        } catch (RuntimeException | Error defect) {
            broken = true;
            throw defect;
        }
    }

    /** The node that asked learns no more than that no majority answered. */
    private void noteSilence(Request request, Now now) {
        try {
            if (BallotSequence.isTooFarAhead(request.ballot().counter(), now)) {
                noteFarAhead(Names.printable(request.ballot().owner().nodeId()));
            } else if (!(request instanceof ReleaseRequest)) {
                noteIfFull(now);
            }
        } catch (RuntimeException | Error unheard) {
            // a log that fails is no reason to vote no more
        }
    }

    /** Once for each node: it would otherwise be told with each of its attempts. */
    private void noteFarAhead(String nodeId) {
        if (farAhead.size() < MAX_FAR_AHEAD && farAhead.add(nodeId)) {
            log.execute(() -> LOG.log(
                    Level.WARNING,
                    "Node " + nodeId
                            + " uses ballots more than a day ahead of this node's wall clock, so that this node takes no"
                            + " part in its attempts: compare the wall clocks of the two. If that of " + nodeId
                            + " was ahead, restart " + nodeId + " when it is set right"));
        }
    }

    /** X4. At once, and then once a minute if it goes on. */
    private void noteIfFull(Now now) {
        long refused;
        int resources;
        synchronized (this) {
            if (fullTold > 0 && now.nanos() - fullToldNanos < TOLD_AGAIN_NANOS) {
                return;
            }
            refused = acceptor.refusals().getOrDefault(Acceptor.Refusal.TABLE_FULL, 0L);
            if (refused == fullTold) {
                return;
            }
            resources = acceptor.resources();
            fullTold = refused;
            fullToldNanos = now.nanos();
        }
        log.execute(() -> LOG.log(
                Level.WARNING,
                "The acceptor of this node remembers " + resources
                        + " leases, as many as it may, and leaves out requests for others, " + refused
                        + " so far: give the JVM a larger heap, a quarter of which is for them,"
                        + " or hold fewer leases at the same time"));
    }

    synchronized void open(boolean atOnce, Now now) {
        if (atOnce) {
            acceptor.openAtOnce(now);
        } else {
            acceptor.open(now);
        }
    }

    synchronized void close() {
        acceptor.close();
    }

    /** See {@link Acceptor#outlast}. */
    void outlast(String nodeId, long maxLeaseNanos, Now now) {
        double seconds;
        synchronized (this) {
            if (!acceptor.outlast(maxLeaseNanos, now)) {
                return;
            }
            seconds = acceptor.quarantineRemainingNanos(now) / 1e9;
        }
        String message =
                "Node " + Names.printable(nodeId) + " has a longer maximum lease time than this one, which may have"
                        + " accepted such a lease before it was restarted: its acceptor votes in "
                        + String.format(Locale.ROOT, "%.1f s", seconds);
        log.execute(() -> LOG.log(Level.WARNING, message));
    }

    /** See {@link Acceptor#standAside}. */
    void standAside(String who, Now now) {
        synchronized (this) {
            if (acceptor.isVoting(now)) {
                return;
            }
            acceptor.standAside(now);
            boolean told = asideFor != null && now.nanos() - asideToldNanos < TOLD_AGAIN_NANOS;
            asideFor = who;
            if (told) {
                return;
            }
            asideToldNanos = now.nanos();
        }
        log.execute(() -> LOG.log(
                Level.WARNING,
                who
                        + ". If the acceptor of this node voted as well, two nodes might lead: it stays silent for as long as"
                        + " that is so"));
    }

    synchronized @Nullable String standsAsideFor(Now now) {
        return acceptor.isVoting(now) ? null : asideFor;
    }

    /** From now on it takes no part. */
    synchronized void silence() {
        broken = true;
    }

    synchronized void sweep(int rows, Now now) {
        if (broken) {
            return;
        }
        try {
            acceptor.sweep(rows, now);
        } catch (RuntimeException | Error defect) {
            broken = true;
            throw defect;
        }
    }

    synchronized @Nullable AcceptedLease lease(String resource, Now now) {
        return acceptor.lease(resource, now);
    }

    synchronized RequestHandler.AcceptorState state(Now now) {
        return acceptor.isVoting(now) && !broken
                ? RequestHandler.AcceptorState.VOTING
                : RequestHandler.AcceptorState.QUARANTINED;
    }

    synchronized long quarantineRemainingNanos(Now now) {
        return acceptor.quarantineRemainingNanos(now);
    }

    synchronized AcceptorStatus status(Now now) {
        return new AcceptorStatus(
                state(now), Duration.ofNanos(quarantineRemainingNanos(now)), acceptor.leases(), acceptor.refusals());
    }
}
