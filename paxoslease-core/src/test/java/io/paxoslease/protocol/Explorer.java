package io.paxoslease.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Visits every state of a small world, each once, depth first: memory is one fingerprint per state and one path. Two states with one
 * 64-bit fingerprint are taken for one; among a hundred million states that happens with a probability below one in three thousand.
 */
final class Explorer {

    /**
     * What an exploration found.
     *
     * @param states distinct states, up to symmetry
     * @param steps steps taken
     * @param complete whether every reachable state was visited
     * @param violation what is wrong with the last state of the schedule, null if nothing was found
     * @param schedule the steps that lead to the violation
     */
    record Report(long states, long steps, boolean complete, String violation, List<String> schedule) {}

    private static final class Frame {
        final Universe universe;
        final int steps;
        final int offset;
        int tried;
        int taken;

        Frame(Universe universe, int offset) {
            this.universe = universe;
            this.steps = universe.steps();
            this.offset = offset;
        }

        int number(int index) {
            return (index + offset) % steps;
        }
    }

    private static final int WALK = 100;

    private final Fingerprints visited = new Fingerprints();
    private final List<Frame> path = new ArrayList<>();
    private final long order;

    /** Creates an explorer that takes steps in an order that follows from a number; the set of states is the same for each. */
    Explorer(long order) {
        this.order = order;
    }

    Report explore(Universe.Bounds bounds, long maxStates) {
        long steps = 0;
        push(new Universe(bounds));
        while (!path.isEmpty()) {
            Frame frame = path.get(path.size() - 1);
            if (frame.tried == frame.steps) {
                path.remove(path.size() - 1);
                continue;
            }
            frame.taken = frame.number(frame.tried++);
            Universe next = frame.universe.step(frame.taken);
            if (next == null) {
                continue;
            }
            steps++;
            if (!visited.add(next.fingerprint())) {
                continue;
            }
            String violation = next.violation();
            if (violation != null) {
                return new Report(visited.size(), steps, false, violation, schedule());
            }
            if (visited.size() >= maxStates) {
                return new Report(visited.size(), steps, false, null, List.of());
            }
            push(next);
        }
        return new Report(visited.size(), steps, true, null, List.of());
    }

    /**
     * Wanders through a world instead: walks of a hundred steps from the first state, drawn from a seed. Finds quickly what is there to be
     * found, and proves nothing.
     */
    static Report wander(Universe.Bounds bounds, long maxSteps, long seed) {
        return wander(bounds, List.of(), maxSteps, seed);
    }

    /**
     * Wanders from where a schedule leads.
     *
     * @param beginning how the steps of the schedule are described; of a description, its beginning will do, and the last step that fits is
     *     taken
     */
    static Report wander(Universe.Bounds bounds, List<String> beginning, long maxSteps, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Integer> begun = new ArrayList<>();
        Universe first = new Universe(bounds);
        for (String step : beginning) {
            int number = first.steps() - 1;
            while (!first.describe(number).startsWith(step)) {
                number--;
            }
            begun.add(number);
            first = first.step(number);
        }
        long steps = 0;
        while (steps < maxSteps) {
            Universe universe = first;
            Universe.Mood mood = Universe.Mood.draw(random);
            List<Integer> schedule = new ArrayList<>(begun);
            for (int i = 0; i < WALK; i++) {
                int number = universe.draw(mood, random);
                Universe next = number == Universe.NO_STEP ? null : universe.step(number);
                if (next == null) {
                    continue;
                }
                steps++;
                schedule.add(number);
                String violation = next.violation();
                if (violation != null) {
                    return new Report(steps, steps, false, violation, describe(bounds, schedule));
                }
                universe = next;
            }
        }
        return new Report(steps, steps, false, null, List.of());
    }

    private static List<String> describe(Universe.Bounds bounds, List<Integer> schedule) {
        List<String> described = new ArrayList<>();
        Universe universe = new Universe(bounds);
        for (int number : schedule) {
            described.add(universe.describe(number));
            universe = universe.step(number);
        }
        return described;
    }

    private void push(Universe universe) {
        int offset = order == 0 ? 0 : (int) ((Fingerprints.mix(visited.size(), order) >>> 1) % universe.steps());
        path.add(new Frame(universe, offset));
    }

    private List<String> schedule() {
        List<String> schedule = new ArrayList<>();
        for (Frame frame : path) {
            schedule.add(frame.universe.describe(frame.taken));
        }
        return schedule;
    }

    /** Whether these steps lead to a violation; steps that cannot be taken are passed over. */
    private static boolean isViolated(Universe.Bounds bounds, List<String> schedule) {
        Universe universe = new Universe(bounds);
        for (String step : schedule) {
            for (int i = 0; i < universe.steps(); i++) {
                if (universe.describe(i).equals(step)) {
                    Universe next = universe.step(i);
                    universe = next == null ? universe : next;
                    break;
                }
            }
            if (universe.violation() != null) {
                return true;
            }
        }
        return false;
    }

    /** Leaves steps out for as long as the violation remains. */
    static List<String> shrink(Universe.Bounds bounds, List<String> schedule) {
        List<String> shrunk = new ArrayList<>(schedule);
        for (int chunk = Math.max(1, shrunk.size() / 2); chunk >= 1; ) {
            boolean progress = false;
            for (int i = 0; i + chunk <= shrunk.size(); ) {
                List<String> shorter = new ArrayList<>(shrunk.subList(0, i));
                shorter.addAll(shrunk.subList(i + chunk, shrunk.size()));
                if (isViolated(bounds, shorter)) {
                    shrunk = shorter;
                    progress = true;
                } else {
                    i++;
                }
            }
            if (!progress) {
                if (chunk == 1) {
                    break;
                }
                chunk = Math.max(1, chunk / 2);
            }
        }
        return shrunk;
    }
}
