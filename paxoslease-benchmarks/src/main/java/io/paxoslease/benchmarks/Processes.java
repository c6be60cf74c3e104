package io.paxoslease.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The processes of one system and the directory of their data. Each reads and answers lines. They are gone after {@link #close()}, which the end
 * of the JVM calls too, and no wait for them is endless.
 */
final class Processes implements AutoCloseable {

    /** A node that allows leases of a minute is in quarantine for longer than that. */
    private static final long START_MILLIS = 180_000;

    private static final long END_MILLIS = 5_000;

    private final Path directory;
    private final List<Child> children = new ArrayList<>();
    private boolean closed;

    Processes() throws IOException {
        synchronized (this) {
            // First, because it throws while the JVM ends.
            Runtime.getRuntime().addShutdownHook(new Thread(this::close));
            directory = Files.createTempDirectory("paxoslease-benchmark");
        }
    }

    /** Where the processes may write. */
    Path directory() {
        return directory;
    }

    /** Ports of the loopback interface that nobody listened on just now. */
    static List<String> freePorts(int count) throws IOException {
        List<ServerSocket> reserved = new ArrayList<>();
        List<String> ports = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                reserved.add(socket);
                ports.add(Integer.toString(socket.getLocalPort()));
            }
        } finally {
            for (ServerSocket socket : reserved) {
                socket.close();
            }
        }
        return ports;
    }

    /** Starts a JVM with the class path of this one. */
    synchronized Child start(List<String> options, Class<?> main, List<String> arguments) throws IOException {
        if (closed) {
            throw new IOException("the benchmark ends");
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        Child child = new Child(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
        children.add(child);
        return child;
    }

    /** In the order in which they were started. */
    List<Child> children() {
        return children;
    }

    /** Waits until each process has said that it is ready. */
    void awaitReady() throws IOException, InterruptedException {
        for (Child child : children) {
            child.awaitReady();
        }
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        children.forEach(Child::beginToEnd);
        children.forEach(Child::end);
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException failure) {
            System.err.println(directory + " is left behind: " + failure);
        }
    }

    /** One process. */
    static final class Child {

        private static final String ENDED = "";

        private final Process process;
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        Child(Process process) {
            this.process = process;
            Thread reader = new Thread(this::read);
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                out.lines().filter(line -> !line.isEmpty()).forEach(lines::add);
            } catch (IOException | UncheckedIOException failure) {
                // it has been destroyed
            }
            lines.add(ENDED);
        }

        /** Waits until it has said that it is ready. */
        void awaitReady() throws IOException, InterruptedException {
            while (!answer(START_MILLIS).equals("ready")) {
                // what a library had to say
            }
        }

        private String answer(long limitMillis) throws IOException, InterruptedException {
            String line = lines.poll(limitMillis, TimeUnit.MILLISECONDS);
            if (line == null) {
                throw new IOException("a process did not answer within " + limitMillis + " ms");
            }
            if (line.equals(ENDED)) {
                throw new IOException("a process ended");
            }
            return line;
        }

        /** What it answers to a line. */
        String ask(String line, long limitMillis) throws IOException, InterruptedException {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
            return answer(limitMillis);
        }

        /** SIGKILL. */
        void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }

        /** Its standard input ends, and so does it. */
        private void beginToEnd() {
            try {
                process.getOutputStream().close();
            } catch (IOException gone) {
                // it has ended already
            }
        }

        private void end() {
            try {
                if (!process.waitFor(END_MILLIS, TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly().waitFor(END_MILLIS, TimeUnit.MILLISECONDS);
                }
            } catch (InterruptedException interrupt) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }
}
