package io.paxoslease.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * One state of a small world, and every step that can be taken from it. Immutable from outside: a step makes a new universe that shares
 * all roles but the one that acted.
 *
 * <p><strong>Time</strong> is counted in ticks of ten seconds that all clocks share; T and M are {@code leaseTicks}, and D = T (no drift), so
 * that owners stop at the very tick at which their acceptors do and an error of one tick shows. Any number of events fits between two ticks,
 * in any order. Fingerprints hold only what is left of each time, so that ticks go on for ever without making new states. A promise
 * without a lease is kept for less than one tick: what a dropped row does (X4) is explored too. The wall clock stands still, which makes
 * counters small numbers that meet and tie.
 *
 * <p><strong>The network</strong> is the set of all messages ever sent: each may be delivered at any time, any number of times or never, which
 * is loss, delay, reordering and duplication in one. Left out are only messages that would change nothing.
 *
 * <p><strong>Symmetry</strong>: acceptors are interchangeable, and so are proposers.
 */
final class Universe {

    static final long TICK_NANOS = 10_000_000_000L;
    static final String RESOURCE = "r";

    /** The bounds of a world. */
    record Bounds(
            int acceptors,
            int proposers,
            int ballots,
            int crashes,
            int leaseTicks,
            boolean shortPath,
            Set<Mistake> mistakes,
            Twist twist) {

        Bounds(
                int acceptors,
                int proposers,
                int ballots,
                int crashes,
                int leaseTicks,
                boolean shortPath,
                Set<Mistake> mistakes) {
            this(acceptors, proposers, ballots, crashes, leaseTicks, shortPath, mistakes, Twist.NONE);
        }

        Bounds with(Twist its, Mistake... made) {
            return new Bounds(acceptors, proposers, ballots, crashes, leaseTicks, shortPath, Set.of(made), its);
        }

        Timing timing() {
            return new Timing(leaseTicks * TICK_NANOS, 0);
        }

        Cell cell() {
            List<String> names = new ArrayList<>();
            for (int i = 0; i < acceptors; i++) {
                names.add("a" + i);
            }
            return new Cell("cell", names);
        }
    }

    /**
     * What else may happen in a world, for walks towards one mistake.
     *
     * @param shortLeases attempts may ask for one tick, too
     * @param restarts how often a proposer may lose its memory and start as another incarnation
     * @param neighbours proposers live in the processes of the acceptors of their number
     * @param acceptorTicks M of the acceptors if theirs differs from that of the proposers, else 0
     * @param originNanos what the monotonic clocks show at first
     * @param givesUp whether attempts are given up and leases released
     */
    record Twist(
            boolean shortLeases,
            int restarts,
            boolean neighbours,
            int acceptorTicks,
            long originNanos,
            boolean givesUp) {

        static final Twist NONE = new Twist(false, 0, false, 0, 0, true);
        static final Twist SHORT_LEASES = new Twist(true, 0, false, 0, 0, true);
        static final Twist RESTARTS = new Twist(false, 2, false, 0, 0, true);
        static final Twist NEIGHBOURS = new Twist(false, 0, true, 0, 0, true);
        static final Twist SMALLER_MAXIMUM = new Twist(false, 0, false, 1, 0, true);
        static final Twist OVERFLOW = new Twist(false, 0, false, 0, Long.MAX_VALUE - TICK_NANOS, true);
        static final Twist NOTHING_GIVEN_UP = new Twist(false, 0, false, 0, 0, false);
    }

    /** A message on its way between a proposer and an acceptor. */
    private static final class Envelope {
        final int proposer;
        final Message message;
        final long hash;
        final long swappedHash;

        Envelope(int proposer, Message message) {
            this.proposer = proposer;
            this.message = message;
            this.hash = hash(0);
            this.swappedHash = hash(1);
        }

        private long hash(int swap) {
            long hash = Fingerprints.mix(proposer ^ swap, message.ballot().counter());
            if (message instanceof Response response) {
                boolean yes = message instanceof PrepareResponse prepare
                        ? prepare.promised()
                        : ((ProposeResponse) message).accepted();
                hash = Fingerprints.mix(hash, yes ? 1 : 2);
                hash = Fingerprints.mix(hash, response.promisedCounter());
                AcceptedLease lease = response.lease();
                if (lease != null) {
                    hash = Fingerprints.mix(hash, lease.ballot().counter());
                    hash = Fingerprints.mix(hash, indexOf(lease.ballot().owner()) ^ swap);
                }
            }
            int kind = message instanceof PrepareRequest
                    ? 1
                    : message instanceof ProposeRequest
                            ? 2
                            : message instanceof ReleaseRequest ? 3 : message instanceof PrepareResponse ? 4 : 5;
            return Fingerprints.mix(hash, kind);
        }

