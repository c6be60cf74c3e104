package io.paxoslease.node;

import io.paxoslease.node.FigureStage.Arrow;
import io.paxoslease.node.FigureStage.Manner;
import io.paxoslease.node.FigureStage.Recording;
import io.paxoslease.node.FigureStage.Remark;
import io.paxoslease.node.FigureStage.Span;
import io.paxoslease.node.FigureStage.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Draws a recording as a sequence diagram: time runs down, to scale, one column for each node, remarks on the right. */
final class SequenceDiagram {

    private static final int WIDTH = 900;
    private static final int FIRST_LANE = 120;
    private static final int LANE_DISTANCE = 180;
    private static final int REMARKS = 570;
    private static final int REMARK_LETTERS = 40;
    private static final int LINE = 19;
    private static final int TOP = 84;
    private static final int BAR = 15;
    private static final int BODY = 20;
    private static final double LOST_AFTER = 0.8;

    private static final String STYLE = """
            text { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; fill: #1f2328; }
            .title { font-size: 17px; font-weight: 600; }
            .name { font-weight: 600; text-anchor: middle; }
            .tick { font-size: 13px; text-anchor: end; fill: #59636e; }
            .message { font-size: 13px; text-anchor: middle; stroke: #ffffff; stroke-width: 4px; paint-order: stroke; stroke-linejoin: round; }
            .number { font-size: 12px; font-weight: 600; text-anchor: middle; }
            .alarm-text { font-weight: 600; fill: #b3001b; text-anchor: middle; stroke: #ffffff; stroke-width: 5px; paint-order: stroke; stroke-linejoin: round; }
            .page { fill: #ffffff; stroke: #d1d9e0; }
            .grid { stroke: #e6eaef; }
            .line { stroke: #59636e; stroke-width: 1.5; }
            .dead { stroke: #59636e; stroke-width: 1.5; stroke-dasharray: 2 5; }
            .arrow { stroke: #1f2328; stroke-width: 1.5; fill: none; }
            .consent { stroke-dasharray: 6 4; }
            .refusal { stroke: #b3001b; stroke-dasharray: 6 4; }
            .head { fill: #1f2328; }
            .refusal-head { fill: #b3001b; }
            .cross { stroke: #b3001b; stroke-width: 2.5; }
            .badge { fill: #ffffff; stroke: #1f2328; stroke-width: 1.5; }
            .quarantine { fill: #d8dee4; stroke: #59636e; stroke-dasharray: 3 3; }
            .alarm { fill: #ff2d4a; fill-opacity: 0.22; }
            .node-1 { fill: #8250df; stroke: #8250df; }
            .node-2 { fill: #0969da; stroke: #0969da; }
            .node-3 { fill: #bc4c00; stroke: #bc4c00; }
            .excludes { fill-opacity: 0.22; }
            .deadline { stroke-width: 2.5; }
            @media (prefers-color-scheme: dark) {
            text { fill: #f0f6fc; }
            .tick { fill: #9ea7b3; }
            .message { stroke: #0d1117; }
            .alarm-text { fill: #ff8a94; stroke: #0d1117; }
            .page { fill: #0d1117; stroke: #3d444d; }
            .grid { stroke: #21262d; }
            .line, .dead { stroke: #9ea7b3; }
            .arrow { stroke: #f0f6fc; }
            .refusal { stroke: #ff8a94; }
            .head { fill: #f0f6fc; }
            .refusal-head { fill: #ff8a94; }
            .cross { stroke: #ff8a94; }
            .badge { fill: #0d1117; stroke: #f0f6fc; }
            .quarantine { fill: #30363d; stroke: #9ea7b3; }
            .alarm { fill-opacity: 0.35; }
            .node-1 { fill: #b083f0; stroke: #b083f0; }
            .node-2 { fill: #4493f8; stroke: #4493f8; }
            .node-3 { fill: #f0883e; stroke: #f0883e; }
            .excludes { fill-opacity: 0.3; }
            }
            """;

    private final String title;
    private final String description;
    private final Recording recording;
    private final double scale;
    private final StringBuilder svg = new StringBuilder();

    /**
     * Prepares a diagram.
     *
     * @param scale pixels for each millisecond
     */
    SequenceDiagram(String title, String description, Recording recording, double scale) {
        this.title = title;
        this.description = description;
        this.recording = recording;
        this.scale = scale;
    }

