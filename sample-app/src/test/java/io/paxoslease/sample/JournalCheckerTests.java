package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.sample.JournalChecker.Line;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The checker must see what it is there for, or a green test means nothing. */
class JournalCheckerTests {

    @Test
    void acceptsTenuresThatFollowEachOther() {
        assertThat(check(List.of(
                        run("a", 1, 100, 200), run("a", 1, 250, 300), run("b", 2, 301, 400), run("a", 3, 500, 600))))
                .isEmpty();
    }

    @Test
    void acceptsARunThatWasKilled() {
        JournalChecker checker = new JournalChecker(List.of(start("a", 1, 100), start("b", 2, 150)));
        assertThat(checker.contradictions()).isEmpty();
        assertThat(checker.openRuns()).isEqualTo(2);
    }

    @Test
    void seesTwoRunsAtOnce() {
        assertThat(check(List.of(run("a", 1, 100, 200), run("b", 2, 199, 300))))
                .singleElement()
                .asString()
                .startsWith("two holders at once");
    }

    @Test
    void seesATenureWithinAnother() {
        assertThat(check(List.of(run("a", 1, 100, 200), run("b", 2, 250, 260), run("a", 1, 300, 400))))
                .singleElement()
                .asString()
                .startsWith("two holders at once");
    }

    @Test
    void seesALongTenureBehindAShortOne() {
        assertThat(check(List.of(run("a", 1, 100, 900), run("b", 2, 200, 210), run("c", 3, 300, 310))))
                .hasSize(2)
                .allMatch(text -> text.startsWith("two holders at once"));
    }

    @Test
    void seesATokenThatGoesDown() {
        assertThat(check(List.of(run("a", 2, 100, 200), run("b", 1, 300, 400))))
                .singleElement()
                .asString()
                .startsWith("the token went down");
    }

    @Test
    void seesATokenUsedTwice() {
        assertThat(check(List.of(run("a", 1, 100, 200), run("b", 1, 300, 400))))
                .singleElement()
                .asString()
                .startsWith("one token, two holders");
    }

    @Test
    void doesNotMixLeases() {
        Line other = new Line('S', "b", "b/1", "other", 1, 9, 150, 0);
        assertThat(check(List.of(run("a", 1, 100, 200), List.of(other)))).isEmpty();
    }

    @Test
    void seesATenureThatEndedTwice() {
        assertThat(check(List.of(
                        List.of(new Line('R', "a", "a/1", "job", 1, 0, 100, 0)),
                        List.of(new Line('L', "a", "a/1", "job", 1, 0, 110, 0)))))
                .singleElement()
                .asString()
                .startsWith("a tenure ended twice");
    }

    private static List<String> check(List<List<Line>> runs) {
        return new JournalChecker(runs.stream().flatMap(List::stream).toList()).contradictions();
    }

    private static List<Line> run(String node, long token, long startNanos, long lastHeldNanos) {
        return List.of(
                start(node, token, startNanos),
                new Line('E', node, node + "/1", "job", token, startNanos, startNanos, lastHeldNanos));
    }

    private static Line start(String node, long token, long startNanos) {
        return new Line('S', node, node + "/1", "job", token, startNanos, startNanos, 0);
    }
}
