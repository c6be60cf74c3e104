package io.paxoslease.node;

import io.paxoslease.protocol.Mistake;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A life that violates something, with as few faults and deeds as it takes, and the command that replays it.
 *
 * @param seed the seed
 * @param mistakes what the roles do wrong; nothing in earnest
 * @param omitted which of the planned faults and deeds are left out
 */
record Counterexample(long seed, Set<Mistake> mistakes, BitSet omitted) {

    private static final String SEED = "paxoslease.seed";
    private static final String MISTAKES = "paxoslease.mistakes";
    private static final String ONLY = "paxoslease.only";
    private static final int LINES = 40;

    /** The life that system properties ask for, null if they ask for none. */
    static Counterexample asked(UnaryOperator<String> properties) {
        String seed = properties.apply(SEED);
        if (seed == null) {
            return null;
        }
        Set<Mistake> mistakes = EnumSet.noneOf(Mistake.class);
        for (String mistake : split(properties.apply(MISTAKES))) {
            mistakes.add(Mistake.valueOf(mistake));
        }
        Counterexample life = new Counterexample(Long.parseLong(seed), mistakes, new BitSet());
        if (properties.apply(ONLY) != null) {
            life.omitted.set(0, new Simulation(life.seed, mistakes, new BitSet(), null).plannedSize());
            for (String number : split(properties.apply(ONLY))) {
                life.omitted.clear(Integer.parseInt(number));
            }
        }
        return life;
    }

    private static List<String> split(String list) {
        return list == null || list.isEmpty() ? List.of() : List.of(list.split(","));
    }

    Simulation.Result run(Consumer<String> log) {
        return new Simulation(seed, mistakes, omitted, log).run();
    }

    /** Leaves out planned faults and deeds, in ever smaller portions, for as long as something is violated. */
    Counterexample shrunk(int maxRuns) {
        int planned = new Simulation(seed, mistakes, omitted, null).plannedSize();
        BitSet left = (BitSet) omitted.clone();
        int runs = 0;
        boolean progress = true;
        for (int portion = Math.max(1, planned / 2); runs < maxRuns && (portion > 1 || progress); ) {
            progress = false;
            for (int from = 0; from < planned && runs < maxRuns; from += portion) {
                BitSet more = (BitSet) left.clone();
                more.set(from, Math.min(planned, from + portion));
                if (!more.equals(left)) {
                    runs++;
                    if (new Simulation(seed, mistakes, more, null).run().violation() != null) {
                        left = more;
                        progress = true;
                    }
                }
            }
            portion = Math.max(1, portion / 2);
        }
        return new Counterexample(seed, mistakes, left);
    }

    /** Replays this life and prints its transcript. */
    String command() {
        Simulation simulation = new Simulation(seed, mistakes, omitted, null);
        String command = "./mvnw -pl paxoslease-core test -Dtest=SimulationTests#keepsEveryInvariantInEveryCell -D"
                + SEED + "=" + seed;
        if (!mistakes.isEmpty()) {
            command += " -D" + MISTAKES + "="
                    + mistakes.stream().map(Mistake::name).collect(Collectors.joining(","));
        }
        if (!omitted.isEmpty()) {
            command += " -D" + ONLY + "="
                    + left(simulation).stream().map(String::valueOf).collect(Collectors.joining(","));
        }
        return command;
    }

    /** The faults and deeds that are left. */
    List<String> schedule() {
        Simulation simulation = new Simulation(seed, mistakes, omitted, null);
        return left(simulation).stream().map(simulation::planned).toList();
    }

    private List<Integer> left(Simulation simulation) {
        List<Integer> left = new ArrayList<>();
        for (int i = omitted.nextClearBit(0); i < simulation.plannedSize(); i = omitted.nextClearBit(i + 1)) {
            left.add(i);
        }
        return left;
    }

    String report() {
        List<String> transcript = new ArrayList<>();
        Simulation.Result result = run(transcript::add);
        return "Seed " + seed + ": " + result.violation() + "\nReplay: " + command() + "\nWhat it takes:\n  "
                + String.join("\n  ", schedule()) + "\nHow it ends:\n  "
                + String.join("\n  ", transcript.subList(Math.max(0, transcript.size() - LINES), transcript.size()));
    }
}
