package io.paxoslease.history;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Says whether two tenures of a lease ever overlapped, from what the nodes of a cell answered to {@code GET /actuator/lease/{name}/history}.
 *
 * <p>Times of one machine are compared by its monotonic clock, exactly. Times of different machines can only be compared by their wall
 * clocks: there two tenures overlap if they do so by more than the tolerance, which has to be at least the difference of those clocks.
 * Tenures that are nearer to each other than the tolerance are counted as not judged.
 *
 * <p>It knows what it is given. What a node forgot, or took with it when its process ended, cannot be judged.
 */
public final class HistoryChecker {

    /** No overlap was found. */
    static final int NONE = 0;

    /** Two tenures overlapped. */
    static final int OVERLAP = 1;

    /** Nothing can be said: wrong arguments, unreadable files, or no tenure in them. With {@code --strict} also: a pair was not judged. */
    static final int UNKNOWN = 2;

    private static final String USAGE = """
            usage: HistoryChecker [--tolerance=PT1S] [--strict] FILE...
              FILE         what a node answered to GET /actuator/lease/{name}/history, or an array of such answers
              --tolerance  by how much the wall clocks of different machines may differ, 1 s by default
              --strict     exit with 2 if two tenures are too near to each other to be judged by wall clocks
            exit: 0 no overlap found, 1 two tenures overlapped, 2 nothing can be said""";

    private final Duration tolerance;
    private final boolean strict;
    private final PrintStream out;
    private int tenures;
    private int overlaps;
    private int notJudged;

    private HistoryChecker(Duration tolerance, boolean strict, PrintStream out) {
        this.tolerance = tolerance;
        this.strict = strict;
        this.out = out;
    }

    /**
     * Checks the files that are named and exits with 0, 1 or 2.
     *
     * @param args see the usage that it prints without arguments
     */
    public static void main(String[] args) {
        System.exit(run(List.of(args), System.out));
    }

    static int run(List<String> args, PrintStream out) {
        Duration tolerance = Duration.ofSeconds(1);
        boolean strict = false;
        List<RecordedHistory> histories = new ArrayList<>();
        for (String arg : args) {
            try {
                if (arg.startsWith("--tolerance=")) {
                    tolerance =
                            Duration.parse(arg.substring(arg.indexOf('=') + 1)).abs();
                } else if (arg.equals("--strict")) {
                    strict = true;
                } else {
                    histories.addAll(RecordedHistory.read(Files.readString(Path.of(arg))));
                }
            } catch (IOException | IllegalArgumentException | ArithmeticException | DateTimeException wrong) {
                out.println(arg + ": " + (wrong instanceof IOException ? "cannot be read: " : "") + wrong.getMessage());
                return UNKNOWN;
            }
        }
        if (histories.isEmpty()) {
            out.println(USAGE);
            return UNKNOWN;
        }
        return new HistoryChecker(tolerance, strict, out).check(histories);
    }

    private int check(Collection<RecordedHistory> histories) {
        Map<String, List<RecordedHistory>> byLease = new TreeMap<>();
        histories.forEach(history -> byLease.computeIfAbsent(
                        "lease '" + history.lease() + "' of cell '" + history.cell() + "'", name -> new ArrayList<>())
                .add(history));
        byLease.forEach(this::checkLease);
        if (overlaps > 0) {
            out.println(overlaps + " of the pairs of tenures overlapped.");
            return OVERLAP;
        } else if (tenures == 0) {
            out.println("There is no tenure in these histories.");
            return UNKNOWN;
        }
        out.println("No two tenures overlapped, as far as these histories tell.");
        return strict && notJudged > 0 ? UNKNOWN : NONE;
    }

    private void checkLease(String name, List<RecordedHistory> histories) {
        List<RecordedTenure> all = tenures(histories);
        tenures += all.size();
        int byOneClock = 0;
        int byWallClocks = 0;
        int near = 0;
        for (int i = 0; i < all.size(); i++) {
            for (int j = 0; j < i; j++) {
                RecordedTenure one = all.get(j);
                RecordedTenure other = all.get(i);
                if (one.sharesClockWith(other)) {
                    byOneClock++;
                    judge(one, other, one.overlap(other), Duration.ZERO, "one monotonic clock");
                } else {
                    byWallClocks++;
                    Duration overlap = one.overlapByWallClocks(other);
                    judge(one, other, overlap, tolerance, "wall clocks");
                    near += overlap.abs().compareTo(tolerance) <= 0 ? 1 : 0;
                }
            }
        }
        notJudged += near;
        out.println(name + ": " + all.size() + " tenures in " + histories.size() + " histories; pairs compared: "
                + byOneClock + " by one monotonic clock, " + byWallClocks + " by wall clocks with a tolerance of "
                + tolerance + ", of which " + near + " are too near to each other to be judged");
        remarks(histories).forEach(remark -> out.println("  note: " + remark));
    }

    private void judge(RecordedTenure one, RecordedTenure other, Duration overlap, Duration allowed, String by) {
        if (overlap.compareTo(allowed) > 0) {
            overlaps++;
            out.println("OVERLAP of " + overlap + " by " + by + ": " + one + ", and " + other);
        }
    }

    private static List<RecordedTenure> tenures(List<RecordedHistory> histories) {
        Map<List<Object>, RecordedTenure> tenures = new LinkedHashMap<>();
        for (RecordedHistory history : histories) {
            for (RecordedTenure tenure : history.tenures()) {
                tenures.merge(List.of(tenure.incarnation(), tenure.token()), tenure, RecordedTenure::and);
            }
        }
        return List.copyOf(tenures.values());
    }

    /** What the reader has to know about what is missing. */
    private static List<String> remarks(List<RecordedHistory> histories) {
        List<String> remarks = new ArrayList<>();
        TreeSet<String> absent = new TreeSet<>();
        histories.forEach(history -> absent.addAll(history.members()));
        histories.forEach(history -> absent.remove(history.node()));
        if (!absent.isEmpty()) {
            remarks.add("no history of " + String.join(", ", absent));
        }
        for (RecordedHistory history : histories) {
            if (history.isIncomplete()) {
                remarks.add(history.incarnation() + " had forgotten its " + history.dropped() + " oldest events");
            }
        }
        return remarks;
    }
}