        @Override
        public String toString() {
            return message.toString();
        }
    }

    private static final Envelope[] NOTHING = {};

    private final Bounds bounds;
    private final Acceptor[] acceptors;
    private final Proposer[] proposers;
    private final int[] ballotsLeft;
    private final Envelope[][] network;
    private int crashesLeft;
    private int restartsLeft;
    private long nanos;

    // What has been observed. Not part of a fingerprint: exploration sees it along the first way into a state, walks
    // along every way.
    private long[] releasedUpTo;
    private long lastToken;
    private String observed;

    /** The delivery of the answer to the request that was delivered last, for walks. */
    private int answerStep = NO_STEP;

    /** The first state: nothing sent, every acceptor past its quarantine. */
    Universe(Bounds bounds) {
        this.bounds = bounds;
        this.nanos = bounds.twist.originNanos;
        this.restartsLeft = bounds.twist.restarts;
        this.releasedUpTo = new long[bounds.proposers];
        this.acceptors = new Acceptor[bounds.acceptors];
        this.network = new Envelope[bounds.acceptors][];
        for (int i = 0; i < bounds.acceptors; i++) {
            acceptors[i] = blankAcceptor();
            acceptors[i].openAtOnce(now());
            network[i] = NOTHING;
        }
        this.proposers = new Proposer[bounds.proposers];
        this.ballotsLeft = new int[bounds.proposers];
        for (int i = 0; i < bounds.proposers; i++) {
            proposers[i] = blankProposer(i);
            ballotsLeft[i] = bounds.ballots;
        }
        this.crashesLeft = bounds.crashes;
    }

    private Universe(Universe other) {
        this.bounds = other.bounds;
        this.acceptors = other.acceptors.clone();
        this.proposers = other.proposers.clone();
        this.ballotsLeft = other.ballotsLeft.clone();
        this.network = other.network.clone();
        this.crashesLeft = other.crashesLeft;
        this.restartsLeft = other.restartsLeft;
        this.nanos = other.nanos;
        this.releasedUpTo = other.releasedUpTo;
        this.lastToken = other.lastToken;
    }

    private Acceptor blankAcceptor() {
        int ticks = bounds.twist.acceptorTicks;
        Timing timing = ticks == 0 ? bounds.timing() : new Timing(ticks * TICK_NANOS, 0);
        return bounds.mistakes.isEmpty()
                ? new Acceptor(timing, 10, now())
                : new WeakAcceptor(bounds.mistakes, timing, 10, now());
    }

    private Proposer blankProposer(long nonce) {
        // One node id for all: a proposer may well be the next life of another.
        Incarnation self = new Incarnation("p", nonce);
        return bounds.mistakes.isEmpty()
                ? new Proposer(self, bounds.cell(), bounds.timing(), new BallotSequence(now()))
                : new WeakProposer(bounds.mistakes, self, bounds.cell(), bounds.timing(), new BallotSequence(now()));
    }

    private Now now() {
        return new Now(nanos, 0);
    }

    // Steps, numbered: 0 is a tick, then the crashes, then the deeds of each proposer, then the deliveries.

    private static final List<String> DEED_NAMES =
            List.of("start", "giveUp", "release", "settle", "startInOneRoundTrip", "startWithShortLease", "restart");

    private static final int DEEDS = DEED_NAMES.size();

    /** What {@link #draw} answers if it found nothing to deliver. */
    static final int NO_STEP = -1;

    int steps() {
        int messages = 0;
        for (Envelope[] envelopes : network) {
            messages += envelopes.length;
        }
        return 1 + acceptors.length + DEEDS * proposers.length + messages;
    }

    /** How likely a walk takes the kinds of steps, drawn anew for each walk so that walks differ in kind (swarm testing). */
    record Mood(int tick, int crash, int restart, int giveUp, int release, int stale, int exchange) {

