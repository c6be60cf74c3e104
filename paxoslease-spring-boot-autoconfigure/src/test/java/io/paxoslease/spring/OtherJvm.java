package io.paxoslease.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of its own with the classes of the tests, for what would do harm to this one. */
public final class OtherJvm {

    private OtherJvm() {}

    /** How it ended, and what it printed. */
    public record End(int status, String output) {}

    /** Runs an application without a web server, which goes on until something ends it. */
    public static End runApplication(Path directory, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(
                "--spring.main.web-application-type=none",
                "--spring.main.banner-mode=off",
                "--spring.main.keep-alive=true"));
        all.addAll(List.of(arguments));
        return run(directory, List.of("-XX:TieredStopAtLevel=1"), main, all.toArray(String[]::new));
    }

    /** Runs it to its end, which must come within minutes: its JVM, too, has to start beside those of other tests. */
    public static End run(Path directory, List<String> options, Class<?> main, String... arguments)
            throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of(
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(180, TimeUnit.SECONDS))
                    .as(() -> "the end of " + main.getName() + ", which printed " + printed(output))
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new End(process.exitValue(), printed(output));
    }

    private static String printed(Path output) {
        try {
            return Files.readString(output, StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