    String draw() {
        int bottom = (int) y(recording.end());
        int height = bottom + 74;
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\""
                        + " aria-labelledby=\"title desc\">%n",
                WIDTH,
                height,
                WIDTH,
                height));
        svg.append("<title id=\"title\">").append(escape(title)).append("</title>\n");
        svg.append("<desc id=\"desc\">").append(escape(description)).append("</desc>\n");
        svg.append("<style>\n").append(STYLE).append("</style>\n");
        add("<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\"/>", WIDTH - 1, height - 1);
        text("title", 20, 30, title);
        drawGrid();
        drawAlarm();
        recording.nodes().forEach(this::drawLane);
        recording.spans().forEach(this::drawSpan);
        recording.deadlines().forEach(this::drawDeadline);
        recording.arrows().forEach(this::drawArrow);
        recording.arrows().forEach(this::drawLabel);
        drawAlarmText();
        drawRemarks();
        drawLegend(bottom + 34);
        svg.append("</svg>\n");
        return svg.toString().replace(System.lineSeparator(), "\n");
    }

    private void drawGrid() {
        for (int at = 0; at <= recording.end(); at += 100) {
            add("<line class=\"grid\" x1=\"62\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", y(at), REMARKS - 30, y(at));
            text("tick", 56, y(at) + 4, at == 0 ? "0 ms" : String.valueOf(at));
        }
    }

    private void drawLane(String node) {
        double x = x(node);
        text("name", x, 62, node);
        List<Span> down = recording.spans().stream()
                .filter(span -> span.node().equals(node) && span.state() == State.DOWN)
                .sorted(Comparator.comparingDouble(Span::from))
                .toList();
        double from = 0;
        for (Span gap : down) {
            lane("line", x, from, gap.from());
            lane("dead", x, gap.from(), Math.min(gap.to(), recording.end()));
            cross(x, y(gap.from()));
            from = gap.to();
        }
        if (from < recording.end()) {
            lane("line", x, from, recording.end());
        }
    }

    private void lane(String style, double x, double from, double to) {
        add("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", style, x, y(from), x, y(to));
    }

    /** To the left of the line what the node may do, to the right what its acceptor forbids the others. */
    private void drawSpan(Span span) {
        if (span.state() == State.DOWN) {
            return;
        }
        double left = span.state() == State.LEADS ? x(span.node()) - 2 - BAR : x(span.node()) + 2;
        String style = switch (span.state()) {
            case LEADS -> span.owner();
            case EXCLUDES -> "excludes " + span.owner();
            default -> "quarantine";
        };
        double to = Math.min(span.to(), recording.end());
        add(
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
                style, left, y(span.from()), BAR, y(to) - y(span.from()));
    }

    private void drawDeadline(Span deadline) {
        double until = deadline.to();
        if (until > recording.end()) {
            return;
        }
        double x = x(deadline.node());
        add(
                "<line class=\"deadline %s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                deadline.owner(), x - 30, y(until), x - 2, y(until));
    }

    private void drawArrow(Arrow arrow) {
        double direction = Math.signum(x(arrow.to()) - x(arrow.from()));
        double x1 = x(arrow.from()) + direction * BODY;
        double y1 = y(arrow.sent());
        double x2 = x(arrow.to()) - direction * BODY;
        double y2 = y(arrives(arrow));
        if (isLost(arrow)) {
            x2 = x1 + LOST_AFTER * (x2 - x1);
            y2 = y1 + LOST_AFTER * (y2 - y1);
        }
        String style = switch (arrow.manner()) {
            case CONSENT -> "arrow consent";
            case REFUSAL -> "arrow refusal";
            default -> "arrow";
        };
        add("<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", style, x1, y1, x2, y2);
        if (isLost(arrow) || arrow.ignored()) {
            cross(x2, y2);
        } else {
            double angle = Math.toDegrees(Math.atan2(y2 - y1, x2 - x1));
            add(
                    "<path class=\"%s\" d=\"M0 0 L-11 -4.5 L-11 4.5 Z\" transform=\"translate(%.1f %.1f) rotate(%.1f)\"/>",
                    arrow.manner() == Manner.REFUSAL ? "refusal-head" : "head", x2, y2, angle);
        }
    }

    /** Half way; across two gaps in the one away from the node that asks, where its other messages are not. */
    private void drawLabel(Arrow arrow) {
        boolean crossing = Math.abs(x(arrow.to()) - x(arrow.from())) > LANE_DISTANCE;
        boolean asks = arrow.manner() == Manner.REQUEST || arrow.manner() == Manner.RELEASE;
        double along = !crossing ? 0.5 : asks ? 0.75 : 0.25;
        if (isLost(arrow)) {
            along -= 0.1;
        }
        double x = x(arrow.from()) + along * (x(arrow.to()) - x(arrow.from()));
        double y = y(arrow.sent() + along * (arrives(arrow) - arrow.sent()));
        text("message", x, crossing && !asks ? y + 14 : y - 3, arrow.label());
    }

    private static boolean isLost(Arrow arrow) {
        return Double.isInfinite(arrow.arrives());
    }

    /** When it arrived, or would have. */
    private static double arrives(Arrow arrow) {
        return isLost(arrow) ? arrow.sent() + FigureStage.USUAL_DELAY : arrow.arrives();
    }

    private void drawAlarm() {
        for (double[] overlap : recording.twoLeaders()) {
            add(
                    "<rect class=\"alarm\" x=\"62\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
                    y(overlap[0]), REMARKS - 92, y(overlap[1]) - y(overlap[0]));
        }
    }

    private void drawAlarmText() {
        for (double[] overlap : recording.twoLeaders()) {
            text(
                    "alarm-text",
                    FIRST_LANE + LANE_DISTANCE,
                    (y(overlap[0]) + y(overlap[1])) / 2 + 5,
                    String.format(Locale.ROOT, "two leaders from %.0f to %.0f ms", overlap[0], overlap[1]));
        }
    }

    /** At the height of what they tell, or below the one before. */
    private void drawRemarks() {
        double free = TOP - 30;
        int number = 1;
        for (Remark remark : recording.remarks()) {
            List<String> lines = wrap(remark.text());
            double first = Math.max(free + LINE, y(remark.at()) + 5);
            badge(x(remark.node()), y(remark.at()), number);
            badge(REMARKS, first - 5, number);
            for (int i = 0; i < lines.size(); i++) {
                text("remark", REMARKS + 18, first + i * LINE, lines.get(i));
            }
            free = first + (lines.size() - 1) * LINE + 7;
            number++;
        }
    }

    private void drawLegend(double y) {
        add("<rect class=\"node-2\" x=\"20\" y=\"%.1f\" width=\"%d\" height=\"22\"/>", y - 8, BAR);
        text("legend", 42, y + 8, "leads");
        add("<rect class=\"excludes node-2\" x=\"100\" y=\"%.1f\" width=\"%d\" height=\"22\"/>", y - 8, BAR);
        text("legend", 122, y + 8, "excludes others for the owner of this colour");
        add("<rect class=\"quarantine\" x=\"450\" y=\"%.1f\" width=\"%d\" height=\"22\"/>", y - 8, BAR);
        text("legend", 472, y + 8, "quarantine");
        add("<line class=\"deadline node-2\" x1=\"560\" y1=\"%.1f\" x2=\"586\" y2=\"%.1f\"/>", y + 3, y + 3);
        text("legend", 594, y + 8, "a deadline");
        cross(688, y + 3);
        text("legend", 700, y + 8, "lost, or nobody there");
    }

    private void badge(double x, double y, int number) {
        add("<circle class=\"badge\" cx=\"%.1f\" cy=\"%.1f\" r=\"9.5\"/>", x, y);
        text("number", x, y + 4.5, String.valueOf(number));
    }

    private void cross(double x, double y) {
        add("<path class=\"cross\" d=\"M%.1f %.1f l10 10 m0 -10 l-10 10\"/>", x - 5, y - 5);
    }

    private void text(String style, double x, double y, String text) {
        add("<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>", style, x, y, escape(text));
    }

    private void add(String format, Object... arguments) {
        svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
    }

    private static List<String> wrap(String text) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ")) {
            if (line.length() + word.length() >= REMARK_LETTERS) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    private double x(String node) {
        return FIRST_LANE + recording.nodes().indexOf(node) * LANE_DISTANCE;
    }

    private double y(double at) {
        return TOP + at * scale;
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
