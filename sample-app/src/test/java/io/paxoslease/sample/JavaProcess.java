package io.paxoslease.sample;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A Java process of the tests. It never outlives them: neither a test that fails nor the end of the test JVM leaves it running. */
final class JavaProcess implements AutoCloseable {

    /** The sample as it is handed out. */
    static final Path SAMPLE_JAR = Path.of("target", "sample-app.jar");

    /** What makes Java start with little of the processors. */
    static final List<String> QUICK = List.of("-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly)));
    }

    private final Process process;

    private JavaProcess(Process process) {
        this.process = process;
    }

    /** Starts the sample, as quickly as it can be; what it prints goes to the end of a file. */
    static JavaProcess startSample(Path output, List<String> arguments) throws IOException {
        return startSample(List.of(), output, arguments);
    }

    /** Starts the sample through commands that end by executing it. */
    static JavaProcess startSample(List<String> prefix, Path output, List<String> arguments) throws IOException {
        List<String> all = new ArrayList<>(ExtractedSample.command());
        all.addAll(arguments);
        return start(prefix, output, all);
    }

    /** Starts a Java program; what it prints goes to the end of a file. */
    static JavaProcess start(Path output, List<String> arguments) throws IOException {
        return start(List.of(), output, arguments);
    }

    /** Starts a Java program through commands that end by executing it, so that the process is still the one that is signalled. */
    static JavaProcess start(List<String> prefix, Path output, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(QUICK);
        command.addAll(arguments);
        Files.createDirectories(output.toAbsolutePath().getParent());
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .redirectInput(new File("/dev/null"));
        Process process = builder.start();
        RUNNING.add(process);
        process.onExit().thenAccept(RUNNING::remove);
        return new JavaProcess(process);
    }

    /** Waits until the commands before it have become the Java program, or have failed. */
    void awaitExecution() throws IOException, InterruptedException {
        awaitExecution(process);
    }

    static void awaitExecution(Process process) throws IOException, InterruptedException {
        Path program = Path.of("/proc", String.valueOf(process.pid()), "exe");
        try {
            while (!Files.readSymbolicLink(program).getFileName().toString().equals("java")) {
                Thread.sleep(1);
            }
        } catch (NoSuchFileException ended) {
            // Whoever uses it will notice.
        }
    }

    /** What the process has used so far of all processors. */
    Duration processorTime() {
        return process.info().totalCpuDuration().orElseThrow();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL: nothing in the process can react. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        awaitExit(Duration.ofSeconds(10));
    }

    /** SIGTERM: the application stops in good order. */
    void terminate() {
        process.destroy();
    }

    /** SIGSTOP: all threads stand still until {@link #resume()}. */
    void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    /** SIGCONT. */
    void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    private void signal(String name) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start();
        if (!kill.waitFor(5, TimeUnit.SECONDS) || kill.exitValue() != 0) {
            throw new IOException("Could not send SIG" + name);
        }
    }

    /** Waits for the end and answers the exit status. */
    int awaitExit(Duration atMost) throws InterruptedException {
        if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new AssertionError("The process did not end within " + atMost);
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