        static Mood draw(RandomGenerator random) {
            int[] percent = {0, 2, 5, 10};
            return new Mood(
                    1 + random.nextInt(8),
                    percent[random.nextInt(3)],
                    percent[random.nextInt(4)],
                    percent[random.nextInt(4)],
                    percent[random.nextInt(4)],
                    5 * random.nextInt(10),
                    45 * random.nextInt(3));
        }
    }

    /** A step drawn so that walks get somewhere: mostly deliveries of what belongs to the attempts in flight. */
    int draw(Mood mood, RandomGenerator random) {
        if (answerStep != NO_STEP && random.nextInt(100) < mood.exchange) {
            return answerStep;
        }
        int kind = random.nextInt(100);
        if ((kind -= mood.tick) < 0) {
            return 0;
        } else if ((kind -= mood.crash) < 0) {
            return 1 + random.nextInt(acceptors.length);
        }
        int proposer = random.nextInt(proposers.length);
        int deeds = 1 + acceptors.length + DEEDS * proposer;
        if ((kind -= mood.giveUp) < 0) {
            return deeds + 1;
        } else if ((kind -= mood.release) < 0) {
            return deeds + 2;
        } else if ((kind -= mood.restart) < 0 || !proposers[proposer].isTrying(RESOURCE)) {
            if (bounds.twist.shortLeases && random.nextInt(3) == 0) {
                return deeds + 5;
            } else if (bounds.twist.restarts > 0 && random.nextInt(8) == 0) {
                return deeds + 6;
            }
            return random.nextInt(4) == 0 ? deeds + 3 : bounds.shortPath && random.nextBoolean() ? deeds + 4 : deeds;
        }
        boolean stale = random.nextInt(100) < mood.stale;
        int acceptor = random.nextInt(acceptors.length);
        int first = 1 + acceptors.length + DEEDS * proposers.length;
        for (int i = 0; i < acceptor; i++) {
            first += network[i].length;
        }
        Attempt attempt = proposers[proposer].attempt(RESOURCE);
        for (int tries = 0; tries < 8 && network[acceptor].length > 0; tries++) {
            int index = random.nextInt(network[acceptor].length);
            Envelope envelope = network[acceptor][index];
            if (stale
                    || (envelope.proposer == proposer
                            && attempt != null
                            && attempt.ballot.equals(envelope.message.ballot())
                            && attempt.proposing
                                    == (envelope.message instanceof ProposeRequest
                                            || envelope.message instanceof ProposeResponse))) {
                return first + index;
            }
        }
        return NO_STEP;
    }

    /** The universe after a step, null if the step cannot be taken or is known to change nothing. */
    Universe step(int number) {
        int step = number - 1;
        if (step < 0) {
            Universe next = new Universe(this);
            next.nanos += TICK_NANOS;
            return next;
        }
        if (step < acceptors.length) {
            return crashesLeft > 0 ? crash(step) : null;
        }
        step -= acceptors.length;
        if (step < DEEDS * proposers.length) {
            return deed(step / DEEDS, step % DEEDS);
        }
        step -= DEEDS * proposers.length;
        int acceptor = 0;
        while (step >= network[acceptor].length) {
            step -= network[acceptor++].length;
        }
        return deliver(acceptor, network[acceptor][step]);
    }

    String describe(int number) {
        int step = number - 1;
        if (step < 0) {
            return "tick";
        }
        if (step < acceptors.length) {
            return "crash a" + step;
        }
        step -= acceptors.length;
        if (step < DEEDS * proposers.length) {
            return DEED_NAMES.get(step % DEEDS) + " p" + step / DEEDS;
        }
        step -= DEEDS * proposers.length;
        int acceptor = 0;
        while (step >= network[acceptor].length) {
            step -= network[acceptor++].length;
        }
        Envelope envelope = network[acceptor][step];
        return "deliver p" + envelope.proposer + (envelope.message instanceof Request ? " > a" : " < a") + acceptor
                + " " + envelope;
    }

    private Universe crash(int acceptor) {
        if (bounds.twist.neighbours && acceptor < ballotsLeft.length && ballotsLeft[acceptor] < bounds.ballots) {
            return null;
        }
        Universe next = new Universe(this);
        next.crashesLeft--;
        next.acceptors[acceptor] = next.blankAcceptor();
        next.acceptors[acceptor].open(next.now());
        return next;
    }

