package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * What an idle application with one lease costs: the processor time of three nodes of a cell, beside that of the same application without
 * PaxosLease. With {@code -Dpaxoslease.idle=…} it waits for so many minutes, in which code is compiled, and measures for as many. It wants a quiet
 * machine, so it runs only with that. With {@code -Dpaxoslease.idle.web=false} the applications have no web server, and the cell talks over TCP.
 */
@EnabledIfSystemProperty(named = "paxoslease.idle", matches = "[1-9]\\d*")
@Timeout(value = 5, unit = TimeUnit.HOURS)
class IdleCostIT {

    private static final int NODES = 3;

    @TempDir
    Path directory;

    @Test
    void anIdleCellCostsLittle() throws Exception {
        long minutes = Long.getLong("paxoslease.idle");
        boolean web = Boolean.parseBoolean(System.getProperty("paxoslease.idle.web", "true"));
        int firstPort = Ports.freeRow(NODES + 1);
        List<JavaProcess> processes = new ArrayList<>();
        try {
            for (int i = 0; i < NODES; i++) {
                List<String> arguments = arguments(web, firstPort + i);
                arguments.add("--paxoslease.node-id=n" + i);
                arguments.add("--paxoslease.transport=" + (web ? "http" : "tcp"));
                for (int member = 0; member < NODES; member++) {
                    arguments.add("--paxoslease.members.n" + member + (web ? "=http" : "=tcp") + "://127.0.0.1:"
                            + (firstPort + member));
                }
                processes.add(JavaProcess.start(log(i), arguments));
            }
            List<String> without = arguments(web, firstPort + NODES);
            without.add("--paxoslease.enabled=false");
            processes.add(JavaProcess.start(log(NODES), without));
            TimeUnit.MINUTES.sleep(minutes);
            List<Double> shares = shares(processes, minutes);
            System.out.println("[IdleCostIT] per cent of a core, three nodes and the application without: " + shares);
            assertThat(told(" until released or lost")).as("tenures").isEqualTo(1);
            assertThat(told(" lost '") + told(" released '"))
                    .as("ended tenures")
                    .isZero();
            assertThat(processes).allMatch(JavaProcess::isAlive);
            assertThat(shares.subList(0, NODES)).allMatch(share -> share - shares.get(NODES) < 0.5);
        } finally {
            processes.forEach(JavaProcess::close);
        }
    }

    private Path log(int process) {
        return directory.resolve(process + ".log");
    }

    private static List<String> arguments(boolean web, int port) {
        return new ArrayList<>(List.of(
                "-XX:TieredStopAtLevel=4",
                "-cp",
                StartupCostIT.classPath(true),
                Idle.class.getName(),
                "--spring.main.web-application-type=" + (web ? "servlet" : "none"),
                "--spring.main.keep-alive=true",
                "--server.port=" + port,
                "--management.endpoints.web.exposure.include=lease"));
    }

    private static List<Double> shares(List<JavaProcess> processes, long minutes) throws InterruptedException {
        List<Duration> before =
                processes.stream().map(JavaProcess::processorTime).toList();
        long start = System.nanoTime();
        TimeUnit.MINUTES.sleep(minutes);
        double nanos = System.nanoTime() - start;
        List<Double> shares = new ArrayList<>();
        for (int i = 0; i < processes.size(); i++) {
            long spent = processes.get(i).processorTime().minus(before.get(i)).toNanos();
            shares.add(Double.valueOf(String.format(Locale.ROOT, "%.2f", 100 * spent / nanos)));
        }
        return shares;
    }

    /** How many lines of the nodes' logs have a text. */
    private long told(String text) throws IOException {
        long lines = 0;
        for (int i = 0; i < NODES; i++) {
            try (Stream<String> log = Files.lines(log(i))) {
                lines += log.filter(line -> line.contains(text)).count();
            }
        }
        return lines;
    }

    /** An application with one lease and nothing to do. */
    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Idle {
        public static void main(String[] arguments) {
            SpringApplication.run(Idle.class, arguments);
        }

        @LeaderOnly
        public void job() {}
    }
}
