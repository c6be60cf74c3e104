package io.paxoslease.protocol;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A tiny world for schedules: true time, a clock per node, and messages that arrive only when the schedule says so, as often as it says
 * so. A message is named by its kind, the attempt it belongs to ({@code "p#1"} is the first attempt of p, {@code "p"} its latest) and the
 * acceptor.
 */
final class World {

    static final long MILLI = 1_000_000L;
    static final String RESOURCE = "r";

    private final Set<Mistake> mistakes;
    private final Timing timing;
    private final Cell cell;
    private final Map<String, Clock> clocks = new TreeMap<>();
    private final Map<String, WeakAcceptor> acceptors = new TreeMap<>();
    private final Map<String, WeakAcceptor> stopping = new TreeMap<>();
    private final Map<String, Node> proposers = new LinkedHashMap<>();
    private final List<Sent> sent = new ArrayList<>();

    private static final class Clock {
        long originNanos;
        double rate = 1;
        double elapsedNanos;
        long wallAheadMillis;
    }

    private static final class Node {
        final WeakProposer proposer;
        final Cell cell;
        final List<Ballot> attempts = new ArrayList<>();

        Node(WeakProposer proposer, Cell cell) {
            this.proposer = proposer;
            this.cell = cell;
        }
    }

    private record Sent(String proposer, String acceptor, Message message) {}

