package io.paxoslease.sample;

import io.paxoslease.sample.Tenures.Tenure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;

/** Reads the journals of all nodes of a cell, see {@link Journal}, and checks them against each other. */
final class JournalChecker {

    private final List<Line> lines = new ArrayList<>();

    /** The journals that lines come from, and how many bytes of each have been read. */
    private final Map<Path, Long> files = new LinkedHashMap<>();

    /** One line of a journal. */
    record Line(
            char kind,
            String node,
            String incarnation,
            String lease,
            long token,
            long run,
            long nanos,
            long lastHeldNanos) {

        static Line parse(String text) {
            String[] fields = text.split("\t", -1);
            if (fields.length != 9 || fields[0].length() != 1) {
                throw new IllegalArgumentException("Not a line of a journal: " + text);
            }
            return new Line(
                    fields[0].charAt(0),
                    fields[1],
                    fields[2],
                    fields[3],
                    Long.parseLong(fields[4]),
                    Long.parseLong(fields[5]),
                    Long.parseLong(fields[6]),
                    Long.parseLong(fields[7]));
        }

        /** The same by another clock. */
        Line by(LongUnaryOperator clock) {
            return new Line(
                    kind,
                    node,
                    incarnation,
                    lease,
                    token,
                    run,
                    clock.applyAsLong(nanos),
                    isEnd() ? clock.applyAsLong(lastHeldNanos) : 0);
        }

        boolean isStart() {
            return kind == 'S';
        }

        boolean isEnd() {
            return kind == 'E';
        }

        boolean isAcquired() {
            return kind == 'A';
        }

        boolean isReleased() {
            return kind == 'R';
        }

        boolean isLost() {
            return kind == 'L';
        }
    }

    JournalChecker(Collection<Line> lines) {
        this.lines.addAll(lines);
    }

    /** The journals that exist among some files. */
    static JournalChecker read(Collection<Path> files) throws IOException {
        JournalChecker journals = new JournalChecker(List.of());
        files.forEach(file -> journals.files.put(file, 0L));
        journals.readOn();
        return journals;
    }

    /** Reads what has been written since: with all anew, waiting for a line would take a processor. */
    void readOn() throws IOException {
        for (Map.Entry<Path, Long> file : files.entrySet()) {
            if (Files.exists(file.getKey())) {
                try (InputStream in = Files.newInputStream(file.getKey())) {
                    in.skipNBytes(file.getValue());
                    String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                    // The last line may be on its way.
                    String complete = text.substring(0, text.lastIndexOf('\n') + 1);
                    complete.lines().map(Line::parse).forEach(lines::add);
                    file.setValue(file.getValue() + complete.getBytes(StandardCharsets.UTF_8).length);
                }
            }
        }
    }

    Stream<Line> lines() {
        return lines.stream();
    }

    /** How many guarded runs began. */
    long runs() {
        return lines().filter(Line::isStart).count();
    }

    /** How many guarded runs were cut off. */
    long openRuns() {
        return runs() - lines().filter(Line::isEnd).count();
    }

    /** What the runs prove about tenures: held at the start of the first and at the last check of the last, and in between. */
    Collection<Tenure> tenures() {
        Map<List<Object>, Tenure> tenures = new LinkedHashMap<>();
        lines().filter(line -> line.isStart() || line.isEnd()).forEach(line -> {
            long lastHeld = line.isEnd() ? line.lastHeldNanos() : line.nanos();
            tenures.merge(
                    List.of(line.lease(), line.token(), line.incarnation()),
                    new Tenure(line.lease(), line.token(), line.incarnation(), line.nanos(), lastHeld),
                    Tenure::merge);
        });
        return tenures.values();
    }

    /** One sentence for each thing that must not be; empty if all is well. */
    List<String> contradictions() {
        List<String> contradictions = new ArrayList<>(Tenures.contradictions(tenures()));
        Map<List<Object>, Line> starts = new LinkedHashMap<>();
        Map<List<Object>, Line> ends = new LinkedHashMap<>();
        for (Line line : lines) {
            List<Object> run = List.of(line.incarnation(), line.lease(), line.token(), line.run());
            if (line.isStart() && starts.put(run, line) != null) {
                contradictions.add("started twice: " + line);
            } else if (line.isEnd() && starts.remove(run) == null) {
                contradictions.add("ended without a start: " + line);
            } else if ((line.isLost() || line.isReleased()) && ends.put(run, line) != null) {
                contradictions.add("a tenure ended twice: " + line);
            }
        }
        return contradictions;
    }
}
