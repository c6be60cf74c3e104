package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.paxoslease.sample.JournalChecker.Line;
import io.paxoslease.sample.Tenures.Tenure;
import io.paxoslease.sample.Timeline.Mark;
import java.io.StringReader;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class TimelineTests {

    private static final long SECOND = 1_000_000_000L;
    private static final long MILLISECOND = 1_000_000L;

    @Test
    void countsTheTimeWithoutAnOwner() {
        Timeline timeline = timeline(tenure("a", 1, -5, 20), tenure("b", 2, 30, 40), tenure("a", 3, 35, 90));

        assertThat(timeline.availability()).isCloseTo(0.8, within(1e-9));
        assertThat(timeline.longestGapNanos()).isEqualTo(10 * SECOND);
    }

    @Test
    void isNeverAvailableWithoutTenures() {
        assertThat(timeline().availability()).isZero();
    }

    @Test
    void drawsEveryTenureAndFaultInTheRowOfItsNode() throws Exception {
        String svg = timeline(tenure("a", 1, 0, 20), tenure("b", 2, 70, 90)).svg();

        Document document =
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
        assertThat(document.getElementsByTagName("rect").getLength()).isPositive();
        // One of each in the legend.
        assertThat(svg.split("class=\"held\"", -1)).hasSize(1 + 1 + 2);
        assertThat(svg.split("class=\"cut\"", -1)).hasSize(1 + 1 + 1);
        assertThat(svg).contains("<title>ISOLATE</title>").contains("prefers-color-scheme:dark");
    }

    @Test
    void measuresATakeoverFromTheReleaseOrFromTheEndOfTheLease() {
        JournalChecker journals = new JournalChecker(List.of(
                run("a", 1, 0),
                new Line('R', "a", "a/1", "job", 1, 0, 100 * MILLISECOND, 0),
                run("b", 2, 130 * MILLISECOND),
                run("a", 3, 3_000 * MILLISECOND),
                run("b", 4, 9_000 * MILLISECOND)));

        Takeovers takeovers = new Takeovers(
                "job", journals, token -> token == 2 ? Optional.of(2_940 * MILLISECOND) : Optional.empty());

        assertThat(takeovers.count()).isEqualTo(2);
        assertThat(takeovers.histogram().lines().map(line -> line.trim().replaceAll(" +", " ")))
                .contains("25-50 ms 1 0", "50-100 ms 0 1", "median 30 ms 60 ms");
    }

    private static Line run(String node, long token, long nanos) {
        return new Line('S', node, node + "/1", "job", token, token, nanos, 0);
    }

    private static Timeline timeline(Tenure... tenures) {
        return new Timeline(
                0,
                100 * SECOND,
                List.of("a", "b"),
                List.of(tenures),
                List.of(new Mark("a", Timeline.Kind.CUT, "ISOLATE", 10 * SECOND, 20 * SECOND)));
    }

    private static Tenure tenure(String node, long token, long fromSecond, long toSecond) {
        return new Tenure("job", token, node + "/1", fromSecond * SECOND, toSecond * SECOND);
    }
}
