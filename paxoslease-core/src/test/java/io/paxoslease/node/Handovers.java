package io.paxoslease.node;

import io.paxoslease.protocol.AcceptedLease;
import io.paxoslease.protocol.Tenure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A lease that changes hands in a cell in which messages get through and a majority votes: elections of a free lease, owners that resign, die or
 * stand still, members that start again or are cut off as long as the others are a majority, and locks that are taken again and again.
 *
 * <p>What must hold, beyond that somebody owns the lease in the end: it has an owner some rounds after the turns of all are over; nobody tries again and
 * again in vain before that; no owner loses it for what happens to a minority; and where members ask for a lock in one round trip, none waits for longer
 * than some of the shares that {@link Rivals} speaks of. Whoever is no member hears of no release, and is only in the way here.
 */
final class Handovers {

    private static final long MILLI = 1_000_000L;

    /** In some rounds candidates split the acceptors, and where members are lost nobody notices before their end; 4.5 in the slowest of 9,129 elections. */
    private static final int ROUNDS = 8;

    /** What a candidate tries at most before one of all owns the lease; 27 in the worst of 2,122 handovers. */
    private static final int ATTEMPTS_FOR_A_FREE_LEASE = 40;

    /** And within a lease time while somebody owns it; 8 in the worst of 553 cases. */
    private static final int ATTEMPTS_WHILE_OWNED = 20;

    /** How long a member waits for a lock that others take again and again, in shares: who is next is drawn. 13.3 in the worst of 1,023 lives. */
    private static final int SHARES = 24;

    /** Of a shorter time few extensions that a crowd of candidates gets in the way of are all its chances. */
    private static final long TIME_THAT_IS_NOT_LOST_NANOS = 400 * MILLI;

    private final Simulation cell;
    private final Dice dice;
    private final int resource;
    private final String name;
    private final long roundTripNanos;
    private final long roundNanos;
    private final Map<Simulation.Host, Integer> attempts = new LinkedHashMap<>();

    // Of locks.
    private List<Simulation.Host> users = List.of();
    private final Map<Simulation.Host, Long> askedAtNanos = new LinkedHashMap<>();
    private long keptNanos;
    private long pauseNanos;
    private long longestNanos;

    Handovers(Simulation cell, Dice dice) {
        this.cell = cell;
        this.dice = dice;
        this.resource = dice.nextInt(cell.names.length);
        this.name = cell.names[resource];
        this.roundTripNanos = Math.max(MILLI, 3 * cell.usualDelayNanos);
        this.roundNanos = cell.roundTimeoutNanos;
    }

    void run() {
        if (dice.chance(0.5)) {
            // The ways differ, and nothing else varies.
            cell.waysNanos = new long[cell.hosts.length][cell.hosts.length];
            for (long[] ways : cell.waysNanos) {
                for (int i = 0; i < ways.length; i++) {
                    ways[i] = cell.usualDelayNanos / 2 + dice.nextLong(cell.usualDelayNanos);
                }
            }
        }
        if (dice.chance(0.15)) {
            giveAllUp();
            lock();
            return;
        }
        elect();
        for (int steps = 4 + dice.nextInt(12); steps > 0 && cell.isSound(); steps--) {
            pass(dice.spread(MILLI, cell.maxLeaseNanos));
            if (cell.isSound()) {
                step();
            }
        }
        // Whoever is down is back before the end.
        pass(2 * cell.maxLeaseNanos);
    }

    private void step() {
        Simulation.Host owner = cell.hosts[cell.lastOwner[resource]];
        if (cell.active(owner, name) == null) {
            double timeNanos = cell.maxLeaseNanos * (1 - cell.drift) / (1 + cell.drift);
            if (owner.life.oneRoundTrip && timeNanos >= TIME_THAT_IS_NOT_LOST_NANOS) {
                cell.violate("the owner of " + name + " lost it although a majority was there");
            }
            awaitOwner(cell.lastTenure[resource], longestRecordNanos(null) + turnsAfterEndNanos());
            return;
        }
        long duration = dice.spread(MILLI, 2 * cell.maxLeaseNanos);
        switch (dice.nextInt(6)) {
            case 0 -> elect();
            case 1 -> resign(owner);
            case 2 -> {
                restart(minority(owner));
                pass(dice.spread(1, cell.maxLeaseNanos / 4));
                resign(owner);
            }
            case 3, 4 -> {
                if (isExpendable(owner) && isWanted(owner)) {
                    Tenure before = cell.lastTenure[resource];
                    long freeNanos = longestRecordNanos(null);
                    if (dice.chance(0.5)) {
                        crash(owner, duration);
                    } else {
                        owner.pausedUntil = cell.trueNanos() + 2 * cell.maxLeaseNanos;
                    }
                    awaitOwner(before, freeNanos + turnsAfterEndNanos());
                    pass(Math.max(0, owner.pausedUntil - cell.trueNanos()));
                }
            }
            default -> {
                List<Simulation.Host> minority = minority(owner);
                cut(minority, true);
                pass(duration);
                cut(minority, false);
                attempts.clear();
                pass(cell.maxLeaseNanos);
                checkAttempts(ATTEMPTS_WHILE_OWNED);
            }
        }
    }

