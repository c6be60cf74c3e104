package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.sample.JournalChecker.Line;
import io.paxoslease.sample.Tenures.Tenure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    /** An observer saw both just once, and does not know exactly when. */
    @Test
    void acceptsWhatMayHaveBeenInEitherOrder() {
        Tenure first = new Tenure("job", 1, "a/1", 265, 260);
        assertThat(Tenures.contradictions(List.of(first, new Tenure("job", 2, "b/1", 271, 264))))
                .isEmpty();
        assertThat(Tenures.contradictions(List.of(first, new Tenure("job", 2, "b/1", 260, 255))))
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

    @Test
    void seesAnOverlapInTheFilesOfTwoNodes(@TempDir Path directory) throws IOException {
        Path one = journal(directory, "a", "S\ta\ta/1\tjob\t1\t1\t100\t0\tx", "E\ta\ta/1\tjob\t1\t1\t100\t200\tx");
        Path two = journal(directory, "b", "S\tb\tb/1\tjob\t2\t1\t199\t0\tx", "E\tb\tb/1\tjob\t2");

        assertThat(JournalChecker.read(List.of(one, two)).contradictions())
                .singleElement()
                .asString()
                .startsWith("two holders at once");
    }

    private static Path journal(Path directory, String name, String... lines) throws IOException {
        // The last line is on its way.
        return Files.writeString(
                directory.resolve(name), String.join("\n", lines) + (lines[1].endsWith("x") ? "\n" : ""));
    }

    @Test
    void readsOnWhereItStopped(@TempDir Path directory) throws IOException {
        Path file = journal(directory, "ä", "S\tä\tä/1\tjob\t1\t1\t100\t0\tx", "E\tä\tä/1\tjob\t1");
        Path later = directory.resolve("later");
        JournalChecker journals = JournalChecker.read(List.of(file, later));
        assertThat(journals.lines()).hasSize(1);

        Files.writeString(file, "\t1\t100\t200\tx\n", StandardOpenOption.APPEND);
        Files.writeString(later, "S\tb\tb/1\tjob\t2\t1\t199\t0\tx\n");
        journals.readOn();

        assertThat(journals.lines().map(Line::node)).containsExactly("ä", "ä", "b");
        assertThat(journals.openRuns()).isEqualTo(1);
        assertThat(journals.contradictions()).singleElement().asString().startsWith("two holders at once");
    }

    @Test
    void comparesTimesOfDifferentClocksOnlyWhenTranslated() {
        List<Line> fast = run("b", 2, 1_000_150, 1_000_300);
        List<Line> exact = run("a", 1, 100, 200);

        assertThat(check(List.of(exact, fast))).isEmpty();
        assertThat(check(List.of(
                        exact,
                        fast.stream()
                                .map(line -> line.by(nanos -> nanos - 1_000_000))
                                .toList())))
                .singleElement()
                .asString()
                .startsWith("two holders at once");
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
