package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The commands of the drills in {@code docs/operations.md}, run by a shell as they stand there, on other ports. */
@Timeout(900)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the commands are for a POSIX shell")
class DrillsIT {

    private static final Duration SOON = Duration.ofSeconds(240);
    /** A look is a shell and three programs. */
    private static final Duration LOOK_EVERY = Duration.ofMillis(500);

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```sh\\n(.*?)^```$");
    private static final Pattern LEADER = Pattern.compile("\"leader\" ?: ?\"(node-\\d)\"");

    @TempDir
    Path directory;

    @AfterEach
    void endWhatIsLeft() throws IOException {
        for (int i = 1; i <= 3; i++) {
            Path pid = directory.resolve("node-" + i + ".pid");
            if (Files.exists(pid)) {
                ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
                        .ifPresent(ProcessHandle::destroyForcibly);
            }
        }
    }

    @Test
    void theCommandsStartACellShowItsLeaderAndCrashIt() throws Exception {
        String page = Files.readString(Path.of("../docs/operations.md"));
        String drills = page.substring(page.indexOf("\n## Drills"));
        List<String> blocks =
                BLOCK.matcher(drills).results().map(block -> block.group(1)).toList();
        int port = (Ports.freeRow(13) / 10 + 1) * 10;

        shell(commands(blocks.get(0), port).replaceFirst("(?m)^\\./mvnw .*$", ""));
        String whoLeads = commands(blocks.get(1), port);
        await().atMost(SOON).pollInterval(LOOK_EVERY).until(() -> {
            failIfOneDidNotStart();
            return leaders(whoLeads).size() == 3;
        });
        String leader = leaders(whoLeads).get(0);

        String crash = "kill -KILL $(cat node-1.pid)";
        assertThat(drills).contains(crash);
        shell(crash.replace("node-1", leader));
        await().atMost(SOON).pollInterval(LOOK_EVERY).until(() -> {
            List<String> left = leaders(whoLeads);
            return left.size() == 2 && !left.contains(leader);
        });

        String end = "kill $(cat node-*.pid)";
        assertThat(drills).contains(end);
        shell(end.replace("kill ", "kill 2>/dev/null "));
        await().atMost(SOON)
                .pollInterval(LOOK_EVERY)
                .until(() -> leaders(whoLeads).isEmpty());
    }

    /** Shows the log of a node that did not start, in place of a leader that never comes. */
    private void failIfOneDidNotStart() throws IOException {
        for (int i = 1; i <= 3; i++) {
            String log = Files.readString(directory.resolve("node-" + i + ".log"));
            assertThat(log).doesNotContainIgnoringCase("application failed to start", "application run failed");
        }
    }

    /** The nodes have the ports port + 1 to port + 3. */
    private static String commands(String block, int port) {
        return block.replace("808", String.valueOf(port / 10))
                .replace(
                        "sample-app/target/sample-app.jar",
                        Path.of("target/sample-app.jar").toAbsolutePath().toString());
    }

    /** Whom each node that answers names as the leader. */
    private List<String> leaders(String whoLeads) throws Exception {
        return LEADER.matcher(shell(whoLeads))
                .results()
                .map((MatchResult result) -> result.group(1))
                .toList();
    }

    private String shell(String commands) throws IOException, InterruptedException {
        Path output = Files.createTempFile(directory, "shell", ".log");
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", commands)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Path java = Path.of(System.getProperty("java.home"), "bin");
        shell.environment().merge("PATH", java.toString(), (path, first) -> first + ":" + path);
        // Three JVMs that compile well and do nothing with it take the processors of the tests beside this one.
        shell.environment().put("JDK_JAVA_OPTIONS", String.join(" ", JavaProcess.QUICK));
        Process process = shell.start();
        assertThat(process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return Files.readString(output);
    }
}