    private void pass(long nanos) {
        cell.runUntil(cell.trueNanos() + nanos);
    }

    // What happens.

    /** Many come at once, and perhaps only a majority votes. */
    private void elect() {
        Tenure before = cell.lastTenure[resource];
        giveAllUp();
        if (dice.chance(0.6)) {
            restart(minority(null));
        }
        pass(dice.spread(roundTripNanos, cell.maxLeaseNanos / 8));
        boolean few = dice.chance(0.7);
        Simulation.Host one = voters().get(0);
        for (Simulation.Host host : cell.hosts) {
            if (host == one || (isSound(host) && (few ? host.index < cell.members : dice.chance(0.7)))) {
                cell.at(cell.trueNanos() + dice.nextLong(roundTripNanos), () -> stand(host));
            }
        }
        awaitOwner(before, longestRecordNanos(null) + roundTripNanos);
        pass(roundTripNanos);
    }

    private void giveAllUp() {
        for (Simulation.Host host : cell.hosts) {
            if (host.life != null) {
                List.copyOf(host.life.claims).forEach(claim -> cell.withdraw(host.life, claim));
            }
        }
    }

    private void stand(Simulation.Host host) {
        if (host.life != null && host.life.claims.isEmpty()) {
            cell.submit(host.life, Claim.standing(name, cell.maxLeaseNanos, 0));
        }
    }

    private void resign(Simulation.Host owner) {
        if (!cell.isSound() || !isWanted(owner) || cell.active(owner, name) == null) {
            return;
        }
        Tenure before = cell.lastTenure[resource];
        cell.resign(owner.life, owner.life.claims.get(0));
        awaitOwner(before, longestRecordNanos(owner.life) + turnsNanos());
    }

    private void restart(List<Simulation.Host> members) {
        members.forEach(member -> crash(member, 0));
    }

    private void crash(Simulation.Host host, long downNanos) {
        boolean stood = !host.life.claims.isEmpty();
        host.life = null;
        cell.at(cell.trueNanos() + downNanos, () -> {
            cell.restart(host);
            if (stood) {
                stand(host);
            }
        });
    }

    private void cut(List<Simulation.Host> minority, boolean value) {
        for (Simulation.Host one : minority) {
            for (Simulation.Host other : cell.hosts) {
                if (!minority.contains(other)) {
                    cell.cut[one.index][other.index] = value;
                    cell.cut[other.index][one.index] = value;
                }
            }
        }
    }

    // Who is there.

    /** Members that vote, but for the owner; all others that vote are a majority. */
    private List<Simulation.Host> minority(Simulation.Host owner) {
        List<Simulation.Host> voters = voters();
        int most = voters.size() - cell.cell.majority();
        voters.remove(owner);
        Collections.rotate(voters, dice.nextInt(cell.members));
        return List.copyOf(voters.subList(0, Math.max(0, Math.min(most, voters.size()))));
    }

    private boolean isExpendable(Simulation.Host host) {
        List<Simulation.Host> voters = voters();
        return !voters.contains(host) || voters.size() > cell.cell.majority();
    }

    private List<Simulation.Host> voters() {
        List<Simulation.Host> voters = new ArrayList<>();
        for (Simulation.Host host : cell.hosts) {
            if (host.index < cell.members
                    && isSound(host)
                    && host.life != null
                    && host.life.role.isVoting(cell.now(host))) {
                voters.add(host);
            }
        }
        return voters;
    }

    /** Whether a member waits for the lease that hears of its release, and has not just resigned itself. */
    private boolean isWanted(Simulation.Host owner) {
        for (Simulation.Host host : cell.hosts) {
            if (host.index < cell.members
                    && host != owner
                    && host.life != null
                    && host.life.claims.stream()
                            .anyMatch(claim -> !claim.resigned || cell.now(host).hasReached(claim.restEndsNanos))) {
                return true;
            }
        }
        return false;
    }