    private Universe deed(int index, int deed) {
        Proposer before = proposers[index];
        boolean holds = before.heldLeases() > 0;
        boolean possible = switch (deed) {
            case 0 -> ballotsLeft[index] > 0;
            case 1 -> bounds.twist.givesUp && before.isTrying(RESOURCE);
            case 2 -> bounds.twist.givesUp && (holds || before.isTrying(RESOURCE));
            case 3 -> holds && before.tenure(RESOURCE, now()) == null;
            case 4 -> bounds.shortPath && ballotsLeft[index] > 0;
            case 5 -> bounds.twist.shortLeases && ballotsLeft[index] > 0;
            default -> restartsLeft > 0;
        };
        if (!possible) {
            return null;
        }
        Universe next = new Universe(this);
        if (deed == 6) {
            next.restartsLeft--;
            next.proposers[index] = blankProposer(
                    bounds.mistakes.contains(Mistake.BALLOT_REUSED)
                            ? index
                            : index + (long) proposers.length * (bounds.twist.restarts - next.restartsLeft));
            next.releasedUpTo = releasedUpTo.clone();
            next.releasedUpTo[index] = 0;
            return next;
        }
        Proposer proposer = copy(before);
        next.proposers[index] = proposer;
        List<Effect> effects = new ArrayList<>(4);
        switch (deed) {
            case 0 -> {
                next.ballotsLeft[index]--;
                proposer.start(RESOURCE, bounds.leaseTicks * TICK_NANOS, now(), effects);
            }
            case 1 -> proposer.giveUp(RESOURCE, now(), effects);
            case 2 -> {
                proposer.release(RESOURCE, now(), effects);
                next.releasedUpTo = releasedUpTo.clone();
                next.releasedUpTo[index] = proposer.ballots().highest();
            }
            case 3 -> {
                if (proposer instanceof WeakProposer weak) {
                    weak.onTimer(RESOURCE, now(), effects);
                } else {
                    proposer.settle(RESOURCE, now(), effects);
                }
            }
            case 5 -> {
                next.ballotsLeft[index]--;
                proposer.start(RESOURCE, TICK_NANOS, now(), effects);
            }
            default -> {
                next.ballotsLeft[index]--;
                proposer.startInOneRoundTrip(RESOURCE, bounds.leaseTicks * TICK_NANOS, now(), effects);
            }
        }
        next.send(index, effects);
        return next;
    }

    private Universe deliver(int acceptor, Envelope envelope) {
        if (envelope.message instanceof Response response) {
            if (changesNothing(envelope.proposer, response)) {
                return null;
            }
            Universe next = new Universe(this);
            Proposer proposer = copy(proposers[envelope.proposer]);
            next.proposers[envelope.proposer] = proposer;
            List<Effect> effects = new ArrayList<>(4);
            proposer.onResponse(acceptor, response, now(), effects);
            next.send(envelope.proposer, effects);
            return next;
        }
        Universe next = new Universe(this);
        Acceptor role = copy(acceptors[acceptor]);
        next.acceptors[acceptor] = role;
        boolean neighbours = bounds.twist.neighbours && envelope.proposer == acceptor;
        if (neighbours && role instanceof WeakAcceptor weak) {
            weak.serveLocalProposer(true);
        }
        Response response = role.onRequest((Request) envelope.message, now());
        if (neighbours && role instanceof WeakAcceptor weak) {
            weak.serveLocalProposer(false);
        }
        next.clean(acceptor);
        if (response != null) {
            int before = next.network[acceptor].length;
            next.add(acceptor, new Envelope(envelope.proposer, withoutHint(response)));
            if (next.network[acceptor].length > before) {
                next.answerStep = acceptors.length + DEEDS * proposers.length;
                for (int i = 0; i <= acceptor; i++) {
                    next.answerStep += next.network[i].length;
                }
            }
        }
        return next;
    }

    private static Acceptor copy(Acceptor acceptor) {
        return acceptor instanceof WeakAcceptor weak ? weak.copy() : new Acceptor(acceptor);
    }

    private static Proposer copy(Proposer proposer) {
        return proposer instanceof WeakProposer weak ? weak.copy() : new Proposer(proposer);
    }

    private void send(int proposer, List<Effect> effects) {
        for (Effect effect : effects) {
            if (effect instanceof Effect.Broadcast broadcast) {
                Envelope envelope = new Envelope(proposer, broadcast.request());
                for (int i = 0; i < acceptors.length; i++) {
                    add(i, envelope);
                }
            } else if (effect instanceof Effect.Acquired acquired) {
                observe(acquired.tenure().token());
                observeComeback(proposer, acquired.tenure());
            } else if (effect instanceof Effect.Extended extended) {
                observeComeback(proposer, extended.tenure());
            }
        }
        for (int i = 0; i < acceptors.length; i++) {
            clean(i);
        }
    }