    /** A cell a1, a2, … of acceptors that are past their quarantine. */
    World(int size, long maxLeaseMillis, double drift, Set<Mistake> mistakes) {
        this.mistakes = mistakes;
        this.timing = new Timing(maxLeaseMillis * MILLI, drift);
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= size; i++) {
            names.add("a" + i);
        }
        this.cell = new Cell("cell", names);
        for (String name : names) {
            boot(name).openAtOnce(now(name));
        }
        advance(1);
    }

    World(int size, Set<Mistake> mistakes) {
        this(size, 1_000, 0, mistakes);
    }

    /** Starts every monotonic clock there, to test what happens when it overflows. */
    World withClocksAt(long nanos) {
        for (String name : cell.acceptors()) {
            clock(name).originNanos = nanos - (long) clock(name).elapsedNanos;
            boot(name).openAtOnce(now(name));
        }
        return this;
    }

    World proposer(String name) {
        return proposer(name, new Incarnation(name, 1), cell, timing);
    }

    World proposer(String name, Incarnation incarnation, Cell itsCell, Timing itsTiming) {
        WeakProposer proposer =
                new WeakProposer(mistakes, incarnation, itsCell, itsTiming, new BallotSequence(now(name)));
        proposers.put(name, new Node(proposer, itsCell));
        clock(name).elapsedNanos = clock("a1").elapsedNanos;
        return this;
    }

    World proposer(String name, Incarnation incarnation) {
        return proposer(name, incarnation, cell, timing);
    }

    World proposer(String name, String... acceptors) {
        return proposer(name, new Incarnation(name, 1), new Cell("cell", List.of(acceptors)), timing);
    }

    Timing timing() {
        return timing;
    }

    Cell cell() {
        return cell;
    }

    /** The clock of a node; the wall clock shows the same time. */
    Now now(String node) {
        Clock clock = clock(node);
        long elapsed = (long) clock.elapsedNanos;
        return new Now(clock.originNanos + elapsed, 1_000_000 + elapsed / MILLI + clock.wallAheadMillis);
    }

    private Clock clock(String node) {
        return clocks.computeIfAbsent(node, name -> new Clock());
    }

    void clockRate(String node, double rate) {
        clock(node).rate = rate;
    }

    /** Makes the counters of a node's ballots higher than those of the others. */
    void wallClockAhead(String node, long millis) {
        clock(node).wallAheadMillis = millis;
    }

    void advance(long millis) {
        clocks.values().forEach(clock -> clock.elapsedNanos += millis * MILLI * clock.rate);
    }

    // What proposers do.

    void start(String proposer, long leaseMillis) {
        Node node = node(proposer);
        act(proposer, (now, effects) -> node.proposer.start(RESOURCE, leaseMillis * MILLI, now, effects));
        node.attempts.add(node.proposer.attempt(RESOURCE).ballot);
    }

    void start(String proposer) {
        start(proposer, timing.maxLeaseNanos() / MILLI);
    }

    void giveUp(String proposer) {
        act(proposer, (now, effects) -> node(proposer).proposer.giveUp(RESOURCE, now, effects));
    }

    void release(String proposer) {
        act(proposer, (now, effects) -> node(proposer).proposer.release(RESOURCE, now, effects));
    }

    void dispatchTimer(String proposer) {
        act(proposer, (now, effects) -> node(proposer).proposer.onTimer(RESOURCE, now, effects));
    }

    // What the network does.

    /** Lets prepare requests of the latest attempt and their answers through. */
    void prepare(String proposer, String... acceptors) {
        for (String acceptor : acceptors) {
            deliver(PrepareRequest.class, proposer, acceptor);
            deliver(PrepareResponse.class, proposer, acceptor);
        }
    }

    /** Lets proposals of the latest attempt and their answers through. */
    void propose(String proposer, String... acceptors) {
        for (String acceptor : acceptors) {
            deliver(ProposeRequest.class, proposer, acceptor);
            deliver(ProposeResponse.class, proposer, acceptor);
        }
    }

    /** Acquires or extends through these acceptors. */
    void win(String proposer, String... acceptors) {
        prepare(proposer, acceptors);
        propose(proposer, acceptors);
    }

    /** Delivers the newest message of this kind, attempt and acceptor; nothing if there is none. */
    void deliver(Class<? extends Message> kind, String attempt, String acceptor) {
        int hash = attempt.indexOf('#');
        String proposer = hash < 0 ? attempt : attempt.substring(0, hash);
        List<Ballot> attempts = node(proposer).attempts;
        Ballot ballot =
                attempts.get(hash < 0 ? attempts.size() - 1 : Integer.parseInt(attempt.substring(hash + 1)) - 1);
        for (int i = sent.size() - 1; i >= 0; i--) {
            Sent candidate = sent.get(i);
            if (kind.isInstance(candidate.message)
                    && candidate.proposer.equals(proposer)
                    && candidate.acceptor.equals(acceptor)
                    && candidate.message.ballot().equals(ballot)) {
                deliver(candidate);
                return;
            }
        }
    }

    private void deliver(Sent message) {
        String acceptor = message.acceptor;
        // A proposer that is named like an acceptor lives in its process, from before that gave up its port.
        WeakAcceptor former = acceptor.equals(message.proposer) ? stopping.get(acceptor) : null;
        WeakAcceptor role = former == null ? acceptors.get(acceptor) : former;
        Now now = now(acceptor);
        role.serveLocalProposer(acceptor.equals(message.proposer));
        Response response = null;
        if (message.message instanceof Request request) {
            response = role.onRequest(request, now);
        } else {
            Node node = node(message.proposer);
            act(
                    message.proposer,
                    (its, effects) -> node.proposer.onResponse(
                            node.cell.indexOf(acceptor), (Response) message.message, its, effects));
        }
        role.serveLocalProposer(false);
        if (response != null) {
            sent.add(new Sent(message.proposer, acceptor, response));
        }
    }

    // What goes wrong.

    /** The acceptor loses its memory and starts again, at once, in quarantine. */
    void crash(String acceptor) {
        boot(acceptor).open(now(acceptor));
    }

    /** The process of the acceptor gives up its port and goes on without one; the next one binds the port at once. */
    void passOnPort(String acceptor) {
        WeakAcceptor former = acceptors.get(acceptor);
        former.close();
        stopping.put(acceptor, former);
        crash(acceptor);
    }

    private WeakAcceptor boot(String acceptor) {
        WeakAcceptor role = new WeakAcceptor(mistakes, timing, 100, now(acceptor));
        acceptors.put(acceptor, role);
        return role;
    }

    // What can be seen.

    /** Who may act as the owner at this instant. */
    List<String> activeOwners() {
        List<String> owners = new ArrayList<>();
        proposers.forEach((name, node) -> {
            if (node.proposer.tenure(RESOURCE, now(name)) != null) {
                owners.add(name);
            }
        });
        return owners;
    }

    Tenure tenure(String proposer) {
        return node(proposer).proposer.tenure(RESOURCE, now(proposer));
    }

    WeakAcceptor acceptor(String name) {
        return acceptors.get(name);
    }

    AcceptedLease lease(String acceptor) {
        return acceptors.get(acceptor).lease(RESOURCE, now(acceptor));
    }

    private Node node(String proposer) {
        return proposers.get(proposer);
    }

    private interface Step {
        void run(Now now, List<Effect> effects);
    }

    private void act(String proposer, Step step) {
        List<Effect> effects = new ArrayList<>();
        step.run(now(proposer), effects);
        for (Effect effect : effects) {
            if (effect instanceof Effect.Broadcast broadcast) {
                for (String acceptor : node(proposer).cell.acceptors()) {
                    sent.add(new Sent(proposer, acceptor, broadcast.request()));
                }
            }
        }
    }
}
