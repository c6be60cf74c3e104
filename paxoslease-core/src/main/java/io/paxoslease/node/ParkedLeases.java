package io.paxoslease.node;

import io.paxoslease.protocol.ByteColumn;
import io.paxoslease.protocol.IntColumn;
import io.paxoslease.protocol.NarrowColumn;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.ResourceIndex;
import io.paxoslease.protocol.Tenure;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Held leases that nobody waits for anything about, without objects: what is left of a {@link Candidacy} whose one claim holds the lease, until
 * its next extension or its end is due. The tenure itself is in the proposer's tables.
 *
 * <pre>
 *   slot   flags (1)            due (4)              acquiredAt (4)     extensions (4, once there was one)
 *     0    PARKED | AUTO        milliseconds         wall clock, from   0
 *     1    PARKED               since the start      the first          12
 *     2    PARKED | AUTO | EXTENDING: not due before its end is told
 *     3    PARKED | AUTO | WOKEN: due whatever its time says
 * </pre>
 *
 * <p>There is no heap and no wheel: each chunk of slots knows when its first row may be due, and is looked through then. That time may be too
 * early, never too late. So setting and moving a due time costs nothing, and a million rows that are due within a second are found by looking
 * through a few megabytes. Only the {@link ParkedClaims} that the application can still refer to cost objects.
 */
final class ParkedLeases {

    /**
     * A row as it was parked.
     *
     * @param resource the name of the lease
     * @param claim the claim that holds it, null if the application cannot refer to it any more
     * @param autoExtend whether it is extended without being asked
     * @param dueNanos when its extension or its end is due, rounded up to milliseconds
     * @param acquiredAtMillis when the tenure began, by the wall clock
     * @param extensions how often it was extended
     */
    record Row(
            String resource,
            @Nullable Claim claim,
            boolean autoExtend,
            long dueNanos,
            long acquiredAtMillis,
            int extensions) {}

    private static final int PARKED = 1;
    private static final int AUTO = 2;
    private static final int EXTENDING = 4;
    private static final int WOKEN = 8;

    private static final int CHUNK_BITS = 10;
    /** With less of its T left, in 64ths, a lease can hardly be extended in time any more. */
    private static final int LATE = 4;

    /** Extensions wait for each other by up to this part of T, so that they travel together. */
    private static final int COALESCED_PART = 512;

    private static final long LONGEST_COALESCING_NANOS = 100_000_000L;

    private static final long TICK_NANOS = 1_000_000;
    /** Twelve days, which with the longest lease is less than the 24 that ticks can tell apart from weeks to come. */
    private static final long LONG_SLEEP_TICKS = 1L << 30;

    /** Longer than any lease. */
    private static final long NEVER_NANOS = 1L << 62;

    private final ResourceIndex index;
    private final ByteColumn flags = ByteColumn.dense();
    private final IntColumn due = IntColumn.dense();
    private final NarrowColumn acquiredAt = NarrowColumn.dense();
    private final IntColumn extensions = IntColumn.dense();
    private final ParkedClaims claims = new ParkedClaims();
    private int size;
    /** No row is in a slot below this. */
    private int lowest;

    private boolean started;
    private long startNanos;
    private long lastTick;

    private long[] firstDueNanos = new long[1];
    private boolean[] mayBeDue = new boolean[1];
    private boolean[] allDue = new boolean[1];
    /**
     * Whether some rows of a chunk that were due and not to be extended, {@code others} below, were left for later. They count as due, but their
     * chunk is looked through for them only when some may be taken: where a million leases have ended, looking costs more than taking.
     */
    private boolean[] leftOver = new boolean[1];

    private long earliestNanos;
    /** The chunk with which the next look begins: the first that had to wait at the last one, so that each has its turn. */
    private int hand;

    /** How many leases that can be extended, and how many others, are still to be taken at once. */
    private int extendable;

    private int others;
    /** Whether the last look found more to extend than it told. */
    private boolean busy;

    private int[] dueSlots = new int[16];
    private int taken;

    ParkedLeases(ResourceIndex index) {
        this.index = index;
    }

    /** When an extension that is due then is made, later by no more than is needed to travel with others. */
    static long coalesced(long dueNanos, long leaseNanos) {
        long step = Math.max(1, Math.min(leaseNanos / COALESCED_PART, LONGEST_COALESCING_NANOS));
        return dueNanos + Math.floorMod(-dueNanos, step);
    }

    int size() {
        return size;
    }

    /** Safe to call without the lock. */
    boolean contains(String resource) {
        return index.find(resource, ResourceIndex.NODE) != ResourceIndex.NONE;
    }