    /** X3, as far as the acceptors remember: their wall clocks stand still. */
    private void observe(long token) {
        if (token <= lastToken && crashesLeft == bounds.crashes) {
            observed = "the token fell from " + lastToken + " to " + token;
        }
        lastToken = token;
    }

    /** P6. */
    private void observeComeback(int proposer, Tenure tenure) {
        if (tenure.ballot().counter() <= releasedUpTo[proposer]) {
            observed = "a released lease came back";
        }
    }

    /** Drops the messages of an acceptor that can never change anything again. */
    private void clean(int acceptor) {
        int kept = 0;
        Envelope[] old = network[acceptor];
        for (Envelope envelope : old) {
            kept += isDead(acceptor, envelope) ? 0 : 1;
        }
        if (kept < old.length) {
            Envelope[] alive = new Envelope[kept];
            kept = 0;
            for (Envelope envelope : old) {
                if (!isDead(acceptor, envelope)) {
                    alive[kept++] = envelope;
                }
            }
            network[acceptor] = alive;
        }
    }

    private boolean isDead(int acceptor, Envelope envelope) {
        if (!bounds.mistakes.isEmpty()) {
            return false;
        }
        if (envelope.message instanceof Response response) {
            return changesNothing(envelope.proposer, response);
        }
        if (crashesLeft > 0 || envelope.message instanceof ReleaseRequest) {
            return false;
        }
        // A request of an attempt that is over, below a promise that can never be lost: the answer cannot even lift the
        // counter.
        Proposer proposer = proposers[envelope.proposer];
        Attempt attempt = proposer.attempt(RESOURCE);
        AcceptorTable table = acceptors[acceptor].table();
        long promised = table.promised(table.find(RESOURCE));
        return (attempt == null || !attempt.ballot.equals(envelope.message.ballot()))
                && envelope.message.ballot().counter() < promised
                && promised <= proposer.ballots().highest();
    }

    private void add(int acceptor, Envelope envelope) {
        if (isDead(acceptor, envelope)) {
            return;
        }
        Envelope[] old = network[acceptor];
        for (Envelope other : old) {
            if (other.hash == envelope.hash) {
                return;
            }
        }
        Envelope[] more = Arrays.copyOf(old, old.length + 1);
        more[old.length] = envelope;
        network[acceptor] = more;
    }

    /** An answer to an attempt that is over, or to a phase that is over, does nothing unless it lifts the counter (P2, T4). */
    private boolean changesNothing(int index, Response response) {
        Proposer proposer = proposers[index];
        if (!bounds.mistakes.isEmpty()
                || response.promisedCounter() > proposer.ballots().highest()) {
            return false;
        }
        Attempt attempt = proposer.attempt(RESOURCE);
        return attempt == null
                || !attempt.ballot.equals(response.ballot())
                || attempt.proposing != (response instanceof ProposeResponse);
    }

    private static Response withoutHint(Response response) {
        AcceptedLease lease = response.lease();
        if (lease == null) {
            return response;
        }
        AcceptedLease bare = new AcceptedLease(lease.ballot(), 0);
        return response instanceof PrepareResponse prepare
                ? new PrepareResponse(RESOURCE, prepare.ballot(), prepare.promised(), prepare.promisedCounter(), bare)
                : new ProposeResponse(
                        RESOURCE,
                        response.ballot(),
                        ((ProposeResponse) response).accepted(),
                        response.promisedCounter(),
                        bare);
    }

    // What must hold.

    /** What is wrong with this state, null if nothing is. */
    String violation() {
        if (observed != null) {
            return observed;
        }
        int owners = 0;
        for (Proposer proposer : proposers) {
            Tenure tenure = proposer.tenure(RESOURCE, now());
            if (tenure != null) {
                owners++;
                if (bounds.mistakes.isEmpty()
                        && excluding(tenure) < bounds.cell().majority()) {
                    return "the authority of " + tenure + " is not contained in the exclusions of a majority";
                }
            }
        }
        return owners > 1 ? "two owners at one instant" : null;
    }