    /** Whether the others take it for one of theirs, with room for every resource and no other maximum or time. */
    private boolean isSound(Simulation.Host host) {
        return !cell.lost.get(host.index)
                && !host.foreign
                && host.maxResources > 1
                && host.timing.maxLeaseNanos() == cell.maxLeaseNanos
                && (host.index < cell.members || host.nodeId.equals("n" + host.index))
                && cell.now(host).wallMillis() - cell.now(cell.hosts[0]).wallMillis() < 86_400_000;
    }

    // How long it may take.

    private long turnsNanos() {
        return cell.members * 2 * roundTripNanos + 2 * roundTripNanos;
    }

    private long turnsAfterEndNanos() {
        long stepNanos = Math.max(
                Math.min(cell.maxLeaseNanos / 16, 15 * MILLI), Math.min(cell.maxLeaseNanos / 8, 2 * roundTripNanos));
        return (cell.members + 1) * stepNanos;
    }

    /** How long the records of all others will last: each may be in the way where its acceptor is needed. */
    private long longestRecordNanos(Simulation.Life owner) {
        long longest = 0;
        for (Simulation.Host host : cell.hosts) {
            if (host.life != null && host.life.role != null) {
                AcceptedLease lease = host.life.role.lease(name, cell.now(host));
                longest = lease == null
                                || (owner != null && lease.ballot().owner().equals(owner.self))
                        ? longest
                        : Math.max(longest, host.machine.trueNanos(lease.remainingNanos()));
            }
        }
        return (long) (longest * (1 + cell.drift) / (1 - cell.drift));
    }

    private void awaitOwner(Tenure before, long turnsNanos) {
        attempts.clear();
        long boundNanos = (long) (turnsNanos / (1 - cell.drift)) + ROUNDS * roundNanos;
        if (cell.lastTenure[resource] == before) {
            cell.runUntil(cell.trueNanos() + boundNanos, () -> cell.lastTenure[resource] != before);
        }
        if (cell.isSound() && cell.lastTenure[resource] == before) {
            cell.describe(resource);
            cell.violate("nobody owned " + name + " within " + boundNanos + " ns");
        }
        checkAttempts(ATTEMPTS_FOR_A_FREE_LEASE);
        cell.count(Happening.HANDOVER, true);
    }

    private void checkAttempts(int most) {
        attempts.forEach((host, count) -> {
            if (count > most) {
                cell.violate(host.nodeId + " tried " + count + " times in vain for " + name);
            }
        });
    }

    void onAttempt(Simulation.Life life, String wanted) {
        if (wanted.equals(name) && cell.active(life.host, name) == null) {
            attempts.merge(life.host, 1, Integer::sum);
            if (users.contains(life.host)) {
                askedAtNanos.putIfAbsent(life.host, cell.trueNanos());
            }
        }
    }

    // Locks.

    private void lock() {
        keptNanos = Math.min(cell.maxLeaseNanos / 8, dice.one(MILLI, roundTripNanos, 5 * MILLI));
        pauseNanos = dice.one(0, 0, roundTripNanos);
        users = voters();
        // Two phases may not be over when the turn of the next one begins, and whoever takes them is outbid in its own.
        users.removeIf(host -> !host.life.oneRoundTrip);
        while (users.size() > 4) {
            users.remove(dice.nextInt(users.size()));
        }
        int threads = 1 + dice.nextInt(3);
        for (Simulation.Host host : users) {
            for (int i = 0; i < (host == users.get(0) ? threads : 1); i++) {
                cell.at(cell.trueNanos() + dice.nextLong(roundTripNanos), () -> take(host));
            }
        }
        long shareNanos = 9 * turnsNanos();
        pass((SHARES + SHARES / 3) * shareNanos);
        askedAtNanos.values().forEach(this::noteWait);
        users = List.of();
        if (longestNanos > SHARES * shareNanos) {
            cell.violate("a member waited for " + longestNanos + " ns while others took " + name + " again and again");
        }
    }

    private void noteWait(long sinceNanos) {
        longestNanos = Math.max(longestNanos, cell.trueNanos() - sinceNanos);
    }

    private void take(Simulation.Host host) {
        if (users.contains(host)) {
            cell.submit(
                    host.life,
                    Claim.patient(name, cell.maxLeaseNanos, cell.now(host).nanos() + 3_600_000 * MILLI));
        }
    }

    void onAcquired(Simulation.Life life, Claim claim) {
        Simulation.Host host = life.host;
        if (users.contains(host)) {
            cell.count(Happening.HANDOVER, true);
            Long askedNanos = askedAtNanos.remove(host);
            noteWait(askedNanos == null ? cell.trueNanos() : askedNanos);
            cell.whenAwake(life, cell.trueNanos() + keptNanos, () -> {
                cell.withdraw(life, claim);
                cell.at(cell.trueNanos() + pauseNanos, () -> take(host));
            });
        }
    }
}
