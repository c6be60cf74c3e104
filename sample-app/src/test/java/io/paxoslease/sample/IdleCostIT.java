package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;

/**
 * What an idle web application with one lease costs: the processor time of three nodes of a cell, beside that of the same application without
 * PaxosLease. With {@code -Dpaxoslease.idle=…} it waits for so many minutes, in which code is compiled, and measures for as many. It wants a quiet
 * machine, so it runs only with that.
 */
@EnabledIfSystemProperty(named = "paxoslease.idle", matches = "[1-9]\\d*")
class IdleCostIT {

    private static final int NODES = 3;

    @TempDir
    Path directory;

    @Test
    void anIdleCellCostsLittle() throws Exception {
        long minutes = Long.getLong("paxoslease.idle");
        int firstPort = Ports.freeRow(NODES + 1);
        List<JavaProcess> processes = new ArrayList<>();
        try {
            for (int i = 0; i < NODES; i++) {
                List<String> arguments = arguments(firstPort + i);
                arguments.add("--paxoslease.node-id=n" + i);
                for (int member = 0; member < NODES; member++) {
                    arguments.add("--paxoslease.members.n" + member + "=http://127.0.0.1:" + (firstPort + member));
                }
                processes.add(JavaProcess.start(directory.resolve(i + ".log"), arguments));
            }
            List<String> without = arguments(firstPort + NODES);
            without.add("--paxoslease.enabled=false");
            processes.add(JavaProcess.start(directory.resolve("without.log"), without));
            TimeUnit.MINUTES.sleep(minutes);
            List<Double> shares = shares(processes, minutes);
            System.out.println("[IdleCostIT] per cent of a core, three nodes and the application without: " + shares);
            assertThat(leaders(firstPort)).isEqualTo(1);
            assertThat(shares.subList(0, NODES)).allMatch(share -> share - shares.get(NODES) < 0.5);
        } finally {
            processes.forEach(JavaProcess::close);
        }
    }

    private static List<String> arguments(int port) {
        return new ArrayList<>(List.of(
                "-XX:TieredStopAtLevel=4",
                "-cp",
                StartupCostIT.classPath(true),
                Idle.class.getName(),
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

    private static long leaders(int firstPort) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        long leaders = 0;
        for (int i = 0; i < NODES; i++) {
            URI lease = URI.create("http://127.0.0.1:" + (firstPort + i) + "/actuator/lease/leader");
            String answer = client.send(HttpRequest.newBuilder(lease).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
            leaders += answer.contains("\"heldHere\":true") ? 1 : 0;
        }
        return leaders;
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