    /** How many acceptors exclude all others until the deadline: by their record, or by their silence. */
    private int excluding(Tenure tenure) {
        int excluding = 0;
        for (Acceptor acceptor : acceptors) {
            AcceptedLease lease = acceptor.lease(RESOURCE, now());
            boolean recorded = lease != null
                    && lease.ballot().owner().equals(tenure.ballot().owner());
            long left = recorded ? lease.remainingNanos() : acceptor.quarantineRemainingNanos(now());
            if (left >= tenure.deadline().remainingNanos(now())) {
                excluding++;
            }
        }
        return excluding;
    }

    // Fingerprints.

    /** Equal for states that differ only in which acceptor or proposer is which. */
    long fingerprint() {
        long fingerprint = fingerprint(0);
        return proposers.length == 2 ? Math.min(fingerprint, fingerprint(1)) : fingerprint;
    }

    private long fingerprint(int swap) {
        long all = crashesLeft + ((long) restartsLeft << 32);
        for (int i = 0; i < proposers.length; i++) {
            int index = i ^ swap;
            all = Fingerprints.mix(all, hashOfProposer(index, swap));
            all = Fingerprints.mix(all, ballotsLeft[index]);
        }
        long columns = 0;
        for (int i = 0; i < acceptors.length; i++) {
            long column = hashOfAcceptor(acceptors[i], swap);
            for (int p = 0; p < proposers.length; p++) {
                Attempt attempt = proposers[p ^ swap].attempt(RESOURCE);
                column = Fingerprints.mix(
                        column,
                        attempt == null ? 0 : attempt.votes.isInFavour(i) ? 1 : attempt.votes.isAgainst(i) ? 2 : 3);
            }
            long messages = 0;
            for (Envelope envelope : network[i]) {
                messages += swap == 0 ? envelope.hash : envelope.swappedHash;
            }
            columns += Fingerprints.mix(column, messages);
        }
        return Fingerprints.mix(all, columns);
    }

    private long hashOfProposer(int index, int swap) {
        Proposer proposer = proposers[index];
        long hash = proposer.ballots().highest();
        Attempt attempt = proposer.attempt(RESOURCE);
        if (attempt != null) {
            hash = Fingerprints.mix(hash, attempt.ballot.counter());
            hash = Fingerprints.mix(hash, attempt.proposing ? 1 : 2);
            hash = Fingerprints.mix(hash, attempt.proposing ? 0 : attempt.stale);
            hash = Fingerprints.mix(hash, left(attempt.deadline.nanos()));
            hash = Fingerprints.mix(hash, attempt.renewalBase == null ? 0 : attempt.renewalBase.counter());
            if (proposer instanceof WeakProposer weak && weak.movedDeadline(attempt.ballot) != null) {
                hash = Fingerprints.mix(
                        hash, left(weak.movedDeadline(attempt.ballot).nanos()));
            }
        }
        Tenure tenure = proposer.unsettledTenure(RESOURCE);
        if (tenure != null) {
            hash = Fingerprints.mix(hash, tenure.ballot().counter());
            hash = Fingerprints.mix(hash, left(tenure.deadline().nanos()));
            hash = Fingerprints.mix(hash, proposer.held().spent(proposer.held().find(RESOURCE)));
        }
        return hash;
    }

    private long hashOfAcceptor(Acceptor acceptor, int swap) {
        AcceptorTable table = acceptor.table();
        int slot = table.find(RESOURCE);
        long hash = Fingerprints.mix(acceptor.quarantineRemainingNanos(now()), table.floor());
        if (slot != ResourceIndex.NONE) {
            hash = Fingerprints.mix(hash, table.promised(slot));
            Incarnation promisedBy = table.promisedBy(slot);
            hash = Fingerprints.mix(hash, promisedBy == null ? 7 : indexOf(promisedBy) ^ swap);
            Ballot lease = table.lease(slot);
            long left = left(table.endNanos(slot));
            if (lease == null) {
                hash = Fingerprints.mix(hash, left == 0 ? 8 : 9);
            } else {
                hash = Fingerprints.mix(hash, lease.counter());
                hash = Fingerprints.mix(hash, indexOf(lease.owner()) ^ swap);
                hash = Fingerprints.mix(hash, left);
            }
        }
        return hash;
    }

    private long left(long endNanos) {
        return Math.max(0, endNanos - nanos);
    }

    private static int indexOf(Incarnation proposer) {
        return (int) proposer.nonce();
    }
}
