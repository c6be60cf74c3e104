package io.paxoslease.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Draws every {@code measurements/*.tsv} of a directory as {@code images/*.svg}: {@code Plots docs}.
 *
 * <p>A measurement is tab-separated text: lines with {@code #} and a key, a line with the names of the columns, then numbers. Keys are
 *
 * <pre>
 *   # title   what the figure shows
 *   # kind    lines (if it is not given), bars or histogram
 *   # x       the label of the axis
 *   # y       the label of the axis
 *   # log     x, y or both: logarithmic axes
 *   # styles  of each series of lines: line, points or both. Points alone take the colour of the series before them
 *   # bin     the width of a bar of a histogram
 * </pre>
 *
 * <p>Lines and bars have x in the first column, for bars any text, and a series in each further one; an empty cell is no point. A histogram has
 * one value in each row, and how often it was seen if there is a second column.
 */
public final class Plots {

    private static final int WIDTH = 900;
    private static final int HEIGHT = 520;
    private static final int LEFT = 96;
    private static final int RIGHT = WIDTH - 28;
    private static final int BOTTOM = HEIGHT - 64;
    private static final int LEGEND = 58;
    private static final int LINE = 22;
    private static final int LETTER = 7;
    private static final int COLOURS = 6;
    private static final int MOST_TICKS = 10;
    private static final int MOST_STEPS = 8;
    private static final int MOST_BAR_LABELS = 30;

    private static final String STYLE = """
            text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; fill: #1f2328; }
            .title { font-size: 17px; font-weight: 600; }
            .tick { fill: #59636e; }
            .middle { text-anchor: middle; }
            .end { text-anchor: end; }
            .value { font-size: 10px; text-anchor: middle; }
            .page { fill: #ffffff; stroke: #d1d9e0; }
            .grid { stroke: #e6eaef; }
            .axis { stroke: #59636e; stroke-width: 1.5; }
            .mark { stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 5 4; }
            .line { fill: none; stroke-width: 2; }
            .point { fill: #ffffff; stroke-width: 2; }
            .plain { stroke: #1f2328; }
            .bar { stroke: none; }
            .c0 { stroke: #0969da; } .bar.c0 { fill: #0969da; }
            .c1 { stroke: #bc4c00; } .bar.c1 { fill: #bc4c00; }
            .c2 { stroke: #8250df; } .bar.c2 { fill: #8250df; }
            .c3 { stroke: #1a7f37; } .bar.c3 { fill: #1a7f37; }
            .c4 { stroke: #bf3989; } .bar.c4 { fill: #bf3989; }
            .c5 { stroke: #59636e; } .bar.c5 { fill: #59636e; }
            .bar.bar { stroke: none; }
            @media (prefers-color-scheme: dark) {
            text { fill: #f0f6fc; }
            .tick { fill: #9ea7b3; }
            .page { fill: #0d1117; stroke: #3d444d; }
            .grid { stroke: #21262d; }
            .axis { stroke: #9ea7b3; }
            .mark, .plain { stroke: #f0f6fc; }
            .point { fill: #0d1117; }
            .c0 { stroke: #4493f8; } .bar.c0 { fill: #4493f8; }
            .c1 { stroke: #f0883e; } .bar.c1 { fill: #f0883e; }
            .c2 { stroke: #b083f0; } .bar.c2 { fill: #b083f0; }
            .c3 { stroke: #3fb950; } .bar.c3 { fill: #3fb950; }
            .c4 { stroke: #db61a2; } .bar.c4 { fill: #db61a2; }
            .c5 { stroke: #9ea7b3; } .bar.c5 { fill: #9ea7b3; }
            }
            """;

    /** Numbers of one axis as places on the page. */
    private record Axis(boolean logarithmic, double least, double most, double from, double to, double[] ticks) {

        double place(double value) {
            DoubleUnaryOperator scale = logarithmic ? Math::log10 : number -> number;
            double part = (scale.applyAsDouble(value) - scale.applyAsDouble(least))
                    / (scale.applyAsDouble(most) - scale.applyAsDouble(least));
            return from + part * (to - from);
        }
    }

    private final Measurement measurement;
    private final StringBuilder svg = new StringBuilder();
    private int top;

    private Plots(Measurement measurement) {
        this.measurement = measurement;
    }

    /**
     * Draws all measurements.
     *
     * @param args the directory that has {@code measurements} and {@code images}
     */
    public static void main(String[] args) throws IOException {
        Path docs = Path.of(args[0]);
        for (Path file : measurements(docs)) {
            Path image = image(docs, file);
            Files.writeString(image, draw(Files.readString(file)));
            System.out.println(image);
        }
    }

    /** The measurements of a directory, by name. */
    static List<Path> measurements(Path docs) throws IOException {
        try (Stream<Path> files = Files.list(docs.resolve("measurements"))) {
            return files.filter(file -> file.toString().endsWith(".tsv"))
                    .sorted()
                    .toList();
        }
    }

    /** Where the figure of a measurement is. */
    static Path image(Path docs, Path measurement) {
        return docs.resolve("images")
                .resolve(measurement.getFileName().toString().replace(".tsv", ".svg"));
    }

    /** The figure of a measurement. */
    static String draw(String text) {
        return new Plots(Measurement.parse(text)).draw();
    }

    // A measurement.

    /** The keys, the names of the columns, and the cells of a file. */
    private record Measurement(Map<String, List<String>> keys, List<String> columns, List<List<String>> rows) {

        static Measurement parse(String text) {
            Map<String, List<String>> keys = new HashMap<>();
            List<String> columns = List.of();
            List<List<String>> rows = new ArrayList<>();
            for (String line : text.split("\n")) {
                List<String> cells = List.of(line.split("\t", -1));
                if (line.startsWith("#")) {
                    keys.put(cells.get(0).substring(1).trim(), cells.subList(1, cells.size()));
                } else if (columns.isEmpty()) {
                    columns = cells;
                } else if (cells.size() == columns.size()) {
                    rows.add(cells);
                } else {
                    throw new IllegalArgumentException("There are " + columns.size() + " columns, and a row: " + line);
                }
            }
            if (rows.isEmpty()) {
                throw new IllegalArgumentException("There are no rows");
            }
            return new Measurement(keys, columns, rows);
        }

        String key(String name, String otherwise) {
            List<String> values = keys.getOrDefault(name, List.of());
            return values.isEmpty() ? otherwise : values.get(0);
        }

        boolean isLogarithmic(String axis) {
            return keys.getOrDefault("log", List.of()).contains(axis);
        }

        String style(int series) {
            List<String> styles = keys.getOrDefault("styles", List.of());
            return series < styles.size() ? styles.get(series) : "both";
        }

        List<String> series() {
            return columns.subList(1, columns.size());
        }

        /** NaN for an empty cell. */
        double number(int row, int column) {
            String cell = rows.get(row).get(column).trim();
            return cell.isEmpty() ? Double.NaN : Double.parseDouble(cell.replace(",", ""));
        }

        double[] column(int column) {
            double[] values = new double[rows.size()];
            Arrays.setAll(values, row -> number(row, column));
            return values;
        }

        double[] values() {
            return Stream.iterate(1, column -> column < columns.size(), column -> column + 1)
                    .flatMapToDouble(column -> Arrays.stream(column(column)))
                    .filter(value -> !Double.isNaN(value))
                    .toArray();
        }
    }

    // The page.

    private String draw() {
        String title = measurement.key("title", "");
        svg.append(text(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\""
                        + " aria-labelledby=\"title\">\n",
                WIDTH, HEIGHT, WIDTH, HEIGHT));
        svg.append("<title id=\"title\">").append(escape(title)).append("</title>\n");
        svg.append("<style>\n").append(STYLE).append("</style>\n");
        add("<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>", WIDTH - 1, HEIGHT - 1);
        label("title", 20, 30, title);
        String kind = measurement.key("kind", "lines");
        switch (kind) {
            case "lines" -> drawLines();
            case "bars" -> drawBars();
            case "histogram" -> drawHistogram();
            default -> throw new IllegalArgumentException("There is no kind of figure " + kind);
        }
        label("middle", (LEFT + RIGHT) / 2.0, HEIGHT - 18, measurement.key("x", ""));
        svg.append(text(
                "<text class=\"middle\" transform=\"translate(24 %.1f) rotate(-90)\">%s</text>\n",
                (top + BOTTOM) / 2.0, escape(measurement.key("y", ""))));
        return svg.append("</svg>\n").toString();
    }

    private void drawLines() {
        drawLegend(false);
        double[] x = measurement.column(0);
        Axis across = axis(x, measurement.isLogarithmic("x"), LEFT + 24, RIGHT - 24, false, true);
        Axis up = axis(measurement.values(), measurement.isLogarithmic("y"), BOTTOM, top, true, false);
        drawGrid(up);
        for (double tick : across.ticks()) {
            label("tick middle", across.place(tick), BOTTOM + 20, number(tick));
        }
        for (int series = 0; series < measurement.series().size(); series++) {
            double[] y = measurement.column(series + 1);
            String style = measurement.style(series);
            StringBuilder path = new StringBuilder();
            for (int row = 0; row < x.length; row++) {
                if (!Double.isNaN(y[row])) {
                    path.append(
                            text("%s%.1f %.1f ", path.isEmpty() ? "M" : "L", across.place(x[row]), up.place(y[row])));
                }
            }
            if (!style.equals("points")) {
                add(
                        "<path class=\"line c%d\" d=\"%s\"/>",
                        colour(series), path.toString().trim());
            }
            for (int row = 0; row < x.length && !style.equals("line"); row++) {
                if (!Double.isNaN(y[row])) {
                    point("c" + colour(series), across.place(x[row]), up.place(y[row]));
                }
            }
        }
    }

    private void drawBars() {
        drawLegend(true);
        boolean logarithmic = measurement.isLogarithmic("y");
        double[] values = measurement.values();
        double least = Arrays.stream(values).min().orElseThrow();
        // The least value has a bar as well.
        double[] heights = logarithmic
                ? DoubleStream.concat(Arrays.stream(values), DoubleStream.of(least / 2))
                        .toArray()
                : values;
        Axis up = axis(heights, logarithmic, BOTTOM, top + 14, true, false);
        drawGrid(up);
        int rows = measurement.rows().size();
        int all = measurement.series().size();
        double group = (double) (RIGHT - LEFT) / rows;
        double width = Math.min(64, group * 0.8 / all);
        for (int row = 0; row < rows; row++) {
            double middle = LEFT + (row + 0.5) * group;
            label(
                    "tick middle",
                    middle,
                    BOTTOM + 20,
                    measurement.rows().get(row).get(0));
            for (int series = 0; series < all; series++) {
                double value = measurement.number(row, series + 1);
                if (!Double.isNaN(value)) {
                    double left = middle + (series - all / 2.0) * width;
                    bar(series, left + 1, up.place(value), width - 2);
                    if (rows * all <= MOST_BAR_LABELS) {
                        label("value", left + width / 2, up.place(value) - 5, number(value));
                    }
                }
            }
        }
    }

    private void drawHistogram() {
        top = LEGEND;
        double bin = Double.parseDouble(measurement.key("bin", "1"));
        boolean counted = measurement.columns().size() > 1;
        TreeMap<Long, Double> bins = new TreeMap<>();
        List<double[]> seen = new ArrayList<>();
        for (int row = 0; row < measurement.rows().size(); row++) {
            double value = measurement.number(row, 0);
            double count = counted ? measurement.number(row, 1) : 1;
            bins.merge((long) Math.floor(value / bin), count, Double::sum);
            seen.add(new double[] {value, count});
        }
        double[] edges = {bins.firstKey() * bin, (bins.lastKey() + 1) * bin};
        Axis across = axis(edges, false, LEFT, RIGHT, false, false);
        double[] heights = bins.values().stream().mapToDouble(count -> count).toArray();
        Axis up = axis(heights, measurement.isLogarithmic("y"), BOTTOM, top + 22, true, false);
        drawGrid(up);
        bins.forEach((number, count) -> {
            double left = across.place(number * bin);
            bar(0, left + 0.5, up.place(count), across.place((number + 1) * bin) - left - 1);
        });
        for (double tick : across.ticks()) {
            label("tick middle", across.place(tick), BOTTOM + 20, number(tick));
        }
        mark("p50", percentile(seen, 0.50), across, top + 2);
        mark("p99", percentile(seen, 0.99), across, top + 18);
    }

    private void mark(String name, double value, Axis across, double y) {
        double x = across.place(value);
        add("<line class=\"mark\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%d\"/>", x, y + 4, x, BOTTOM);
        boolean right = x < (LEFT + RIGHT) / 2.0;
        label(right ? "start" : "end", x + (right ? 6 : -6), y + 10, name + " " + number(value));
    }

    private static double percentile(List<double[]> seen, double part) {
        List<double[]> sorted = seen.stream()
                .sorted((one, other) -> Double.compare(one[0], other[0]))
                .toList();
        double left = part * seen.stream().mapToDouble(value -> value[1]).sum();
        for (double[] value : sorted) {
            left -= value[1];
            if (left <= 0) {
                return value[0];
            }
        }
        return sorted.get(sorted.size() - 1)[0];
    }

    /** Entries from left to right, and below each other when a line is full. A name that comes again is told once, at the end, in no colour. */
    private void drawLegend(boolean bars) {
        List<String> names = measurement.series();
        List<String> told = Stream.concat(
                        names.stream().filter(name -> !isRepeated(name)),
                        names.stream().filter(this::isRepeated).distinct())
                .toList();
        double x = 20;
        double y = LEGEND;
        for (String name : told) {
            double width = 48 + LETTER * name.length();
            if (x + width > RIGHT) {
                x = 20;
                y += LINE;
            }
            int series = names.indexOf(name);
            String colour = isRepeated(name) ? "plain" : "c" + colour(series);
            if (bars) {
                add("<rect class=\"bar %s\" x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\"/>", colour, x, y - 10);
            } else {
                if (!measurement.style(series).equals("points")) {
                    add("<path class=\"line %s\" d=\"M%.1f %.1f h22\"/>", colour, x, y - 4);
                }
                if (!measurement.style(series).equals("line")) {
                    point(colour, x + 11, y - 4);
                }
            }
            label("legend", x + (bars ? 20 : 28), y, name);
            x += width;
        }
        top = (int) y + 24;
    }

    private boolean isRepeated(String name) {
        return measurement.series().indexOf(name) != measurement.series().lastIndexOf(name);
    }

    private int colour(int series) {
        int number = -1;
        for (int i = 0; i <= series; i++) {
            number += measurement.style(i).equals("points") && i > 0 ? 0 : 1;
        }
        return number % COLOURS;
    }

    private void drawGrid(Axis up) {
        for (double tick : up.ticks()) {
            double y = up.place(tick);
            add("<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, y, RIGHT, y);
            label("tick end", LEFT - 8, y + 4, number(tick));
        }
        add("<line class=\"axis\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LEFT, BOTTOM, RIGHT, BOTTOM);
        add("<line class=\"axis\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LEFT, BOTTOM, LEFT, top);
    }

    // Axes.

    /** An axis from zero or from the least value to at least the greatest; its ticks are round, or the values themselves if these are few. */
    private static Axis axis(
            double[] values, boolean logarithmic, double from, double to, boolean fromZero, boolean ticksAtValues) {
        double least = Arrays.stream(values).min().orElseThrow();
        double most = Arrays.stream(values).max().orElseThrow();
        double[] distinct = Arrays.stream(values).distinct().sorted().toArray();
        if (logarithmic && least <= 0) {
            throw new IllegalArgumentException("A logarithmic axis has no place for " + least);
        }
        if (ticksAtValues && distinct.length > 1 && distinct.length <= MOST_TICKS) {
            return new Axis(logarithmic, least, most, from, to, distinct);
        }
        return logarithmic
                ? decades(least, most, from, to)
                : steps(fromZero ? Math.min(0, least) : least, most, from, to);
    }

    private static Axis decades(double least, double most, double from, double to) {
        int first = (int) Math.floor(Math.log10(least));
        int last = Math.max(first + 1, (int) Math.ceil(Math.log10(most)));
        List<Double> ticks = new ArrayList<>();
        for (int decade = first; decade <= last; decade++) {
            ticks.add(Math.pow(10, decade));
            if (last - first <= 2 && decade < last) {
                ticks.add(2 * Math.pow(10, decade));
                ticks.add(5 * Math.pow(10, decade));
            }
        }
        return new Axis(true, Math.pow(10, first), Math.pow(10, last), from, to, array(ticks));
    }

    private static Axis steps(double least, double most, double from, double to) {
        double range = most > least ? most - least : 1;
        double rough = range / MOST_STEPS;
        double unit = Math.pow(10, Math.floor(Math.log10(rough)));
        double step = unit * (rough / unit > 5 ? 10 : rough / unit > 2 ? 5 : rough / unit > 1 ? 2 : 1);
        long first = (long) Math.floor(least / step);
        long last = Math.max(first + 1, (long) Math.ceil(most / step));
        List<Double> ticks = new ArrayList<>();
        for (long i = first; i <= last; i++) {
            ticks.add(i * step);
        }
        return new Axis(false, first * step, last * step, from, to, array(ticks));
    }

    private static double[] array(List<Double> numbers) {
        return numbers.stream().mapToDouble(number -> number).toArray();
    }

    // Marks.

    private void bar(int series, double left, double y, double width) {
        add(
                "<rect class=\"bar c%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                series % COLOURS, left, y, width, BOTTOM - y);
    }

    private void point(String colour, double x, double y) {
        add("<circle class=\"point %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", colour, x, y);
    }

    private void label(String style, double x, double y, String label) {
        add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>", style, x, y, escape(label));
    }

    private void add(String format, Object... arguments) {
        svg.append(text(format, arguments)).append('\n');
    }

    private static String text(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    /** With thousands apart, and as many decimals as it has, three at most. */
    private static String number(double value) {
        return value == Math.rint(value)
                ? text("%,.0f", value)
                : text("%,.3f", value).replaceAll("\\.?0+$", "");
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
