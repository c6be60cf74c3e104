package io.paxoslease.sample;

import io.paxoslease.sample.Tenures.Tenure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;

/** How long a lease had no owner between one tenure and the next: from the release, or from the end of the lease, to the first guarded run. */
final class Takeovers {

    private static final long MILLISECOND = 1_000_000L;
    private static final int[] LIMITS_MILLIS = {25, 50, 100, 250, 500, 1_000, 2_000, 5_000, Integer.MAX_VALUE};

    private final List<Long> afterRelease = new ArrayList<>();
    private final List<Long> afterEnd = new ArrayList<>();

    /**
     * Finds the takeovers of one lease.
     *
     * @param lease its name
     * @param journals of all nodes
     * @param leaseEndNanos when the lease with a fencing token ended at the latest, if that is known
     */
    Takeovers(String lease, JournalChecker journals, LongFunction<Optional<Long>> leaseEndNanos) {
        Map<Long, Long> releases = new HashMap<>();
        journals.lines()
                .filter(line -> line.isReleased() && line.lease().equals(lease))
                .forEach(line -> releases.put(line.token(), line.nanos()));
        List<Tenure> tenures = journals.tenures().stream()
                .filter(tenure -> tenure.lease().equals(lease))
                .sorted(Comparator.comparingLong(Tenure::token))
                .toList();
        for (int i = 1; i < tenures.size(); i++) {
            Tenure before = tenures.get(i - 1);
            long firstRunNanos = tenures.get(i).firstHeldNanos();
            Long releasedNanos = releases.get(before.token());
            if (releasedNanos != null) {
                // The event is published behind the release, so the successor may be there first.
                afterRelease.add(Math.max(0, firstRunNanos - releasedNanos));
            } else {
                leaseEndNanos
                        .apply(before.token())
                        .ifPresent(endNanos -> afterEnd.add(Math.max(0, firstRunNanos - endNanos)));
            }
        }
    }

    int count() {
        return afterRelease.size() + afterEnd.size();
    }

    /** A table: how many took how long. */
    String histogram() {
        StringBuilder table =
                new StringBuilder(String.format("%-14s%16s%16s%n", "took", "after release", "after lease end"));
        int fromMillis = 0;
        for (int limitMillis : LIMITS_MILLIS) {
            String range = limitMillis == Integer.MAX_VALUE
                    ? ">= " + fromMillis + " ms"
                    : fromMillis + "-" + limitMillis + " ms";
            table.append(String.format(
                    "%-14s%16d%16d%n",
                    range,
                    countBetween(afterRelease, fromMillis, limitMillis),
                    countBetween(afterEnd, fromMillis, limitMillis)));
            fromMillis = limitMillis;
        }
        return table.append(String.format("%-14s%16s%16s%n", "median", median(afterRelease), median(afterEnd)))
                .toString();
    }

    private static long countBetween(List<Long> nanos, int fromMillis, int toMillis) {
        return nanos.stream()
                .filter(took -> took >= fromMillis * MILLISECOND && took < toMillis * MILLISECOND)
                .count();
    }

    private static String median(List<Long> nanos) {
        List<Long> sorted = nanos.stream().sorted().toList();
        return sorted.isEmpty() ? "-" : sorted.get(sorted.size() / 2) / MILLISECOND + " ms";
    }
}
