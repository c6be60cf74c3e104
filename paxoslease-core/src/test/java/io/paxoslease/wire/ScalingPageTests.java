package io.paxoslease.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.wire.CostModel.Cost;
import io.paxoslease.wire.CostSimulation.Counts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The tables of {@code docs/scaling.md} that are computed, and the measurements behind its figures: the committed text must be what
 * {@link CostModel}, {@link CostSimulation} and the page's own table of constants give. To write them anew after a constant was changed:
 * {@code ./mvnw -pl paxoslease-core test -Dtest=ScalingPageTests -Dpaxoslease.figures=write}.
 */
class ScalingPageTests {

    private static final Path DOCS =
            Path.of("").toAbsolutePath().resolve("../docs").normalize();
    private static final Path PAGE = DOCS.resolve("scaling.md");
    private static final String WRITE = "-Dpaxoslease.figures=write writes it anew";

    private static final int NAME_BYTES = 16;
    private static final int CELL_BYTES = 7;
    private static final int ID_BYTES = 6;
    private static final double DRIFT = 0.01;
    private static final long ROUND_TRIP_NANOS = 2 * CostSimulation.MOST_DELAY_NANOS;
    private static final int LEASES = 200;
    private static final int LEASE_TIMES = 25;

    private static final CostModel THREE = model(3);

    // What was simulated.

    @Test
    void predictedAndSimulated() {
        List<String> table = new ArrayList<>();
        table.add("| | acceptors | nodes | predicted | simulated |");
        table.add("|---|---|---|---|---|");
        for (int acceptors : new int[] {3, 5, 7}) {
            for (boolean oneRoundTrip : new boolean[] {true, false}) {
                addCycle(table, acceptors, oneRoundTrip);
            }
        }
        for (int acceptors : new int[] {3, 5, 7}) {
            for (boolean oneRoundTrip : new boolean[] {true, false}) {
                addExtension(table, acceptors, oneRoundTrip);
            }
        }
        addIdle(table, 3, 3);
        addIdle(table, 3, 100);
        addIdle(table, 5, 100);
        assertTable("predicted and simulated", table);
    }

    private static void addCycle(List<String> table, int acceptors, boolean oneRoundTrip) {
        CostModel model = model(acceptors);
        Counts alone = cycles(acceptors, oneRoundTrip, 1);
        Cost cost = cycle(model, oneRoundTrip);
        int frames = (oneRoundTrip ? 2 : 3) * model.asked(true, oneRoundTrip);
        table.add(row(
                "acquisition and release alone, " + way(oneRoundTrip),
                acceptors,
                acceptors,
                text(
                        "%d messages, %d frames, %,d bytes",
                        cost.messages(), frames, cost.bytes() + frames * model.frameBytes()),
                text(
                        "%d messages, %d frames, %,d bytes",
                        alone.requests() + alone.answers(), carrying(alone), alone.bytes())));
    }

    private static void addExtension(List<String> table, int acceptors, boolean oneRoundTrip) {
        CostModel model = model(acceptors);
        Counts counts = extensions(acceptors, oneRoundTrip);
        Cost cost = model.extension(true, oneRoundTrip);
        double extensions = (double) counts.requests() / cost.requests();
        double seconds = LEASE_TIMES * CostSimulation.LEASE_TIME.toSeconds();
        table.add(row(
                "extensions of " + LEASES + " leases of 10 s, " + way(oneRoundTrip),
                acceptors,
                acceptors,
                text(
                        "up to %.1f /s; %d messages, %d bytes each",
                        model.extensionsPerSecond(LEASES, 10, DRIFT), cost.messages(), cost.bytes()),
                text(
                        "%.1f /s; %.0f messages, %.0f bytes each",
                        extensions / seconds,
                        (counts.requests() + counts.answers()) / extensions,
                        messageBytes(counts, model) / extensions)));
    }

    private static void addIdle(List<String> table, int acceptors, int nodes) {
        CostModel model = model(acceptors);
        CostSimulation cell = CostSimulation.of(acceptors, nodes, true);
        Counts before = cell.counts();
        Duration time = Duration.ofNanos(8 * model.probeNanos(ROUND_TRIP_NANOS));
        cell.advance(time);
        Counts counts = cell.since(before);
        double probes = model.probesPerSecond(nodes, ROUND_TRIP_NANOS);
        double seconds = time.toNanos() / 1e9;
        table.add(row(
                "nothing to do",
                acceptors,
                nodes,
                text("%,.1f frames/s, %,.0f bytes/s", probes, probes * model.frameBytes()),
                text("%,.1f frames/s, %,.0f bytes/s", counts.frames() / seconds, counts.bytes() / seconds)));
    }

