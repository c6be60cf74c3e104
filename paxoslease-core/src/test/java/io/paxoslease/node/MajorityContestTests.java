package io.paxoslease.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

/**
 * The claim of the 2012 paper's introduction: without ballots contending proposers block each other. {@code -Dpaxoslease.write=true} plays
 * many contests, and writes the table into docs/verification.md and the plot to docs/images/naive-majority.svg.
 */
class MajorityContestTests {

    private static final int[] PROPOSERS = {2, 3, 5, 8, 10, 15, 20, 30, 40, 50};
    private static final int ACCEPTORS = 5;
    private static final long SECONDS = 1_000_000_000L;
    private static final String BEGIN = "<!-- naive-majority -->";
    private static final String END = "<!-- /naive-majority -->";

    @Test
    void contendersBlockEachOtherUnlessTheyHaveBallots() {
        for (int proposers : new int[] {5, 20, 50}) {
            MajorityContest.Outcome naive = MajorityContest.naive(ACCEPTORS, proposers, 50);
            assertThat(naive.shareBlocked()).as("naive, %d", proposers).isGreaterThan(0.1);
        }
        for (int proposers : PROPOSERS) {
            for (boolean oneRoundTrip : new boolean[] {true, false}) {
                MajorityContest.Outcome ours = MajorityContest.ours(ACCEPTORS, proposers, 500, oneRoundTrip);
                assertThat(ours.shareBlocked())
                        .as("ours, %d, one round trip: %s", proposers, oneRoundTrip)
                        .isZero();
            }
        }
    }

    @Test
    void writesTableAndPlot() throws IOException {
        boolean write = Boolean.getBoolean("paxoslease.write");
        int contests = write ? 1_000 : 10;
        List<MajorityContest.Outcome> naive = new ArrayList<>();
        List<MajorityContest.Outcome> ours = new ArrayList<>();
        List<MajorityContest.Outcome> oneRoundTrip = new ArrayList<>();
        for (int proposers : PROPOSERS) {
            naive.add(MajorityContest.naive(ACCEPTORS, proposers, contests));
            ours.add(MajorityContest.ours(ACCEPTORS, proposers, contests, false));
            oneRoundTrip.add(MajorityContest.ours(ACCEPTORS, proposers, contests, true));
        }
        String table = table(naive, ours, oneRoundTrip);
        String plot = plot(naive, ours, oneRoundTrip);
        assertThat(table.lines()).hasSize(PROPOSERS.length + 2);
        assertThat(plot).startsWith("<svg").endsWith("</svg>\n");
        if (write) {
            System.out.println(table);
            Path docs = Path.of("..", "docs");
            Files.createDirectories(docs.resolve("images"));
            Files.writeString(docs.resolve("images/naive-majority.svg"), plot);
            Path page = docs.resolve("verification.md");
            String text = Files.readString(page);
            int from = text.indexOf(BEGIN) + BEGIN.length();
            Files.writeString(page, text.substring(0, from) + "\n" + table + text.substring(text.indexOf(END)));
        }
    }

    private static String table(
            List<MajorityContest.Outcome> naive,
            List<MajorityContest.Outcome> ours,
            List<MajorityContest.Outcome> oneRoundTrip) {
        StringBuilder table = new StringBuilder("| proposers | naive: blocked | until an owner: median, 99 % "
                + "| both phases: blocked | until an owner: median, 99 % "
                + "| one round trip: blocked | until an owner: median, 99 % |\n|---|---|---|---|---|---|---|\n");
        for (int i = 0; i < naive.size(); i++) {
            table.append("| ").append(naive.get(i).proposers());
            for (MajorityContest.Outcome outcome : List.of(naive.get(i), ours.get(i), oneRoundTrip.get(i))) {
                table.append(String.format(
                        Locale.ROOT,
                        " | %.1f %% | %s, %s",
                        100 * outcome.shareBlocked(),
                        duration(outcome.percentileNanos(0.5)),
                        duration(outcome.percentileNanos(0.99))));
            }
            table.append(" |\n");
        }
        return table.toString();
    }

    private static String duration(long nanos) {
        return nanos < SECONDS
                ? String.format(Locale.ROOT, "%.1f ms", nanos / 1e6)
                : String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }

    // The plot. Its colours are readable on white and on black.

    private static final int WIDTH = 640;
    private static final int HEIGHT = 300;
    private static final int LEFT = 56;
    private static final int TOP = 40;
    private static final int BOTTOM = 44;
    private static final int RIGHT = 16;

    private static String plot(
            List<MajorityContest.Outcome> naive,
            List<MajorityContest.Outcome> ours,
            List<MajorityContest.Outcome> oneRoundTrip) {
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" "
                        + "font-size=\"12\">%n<title>Contests blocked until a time-out, by contending proposers</title>%n"
                        + "<style>text { fill: #57606a } .grid { stroke: #8b949e; stroke-opacity: 0.35 } .line { fill: none; "
                        + "stroke-width: 2.5 } .naive { stroke: #d1622b } .ours { stroke: #2f81f7 } "
                        + ".one { stroke: #8957e5; stroke-dasharray: 6 4 } "
                        + "@media (prefers-color-scheme: dark) { text { fill: #b1bac4 } }</style>%n",
                WIDTH,
                HEIGHT));
        for (int percent = 0; percent <= 100; percent += 25) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                            + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>%n",
                    LEFT,
                    WIDTH - RIGHT,
                    y(percent / 100.0),
                    y(percent / 100.0),
                    LEFT - 8,
                    y(percent / 100.0) + 4,
                    percent));
        }
        for (int proposers = 10; proposers <= 50; proposers += 10) {
            svg.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>%n",
                    x(proposers),
                    HEIGHT - BOTTOM + 18,
                    proposers));
        }
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">contending proposers</text>%n"
                        + "<text x=\"%d\" y=\"20\">contests blocked until a time-out</text>%n",
                (LEFT + WIDTH - RIGHT) / 2,
                HEIGHT - 8,
                LEFT));
        line(svg, "naive", "naive", 270, naive);
        line(svg, "one", "one round trip (X8)", 360, oneRoundTrip);
        line(svg, "ours", "both phases", 525, ours);
        return svg.append("</svg>\n").toString().replace(System.lineSeparator(), "\n");
    }

    private static void line(
            StringBuilder svg, String kind, String name, int legend, List<MajorityContest.Outcome> outcomes) {
        ToDoubleFunction<MajorityContest.Outcome> share = MajorityContest.Outcome::shareBlocked;
        svg.append("<polyline class=\"line ").append(kind).append("\" points=\"");
        for (MajorityContest.Outcome outcome : outcomes) {
            svg.append(
                    String.format(Locale.ROOT, "%.1f,%.1f ", x(outcome.proposers()), y(share.applyAsDouble(outcome))));
        }
        svg.append("\"/>\n");
        svg.append(String.format(
                Locale.ROOT,
                "<line class=\"line %s\" x1=\"%d\" x2=\"%d\" y1=\"16\" y2=\"16\"/><text x=\"%d\" y=\"20\">%s</text>%n",
                kind,
                legend,
                legend + 24,
                legend + 30,
                name));
    }

    private static double x(int proposers) {
        return LEFT + (WIDTH - LEFT - RIGHT) * proposers / 50.0;
    }

    private static double y(double share) {
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
    }
}
