package io.paxoslease.sample;

import io.paxoslease.sample.Tenures.Tenure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Who led one lease when, and what went wrong meanwhile: as figures and as a picture. */
final class Timeline {

    private static final int LEFT = 70;
    private static final int WIDTH = 1_000;
    private static final int ROW = 16;
    private static final long SECOND = 1_000_000_000L;

    private final long fromNanos;
    private final long toNanos;
    private final List<String> nodes;
    private final List<Tenure> tenures;
    private final List<Mark> marks;

    /** What a fault does to the row it is drawn in; the name is its class in the picture. */
    enum Kind {
        DOWN,
        PAUSED,
        CUT,
        WEAK,
        CLOCK
    }

    /**
     * A fault.
     *
     * @param row a node, or {@link #NETWORK}
     * @param kind how it is drawn
     * @param text what it was
     * @param fromNanos when it began
     * @param toNanos when it ended
     */
    record Mark(String row, Kind kind, String text, long fromNanos, long toNanos) {}

    static final String NETWORK = "network";

    Timeline(long fromNanos, long toNanos, List<String> nodes, Collection<Tenure> tenures, List<Mark> marks) {
        this.fromNanos = fromNanos;
        this.toNanos = toNanos;
        this.nodes = nodes;
        this.tenures = tenures.stream()
                .filter(tenure -> tenure.lastHeldNanos() >= fromNanos && tenure.firstHeldNanos() <= toNanos)
                .sorted(Comparator.comparingLong(Tenure::firstHeldNanos))
                .toList();
        this.marks = List.copyOf(marks);
    }

    /** The share of the time in which the lease was held, as far as its runs prove it. */
    double availability() {
        return 1 - (double) gaps().stream().mapToLong(Long::longValue).sum() / (toNanos - fromNanos);
    }

    /** The longest time in which nobody held the lease. */
    long longestGapNanos() {
        return gaps().stream().mapToLong(Long::longValue).max().orElse(0);
    }

    private List<Long> gaps() {
        List<Long> gaps = new ArrayList<>();
        long heldUntilNanos = fromNanos;
        for (Tenure tenure : tenures) {
            if (tenure.firstHeldNanos() > heldUntilNanos) {
                gaps.add(tenure.firstHeldNanos() - heldUntilNanos);
            }
            heldUntilNanos = Math.max(heldUntilNanos, tenure.lastHeldNanos());
        }
        if (heldUntilNanos < toNanos) {
            gaps.add(toNanos - heldUntilNanos);
        }
        return gaps;
    }

    /** The picture, for light and dark backgrounds. */
    String svg() {
        long bandNanos = bandNanos();
        int bands = (int) ((toNanos - fromNanos + bandNanos - 1) / bandNanos);
        int bandHeight = (nodes.size() + 1) * ROW + 24;
        int height = 40 + bands * bandHeight;
        StringBuilder svg = new StringBuilder();
        line(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">",
                LEFT + WIDTH + 10,
                height);
        line(svg, "<title>Who led, and what went wrong</title>");
        line(svg, "<style>");
        line(svg, "text{fill:#333} .frame{fill:none;stroke:#999;stroke-width:.5} .held{fill:#1a7f37}");
        line(
                svg,
                ".down{fill:#8c959f} .paused{fill:#8250df} .cut{fill:#cf222e} .weak{fill:#bf8700} .clock{fill:#0969da}");
        line(svg, "@media (prefers-color-scheme:dark){text{fill:#ccc} .held{fill:#3fb950} .down{fill:#6e7681}");
        line(svg, ".paused{fill:#a371f7} .cut{fill:#f85149} .weak{fill:#d29922} .clock{fill:#58a6ff}}");
        line(svg, "</style>");
        legend(svg);
        for (int band = 0; band < bands; band++) {
            band(svg, fromNanos + band * bandNanos, bandNanos, 40 + band * bandHeight);
        }
        return svg.append("</svg>\n").toString();
    }

    /** Whole minutes, at most six bands. */
    private long bandNanos() {
        long minutes = (toNanos - fromNanos) / (60 * SECOND) + 1;
        return (minutes + 5) / 6 * 60 * SECOND;
    }

    private static void legend(StringBuilder svg) {
        List<String> entries = List.of(
                "held leads",
                "down killed or stopped",
                "paused SIGSTOP",
                "cut partitioned",
                "weak loss, delay, duplicates, resets",
                "clock wall clock set");
        int x = LEFT;
        for (String entry : entries) {
            String name = entry.substring(0, entry.indexOf(' '));
            String text = entry.substring(entry.indexOf(' ') + 1);
            line(svg, "<rect class=\"%s\" x=\"%d\" y=\"12\" width=\"12\" height=\"10\"/>", name, x);
            line(svg, "<text x=\"%d\" y=\"21\">%s</text>", x + 17, text);
            x += 60 + 6 * text.length();
        }
    }

    private void band(StringBuilder svg, long startNanos, long bandNanos, int top) {
        List<String> rows = new ArrayList<>(nodes);
        rows.add(NETWORK);
        for (int i = 0; i < rows.size(); i++) {
            int y = top + i * ROW;
            String row = rows.get(i);
            line(svg, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", LEFT - 6, y + 12, row);
            line(svg, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", LEFT, y, WIDTH, ROW);
            for (Tenure tenure : tenures) {
                if (tenure.holder().startsWith(row + "/")) {
                    bar(
                            svg,
                            "held",
                            "",
                            startNanos,
                            bandNanos,
                            tenure.firstHeldNanos(),
                            tenure.lastHeldNanos(),
                            y + 2,
                            7);
                }
            }
            for (Mark mark : marks) {
                if (mark.row().equals(row)) {
                    String style = mark.kind().name().toLowerCase(Locale.ROOT);
                    bar(svg, style, mark.text(), startNanos, bandNanos, mark.fromNanos(), mark.toNanos(), y + 10, 5);
                }
            }
        }
        for (int i = 0; i <= 5; i++) {
            long atNanos = startNanos - fromNanos + i * bandNanos / 5;
            line(
                    svg,
                    "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">%d:%02d</text>",
                    LEFT + i * WIDTH / 5,
                    top + rows.size() * ROW + 11,
                    i == 5 ? "end" : "middle",
                    atNanos / (60 * SECOND),
                    atNanos / SECOND % 60);
        }
    }

    private static void bar(
            StringBuilder svg,
            String style,
            String text,
            long startNanos,
            long bandNanos,
            long fromNanos,
            long toNanos,
            int y,
            int height) {
        double from = Math.max(0, (double) (fromNanos - startNanos) / bandNanos);
        double to = Math.min(1, (double) (toNanos - startNanos) / bandNanos);
        if (to >= 0 && from <= 1 && to >= from) {
            line(
                    svg,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">%s</rect>",
                    style,
                    LEFT + from * WIDTH,
                    y,
                    Math.max(1, (to - from) * WIDTH),
                    height,
                    text.isEmpty() ? "" : "<title>" + text + "</title>");
        }
    }

    private static void line(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
