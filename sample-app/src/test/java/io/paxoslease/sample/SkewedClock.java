package io.paxoslease.sample;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The clocks of one life of a process, wrong in a known way, so that times it noted can be turned into the machine's. Done by Debian's libfaketime.
 *
 * <p>Either the wall clock can be set at any time and the monotonic clock is left alone, or both run at another rate from the start of the
 * process. In the second case the library lets the monotonic clock begin at the wall clock's time.
 */
final class SkewedClock {

    private static final Path LIBRARY = Path.of("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1");

    /** How often the two clocks are compared: this thread may have to wait between one and the other. */
    private static final int READINGS = 20;

    private final double rate;
    private final @Nullable Path settings;
    private long startNanos;
    private long wallMinusMonotonicNanos;

    private SkewedClock(double rate, @Nullable Path settings) {
        this.rate = rate;
        this.settings = settings;
    }

    /** Whether clocks can be wrong on this machine. */
    static boolean isAvailable() {
        return Files.isReadable(LIBRARY);
    }

    /** The machine's own clocks. */
    static SkewedClock exact() {
        return new SkewedClock(1, null);
    }

    /** Both clocks run at a rate of their own. */
    static SkewedClock withRate(double rate) {
        return new SkewedClock(rate, null);
    }

    /** The wall clock can be set. */
    static SkewedClock settable(Path settings) throws IOException {
        SkewedClock clock = new SkewedClock(1, settings);
        clock.set(Duration.ZERO);
        return clock;
    }

    boolean isSettable() {
        return settings != null;
    }

    double rate() {
        return rate;
    }

    /** Sets the wall clock this far from the machine's. */
    void set(Duration offset) throws IOException {
        if (settings == null) {
            throw new IllegalStateException("not settable");
        }
        Path next = settings.resolveSibling(settings.getFileName() + ".next");
        Files.writeString(next, String.format(Locale.ROOT, "%+.3f%n", offset.toMillis() / 1_000.0));
        Files.move(next, settings, StandardCopyOption.ATOMIC_MOVE);
    }

    /** What to put before a command so that it runs with these clocks. */
    List<String> command() {
        if (settings != null) {
            return List.of(
                    "env",
                    "LD_PRELOAD=" + LIBRARY,
                    "FAKETIME_DONT_FAKE_MONOTONIC=1",
                    // Without the next one, waiting threads of a JVM spin.
                    "FAKETIME_FORCE_MONOTONIC_FIX=0",
                    "FAKETIME_CACHE_DURATION=1",
                    "FAKETIME_TIMESTAMP_FILE=" + settings.toAbsolutePath());
        }
        return rate == 1 ? List.of() : List.of("env", "LD_PRELOAD=" + LIBRARY, "FAKETIME=+0 x" + rate);
    }

    /** To be called at the moment at which the process begins to use the library. */
    void started() {
        startNanos = System.nanoTime();
        long tightestNanos = Long.MAX_VALUE;
        for (int reading = 0; reading < READINGS; reading++) {
            long beforeNanos = System.nanoTime();
            long wallNanos = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
            long tookNanos = System.nanoTime() - beforeNanos;
            if (tookNanos < tightestNanos) {
                tightestNanos = tookNanos;
                wallMinusMonotonicNanos = wallNanos - beforeNanos - tookNanos / 2;
            }
        }
    }

    /** The machine's monotonic time at which the process read a time from its own monotonic clock. */
    long toMachineNanos(long ownNanos) {
        if (rate == 1) {
            return ownNanos;
        }
        return startNanos + Math.round((ownNanos - startNanos - wallMinusMonotonicNanos) / rate);
    }
}
