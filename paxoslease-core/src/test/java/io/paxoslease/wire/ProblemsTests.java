package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What of the problems with a node the log is told. */
class ProblemsTests {

    private final ManualClock clock = new ManualClock();
    private final Problems problems = new Problems(2, Duration.ofSeconds(60).toNanos());

    @Test
    void theSameProblemIsLoggedOnce() {
        assertThat(add("node-1", "other cell")).isTrue();
        assertThat(add("node-1", "other cell")).isFalse();
        clock.advance(Duration.ofSeconds(59));
        assertThat(add("node-1", "other cell")).isFalse();
        clock.advance(Duration.ofSeconds(60));
        assertThat(add("node-1", "other cell")).isTrue();
    }

    @Test
    void anotherProblemOfTheSameNodeIsLoggedToo() {
        add("node-1", "other cell");
        assertThat(add("node-1", "other members")).isTrue();
        assertThat(add("node-1", "other members")).isFalse();
        assertThat(shown()).containsOnly(Map.entry("node-1", "other members"));
    }

    /** Two processes under one node id, each with settings of its own, take turns. */
    @Test
    void problemsThatAlternateFillNoLog() {
        int logged = 0;
        for (int i = 0; i < 1_000; i++) {
            logged += add("node-1", i % 2 == 0 ? "other cell" : "other members") ? 1 : 0;
        }
        assertThat(logged).isEqualTo(3);
    }

    @Test
    void thoseOfTooManyNodesAreNeitherKeptNorLogged() {
        add("node-1", "other cell");
        add("node-2", "other cell");
        assertThat(add("node-3", "other cell")).isFalse();
        assertThat(add("node-1", "other members")).isTrue();
        assertThat(shown()).containsOnlyKeys("node-1", "node-2");
    }

    private boolean add(String nodeId, String text) {
        return problems.add(nodeId, text, clock.now());
    }

    private Map<String, String> shown() {
        Map<String, String> shown = new TreeMap<>();
        problems.copyTo(shown, clock.now());
        return shown;
    }
}