    void park(Row row) {
        claims.forgetUnreachable();
        if (!started) {
            started = true;
            startNanos = row.dueNanos;
        }
        long tick = tickFrom(row.dueNanos);
        if (size == 0) {
            lastTick = tick;
            earliestNanos = nanos(tick);
        }
        int slot = index.add(row.resource, ResourceIndex.NODE);
        flags.set(slot, PARKED | (row.autoExtend ? AUTO : 0));
        acquiredAt.set(slot, row.acquiredAtMillis);
        extensions.set(slot, row.extensions);
        Claim claim = row.claim;
        if (claim != null) {
            claims.add(slot, claim);
        }
        size++;
        lowest = Math.min(lowest, slot);
        setDue(slot, tick);
    }

    /** Takes a row out; null if the resource is not parked. */
    @Nullable
    Row unpark(String resource) {
        int slot = find(resource);
        return slot == ResourceIndex.NONE ? null : unpark(slot);
    }

    /** A row, which stays parked; null if the resource is not. */
    @Nullable
    Row row(String resource) {
        int slot = find(resource);
        return slot == ResourceIndex.NONE ? null : row(slot);
    }

    private int find(String resource) {
        return size == 0 ? ResourceIndex.NONE : index.find(resource, ResourceIndex.NODE);
    }

    /** Takes the row in a slot out. */
    Row unpark(int slot) {
        Row row = row(slot);
        claims.remove(slot);
        flags.set(slot, 0);
        due.set(slot, 0);
        acquiredAt.clear(slot);
        extensions.set(slot, 0);
        index.remove(slot, ResourceIndex.NODE);
        size--;
        return row;
    }

    private Row row(int slot) {
        int bits = flags.get(slot);
        return new Row(
                index.name(slot),
                claims.get(slot),
                (bits & AUTO) != 0,
                dueNanos(slot),
                acquiredAt.get(slot),
                extensions.get(slot));
    }

    /** The name of the lease in a slot. */
    String name(int slot) {
        return index.name(slot);
    }

    /** Whether the lease in a slot is now to be extended without being asked. */
    boolean goesOn(int slot, Now now) {
        return flags.get(slot) == (PARKED | AUTO) && now.hasReached(dueNanos(slot));
    }

    /** The lease in a slot is being extended: it is not due until that has ended, or it is taken out. */
    void extending(int slot) {
        flags.set(slot, PARKED | AUTO | EXTENDING);
    }

    /** The extension of the lease in a slot has brought a later end. */
    void extended(int slot, Tenure tenure, long dueNanos) {
        claims.forgetUnreachable();
        flags.set(slot, PARKED | AUTO);
        extensions.set(slot, extensions.get(slot) + 1);
        Claim claim = claims.get(slot);
        if (claim != null) {
            claim.tenure = tenure;
        }
        setDue(slot, tickFrom(dueNanos));
    }

    private void setDue(int slot, long tick) {
        due.set(slot, (int) tick);
        mark(slot >>> CHUNK_BITS, nanos(tick));
    }

    /** No row is in this slot or above. */
    int slots() {
        return mayBeDue.length << CHUNK_BITS;
    }

    /** The rows in some slots, which stay parked. */
    List<Row> rows(int fromSlot, int toSlot) {
        List<Row> rows = new ArrayList<>();
        for (int slot = fromSlot; slot < toSlot; slot++) {
            if (flags.get(slot) != 0) {
                rows.add(row(slot));
            }
        }
        return rows;
    }

    /** Up to {@code limit} rows, which stay parked; for those who want to end all leases. */
    List<Row> rows(int limit) {
        List<Row> rows = new ArrayList<>();
        int wanted = Math.min(limit, size);
        for (int slot = lowest; rows.size() < wanted; slot++) {
            if (flags.get(slot) != 0) {
                lowest = rows.isEmpty() ? slot : lowest;
                rows.add(row(slot));
            }
        }
        return rows;
    }

    // Time.

    /** When {@link #takeDue} may find something; only while there are rows. */
    long earliestNanos() {
        return earliestNanos;
    }

    /**
     * Tells which rows are due; each is then to be taken out or extended. Where there is more to do than can be done, time spent on what has ended
     * is time that more leases lack, so only a few of those are told then.
     *
     * @param now the clocks
     * @param limit after how many leases that can be extended no others are looked for
     * @param left how much of its T the lease in a slot has left, in 64ths
     * @return the slots of what is due, or of a part of it; the rest at the next call
     */
    int[] takeDue(Now now, int limit, IntUnaryOperator left) {
        taken = 0;
        if (size > 0 && now.hasReached(earliestNanos)) {
            lookForDue(now, limit, left);
        }
        return Arrays.copyOf(dueSlots, taken);
    }

