package io.paxoslease.node;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Deadline;
import io.paxoslease.protocol.Effect;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Message;
import io.paxoslease.protocol.Mistake;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Tenure;
import io.paxoslease.protocol.Timing;
import io.paxoslease.protocol.WeakAcceptor;
import io.paxoslease.protocol.WeakProposer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;

/**
 * A cell of three nodes on one virtual clock that writes down what happens, for the figures of the documents.
 *
 * <p>Engines, proposers and acceptors are those of production, or weakened by named mistakes. What a figure shows is read from their state at
 * every half millisecond; nothing is drawn because it ought to be so. Times are milliseconds since the beginning.
 */
final class FigureStage {

    /** How long a message takes unless the scene says otherwise. */
    static final double USUAL_DELAY = 20;

    /** What becomes of a message that is lost. */
    static final double LOST = Double.POSITIVE_INFINITY;

    /** How long a message takes. */
    interface Network {
        double delay(String from, String to, Message message);
    }

    /** What a message means to those who wait for it. */
    enum Manner {
        REQUEST,
        CONSENT,
        REFUSAL,
        RELEASE
    }

    /** One message; {@code ignored} if nobody was there to take it, {@code arrives} infinite if it was lost on its way. */
    record Arrow(String from, String to, double sent, double arrives, Manner manner, String label, boolean ignored) {}

    /** What a bar beside the line of a node means. */
    enum State {
        LEADS,
        EXCLUDES,
        QUARANTINED,
        DOWN
    }

    /** A state and its time; the owner is empty where the state has none. */
    record Span(String node, State state, String owner, double from, double to) {}

    /** Something worth a sentence. */
    record Remark(double at, String node, String text) {}

    /** What was seen. */
    record Recording(
            List<String> nodes,
            double end,
            List<Arrow> arrows,
            List<Span> spans,
            List<Span> deadlines,
            List<Remark> remarks) {

        /** When two nodes led at once, as (from, to); empty if that never was. */
        List<double[]> twoLeaders() {
            List<double[]> overlaps = new ArrayList<>();
            for (Span a : spans) {
                for (Span b : spans) {
                    double from = Math.max(a.from, b.from);
                    double to = Math.min(a.to, b.to);
                    if (a.state == State.LEADS && b.state == State.LEADS && a.node.compareTo(b.node) < 0 && from < to) {
                        overlaps.add(new double[] {from, to});
                    }
                }
            }
            return overlaps;
        }

        /** Whether a node led throughout a time. */
        boolean leads(String node, double from, double to) {
            return spans.stream()
                    .anyMatch(span ->
                            span.state == State.LEADS && span.node.equals(node) && span.from <= from && span.to >= to);
        }
    }

    private static final String LEASE = "invoices";
    private static final double MILLI = 1_000_000;
    private static final double SAMPLE = 0.5;
    private static final long FIRST_LIFE = 1;
    private static final Network UNDISTURBED = (from, to, message) -> USUAL_DELAY;

