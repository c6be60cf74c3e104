package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** That journals of processes with wrong clocks can be compared at all. */
@Timeout(120)
class SkewedClockIT {

    /** A wrong start by some milliseconds makes an error of one part in a hundred of them. */
    private static final long TOLERANCE_NANOS = 2_000_000;

    @Test
    void timesOfAWrongRateAreTranslated() throws Exception {
        assumeTrue(SkewedClock.isAvailable(), "libfaketime is not installed");
        check(SkewedClock.withRate(1.01));
        check(SkewedClock.withRate(0.99));
    }

    @Test
    void theMonotonicClockStaysExactWhenTheWallClockIsSet(@TempDir Path directory) throws Exception {
        assumeTrue(SkewedClock.isAvailable(), "libfaketime is not installed");
        SkewedClock clock = SkewedClock.settable(directory.resolve("clock"));
        clock.set(Duration.ofHours(-1));
        check(clock);
    }

    private static void check(SkewedClock clock) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(clock.command());
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                AskedTime.class.getName()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader answers = process.inputReader(StandardCharsets.US_ASCII)) {
            JavaProcess.awaitExecution(process);
            clock.started();
            for (int question = 0; question < 30; question++) {
                long askedNanos = System.nanoTime();
                process.getOutputStream().write('?');
                process.getOutputStream().flush();
                long ownNanos = Long.parseLong(answers.readLine());
                long answeredNanos = System.nanoTime();
                // After three seconds a rate of 1 instead of 1.01 would be 30 ms off.
                assertThat(clock.toMachineNanos(ownNanos))
                        .isBetween(askedNanos - TOLERANCE_NANOS, answeredNanos + TOLERANCE_NANOS);
                Thread.sleep(100);
            }
        } finally {
            process.destroyForcibly();
        }
    }
}
