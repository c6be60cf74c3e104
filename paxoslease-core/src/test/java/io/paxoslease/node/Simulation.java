package io.paxoslease.node;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Acceptor;
import io.paxoslease.protocol.Ballot;
import io.paxoslease.protocol.BallotSequence;
import io.paxoslease.protocol.Cell;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Mistake;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.PrepareRequest;
import io.paxoslease.protocol.PrepareResponse;
import io.paxoslease.protocol.ProposeRequest;
import io.paxoslease.protocol.ProposeResponse;
import io.paxoslease.protocol.Proposer;
import io.paxoslease.protocol.ReleaseRequest;
import io.paxoslease.protocol.Request;
import io.paxoslease.protocol.ResourceIndex;
import io.paxoslease.protocol.Response;
import io.paxoslease.protocol.Tenure;
import io.paxoslease.protocol.Timing;
import io.paxoslease.protocol.WeakAcceptor;
import io.paxoslease.protocol.WeakProposer;
import io.paxoslease.wire.SimulatedWire;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A whole cell of production engines, proposers and acceptors on virtual clocks and a virtual network, everything drawn from one seed.
 *
 * <p>Three phases: trouble, in which the planned faults and the deeds of users happen; calm, in which faults have stopped and every
 * wanted lease must get an owner within {@link #livenessBoundNanos()}; and the end, in which everybody gives up and all memory must go.
 * The invariants are checked at every event that can break them: a new or longer authority, a step of a wall clock, an answer of an acceptor.
 * Between events authority only shrinks.
 */
final class Simulation {

    /** What came of a run. */
    record Result(
            long seed, long events, long trueNanos, long transcript, long[] happened, String violation, int planned) {}

    private static final long MILLI = 1_000_000L;
    private static final long SECOND = 1_000 * MILLI;

    /** From this seed on lives are brief: a fifth of the trouble and of the time for it, and the calm ends when everything is owned. */
    private static final long FIRST_BRIEF_SEED = 1_000_000;

    /** From this seed on lives are brief as well, and what users want are locks: leases that they give back before long. */
    static final long FIRST_SEED_OF_LOCKS = 10_000_000;

    /** From this seed on they keep half of their locks for long, and have them extended. */
    static final long FIRST_SEED_OF_LASTING_LOCKS = 20_000_000;

    /** From this seed on nodes also stop in good order, and the next process of a node may have its port before the one before it has ended. */
    static final long FIRST_SEED_OF_STOPS = 100_000_000;

    /** From this seed on lives are brief as well, without stops, and {@link Handovers} follow the trouble. */
    static final long FIRST_SEED_OF_HANDOVERS = 200_000_000;

    private static final int TOGGLES = 5;
    private static final int FAULTS = 10;

    // What the seed decides.
    private final long seed;
    private final boolean brief;
    private final Set<Mistake> mistakes;
    private final BitSet omitted;
    private final Consumer<String> log;
    private final Dice network;
    final int members;
    private final int resources;
    final String[] names;
    final long maxLeaseNanos;
    final double drift;
    private final boolean wallClocksAgree;
    final long roundTimeoutNanos;
    final long usualDelayNanos;
    private final long troubleEndsNanos;
    final Cell cell;
    private final Cell otherCell;
    /** Members that are lost when trouble ends, and stay so; the others are a majority. */
    final BitSet lost = new BitSet();

    private double loss;
    private double duplication;
    private double longDelay;
    private double corruption;
    private double refusedConnection;
    private final boolean flipsBits;
    private final Wire wire;

    // The world.
    final Host[] hosts;
    /** Processes that gave up their port and have not ended: each is a host of its own on the machine of the one whose port it had. */
    private final List<Host> stopping = new ArrayList<>();

    final boolean[][] cut;
    private final List<Planned> plan = new ArrayList<>();
    private final EventQueue queue = new EventQueue();
    private long trueNanos;
    private boolean calm;

    /** Where leases change hands: how long a message takes from each host to each other; null where that varies. */
    long[][] waysNanos;

    private Handovers handovers;

    // What is observed.
    private final long[] happened = new long[Happening.values().length];
    final Tenure[] lastTenure;
    final int[] lastOwner;
    private final long[] livesAtLastTenure;
    private final Map<Ballot, Long> livesAtProposal = new HashMap<>();
    private final boolean[] tenuredWhenCalm;
    private long lives;
    private long events;
    private long transcript;
    private String violation;

    /** What became of the bytes of a frame on their way. */
    enum Damage {
        NONE,
        CUT_SHORT,
        BITS_FLIPPED
    }

    /** What happens when a frame arrives. */
    interface Arrival {
        void arrive(byte[] frame, Damage damage);
    }

    /** A node of the cell over all its lives. */
    static final class Host {
        final int index;
        final String nodeId;
        final Machine machine;
        final Timing timing;
        final boolean wallMayStepBack;
        int maxResources = 1_000;
        Cell cell;
        Life life;
        boolean foreign;
        long pausedUntil;
        long slowness;

        Host(int index, String nodeId, Machine machine, Timing timing, Cell cell, boolean wallMayStepBack) {
            this.index = index;
            this.nodeId = nodeId;
            this.machine = machine;
            this.timing = timing;
            this.cell = cell;
            this.wallMayStepBack = wallMayStepBack;
        }
    }

    /** One life of a node: what {@link LeaseNode} holds together in production. */
    static final class Life {
        Host host;
        final Cell cell;
        final Incarnation self;
        final int selfIndex;
        final LeaseEngine engine;
        final Proposer proposer;
        final Acceptor role;
        final LocalAcceptor acceptor;
        final List<Claim> claims = new ArrayList<>();
        final Set<String> attempts = new HashSet<>();

        /** Claims whose leases are to extend themselves. */
        final Set<Claim> lasting = new HashSet<>();

        final long[] promised;
        final long bornNanos;
        final boolean oneRoundTrip;
        PeerRequests peers;

        /** Whether it gave up all its leases, and its vote, because of a defect. */
        boolean failed;

        /** Whether its acceptor has handled the requests that it is answering. */
        boolean answered;

        /** When the requests came that it is answering, if that was before. */
        Now arrived;

        /** Of one event after the other. */
        final Output output = new Output();

        long timerAt = Long.MAX_VALUE;
        Now lastTimer;
        FrameWire.Ends ends;
        SimulatedWire.Codec codec;

        Life(
                Host host,
                LeaseEngine engine,
                Proposer proposer,
                Incarnation self,
                Acceptor role,
                BallotSequence ballots,
                int names,
                boolean oneRoundTrip,
                long born) {
            this.host = host;
            this.cell = host.cell;
            this.self = self;
            this.selfIndex = role == null ? -1 : cell.indexOf(host.nodeId);
            this.engine = engine;
            this.proposer = proposer;
            this.role = role;
            this.acceptor = role == null ? null : new LocalAcceptor(role, ballots, Runnable::run);
            this.promised = new long[names];
            this.oneRoundTrip = oneRoundTrip;
            this.bornNanos = born;
        }
    }

    /** A fault or a deed of a user, decided before the run begins so that a failing plan can be shrunk. */
    private record Planned(long at, String what, Runnable action) {}

    Simulation(long seed) {
        this(seed, Set.of(), new BitSet(), null);
    }

    Simulation(long seed, Set<Mistake> mistakes, BitSet omitted, Consumer<String> log) {
        this.seed = seed;
        this.brief = seed >= FIRST_BRIEF_SEED;
        this.mistakes = mistakes;
        this.omitted = omitted;
        this.log = log;
        Dice dice = new Dice(seed * 0x5851f42d4c957f2dL + 1);
        this.network = new Dice(seed * 0x14057b7ef767814fL + 2);
        this.members = (int) dice.one(1, 2, 3, 3, 3, 4, 5, 5, 6, 7);
        this.resources = (int) dice.one(1, 1, 2, 3, 8);
        this.names = new String[resources];
        for (int i = 0; i < resources; i++) {
            names[i] = "r" + i;
        }
        this.maxLeaseNanos = dice.one(20, 100, 500, 2_000, 10_000) * MILLI;
        this.drift = dice.one(0, 1, 1, 10, 30) / 100.0;
        this.wallClocksAgree = dice.chance(0.3);
        this.roundTimeoutNanos = dice.one(100, 500, 1_000) * MILLI;
        this.usualDelayNanos = Math.min(maxLeaseNanos / 60, dice.one(50_000, 500_000, 5 * MILLI));
        long trouble = (brief ? 3 : 15) * maxLeaseNanos;
        this.troubleEndsNanos = trouble + dice.nextLong(trouble);
        this.loss = dice.one(0, 0, 1, 5, 20) / 100.0;
        this.duplication = dice.one(0, 1, 5, 20) / 100.0;
        this.longDelay = dice.one(0, 0, 1, 5) / 100.0;
        this.corruption = dice.one(0, 0, 1, 5) / 100.0;
        this.refusedConnection = dice.nextDouble();
        // Most lives show more schedules with messages that are sent one by one.
        int draw = dice.nextInt(10);
        int kindOfWire = mistakes.isEmpty() ? draw : 0;
        boolean frames = kindOfWire >= 7;
        this.flipsBits = kindOfWire != 9;
        this.wire = frames ? new FrameWire(this, kindOfWire < 9) : new MessageWire(this);
        int bystanders = (int) dice.one(0, 1, 2, 5, 13);
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < members + bystanders; i++) {
            nodes.add("n" + i);
        }
        this.cell = new Cell("cell", nodes.subList(0, members));
        // One member more, or one less.
        int change = dice.nextInt(4);
        if (change == 1 && bystanders > 0 && members < 7) {
            this.otherCell = new Cell("cell", nodes.subList(0, members + 1));
        } else if (change == 2 && members > 1) {
            this.otherCell = new Cell("cell", nodes.subList(0, members - 1));
        } else {
            this.otherCell = cell;
        }
        boolean twin = dice.chance(0.2);
        int size = nodes.size() + (twin ? 1 : 0);
        this.hosts = new Host[size];
        this.cut = new boolean[size][size];
        this.lastTenure = new Tenure[resources];
        this.lastOwner = new int[resources];
        this.livesAtLastTenure = new long[resources];
        this.tenuredWhenCalm = new boolean[resources];
        Arrays.fill(lastOwner, -1);
        // One node with half the maximum lease time. Whole frames from and to it are refused, so that it must not be
        // needed.
        int odd = dice.chance(0.2) ? dice.nextInt(size) : -1;
        odd = odd < members && (frames || members < 3) ? -1 : odd;
        // A node whose wall clock is days ahead gets its ballots refused, and must not be needed either.
        int farAhead = bystanders > 0 && !wallClocksAgree && dice.chance(0.1) ? nodes.size() - 1 : -1;
        for (int i = 0; i < size; i++) {
            double rate = 1 + drift * (dice.chance(0.5) ? dice.one(-1, 1) : 2 * dice.nextDouble() - 1);
            long origin = dice.chance(0.3) ? Long.MAX_VALUE - dice.nextLong(20 * maxLeaseNanos) : dice.nextLong();
            long wall = wallClocksAgree ? 0 : dice.one(-600, -2, 0, 0, 1, 7, 600) * SECOND;
            wall += i == farAhead ? 3L * 24 * 3600 * SECOND : 0;
            long bound = i == odd ? Math.max(Timing.MIN_LEASE_NANOS, maxLeaseNanos / 2) : maxLeaseNanos;
            // The last one may be a second process under the id of another, without a listening port.
            String nodeId = i < nodes.size() ? nodes.get(i) : nodes.get(dice.nextInt(nodes.size()));
            hosts[i] = new Host(
                    i,
                    nodeId,
                    new Machine(rate, origin, wall),
                    new Timing(bound, drift),
                    cell,
                    !wallClocksAgree && dice.chance(0.5));
        }
        if (members > 2 && bystanders > 0 && otherCell.equals(cell) && dice.chance(0.2)) {
            // A node that was told a list of members whose majorities need not meet those of the cell. Not while the
            // list changes: the
            // check of X9 is of pairs, and three lists at a time are for the operator to avoid.
            hosts[members].foreign = true;
            hosts[members].cell = new Cell("cell", nodes.subList(0, dice.chance(0.5) ? 1 : members - 2));
        }
        if (members > 2 && odd < 0 && dice.chance(0.1)) {
            // An acceptor without room for all; the others are a majority.
            hosts[0].maxResources = 1;
        }
        // Not where one of the others cannot be relied on.
        Dice losses = new Dice(seed * 0x2545f4914f6cdd1dL + 3);
        int most = (odd < 0 || odd >= members) && hosts[0].maxResources > 1 ? members - cell.majority() : 0;
        if (most > 0 && losses.chance(0.5)) {
            for (int i = losses.nextInt(most); i >= 0; i--) {
                lost.set(losses.nextInt(members));
            }
        }
        toggle(0, () -> loss = 0);
        toggle(1, () -> duplication = 0);
        toggle(2, () -> longDelay = 0);
        toggle(3, () -> corruption = 0);
        toggle(4, lost::clear);
        plan(dice);
    }

    private void toggle(int index, Runnable off) {
        plan.add(new Planned(
                0,
                List.of("message loss", "duplication", "long delays", "corruption", "lost members")
                        .get(index),
                () -> {}));
        if (omitted.get(index)) {
            off.run();
        }
    }

    /** How long after the end of all trouble a wanted lease may be without an owner. */
    long livenessBoundNanos() {
        // Silence of restarted acceptors, then records and hints of former owners, then a good number of rounds and
        // back-offs.
        return (long) (3 * maxLeaseNanos / (1 - drift)) + 20 * (roundTimeoutNanos + 500 * MILLI);
    }

    // The plan.

    private void plan(Dice dice) {
        if (seed >= FIRST_SEED_OF_LOCKS && (seed < FIRST_SEED_OF_STOPS || dice.chance(0.5))) {
            planLocks(dice);
        } else {
            planDeeds(dice);
        }
        double[] weights = new double[FAULTS];
        double total = 0;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = dice.chance(0.4) ? 0 : dice.nextDouble();
            total += weights[i];
        }
        int faults = total == 0 ? 0 : dice.nextInt(brief ? 16 : 80);
        for (int i = 0; i < faults; i++) {
            double draw = dice.nextDouble() * total;
            int kind = 0;
            while (kind < weights.length - 1 && (draw -= weights[kind]) >= 0) {
                kind++;
            }
            if (seed >= FIRST_SEED_OF_STOPS && seed < FIRST_SEED_OF_HANDOVERS && dice.chance(0.5)) {
                planStop(dice, dice.nextLong(troubleEndsNanos));
            } else {
                planFault(dice, kind, dice.nextLong(troubleEndsNanos));
            }
        }
        for (int i = TOGGLES; i < plan.size(); i++) {
            if (!omitted.get(i)) {
                Planned planned = plan.get(i);
                at(planned.at, () -> {
                    if (!calm) {
                        note(planned.what);
                        planned.action.run();
                    }
                });
            }
        }
    }

    private void planDeeds(Dice dice) {
        for (Host host : hosts) {
            for (int i = 0; i < resources; i++) {
                if (dice.chance(0.6)) {
                    planDeed(dice, host, i, 0, dice.nextLong(maxLeaseNanos));
                }
            }
        }
        int deeds = brief ? 5 + dice.nextInt(40) : 20 + dice.nextInt(200);
        for (int i = 0; i < deeds; i++) {
            planDeed(
                    dice,
                    hosts[dice.nextInt(hosts.length)],
                    dice.nextInt(resources),
                    dice.nextInt(8),
                    dice.nextLong(troubleEndsNanos));
        }
    }

    private void planLocks(Dice dice) {
        for (int locks = 20 + dice.nextInt(200); locks > 0; locks--) {
            Host host = hosts[dice.nextInt(hosts.length)];
            String name = names[dice.nextInt(resources)];
            boolean patient = dice.chance(0.3);
            long lease = host.timing.maxLeaseNanos();
            long wait = dice.spread(1, maxLeaseNanos);
            boolean lasts = seed >= FIRST_SEED_OF_LASTING_LOCKS && dice.chance(0.5);
            long kept = dice.spread(usualDelayNanos, (lasts ? 10 : 1) * maxLeaseNanos);
            plan.add(new Planned(dice.nextLong(troubleEndsNanos), host.nodeId + " locks " + name, () -> {
                Life life = processOf(host, kept).life;
                if (life == null || life.host.pausedUntil > trueNanos) {
                    return;
                }
                long now = host.machine.now(trueNanos).nanos();
                Claim lock = patient
                        ? Claim.patient(name, lease, now + wait)
                        : Claim.once(name, lease, now + roundTimeoutNanos);
                if (lasts) {
                    life.lasting.add(lock);
                }
                submit(life, lock);
                whenAwake(life, trueNanos + kept, () -> {
                    if (life.claims.contains(lock)) {
                        withdraw(life, lock);
                    }
                });
            }));
        }
    }

    private void planDeed(Dice dice, Host host, int resource, int deed, long at) {
        long longest = host.timing.maxLeaseNanos();
        // Two round trips must fit well into D, or nobody can ever win.
        long shortest = Math.max(Timing.MIN_LEASE_NANOS, 20 * usualDelayNanos);
        long lease = dice.chance(0.5) ? longest : dice.spread(shortest, longest);
        long wait = dice.spread(1, 5 * maxLeaseNanos);
        int pick = dice.nextInt(1000);
        long yield = dice.one(0, 0, 200) * MILLI;
        String name = names[resource];
        String what = host.nodeId + " "
                + List.of(
                                "stands",
                                "waits",
                                "tries",
                                "withdraws",
                                "resigns",
                                "extends",
                                "extends automatically",
                                "watches")
                        .get(deed)
                + " for " + name;
        plan.add(new Planned(at, what, () -> {
            Life life = processOf(host, pick).life;
            if (life == null || life.host.pausedUntil > trueNanos) {
                return;
            }
            Claim old = life.claims.isEmpty() ? null : life.claims.get(pick % life.claims.size());
            switch (deed) {
                case 0 -> {
                    if (life.claims.stream().noneMatch(claim -> claim.isStanding() && claim.resource.equals(name))) {
                        submit(life, Claim.standing(name, lease, yield));
                    }
                }
                case 1 ->
                    submit(
                            life,
                            Claim.patient(
                                    name, lease, host.machine.now(trueNanos).nanos() + wait));
                case 2 ->
                    submit(
                            life,
                            Claim.once(name, lease, host.machine.now(trueNanos).nanos() + roundTimeoutNanos));
                case 3 -> {
                    if (old != null) {
                        withdraw(life, old);
                    }
                }
                case 4 -> {
                    if (old != null && old.isStanding()) {
                        resign(life, old);
                    }
                }
                case 5 -> {
                    if (old != null) {
                        run(life, (now, out) -> life.engine.extend(old, now, out));
                    }
                }
                case 6 -> {
                    if (old != null) {
                        run(life, (now, out) -> life.engine.autoExtend(old, now, out));
                    }
                }
                default -> {
                    life.engine.watch(name);
                    run(life, (now, out) -> life.peers.hint(name, now, out));
                }
            }
        }));
    }

    private void planFault(Dice dice, int kind, long at) {
        Host host = hosts[dice.nextInt(hosts.length)];
        Host other = hosts[dice.nextInt(hosts.length)];
        long duration = dice.spread(MILLI, 3 * maxLeaseNanos);
        switch (kind) {
            case 0 -> planCrash(dice, at, host, dice.chance(0.3) ? 0 : duration, dice.chance(0.3));
            case 1 -> {
                // In quick succession.
                for (int i = 0; i < 3; i++) {
                    planCrash(dice, at + i * duration / 8, host, duration / 16, false);
                }
            }
            case 2 -> {
                // A rolling restart, perhaps to another list of members.
                boolean change = dice.chance(0.5);
                for (int i = 0; i < hosts.length; i++) {
                    planCrash(dice, at + i * duration, hosts[i], duration / 4, change);
                }
            }
            case 3 ->
                plan.add(new Planned(at, "pause of " + host.nodeId + " for " + duration, () -> {
                    Host process = processOf(host, duration);
                    count(Happening.PAUSE_OF_OWNER, owns(process));
                    process.pausedUntil = Math.max(process.pausedUntil, trueNanos + duration);
                }));
            case 4 -> {
                if (!host.wallMayStepBack) {
                    plan.add(new Planned(at, "suspend of " + host.nodeId + " for " + duration, () -> {
                        count(Happening.SUSPEND_OF_OWNER, owns(host));
                        host.pausedUntil = Math.max(host.pausedUntil, trueNanos + duration);
                        host.machine.suspend(trueNanos, host.pausedUntil);
                        stoppingOf(host).forEach(process -> process.pausedUntil = host.pausedUntil);
                    }));
                }
            }
            case 5 -> {
                if (!wallClocksAgree) {
                    long step = (host.wallMayStepBack ? dice.one(-1, 1) : 1) * dice.spread(MILLI, 600 * SECOND);
                    plan.add(new Planned(at, "wall clock of " + host.nodeId + " steps by " + step, () -> {
                        count(Happening.WALL_STEP_OF_OWNER, owns(host));
                        host.machine.stepWall(step);
                        for (int i = 0; i < resources; i++) {
                            checkOwners(i);
                        }
                    }));
                }
            }
            case 6 -> {
                plan.add(new Planned(at, "cut from " + host.nodeId + " to " + other.nodeId, () -> {
                    count(Happening.ONE_WAY_CUT, true);
                    cut[host.index][other.index] = true;
                    at(trueNanos + duration, () -> cut[host.index][other.index] = false);
                }));
            }
            case 7 -> {
                BitSet side = BitSet.valueOf(new long[] {dice.nextLong()});
                boolean alone = dice.chance(0.5);
                plan.add(new Planned(at, alone ? "isolation of " + host.nodeId : "partition", () -> {
                    count(Happening.CUT, true);
                    setCut(side, alone ? host : null, true);
                    at(trueNanos + duration, () -> setCut(side, alone ? host : null, false));
                }));
            }
            case 8 -> {
                plan.add(new Planned(at, "slowness of " + host.nodeId, () -> {
                    count(Happening.SLOW_NODE, true);
                    host.slowness = duration / 10;
                    at(trueNanos + 2 * duration, () -> host.slowness = 0);
                }));
            }
            default -> {
                // Several at once, as when a rack loses its power.
                boolean most = dice.chance(0.5);
                for (Host one : hosts) {
                    if (dice.chance(most ? 0.8 : 0.4)) {
                        planCrash(dice, at, one, dice.chance(0.5) ? 0 : duration, false);
                    }
                }
                plan.add(new Planned(at, "several crashed", () -> count(Happening.CRASH_OF_SEVERAL, true)));
            }
        }
    }

    private void setCut(BitSet side, Host alone, boolean value) {
        for (int i = 0; i < hosts.length; i++) {
            for (int j = 0; j < hosts.length; j++) {
                boolean apart =
                        alone == null ? side.get(i % 64) != side.get(j % 64) : (i == alone.index) != (j == alone.index);
                if (apart) {
                    cut[i][j] = value;
                }
            }
        }
    }

    /** A process is killed, or meets a defect and is killed later; then the next one starts. */
    private void planCrash(Dice dice, long at, Host host, long downNanos, boolean change) {
        boolean defect = dice.chance(0.2);
        String what = (defect ? "defect of " : "crash of ") + host.nodeId;
        plan.add(new Planned(at, what + (change ? " to restart with other members" : ""), () -> {
            Life life = host.life;
            if (life == null) {
                return;
            }
            count(Happening.CRASH, true);
            count(Happening.CRASH_OF_OWNER, owns(host));
            Now now = host.machine.now(trueNanos);
            if (life.role != null) {
                count(Happening.CRASH_OF_ACCEPTOR_WITH_LEASES, life.role.leases() > 0);
                count(Happening.RESTART_WITHIN_QUARANTINE, !life.role.isVoting(now));
            }
            if (defect) {
                fail(life);
            } else {
                host.life = null;
            }
            if (change && !host.foreign && !otherCell.equals(cell)) {
                host.cell = host.cell.equals(cell) ? otherCell : cell;
                count(Happening.CHANGE_OF_MEMBERS, true);
            }
            at(trueNanos + downNanos, () -> restart(host));
        }));
    }

    /** What {@link NodeLoop} does where something that cannot happen has happened; the process goes on. */
    private void fail(Life life) {
        count(Happening.DEFECT, true);
        count(Happening.DEFECT_OF_OWNER, owns(life.host));
        life.failed = true;
        if (life.acceptor != null) {
            life.acceptor.silence();
        }
        life.claims.forEach(claim -> claim.tenure = null);
        life.claims.clear();
    }

    void restart(Host host) {
        if ((host.life == null || host.life.failed) && !(calm && lost.get(host.index))) {
            boot(host);
        }
    }

    /**
     * A process stops in good order: it gives up its elections, silences its acceptor (A4) and has no port from then on. What code acquired it
     * keeps meanwhile, until it releases all and ends. The next process comes at any time after that; or the same one goes on, as a context that is
     * started again.
     */
    private void planStop(Dice dice, long at) {
        Host any = hosts[dice.nextInt(hosts.length)];
        int resource = dice.nextInt(resources);
        boolean owner = dice.chance(0.7);
        boolean atOnce = dice.chance(0.5);
        boolean killed = dice.chance(0.2);
        boolean goesOn = dice.chance(0.2);
        long downNanos = atOnce ? 0 : dice.spread(MILLI, 2 * maxLeaseNanos);
        long drainNanos = dice.spread(MILLI, 4 * maxLeaseNanos);
        String what = (goesOn ? "restart of the context of " : "stop of ")
                + (owner ? "the last owner of " + names[resource] : any.nodeId);
        plan.add(new Planned(at, what, () -> {
            Host host = owner && lastOwner[resource] >= 0 ? hosts[lastOwner[resource]] : any;
            Life life = host.life;
            if (life == null || host.pausedUntil > trueNanos) {
                return;
            }
            count(Happening.STOP, true);
            List<Claim> standing =
                    life.claims.stream().filter(Claim::isStanding).toList();
            standing.forEach(claim -> withdraw(life, claim));
            if (life.acceptor != null) {
                life.acceptor.close();
            }
            count(Happening.STOP_OF_OWNER, owns(host));
            if (goesOn) {
                whenAwake(life, trueNanos + (atOnce ? 0 : drainNanos), () -> goOn(life, host, standing, !atOnce));
                return;
            }
            Host process =
                    new Host(host.index, host.nodeId, host.machine, host.timing, host.cell, host.wallMayStepBack);
            process.foreign = host.foreign;
            process.life = life;
            life.host = process;
            host.life = null;
            stopping.add(process);
            whenAwake(life, trueNanos + drainNanos, () -> {
                if (!killed) {
                    releaseAll(life);
                }
                at(trueNanos + usualDelayNanos, () -> end(process));
            });
            at(trueNanos + downNanos, () -> restart(host));
        }));
        if (dice.chance(0.5)) {
            // Another member loses its memory meanwhile.
            planCrash(dice, at + dice.nextLong(maxLeaseNanos), hosts[dice.nextInt(members)], 0, false);
        }
    }

    /** A context that is started again: its port is bound again, and the acceptor in quarantine. Unless the process was stopped for good meanwhile. */
    private void goOn(Life life, Host host, List<Claim> standing, boolean drained) {
        if (life.host != host || calm) {
            return;
        }
        if (drained) {
            releaseAll(life);
        }
        if (life.acceptor != null) {
            life.acceptor.open(false, now(host));
        }
        for (Claim claim : standing) {
            submit(life, Claim.standing(claim.resource, claim.leaseNanos, claim.yieldNanos));
        }
    }

    private void releaseAll(Life life) {
        List<Claim> claims = List.copyOf(life.claims);
        run(life, (now, out) -> life.engine.withdrawAll(Integer.MAX_VALUE, now, out));
        life.claims.clear();
        if (claims.stream().anyMatch(claim -> claim.tenure != null)) {
            violate("a lease is held after all were released");
        }
    }

    private void end(Host process) {
        process.life = null;
        stopping.remove(process);
    }

    private List<Host> stoppingOf(Host host) {
        return stopping.stream().filter(process -> process.index == host.index).toList();
    }

    /** The process that has the port of a node, or now and then one that gave it up and still runs. */
    private Host processOf(Host host, long pick) {
        List<Host> others = stoppingOf(host);
        int index = (int) (pick % (others.size() + 1));
        return index == 0 ? host : others.get(index - 1);
    }

    /** Who gets a frame: connections that were made before its port was given up still lead to a process that stops. */
    Life receiver(Host to) {
        if (stoppingOf(to).isEmpty()) {
            return to.life;
        }
        Host process = processOf(to, network.nextInt(12));
        return process.pausedUntil > trueNanos ? to.life : process.life;
    }

    // The run.

    Result run() {
        try {
            for (Host host : hosts) {
                boot(host);
            }
            runUntil(troubleEndsNanos);
            calmDown();
            long bound = troubleEndsNanos + livenessBoundNanos();
            for (long until = troubleEndsNanos; until < bound && !(brief && isEverythingOwned()); ) {
                until = brief ? Math.min(bound, until + maxLeaseNanos) : bound;
                runUntil(until);
            }
            if (violation == null) {
                checkLiveness();
            }
            if (violation == null && seed >= FIRST_SEED_OF_HANDOVERS) {
                // What was sent while there was trouble has arrived, and what it led to has ended.
                runUntil(troubleEndsNanos + (long) (5 * maxLeaseNanos / (1 - drift)));
                handovers = new Handovers(this, new Dice(seed * 0x9e6c63d0876a9a47L + 4));
                handovers.run();
            }
            end();
        } catch (RuntimeException impossible) {
            violate(impossible);
        }
        return new Result(seed, events, trueNanos, transcript, happened, violation, plan.size());
    }

    /** Whether a node was told a list of members that must be refused. */
    boolean hasForeigner() {
        return members < hosts.length && hosts[members].foreign;
    }

    /** Whether some members stay lost when trouble ends, and all others can be relied on. */
    boolean losesMembers() {
        return !lost.isEmpty();
    }

    int plannedSize() {
        return plan.size();
    }

    /** What was planned, by number. */
    String planned(int index) {
        Planned planned = plan.get(index);
        return planned.at / 1_000 + " us: " + planned.what;
    }

    private void calmDown() {
        calm = true;
        loss = 0;
        duplication = 0;
        longDelay = 0;
        corruption = 0;
        for (boolean[] row : cut) {
            Arrays.fill(row, false);
        }
        note("trouble ends");
        for (Host process : List.copyOf(stopping)) {
            releaseAll(process.life);
            end(process);
        }
        for (Host host : hosts) {
            host.slowness = 0;
            host.pausedUntil = Math.min(host.pausedUntil, trueNanos);
            if (!host.foreign && !host.cell.equals(cell)) {
                // Whatever was rolled out is rolled back.
                host.life = null;
                host.cell = cell;
            }
            if (lost.get(host.index)) {
                lose(host);
                continue;
            }
            restart(host);
            if (host.life.acceptor != null) {
                // Contexts that are stopped are started now.
                host.life.acceptor.open(false, now(host));
            }
        }
        for (int i = 0; i < resources; i++) {
            int member = i % members;
            while (lost.get(member)) {
                member = (member + 1) % members;
            }
            Life life = hosts[member].life;
            String name = names[i];
            if (life.claims.stream().noneMatch(claim -> claim.isStanding() && claim.resource.equals(name))) {
                submit(life, Claim.standing(name, Math.max(Timing.MIN_LEASE_NANOS, maxLeaseNanos / 2), 0));
            }
        }
    }

    /** For good: gone, or with a defect. */
    private void lose(Host host) {
        count(Happening.MEMBER_LOST, true);
        if (host.life != null && !host.life.failed && network.nextInt(2) == 0) {
            fail(host.life);
        } else {
            host.life = null;
        }
    }

    private boolean isEverythingOwned() {
        for (boolean tenured : tenuredWhenCalm) {
            if (!tenured) {
                return false;
            }
        }
        return true;
    }

    private void checkLiveness() {
        count(Happening.LIVENESS_CHECKED, true);
        for (int i = 0; i < resources; i++) {
            if (!tenuredWhenCalm[i]) {
                describe(i);
                violate("nobody owned " + names[i] + " although nothing went wrong for " + livenessBoundNanos()
                        + " ns");
            }
        }
    }

    /** Everybody gives up, and when the last record has expired no memory is left. */
    private void end() {
        List<Host> present =
                Arrays.stream(hosts).filter(host -> !lost.get(host.index)).toList();
        for (Host host : present) {
            Life life = host.life;
            for (Claim claim : List.copyOf(life.claims)) {
                withdraw(life, claim);
            }
        }
        // What was sent while there was trouble may be on its way for three lease times. A calm that was not cut short
        // outlasts that.
        int leaseTimes = brief ? 5 : 2;
        runUntil(trueNanos + (long) (leaseTimes * maxLeaseNanos / (1 - drift)) + 3 * SECOND);
        count(Happening.MEMORY_CHECKED, true);
        for (Host host : present) {
            Life life = host.life;
            for (Candidacy candidacy : life.engine.candidacies()) {
                if (!candidacy.watched || !candidacy.claims.isEmpty()) {
                    violate(host.nodeId + " remembers a candidacy for " + candidacy.resource + " that nobody wants");
                }
            }
            // A mistake must be found by what it does to leases.
            if (!life.attempts.isEmpty() && mistakes.isEmpty()) {
                violate("the end of attempts at " + life.attempts + " was not told by " + host.nodeId);
            }
            if (life.role != null) {
                life.role.sweep(1_000, host.machine.now(trueNanos));
                if (life.role.resources() > 0) {
                    violate("the acceptor of " + host.nodeId + " remembers " + life.role.resources()
                            + " resources without a lease");
                }
            }
        }
    }

    void runUntil(long end) {
        runUntil(end, () -> false);
    }

    /** Until then, or until something has come true. */
    void runUntil(long end, BooleanSupplier done) {
        while (queue.nextAt() <= end && violation == null) {
            trueNanos = queue.nextAt();
            events++;
            queue.poll().run();
            if (done.getAsBoolean()) {
                return;
            }
        }
        trueNanos = Math.max(trueNanos, end);
    }

    private void boot(Host host) {
        lives++;
        Now now = host.machine.now(trueNanos);
        Dice random = new Dice(seed * 31 + lives);
        long nonce = random.nextLong();
        Incarnation self = new Incarnation(host.nodeId, mistakes.contains(Mistake.BALLOT_REUSED) ? 1 : nonce);
        BallotSequence ballots = new BallotSequence(now);
        boolean twin = host.index > 0 && host.index == hosts.length - 1 && !host.nodeId.equals("n" + host.index);
        ResourceIndex index = new ResourceIndex(nonce);
        Observer observer = new Observer();
        Acceptor role = null;
        if (!twin && host.cell.indexOf(host.nodeId) >= 0) {
            role = mistakes.isEmpty()
                    ? new Acceptor(host.timing, host.maxResources, now, index) {
                        @Override
                        public Response onRequest(Request request, Now now) {
                            return observer.see(request, super.onRequest(request, now), now);
                        }
                    }
                    : new WeakAcceptor(mistakes, host.timing, host.maxResources, now) {
                        @Override
                        public Response onRequest(Request request, Now now) {
                            return observer.see(request, super.onRequest(request, now), now);
                        }
                    };
        }
        Proposer proposer = mistakes.isEmpty()
                ? new Proposer(self, host.cell, host.timing, ballots, index)
                : new WeakProposer(mistakes, self, host.cell, host.timing, ballots);
        boolean oneRoundTrip = random.chance(0.5);
        LeaseEngine engine = mistakes.contains(Mistake.RELEASE_FOR_REFUSED_RIVAL)
                ? new WeakEngine(self, proposer, oneRoundTrip, roundTimeoutNanos, random)
                : new LeaseEngine(self, proposer, oneRoundTrip, roundTimeoutNanos, random);
        Life life = new Life(host, engine, proposer, self, role, ballots, resources, oneRoundTrip, trueNanos);
        life.peers = new PeerRequests(
                life.acceptor,
                engine,
                () -> life.arrived == null ? now(life.host) : life.arrived,
                step -> onPeers(life, step),
                defect -> {});
        observer.life = life;
        life.lastTimer = now;
        engine.tellAttempts();
        host.life = life;
        wire.boot(life);
        if (role != null) {
            life.acceptor.open(false, now);
        }
        note(host.nodeId + " starts as " + self);
        schedule(life, now);
    }

    /** One event at a node, in the manner of {@link NodeLoop}. */
    private void run(Life life, NodeLoop.Step step) {
        if (life.failed) {
            return;
        }
        Output out = life.output;
        out.clear();
        Now now = life.host.machine.now(trueNanos);
        step.run(now, out);
        send(life, now, out);
        for (int i = 0; i < out.notices.size(); i++) {
            tell(life, out.notices.get(i));
        }
        wire.flush(life);
        schedule(life, now);
    }

    void submit(Life life, Claim claim) {
        life.claims.add(claim);
        run(life, (now, out) -> life.engine.submit(claim, now, out));
    }

    void withdraw(Life life, Claim claim) {
        run(life, (now, out) -> life.engine.withdraw(claim, now, out));
        life.claims.remove(claim);
        if (claim.tenure != null) {
            violate("a lease is held after its claim was withdrawn");
        }
    }

    void resign(Life life, Claim claim) {
        Tenure tenure = claim.tenure;
        boolean held = tenure != null && tenure.isActive(now(life.host));
        run(life, (now, out) -> life.engine.resign(claim, now, out));
        // What had ended by itself was no longer there to be resigned; a cell of one has the next tenure at once.
        if (claim.tenure != null && (held || claim.tenure == tenure)) {
            violate("a lease is held after it was resigned");
        }
    }

    private void send(Life life, Now now, Output out) {
        for (int i = 0; i < out.requests.size(); i++) {
            handle(life, i, now, out);
        }
        for (int i = 0; i < life.cell.size() && !out.requests.isEmpty(); i++) {
            if (i != life.selfIndex) {
                for (Request request : out.requestsFor(i)) {
                    wire.send(life, i, request);
                }
            }
        }
    }

    /** What the acceptor beside the proposer makes of a request. */
    private void handle(Life life, int index, Now now, Output out) {
        Request request = out.requests.get(index);
        boolean everybody = true;
        for (int i = 0; i < life.cell.size(); i++) {
            everybody &= out.isFor(i, index);
        }
        if (request instanceof ProposeRequest propose) {
            count(Happening.MAJORITY_ASKED, !everybody);
            livesAtProposal.putIfAbsent(propose.ballot(), lives);
        }
        if (life.acceptor != null && out.isFor(life.selfIndex, index)) {
            if (life.role instanceof WeakAcceptor weak) {
                weak.serveLocalProposer(true);
            }
            Response response = life.acceptor.handle(request, now);
            if (life.role instanceof WeakAcceptor weak) {
                weak.serveLocalProposer(false);
            }
            life.engine.onAnswer(life.selfIndex, request, response, now, out);
        }
    }

    private void schedule(Life life, Now now) {
        OptionalLong next = life.engine.nextWakeNanos();
        long pause = SECOND;
        requireSameRule(life.engine, next, now);
        if (next.isPresent()) {
            pause = Math.max(0, Math.min(pause, next.getAsLong() - now.nanos()));
        }
        long at = trueNanos + life.host.machine.trueNanos(pause) + 1;
        if (at < life.timerAt) {
            // Timers are late now and then.
            long late = !calm && network.nextInt(16) == 0 ? network.nextLong(50 * MILLI) : 0;
            life.timerAt = at;
            at(at + late, () -> onTimer(life, at));
            if (late > 0) {
                whenAwake(life, at, () -> look(life));
            }
        }
    }

    /** Readers of the leases of a life see those that are over, and tell the node before long. */
    private void look(Life life) {
        Now seen = now(life.host);
        for (Claim claim : life.claims) {
            Tenure tenure = claim.tenure;
            if (tenure != null && !tenure.isActive(seen)) {
                whenAwake(life, trueNanos + network.nextLong(20 * MILLI), () -> endTenure(life, claim, tenure, seen));
            }
        }
    }

    private void endTenure(Life life, Claim claim, Tenure tenure, Now seen) {
        if (claim.tenure(tenure.token()) == null) {
            return;
        }
        count(Happening.END_SEEN_BY_READER, true);
        run(life, (now, out) -> life.engine.endTenure(claim, seen, now, out));
        if (claim.tenure(tenure.token()) != null) {
            violate("a lease is held after it was seen to be over");
        }
    }

    /** The engine says in two ways when it wants to be called. */
    private void requireSameRule(LeaseEngine engine, OptionalLong next, Now now) {
        long last = next.orElse(now.nanos() + 365 * 86_400 * SECOND);
        if (engine.isDue(last) != next.isPresent() || engine.isDue(last - 1)) {
            violate("due at " + next + ", and at that time " + engine.isDue(last));
        }
    }

    private void onTimer(Life life, long at) {
        if (life.host.life != life || life.timerAt != at) {
            return;
        }
        if (life.host.pausedUntil > trueNanos) {
            at(life.host.pausedUntil, () -> onTimer(life, at));
            return;
        }
        life.timerAt = Long.MAX_VALUE;
        record(1, life.host.index, 0);
        Now now = life.host.machine.now(trueNanos);
        long wallAhead =
                now.wallMillis() - life.lastTimer.wallMillis() - (now.nanos() - life.lastTimer.nanos()) / MILLI;
        life.lastTimer = now;
        if (life.acceptor != null) {
            life.acceptor.sweep(4_096, now);
        }
        run(life, life.engine::onTime);
        if (wallAhead > 100) {
            run(life, life.engine::settleAll);
        }
    }

    // The network.

    /** Carries a frame, or loses, duplicates, delays or damages it. */
    void travel(Host from, Host to, long mark, byte[] frame, Arrival arrival) {
        if (cut[from.index][to.index]) {
            count(Happening.MESSAGE_CUT_OFF, true);
            return;
        }
        if (network.chance(loss)) {
            count(Happening.MESSAGE_LOST, true);
            return;
        }
        int copies = network.chance(duplication) ? 2 : 1;
        count(Happening.MESSAGE_DUPLICATED, copies == 2);
        for (int i = 0; i < copies; i++) {
            long usual = waysNanos == null
                    ? usualDelayNanos / 2 + network.nextLong(usualDelayNanos)
                    : waysNanos[from.index][to.index];
            long delay = usual + from.slowness + to.slowness;
            if (network.chance(longDelay)) {
                delay += network.nextLong(3 * maxLeaseNanos);
                count(Happening.MESSAGE_DELAYED_BEYOND_LEASE, delay > maxLeaseNanos);
            }
            if (network.chance(corruption)) {
                travelDamaged(to, trueNanos + delay, mark, frame, arrival);
            } else {
                arrive(to, trueNanos + delay, mark, () -> arrival.arrive(frame, Damage.NONE));
            }
        }
    }

    private void travelDamaged(Host to, long at, long mark, byte[] frame, Arrival arrival) {
        boolean flips = flipsBits && frame.length > 0 && network.nextInt(2) == 0;
        byte[] damaged =
                Arrays.copyOf(frame, flips || frame.length == 0 ? frame.length : network.nextInt(frame.length));
        for (int bits = flips ? 1 + network.nextInt(3) : 0; bits > 0; bits--) {
            int bit = network.nextInt(8 * frame.length);
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
        }
        if (Arrays.equals(damaged, frame)) {
            return;
        }
        count(flips ? Happening.FRAME_WITH_FLIPPED_BITS : Happening.FRAME_CUT_SHORT, true);
        arrive(to, at, mark, () -> arrival.arrive(damaged, flips ? Damage.BITS_FLIPPED : Damage.CUT_SHORT));
    }

    private void arrive(Host to, long at, long mark, Runnable arrival) {
        at(at, () -> {
            if (to.pausedUntil > trueNanos) {
                arrive(to, to.pausedUntil, mark, arrival);
                return;
            }
            record(2, to.index, mark);
            Life life = to.life;
            if (life == null || calm || network.nextInt(16) > 0) {
                arrival.run();
                return;
            }
            // The thread that handles it has read the clock, and is held up.
            count(Happening.HANDLED_LATE, true);
            Now arrived = now(to);
            whenAwake(
                    life, trueNanos + network.nextLong(network.nextInt(8) > 0 ? 20 * MILLI : 2 * maxLeaseNanos), () -> {
                        life.arrived = arrived;
                        arrival.run();
                        life.arrived = null;
                    });
        });
    }

    /** Something that a life does at some time, unless it has ended; later if its process is paused. */
    void whenAwake(Life life, long at, Runnable action) {
        at(at, () -> {
            if (life.host.life != life) {
                return;
            }
            if (life.host.pausedUntil > trueNanos) {
                whenAwake(life, life.host.pausedUntil, action);
                return;
            }
            action.run();
        });
    }

    Host hostOf(String member) {
        return hosts[Integer.parseInt(member.substring(1))];
    }

    boolean refusesConnection() {
        return network.chance(refusedConnection);
    }

    boolean refusesOtherMembers() {
        return !mistakes.contains(Mistake.OTHER_MEMBERS_SERVED);
    }

    /** What a life makes of requests that got through to it. */
    List<Response> serve(Life life, List<Request> requests) {
        life.answered = false;
        return life.peers.answer(requests);
    }

    /** A step that what others ask is worth. Once the acceptor has answered, others may come before it now and then. */
    private void onPeers(Life life, NodeLoop.Step step) {
        if (life.answered && !calm && network.nextInt(16) == 0) {
            whenAwake(life, trueNanos + network.nextLong(50 * MILLI), () -> learn(life, step));
        } else {
            learn(life, step);
        }
    }

    private void learn(Life life, NodeLoop.Step step) {
        run(life, (now, out) -> {
            step.run(now, out);
            count(
                    Happening.RIVAL_TOLD_OF_END,
                    out.notices.isEmpty()
                            && out.requests.stream()
                                    .anyMatch(request -> request instanceof ReleaseRequest
                                            && !life.engine.knows(request.resource())));
        });
    }

    void onUnanswered(Life life, int acceptor, Request request) {
        run(life, (now, out) -> life.engine.onUnanswered(acceptor, request, now, out));
    }

    void onResponse(Life life, int acceptor, Response response) {
        run(life, (now, out) -> life.engine.onResponse(acceptor, response, now, out));
        requireWanted(life, response);
    }

    /** Answers that come together are one event. */
    void onAnswers(Life life, int acceptor, List<Request> requests, List<Response> responses) {
        run(life, (now, out) -> {
            for (int i = 0; i < requests.size(); i++) {
                life.engine.onAnswer(acceptor, requests.get(i), responses.get(i), now, out);
            }
        });
        responses.stream().filter(Objects::nonNull).forEach(response -> requireWanted(life, response));
    }

    private void requireWanted(Life life, Response response) {
        if (!life.failed
                && life.proposer.tenure(response.resource(), now(life.host)) != null
                && active(life.host, response.resource()) == null) {
            violate(life.self + " holds " + response.resource() + " although nobody there wants it any more");
        }
    }

    // What must hold.

    /** Sees what an acceptor answers before anything comes of it. */
    private final class Observer {
        private Life life;

        Response see(Request request, Response response, Now now) {
            life.answered = true;
            observe(life, request, response, now);
            return response;
        }
    }

    private void observe(Life life, Request request, Response response, Now now) {
        if (response == null) {
            if (!(request instanceof ReleaseRequest)) {
                count(refusal(life, request, now), true);
            }
            return;
        }
        int resource = request.resource().charAt(1) - '0';
        if (response.promisedCounter() < life.promised[resource]) {
            violate("the promise of " + life.self + " fell from " + life.promised[resource] + " to "
                    + response.promisedCounter());
        }
        if (isGranted(response)) {
            life.promised[resource] = response.promisedCounter();
        }
        boolean below = response.promisedCounter() > request.ballot().counter();
        if (response instanceof PrepareResponse prepare) {
            count(Happening.PREPARE_REJECTED, !prepare.promised());
            count(Happening.BLOCKED_BY_LIVE_LEASE, prepare.promised() && prepare.lease() != null);
        } else if (response instanceof ProposeResponse propose && !propose.accepted()) {
            count(below ? Happening.PROPOSE_REJECTED_BY_PROMISE : Happening.PROPOSE_REJECTED_BY_LIVE_LEASE, true);
        }
        count(Happening.STALE_ANSWER, below);
    }

    private Happening refusal(Life life, Request request, Now now) {
        long leaseNanos = request instanceof ProposeRequest propose
                ? propose.leaseNanos()
                : ((PrepareRequest) request).leaseNanos();
        if (!life.role.isVoting(now)) {
            return Happening.REFUSED_IN_QUARANTINE;
        } else if (leaseNanos > life.host.timing.maxLeaseNanos()) {
            return Happening.REFUSED_ABOVE_MAXIMUM;
        }
        return BallotSequence.isTooFarAhead(request.ballot().counter(), now)
                ? Happening.REFUSED_TOO_FAR_AHEAD
                : Happening.REFUSED_BY_FULL_TABLE;
    }

    private void tell(Life life, Notice notice) {
        if (notice instanceof Notice.AttemptBegan) {
            if (handovers != null) {
                handovers.onAttempt(life, notice.resource());
            }
            if (!life.attempts.add(notice.resource()) && mistakes.isEmpty()) {
                violate("an attempt was told before the one before it had ended");
            }
            return;
        } else if (notice instanceof Notice.AttemptEnded) {
            if (!life.attempts.remove(notice.resource()) && mistakes.isEmpty()) {
                violate("an attempt ended that was not told");
            }
            return;
        }
        int resource = notice.resource().charAt(1) - '0';
        record(3, life.host.index, notice.getClass().getSimpleName().hashCode());
        if (log != null) {
            note(life.host.nodeId + " " + notice.getClass().getSimpleName() + " " + notice.resource());
        }
        if (notice instanceof Notice.Acquired acquired) {
            if (!life.claims.contains(acquired.claim())) {
                violate("a claim that had ended got a tenure");
            }
            count(Happening.TENURE, true);
            count(Happening.TAKEOVER, lastOwner[resource] >= 0 && lastOwner[resource] != life.host.index);
            count(Happening.TENURE_AFTER_STOP, stopping.contains(life.host));
            count(Happening.TENURE_OF_TWIN, life.role == null && life.cell.indexOf(life.host.nodeId) >= 0);
            checkToken(resource, acquired.tenure());
            lastOwner[resource] = life.host.index;
            lastTenure[resource] = acquired.tenure();
            livesAtLastTenure[resource] = livesAtProposal.get(acquired.tenure().ballot());
            tenuredWhenCalm[resource] |= calm;
            checkOwners(resource);
            checkExclusion(life, acquired.tenure());
            if (handovers != null) {
                handovers.onAcquired(life, acquired.claim());
            }
            if (life.lasting.contains(acquired.claim())) {
                Claim claim = acquired.claim();
                whenAwake(life, trueNanos, () -> run(life, (now, out) -> life.engine.autoExtend(claim, now, out)));
            }
        } else if (notice instanceof Notice.Extended extended) {
            count(Happening.EXTENSION, true);
            count(Happening.EXTENSION_IN_ITS_PLACE, extended.claim() == null);
            count(Happening.EXTENSION_AFTER_STOP, stopping.contains(life.host));
            tenuredWhenCalm[resource] |= calm;
            checkOwners(resource);
            checkExclusion(life, extended.tenure());
        } else if (notice instanceof Notice.ExtensionFailed) {
            count(Happening.EXTENSION_FAILED, true);
        } else if (notice instanceof Notice.Lost lost) {
            count(Happening.LEASE_LOST, true);
            ended(life, lost.claim());
        } else if (notice instanceof Notice.Released released) {
            count(Happening.LEASE_RELEASED, true);
            ended(life, released.claim());
        } else if (notice instanceof Notice.Unavailable unavailable) {
            count(Happening.CLAIM_UNAVAILABLE, true);
            life.claims.remove(unavailable.claim());
        }
    }

    private static boolean isGranted(Response response) {
        return response instanceof PrepareResponse prepare
                ? prepare.promised()
                : ((ProposeResponse) response).accepted();
    }

    private static void ended(Life life, Claim claim) {
        if (!claim.isStanding()) {
            life.claims.remove(claim);
        }
    }

    /** X3, under its condition: the wall clocks agree, or no acceptor lost its memory since the proposal for the last tenure. */
    private void checkToken(int resource, Tenure tenure) {
        Tenure last = lastTenure[resource];
        if (last != null && (wallClocksAgree || livesAtLastTenure[resource] == lives)) {
            count(Happening.TOKENS_COMPARED, true);
            if (tenure.token() <= last.token()) {
                violate("the token of " + tenure.resource() + " fell from " + last.token() + " to " + tenure.token());
            }
        }
    }

    /** At most one owner at this instant of true time. */
    private void checkOwners(int resource) {
        Host owner = null;
        List<Host> processes = new ArrayList<>(stopping);
        processes.addAll(Arrays.asList(hosts));
        for (Host host : processes) {
            if (host.life != null && active(host, names[resource]) != null) {
                if (owner != null) {
                    violate("two owners of " + names[resource] + ": " + owner.life.self + " and " + host.life.self);
                }
                owner = host;
            }
        }
    }

    /** What {@code isHeld} of a host would answer now. */
    Tenure active(Host host, String resource) {
        Now now = null;
        for (Claim claim : host.life.claims) {
            Tenure tenure = claim.tenure;
            if (tenure != null && claim.resource.equals(resource)) {
                now = now == null ? host.machine.now(trueNanos) : now;
                if (tenure.isActive(now)) {
                    return tenure;
                }
            }
        }
        return null;
    }

    private boolean owns(Host host) {
        for (int i = 0; i < resources; i++) {
            if (host.life != null && active(host, names[i]) != null) {
                return true;
            }
        }
        return false;
    }

    /** The owner's authority ends before the exclusions of a majority do, whatever the clocks' rates. */
    private void checkExclusion(Life owner, Tenure tenure) {
        if (!mistakes.isEmpty()) {
            return;
        }
        Machine machine = owner.host.machine;
        long authority = machine.trueNanos(tenure.deadline().remainingNanos(machine.now(trueNanos)));
        int excluding = 0;
        for (String acceptor : owner.cell.acceptors()) {
            Host host = hosts[Integer.parseInt(acceptor.substring(1))];
            Now now = host.machine.now(trueNanos);
            long left;
            if (host.life == null || host.life.role == null || host.life.failed) {
                left = Long.MAX_VALUE / 4;
            } else {
                AcceptedLease lease = host.life.role.lease(tenure.resource(), now);
                left = lease != null && lease.ballot().owner().equals(owner.self)
                        ? lease.remainingNanos()
                        : host.life.role.quarantineRemainingNanos(now);
            }
            // One nanosecond per conversion is lost to rounding.
            excluding += host.machine.trueNanos(left) + 3 >= authority ? 1 : 0;
        }
        if (excluding < owner.cell.majority()) {
            violate("the authority of " + tenure + " is contained in only " + excluding + " exclusions");
        }
    }

    /** What can be said about a resource, for the report of a failure. */
    void describe(int resource) {
        for (Host host : hosts) {
            Candidacy candidacy = host.life == null ? null : host.life.engine.picture(names[resource]);
            Now now = host.machine.now(trueNanos);
            note("  " + host.nodeId + " cell " + host.cell.acceptors() + " M "
                    + host.timing.maxLeaseNanos() / MILLI + " ms"
                    + (host.life == null || host.life.role == null
                            ? ""
                            : ", acceptor " + host.life.role.isVoting(now) + " "
                                    + host.life.role.lease(names[resource], now) + " " + host.life.role.refusals()));
            if (candidacy != null) {
                note("    " + candidacy.state + " resumes in " + (candidacy.resumeNanos - now.nanos()) / MILLI
                        + " ms, claims "
                        + candidacy.claims.stream()
                                .map(claim -> claim.kind + " " + claim.leaseNanos / MILLI)
                                .toList()
                        + " " + candidacy.lastReason + " " + candidacy.hint);
            }
        }
    }

    void violate(RuntimeException impossible) {
        StackTraceElement[] trace = impossible.getStackTrace();
        violate("an exception out of the core: " + impossible + " at " + (trace.length > 0 ? trace[0] : "?"));
    }

    void violate(String what) {
        if (violation == null) {
            violation = what + " at " + trueNanos + " ns";
            note("VIOLATION: " + what);
        }
    }

    // Bookkeeping.

    void count(Happening happening, boolean condition) {
        if (condition) {
            happened[happening.ordinal()]++;
        }
    }

    void note(String what) {
        if (log != null) {
            log.accept(trueNanos / 1_000 + " us  " + what);
        }
    }

    private void record(int kind, int host, long what) {
        transcript = (transcript ^ trueNanos) * 0x9e3779b97f4a7c15L;
        transcript ^= transcript >>> 29;
        transcript = (transcript ^ (kind * 64L + host) ^ what << 12) * 0xbf58476d1ce4e5b9L;
    }

    void at(long at, Runnable action) {
        queue.add(at, action);
    }

    /** Whether nothing was violated so far. */
    boolean isSound() {
        return violation == null;
    }

    long trueNanos() {
        return trueNanos;
    }

    Now now(Host host) {
        return host.machine.now(trueNanos);
    }

    long roundTimeoutNanos() {
        return roundTimeoutNanos;
    }
}