    private final Set<Mistake> mistakes;
    private final Timing timing;
    private final long leaseNanos;
    private final Cell cell = new Cell("default", List.of("node-1", "node-2", "node-3"));
    private final TreeMap<String, Host> hosts = new TreeMap<>();
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingDouble(Event::at).thenComparingLong(Event::order));
    private final List<Arrow> arrows = new ArrayList<>();
    private final List<Span> spans = new ArrayList<>();
    private final List<Span> deadlines = new ArrayList<>();
    private final List<Remark> remarks = new ArrayList<>();
    private final Set<String> asked = new HashSet<>();
    private Network network = UNDISTURBED;
    private double time;
    private long order;

    private record Event(double at, long order, Runnable action) {}

    /** One life of a node. */
    private static final class Host {
        final String name;
        final Incarnation self;
        final long wallAheadMillis;
        final LocalAcceptor acceptor;
        final WeakProposer proposer;
        final LeaseEngine engine;
        Claim claim;

        /** Whether the scene, not the engine, says when to try. */
        boolean scripted;

        boolean quarantineTold;

        Host(
                String name,
                Incarnation self,
                long wallAheadMillis,
                LocalAcceptor acceptor,
                WeakProposer proposer,
                LeaseEngine engine) {
            this.name = name;
            this.self = self;
            this.wallAheadMillis = wallAheadMillis;
            this.acceptor = acceptor;
            this.proposer = proposer;
            this.engine = engine;
        }
    }

    FigureStage(long leaseMillis, Set<Mistake> mistakes) {
        this.leaseNanos = (long) (leaseMillis * MILLI);
        this.timing = new Timing(leaseNanos, 0.01);
        this.mistakes = mistakes;
        for (String name : cell.acceptors()) {
            boot(name, FIRST_LIFE, 0).acceptor.open(true, now(hosts.get(name)));
        }
    }

    FigureStage network(Network its) {
        network = its;
        return this;
    }

    /** A node whose ballots are higher than those of the others. */
    FigureStage wallClockAhead(String name, long millis) {
        boot(name, FIRST_LIFE, millis).acceptor.open(true, now(hosts.get(name)));
        return this;
    }

    // What happens on the stage.

    /** Begins a standing candidacy. */
    FigureStage elect(double at, String name) {
        return at(at, () -> submit(name, Claim.standing(LEASE, leaseNanos, 0)));
    }

    /** Asks for the lease once, without extending it. */
    FigureStage acquire(double at, String name) {
        return at(
                at,
                () -> submit(
                        name,
                        Claim.patient(LEASE, leaseNanos, now(hosts.get(name)).nanos() + leaseNanos)));
    }

    /** Lets a node take note of who leads. */
    FigureStage watch(String name) {
        hosts.get(name).engine.watch(LEASE);
        return this;
    }

    FigureStage resign(double at, String name) {
        return at(at, () -> {
            Host host = hosts.get(name);
            run(host, (now, out) -> host.engine.resign(host.claim, now, out));
        });
    }

    FigureStage crash(double at, String name) {
        return at(at, () -> {
            hosts.put(name, new Host(name, hosts.get(name).self, 0, null, null, null));
            remark(name, name + " crashes.");
        });
    }

    FigureStage restart(double at, String name) {
        return at(at, () -> {
            Host host = boot(name, FIRST_LIFE + 1, 0);
            host.acceptor.open(false, now(host));
            remark(
                    name,
                    String.format(
                            Locale.ROOT,
                            "%s is back with an empty memory: in quarantine until %.0f ms.",
                            name,
                            time + timing.quarantineNanos() / MILLI));
        });
    }

    /** Starts an attempt at this very moment, whatever an engine would do. */
    FigureStage attempt(double at, String name) {
        return at(at, () -> {
            Host host = hosts.get(name);
            host.scripted = true;
            script(host, (now, effects) -> host.proposer.start(LEASE, leaseNanos, now, effects));
        });
    }

    FigureStage giveUp(double at, String name) {
        return at(at, () -> {
            Host host = hosts.get(name);
            remark(name, name + " gives this attempt up and sends a release.");
            script(host, (now, effects) -> host.proposer.giveUp(LEASE, now, effects));
        });
    }

    FigureStage say(double at, String name, String text) {
        return at(at, () -> remark(name, text));
    }

    private FigureStage at(double at, Runnable action) {
        events.add(new Event(at, order++, action));
        return this;
    }

    /** Plays the scene and says what was seen. */
    Recording play(double end) {
        for (double next = 0; next <= end; next += SAMPLE) {
            while (!events.isEmpty() && events.peek().at <= next) {
                Event event = events.poll();
                time = event.at;
                event.action.run();
            }
            time = next;
            hosts.values().forEach(this::sample);
        }
        return new Recording(cell.acceptors(), end, List.copyOf(arrows), List.copyOf(spans), deadlines, remarks);
    }

    // The shell, in the manner of LeaseNode.

    private interface Step {
        void run(Now now, Output out);
    }

    private interface Script {
        void run(Now now, List<Effect> effects);
    }

    private Host boot(String name, long life, long wallAheadMillis) {
        Incarnation self = new Incarnation(name, life);
        // The first life began long before the scene: the promise floor (X3) is below every ballot.
        long ageMillis = life == FIRST_LIFE ? 1_000 : 0;
        Now now = new Now((long) (time * MILLI), wallMillis(wallAheadMillis) - ageMillis);
        BallotSequence ballots = new BallotSequence(now);
        WeakProposer proposer = new WeakProposer(mistakes, self, cell, timing, ballots);
        Host host = new Host(
                name,
                self,
                wallAheadMillis,
                new LocalAcceptor(new WeakAcceptor(mistakes, timing, 10, now), ballots, Runnable::run),
                proposer,
                new LeaseEngine(self, proposer, false, (long) (1_000 * MILLI), new Dice(name.hashCode())));
        hosts.put(name, host);
        return host;
    }

    private Now now(Host host) {
        return new Now((long) (time * MILLI), wallMillis(host.wallAheadMillis));
    }

    private long wallMillis(long ahead) {
        return 1_790_000_000_000L + (long) time + ahead;
    }

    private boolean isUp(Host host) {
        return host.acceptor != null && hosts.get(host.name) == host;
    }

    private void submit(String name, Claim claim) {
        Host host = hosts.get(name);
        host.claim = claim;
        run(host, (now, out) -> host.engine.submit(claim, now, out));
    }

    private void script(Host host, Script script) {
        run(host, (now, out) -> {
            List<Effect> effects = new ArrayList<>();
            script.run(now, effects);
            for (Effect effect : effects) {
                if (effect instanceof Effect.Broadcast broadcast) {
                    out.requests.add(broadcast.request());
                } else if (effect instanceof Effect.Acquired acquired) {
                    acquired(host, acquired.tenure());
                } else if (effect instanceof Effect.Lost) {
                    lost(host);
                }
            }
        });
    }

    private void run(Host host, Step step) {
        if (!isUp(host)) {
            return;
        }
        Now now = now(host);
        Output out = new Output();
        step.run(now, out);
        for (int i = 0; i < out.requests.size(); i++) {
            broadcast(host, out.requests.get(i), now, out);
        }
        out.notices.forEach(notice -> tell(host, notice));
        host.engine.nextWakeNanos().ifPresent(wakes -> {
            double due = Math.max(time, Math.ceil(wakes / 1_000.0) / 1_000);
            at(due, () -> run(host, (then, its) -> host.engine.onTime(then, its)));
        });
    }

    private void broadcast(Host host, Request request, Now now, Output out) {
        if (request instanceof PrepareRequest) {
            started(host, now);
        }
        for (String to : cell.acceptors()) {
            if (!to.equals(host.name)) {
                send(host, to, request);
            }
        }
        Response response = host.acceptor.handle(request, now);
        if (response != null) {
            respond(host, host.name, response, now, out);
        } else if (!(request instanceof ReleaseRequest)) {
            host.engine.onUnanswered(cell.indexOf(host.name), request, now, out);
        }
    }

    private void respond(Host host, String acceptor, Response response, Now now, Output out) {
        int index = cell.indexOf(acceptor);
        if (host.scripted) {
            script(host, (its, effects) -> host.proposer.onResponse(index, response, its, effects));
        } else {
            host.engine.onResponse(index, response, now, out);
        }
    }

    private void send(Host from, String to, Request request) {
        double sent = time;
        double arrives = sent + network.delay(from.name, to, request);
        if (arrives == LOST) {
            arrows.add(arrow(from.name, to, sent, arrives, request, false));
            return;
        }
        at(arrives, () -> {
            Host host = hosts.get(to);
            boolean takesPart = isUp(host) && host.acceptor.state(now(host)) == RequestHandler.AcceptorState.VOTING;
            arrows.add(arrow(from.name, to, sent, time, request, !takesPart));
            if (takesPart) {
                Response response = host.acceptor.handle(request, now(host));
                if (response instanceof ProposeResponse refusal && !refusal.accepted() && refusal.lease() != null) {
                    String holder = refusal.lease().ballot().owner().nodeId();
                    remark(to, to + " refuses the proposal: the lease of " + holder + " is live.");
                }
                learn(host, request, response);
                if (response != null) {
                    answer(host.name, from, response);
                }
            } else if (!from.scripted) {
                // The transport says so: the connection was refused, or the frame came back without an answer.
                at(
                        time + USUAL_DELAY,
                        () -> run(from, (now, out) -> from.engine.onUnanswered(cell.indexOf(to), request, now, out)));
            }
        });
    }

    private void answer(String from, Host to, Response response) {
        double sent = time;
        double arrives = sent + network.delay(from, to.name, response);
        if (arrives == LOST) {
            arrows.add(arrow(from, to.name, sent, arrives, response, false));
            return;
        }
        at(arrives, () -> {
            arrows.add(arrow(from, to.name, sent, time, response, !isUp(to)));
            run(to, (now, out) -> respond(to, from, response, now, out));
        });
    }

    /** X6, as LeaseNode does it. */
    private void learn(Host host, Request request, Response response) {
        run(host, (now, out) -> {
            if (request instanceof ReleaseRequest release) {
                host.engine.onOwnerGone(LEASE, release.ballot(), now, out);
            } else if (request instanceof ProposeRequest propose
                    && response instanceof ProposeResponse answer
                    && answer.accepted()) {
                AcceptedLease lease = answer.lease();
                long remaining = lease == null ? propose.leaseNanos() : lease.remainingNanos();
                host.engine.onOwnerSeen(LEASE, propose.ballot().owner(), remaining, now, out);
            }
        });
    }

    // What is seen.

    private void started(Host host, Now now) {
        if (host.proposer.tenure(LEASE, now) != null) {
            remark(host.name, "Half of what was left is over: " + host.name + " asks anew, with a higher ballot.");
        } else if (!asked.add(host.name)) {
            if (host.scripted) {
                remark(host.name, host.name + " asks anew.");
            }
        } else {
            double deadline =
                    time + Deadline.after(now, timing.ownerNanos(leaseNanos)).remainingNanos(now) / MILLI;
            remark(
                    host.name,
                    String.format(
                            Locale.ROOT, "%s stores its deadline, %.0f ms, and only then asks.", host.name, deadline));
        }
    }

    private void tell(Host host, Notice notice) {
        if (notice instanceof Notice.Acquired acquired) {
            acquired(host, acquired.tenure());
        } else if (notice instanceof Notice.Extended extended) {
            double until = deadline(host, extended.tenure());
            remark(
                    host.name,
                    String.format(Locale.ROOT, "A majority accepted: %s leads until %.0f ms.", host.name, until));
        } else if (notice instanceof Notice.Lost) {
            lost(host);
        } else if (notice instanceof Notice.Released) {
            remark(host.name, host.name + " stops leading, and then tells the others.");
        }
    }

    private void acquired(Host host, Tenure tenure) {
        double until = deadline(host, tenure);
        remark(host.name, String.format(Locale.ROOT, "A majority accepted: %s leads until %.0f ms.", host.name, until));
    }

    private void lost(Host host) {
        remark(host.name, host.name + " has reached its deadline and stops by itself.");
    }

    private double deadline(Host host, Tenure tenure) {
        Now now = now(host);
        double until = time + tenure.deadline().remainingNanos(now) / MILLI;
        deadlines.add(new Span(host.name, State.LEADS, host.name, time, until));
        return until;
    }

    private void remark(String node, String text) {
        if (remarks.stream().noneMatch(remark -> remark.text.equals(text))) {
            remarks.add(new Remark(time, node, text));
        }
    }

    private void sample(Host host) {
        if (!isUp(host)) {
            extend(host.name, State.DOWN, "");
            return;
        }
        Now now = now(host);
        if (host.proposer.tenure(LEASE, now) != null) {
            extend(host.name, State.LEADS, host.name);
        } else if (host.scripted) {
            script(host, (its, effects) -> host.proposer.settle(LEASE, its, effects));
        }
        if (host.acceptor.state(now) == RequestHandler.AcceptorState.QUARANTINED) {
            extend(host.name, State.QUARANTINED, "");
            host.quarantineTold = true;
        } else if (host.quarantineTold) {
            host.quarantineTold = false;
            remark(host.name, "The quarantine is over: " + host.name + " votes again.");
        }
        AcceptedLease lease = host.acceptor.lease(LEASE, now);
        if (lease != null) {
            String owner = lease.ballot().owner().nodeId();
            spans.stream()
                    .filter(span -> span.node.equals(host.name) && span.state == State.EXCLUDES && span.to == time)
                    .filter(span -> !span.owner.equals(owner))
                    .findFirst()
                    .ifPresent(span -> remark(
                            host.name, host.name + " overwrites the lease of " + span.owner + ", which is live."));
            extend(host.name, State.EXCLUDES, owner);
        }
    }

    /** Makes the state that was seen last longer, or begins a new one. */
    private void extend(String node, State state, String owner) {
        for (int i = spans.size() - 1; i >= 0; i--) {
            Span span = spans.get(i);
            if (span.node.equals(node) && span.state == state && span.owner.equals(owner) && span.to == time) {
                spans.set(i, new Span(node, state, owner, span.from, time + SAMPLE));
                return;
            }
        }
        spans.add(new Span(node, state, owner, time, time + SAMPLE));
    }

    private static Arrow arrow(String from, String to, double sent, double arrives, Message message, boolean ignored) {
        if (message instanceof PrepareRequest) {
            return new Arrow(from, to, sent, arrives, Manner.REQUEST, "prepare", ignored);
        } else if (message instanceof ProposeRequest) {
            return new Arrow(from, to, sent, arrives, Manner.REQUEST, "propose", ignored);
        } else if (message instanceof ReleaseRequest) {
            return new Arrow(from, to, sent, arrives, Manner.RELEASE, "release", ignored);
        }
        boolean given;
        AcceptedLease lease;
        String word;
        if (message instanceof PrepareResponse prepare) {
            given = prepare.promised();
            lease = prepare.lease();
            word = "promised";
        } else {
            ProposeResponse propose = (ProposeResponse) message;
            given = propose.accepted();
            lease = propose.lease();
            word = "accepted";
        }
        if (lease != null && !lease.ballot().owner().nodeId().equals(to)) {
            String holder = lease.ballot().owner().nodeId();
            return new Arrow(from, to, sent, arrives, Manner.REFUSAL, "held by " + holder, ignored);
        }
        return given
                ? new Arrow(from, to, sent, arrives, Manner.CONSENT, word, ignored)
                : new Arrow(from, to, sent, arrives, Manner.REFUSAL, "outbid", ignored);
    }
}
