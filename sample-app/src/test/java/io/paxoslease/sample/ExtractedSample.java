package io.paxoslease.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * The sample taken apart, with an archive of its classes beside it, as Spring Boot proposes it for a quick start: it takes about half as long as
 * that of the jar. Each JVM of tests that wants it makes its own: the jar may have changed, and another JVM is at work at the same time.
 */
final class ExtractedSample {

    private static final String NAME = "extracted-sample-" + System.getProperty("paxoslease.fork", "0");
    private static final Path DIRECTORY = Path.of("target", NAME).toAbsolutePath();
    private static final List<String> COMMAND = make();

    private ExtractedSample() {}

    /** What to tell Java before the sample's own arguments. */
    static List<String> command() {
        return COMMAND;
    }

    private static List<String> make() {
        String jar = DIRECTORY.resolve("sample-app.jar").toString();
        Path archive = DIRECTORY.resolve("sample-app.jsa");
        run(
                "-Djarmode=tools",
                "-jar",
                JavaProcess.SAMPLE_JAR.toString(),
                "extract",
                "--force",
                "--destination",
                DIRECTORY.toString());
        run(
                "-XX:ArchiveClassesAtExit=" + archive,
                "-Dspring.context.exit=onRefresh",
                "-jar",
                jar,
                "--server.address=127.0.0.1",
                "--server.port=0");
        return List.of("-XX:SharedArchiveFile=" + archive, "-jar", jar);
    }

    private static void run(String... arguments) {
        Path output = Path.of("target", NAME + ".log");
        try (JavaProcess process = JavaProcess.start(output, List.of(arguments))) {
            int status = process.awaitExit(Duration.ofMinutes(3));
            if (status != 0) {
                throw new IllegalStateException("java " + String.join(" ", arguments) + " ended with status " + status
                        + ", see " + output.toAbsolutePath());
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", interrupt);
        }
    }
}