    private static String row(String what, int acceptors, int nodes, String predicted, String simulated) {
        return text("| %s | %d | %d | %s | %s |", what, acceptors, nodes, predicted, simulated);
    }

    private static String way(boolean oneRoundTrip) {
        return oneRoundTrip ? "one round trip" : "two phases";
    }

    private static Cost cycle(CostModel model, boolean oneRoundTrip) {
        return model.acquisition(true, oneRoundTrip).plus(model.release(true, oneRoundTrip));
    }

    private static Counts cycles(int acceptors, boolean oneRoundTrip, int leases) {
        CostSimulation cell = CostSimulation.of(acceptors, acceptors, oneRoundTrip);
        cell.peer(0).learnWhomToAsk();
        Counts before = cell.counts();
        cell.peer(0).release(cell.peer(0).acquire(names(leases)));
        return cell.since(before);
    }

    private static Counts extensions(int acceptors, boolean oneRoundTrip) {
        CostSimulation cell = CostSimulation.of(acceptors, acceptors, oneRoundTrip);
        cell.peer(0).acquire(names(LEASES)).forEach(Lease::autoExtend);
        cell.advance(CostSimulation.LEASE_TIME);
        Counts before = cell.counts();
        cell.advance(CostSimulation.LEASE_TIME.multipliedBy(LEASE_TIMES));
        cell.settle();
        return cell.since(before);
    }

    private static long carrying(Counts counts) {
        return counts.frames() - counts.probes();
    }

    private static long messageBytes(Counts counts, CostModel model) {
        return counts.bytes() - counts.frames() * model.frameBytes();
    }

    private static List<String> names(int count) {
        return IntStream.range(0, count)
                .mapToObj(number -> text("lease-%010d", number))
                .toList();
    }

    private static CostModel model(int acceptors) {
        return new CostModel(acceptors, CELL_BYTES, ID_BYTES, NAME_BYTES);
    }

    /** For the figures: by the number of acceptors, the model as lines and the simulation as points. */
    @Test
    void measurements() {
        String series = "acceptors\tacquisition and release, two phases\tsimulated\textension, two phases\tsimulated"
                + "\tacquisition and release, one round trip\tsimulated\textension, one round trip\tsimulated";
        String styles = "# styles\tline\tpoints\tline\tpoints\tline\tpoints\tline\tpoints";
        List<String> messages = new ArrayList<>(List.of(
                "# title\tMessages of an acquisition with its release, and of an extension",
                "# x\tacceptors, the owner being one of them",
                "# y\tmessages: requests and answers",
                styles,
                series));
        List<String> bytes = new ArrayList<>(List.of(
                "# title\tBytes of an acquisition with its release, and of an extension",
                "# x\tacceptors, the owner being one of them",
                "# y\tbytes, without frames",
                styles,
                series));
        for (int acceptors : new int[] {1, 3, 5, 7, 9}) {
            StringBuilder messagesRow = new StringBuilder().append(acceptors);
            StringBuilder bytesRow = new StringBuilder().append(acceptors);
            CostModel model = model(acceptors);
            for (boolean oneRoundTrip : new boolean[] {false, true}) {
                Counts cycles = cycles(acceptors, oneRoundTrip, LEASES);
                append(messagesRow, bytesRow, model, cycle(model, oneRoundTrip), cycles, LEASES);
                Counts extensions = extensions(acceptors, oneRoundTrip);
                Cost extension = model.extension(true, oneRoundTrip);
                append(
                        messagesRow,
                        bytesRow,
                        model,
                        extension,
                        extensions,
                        extensions.requests() / Math.max(1, extension.requests()));
            }
            messages.add(messagesRow.toString());
            bytes.add(bytesRow.toString());
        }
        assertFile(DOCS.resolve("measurements/lease-messages.tsv"), messages);
        assertFile(DOCS.resolve("measurements/lease-bytes.tsv"), bytes);
    }

    private static void append(
            StringBuilder messages, StringBuilder bytes, CostModel model, Cost predicted, Counts counts, long times) {
        double each = Math.max(1, times);
        messages.append('\t').append(predicted.messages());
        messages.append('\t').append(number((counts.requests() + counts.answers()) / each));
        bytes.append('\t').append(predicted.bytes());
        bytes.append('\t').append(number(messageBytes(counts, model) / each));
    }

    private static String number(double value) {
        return text("%.0f", value);
    }

    // What is extrapolated, by the constants of the page.