    private void lookForDue(Now now, int limit, IntUnaryOperator left) {
        long tick = tick(now.nanos());
        if (tick - lastTick > LONG_SLEEP_TICKS) {
            // What was due before might look as if it were in weeks.
            wakeAll(now);
        }
        lastTick = tick;
        others = busy ? limit / 8 : limit;
        extendable = limit;
        boolean found = false;
        int chunk = hand;
        boolean waits = false;
        for (int i = 0; i < mayBeDue.length; i++) {
            boolean isDue = mayBeDue[chunk] && now.hasReached(firstDueNanos[chunk]);
            if (extendable > 0 && (isDue || (leftOver[chunk] && others > 0))) {
                lookForDue(chunk, left);
            } else if (isDue && !waits) {
                waits = true;
                hand = chunk;
            }
            if (mayBeDue[chunk] && (!found || firstDueNanos[chunk] - earliestNanos < 0)) {
                earliestNanos = firstDueNanos[chunk];
                found = true;
            }
            if (leftOver[chunk] && (!found || now.nanos() - earliestNanos < 0)) {
                earliestNanos = now.nanos();
                found = true;
            }
            chunk = chunk + 1 < mayBeDue.length ? chunk + 1 : 0;
        }
        if (!found) {
            earliestNanos = now.nanos() + NEVER_NANOS;
        }
        busy = extendable <= 0;
    }

    private void lookForDue(int chunk, IntUnaryOperator left) {
        boolean all = allDue[chunk];
        allDue[chunk] = false;
        mayBeDue[chunk] = false;
        leftOver[chunk] = false;
        int next = Integer.MAX_VALUE;
        for (int slot = chunk << CHUNK_BITS; slot < (chunk + 1) << CHUNK_BITS; slot++) {
            int bits = flags.get(slot);
            if (bits != 0 && (bits & EXTENDING) == 0) {
                if (all) {
                    bits |= WOKEN;
                    flags.set(slot, bits);
                }
                int ticks = due.get(slot) - (int) lastTick;
                boolean isDue = (bits & WOKEN) != 0 || ticks <= 0;
                if (isDue && (bits & AUTO) != 0 && left.applyAsInt(slot) >= LATE) {
                    extendable--;
                    take(slot);
                } else if (!isDue) {
                    next = Math.min(next, ticks);
                } else if (others > 0) {
                    others--;
                    take(slot);
                } else {
                    leftOver[chunk] = true;
                }
            }
        }
        if (next < Integer.MAX_VALUE) {
            mark(chunk, nanos(lastTick + next));
        }
    }

    private void take(int slot) {
        if (taken == dueSlots.length) {
            dueSlots = Arrays.copyOf(dueSlots, 2 * taken);
        }
        dueSlots[taken++] = slot;
    }

    /** Makes every row due: what was computed from the monotonic clock alone is not to be trusted any more. */
    void wakeAll(Now now) {
        for (int chunk = 0; chunk < mayBeDue.length; chunk++) {
            mayBeDue[chunk] |= leftOver[chunk];
            allDue[chunk] = mayBeDue[chunk];
            firstDueNanos[chunk] = now.nanos();
        }
        earliestNanos = now.nanos();
    }

    private void mark(int chunk, long nanos) {
        if (chunk >= mayBeDue.length) {
            int length = Math.max(chunk + 1, mayBeDue.length * 2);
            mayBeDue = Arrays.copyOf(mayBeDue, length);
            allDue = Arrays.copyOf(allDue, length);
            leftOver = Arrays.copyOf(leftOver, length);
            firstDueNanos = Arrays.copyOf(firstDueNanos, length);
        }
        if (!mayBeDue[chunk] || nanos - firstDueNanos[chunk] < 0) {
            firstDueNanos[chunk] = nanos;
            mayBeDue[chunk] = true;
        }
        if (nanos - earliestNanos < 0) {
            earliestNanos = nanos;
        }
    }

    private long tick(long nanos) {
        return Math.floorDiv(nanos - startNanos, TICK_NANOS);
    }

    /** The first that does not begin before. */
    private long tickFrom(long nanos) {
        return tick(nanos + TICK_NANOS - 1);
    }

    private long nanos(long tick) {
        return startNanos + tick * TICK_NANOS;
    }

    /** Ticks are kept modulo 2^32, which is 49 days; no lease is longer than seven. */
    private long dueNanos(int slot) {
        return nanos(lastTick + (due.get(slot) - (int) lastTick));
    }
}