    @Test
    void leasesInOneCell() {
        List<String> table = new ArrayList<>();
        table.add(
                "| leases | T | extensions/s | network of the cell | owner: core | owner: memory | acceptor: core | acceptor: memory |");
        table.add("|---|---|---|---|---|---|---|---|");
        for (long[] row : new long[][] {
            {1_000, 10}, {100_000, 60}, {1_000_000, 60}, {1_000_000, 10}, {10_000_000, 600}, {10_000_000, 60}
        }) {
            double extensions = THREE.extensionsPerSecond(row[0], row[1], DRIFT);
            table.add(text(
                    "| %,d | %d s | %s | %s/s | %s | %s | %s | %s |",
                    row[0],
                    row[1],
                    rounded(extensions),
                    bytes(extensions * THREE.extension(true, true).bytes()),
                    percent(extensions * ownerSeconds()),
                    bytes(row[0] * (double) THREE.ownerMemory(true)),
                    percent(extensions * acceptorSeconds()),
                    bytes(row[0] * (double) THREE.acceptorMemory())));
        }
        assertTable("leases in one cell", table);
    }

    @Test
    void aFullCore() {
        List<String> table = new ArrayList<>();
        table.add(
                "| one core full at | extensions/s | leases of 10 s | of 60 s | of 10 minutes | network of the cell |");
        table.add("|---|---|---|---|---|---|");
        addFullCore(table, "an owner", 1 / ownerSeconds());
        addFullCore(table, "an acceptor", 1 / acceptorSeconds());
        assertTable("a full core", table);
    }

    private static void addFullCore(List<String> table, String whose, double extensions) {
        double perSecond = THREE.extensionsPerSecond(1, 1, DRIFT);
        table.add(text(
                "| %s | %s | %s | %s | %s | %s/s |",
                whose,
                rounded(extensions),
                rounded(10 * extensions / perSecond),
                rounded(60 * extensions / perSecond),
                rounded(600 * extensions / perSecond),
                bytes(extensions * THREE.extension(true, true).bytes())));
    }

    @Test
    void nodesOfOneCell() {
        List<String> table = new ArrayList<>();
        table.add("| nodes | probes/s at an acceptor | exchanges/s | frames | with HTTP | core | sessions |");
        table.add("|---|---|---|---|---|---|---|");
        for (int nodes : new int[] {10, 100, 1_000, 10_000, 100_000}) {
            double probes = THREE.probesPerSecond(nodes, ROUND_TRIP_NANOS) / THREE.acceptors();
            boolean fits = nodes - 1 <= CostModel.SESSIONS;
            double exchanges = fits ? probes : 2 * probes;
            double bytes = probes * (fits ? THREE.frameBytes() : THREE.unknownSessionBytes() + THREE.helloBytes());
            table.add(text(
                    "| %,d | %s | %s | %s/s | %s/s | %s | %s |",
                    nodes,
                    rounded(probes),
                    rounded(exchanges),
                    bytes(bytes),
                    bytes(bytes + exchanges * constant("http-bytes")),
                    percent(exchanges * frameSecondsAtOneEnd()),
                    fits ? "kept" : text("each lasts %.0f ms", 1_000 * CostModel.SESSIONS / probes)));
        }
        assertTable("nodes of one cell", table);
    }

    @Test
    void candidatesOfOneLease() {
        List<String> table = new ArrayList<>();
        table.add("| candidates that are no members | attempts/s | messages/s | bytes/s | core of an acceptor |");
        table.add("|---|---|---|---|---|");
        Cost attempt = THREE.vainAttempt(false);
        for (int candidates : new int[] {10, 100, 1_000}) {
            double attempts = candidates / (10 * (1 - DRIFT) / (1 + DRIFT));
            table.add(text(
                    "| %,d | %s | %s | %s | %s |",
                    candidates,
                    rounded(attempts),
                    rounded(attempts * attempt.messages()),
                    bytes(attempts * (attempt.bytes() + 2.0 * THREE.acceptors() * THREE.frameBytes())),
                    percent(2 * attempts * frameSecondsAtOneEnd())));
        }
        assertTable("candidates of one lease", table);
    }

    @Test
    void manyCells() {
        List<String> table = new ArrayList<>();
        table.add(
                "| leases | T | cells | leases of a cell | its extensions/s | its network | its acceptors: core, memory"
                        + " | its owners, at half a core"
                        + " | memory of an owner that is a member | owners in all |");
        table.add("|---|---|---|---|---|---|---|---|---|---|");
        for (long[] row : new long[][] {
            {10_000_000L, 60, 10},
            {100_000_000L, 60, 100},
            {100_000_000L, 600, 10},
            {1_000_000_000L, 60, 100},
            {1_000_000_000L, 60, 1_000},
            {1_000_000_000L, 600, 100},
            {1_000_000_000L, 3_600, 100}
        }) {
            long leases = row[0] / row[2];
            double extensions = THREE.extensionsPerSecond(leases, row[1], DRIFT);
            double owners = Math.ceil(2 * extensions * ownerSeconds());
            double memory = leases * (double) THREE.acceptorMemory()
                    + leases / owners * (THREE.ownerMemory(true) - THREE.acceptorMemory());
            table.add(text(
                    "| %,d | %,d s | %,d | %,d | %s | %s/s | %s, %s | %.0f | %s | %,.0f |",
                    row[0],
                    row[1],
                    row[2],
                    leases,
                    rounded(extensions),
                    bytes(extensions * THREE.extension(true, true).bytes()),
                    percent(extensions * acceptorSeconds()),
                    bytes(leases * (double) THREE.acceptorMemory()),
                    owners,
                    bytes(memory),
                    owners * row[2]));
        }
        assertTable("many cells", table);
    }

    @Test
    void aNodeOfManyCells() {
        List<String> table = new ArrayList<>();
        table.add("| cells | probes/s that it sends | frames | with HTTP | core |");
        table.add("|---|---|---|---|---|");
        for (int cells : new int[] {1, 10, 100, 1_000}) {
            double probes = cells * THREE.acceptors() * 1e9 / THREE.probeNanos(ROUND_TRIP_NANOS);
            table.add(text(
                    "| %,d | %s | %s/s | %s/s | %s |",
                    cells,
                    rounded(probes),
                    bytes(probes * THREE.frameBytes()),
                    bytes(probes * (THREE.frameBytes() + constant("http-bytes"))),
                    percent(cells * constant("idle-ours") / 100)));
        }
        assertTable("a node of many cells", table);
    }

    private static double ownerSeconds() {
        return constant("holding-owner") / 100 / constant("holding-extensions");
    }

    private static double acceptorSeconds() {
        return constant("holding-acceptor") / 100 / constant("holding-extensions");
    }

    private static double frameSecondsAtOneEnd() {
        return constant("frame-time") / 2 / 1e6;
    }

    /** A row of the table of constants. */
    private static double constant(String name) {
        Matcher row = Pattern.compile("(?m)^\\| `" + name + "` \\| ([0-9.,]+)").matcher(read(PAGE));
        assertThat(row.find()).as("constant %s", name).isTrue();
        return Double.parseDouble(row.group(1).replace(",", ""));
    }

    // Words.

    private static String text(String format, Object... arguments) {
        return String.format(Locale.ROOT, format, arguments);
    }

    /** Two digits, three where the first is a one. */
    private static String rounded(double value) {
        if (value < 100) {
            return text(value < 10 ? "%.1f" : "%.0f", value);
        }
        double unit = Math.pow(10, Math.floor(Math.log10(value / 2)) - 1);
        return text("%,.0f", Math.round(value / unit) * unit);
    }

    private static String bytes(double value) {
        return value < 1e3
                ? rounded(value) + " B"
                : value < 1e6
                        ? rounded(value / 1e3) + " kB"
                        : value < 1e9 ? rounded(value / 1e6) + " MB" : rounded(value / 1e9) + " GB";
    }

    private static String percent(double cores) {
        return cores >= 1
                ? text("%.1f cores", cores)
                : cores < 0.001 ? "< 0.1 %" : text(cores < 0.1 ? "%.1f %%" : "%.0f %%", 100 * cores);
    }

    // Files.

    private static void assertTable(String name, List<String> table) {
        String begin = "<!-- table: " + name + " -->\n";
        String page = read(PAGE);
        int from = page.indexOf(begin);
        assertThat(from).as("the place of the table '%s'", name).isNotNegative();
        int start = from + begin.length();
        int end = page.indexOf("<!-- end -->", start);
        String text = String.join("\n", table) + "\n";
        if (isWriting()) {
            write(PAGE, page.substring(0, start) + text + page.substring(end));
        } else {
            assertThat(page.substring(start, end))
                    .as("the table '%s'; " + WRITE, name)
                    .isEqualTo(text);
        }
    }

    private static void assertFile(Path file, List<String> lines) {
        String text = String.join("\n", lines) + "\n";
        if (isWriting()) {
            write(file, text);
        } else {
            assertThat(read(file)).as("%s; " + WRITE, file).isEqualTo(text);
        }
    }

    private static boolean isWriting() {
        return "write".equals(System.getProperty("paxoslease.figures"));
    }

    private static String read(Path file) {
        return unchecked(() -> Files.exists(file) ? Files.readString(file) : "");
    }

    private static void write(Path file, String text) {
        unchecked(() -> {
            Files.createDirectories(file.getParent());
            return Files.writeString(file, text);
        });
    }

    private interface Io<T> {
        T run() throws IOException;
    }

    private static <T> T unchecked(Io<T> io) {
        try {
            return io.run();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
