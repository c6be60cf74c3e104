package io.paxoslease.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the checker makes of histories. Times are in milliseconds; the true time is the same everywhere unless a test says otherwise. */
class HistoryCheckerTests {

    private static final Instant EPOCH = Instant.parse("2026-11-20T12:00:00Z");

    @TempDir
    Path directory;

    private final List<String> files = new ArrayList<>();
    private String output = "";

    /** A node's history, as its endpoint would write it. */
    private final class Node {
        private final String name;
        private final String clock;
        private final long monotonicZero;
        private long wallAhead;
        private final List<String> events = new ArrayList<>();

        Node(String name, String machine, long monotonicZero) {
            this.name = name;
            this.clock = machine == null ? "null" : "\"" + machine + "\"";
            this.monotonicZero = monotonicZero;
        }

        Node withWallClockAhead(long millis) {
            wallAhead = millis;
            return this;
        }

        private String time(long millis) {
            return "{\"monotonic\":\"" + Duration.ofMillis(monotonicZero + millis) + "\",\"wall\":\""
                    + EPOCH.plusMillis(wallAhead + millis) + "\"}";
        }

        private Node add(String kind, long token, long first, long last, Long heldUntil) {
            events.add("{\"kind\":\"%s\",\"count\":1,\"firstAt\":%s,\"at\":%s,\"fencingToken\":%d,\"heldUntil\":%s,"
                            .formatted(
                                    kind, time(first), time(last), token, heldUntil == null ? "null" : time(heldUntil))
                    + "\"leader\":null,\"reason\":null,\"rejectedBy\":[\"\\u0041\"]}");
            return this;
        }

        Node acquired(long token, long at, long heldUntil) {
            return add("ACQUIRED", token, at, at, heldUntil);
        }

        Node extended(long token, long first, long last, long heldUntil) {
            return add("EXTENDED", token, first, last, heldUntil);
        }

        Node released(long token, long at) {
            return add("RELEASED", token, at, at, null);
        }

        Node lost(long token, long noticed, long heldUntil) {
            return add("LOST", token, noticed, noticed, heldUntil);
        }

        void answers(long at) throws IOException {
            answers(at, 0);
        }

        void answers(long at, int dropped) throws IOException {
            Path file = directory.resolve(name + "-" + files.size() + ".json");
            Files.writeString(file, """
                    { "node": "%1$s", "incarnation": "%1$s/01", "cell": "default", "members": ["a", "b", "c"], "lease": "job",
                      "clock": %2$s, "at": %3$s, "dropped": %4$d, "events": [%5$s] }
                    """.formatted(name, clock, time(at), dropped, String.join(",", events)));
            files.add(file.toString());
        }
    }

    private Node a() {
        return new Node("a", "one", 1_000);
    }

    /** On the same machine as {@link #a}. */
    private Node b() {
        return new Node("b", "one", 1_000);
    }

    /** On a machine of its own, whose monotonic clock has another origin. */
    private Node c() {
        return new Node("c", "two", 77_000_000);
    }

    private int check(String... options) {
        List<String> args = new ArrayList<>(List.of(options));
        args.addAll(files);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int exit = HistoryChecker.run(args, new PrintStream(bytes, true, StandardCharsets.UTF_8));
        output = bytes.toString(StandardCharsets.UTF_8);
        return exit;
    }

    @Nested
    class OnOneMachine {

        @Test
        void tenuresOneAfterTheOtherAreFine() throws IOException {
            a().acquired(1, 0, 900)
                    .extended(1, 400, 5_000, 5_900)
                    .released(1, 5_500)
                    .answers(20_000);
            b().acquired(2, 5_501, 6_400).lost(2, 6_700, 6_400).answers(20_000);
            a().acquired(3, 6_401, 7_300).answers(20_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
            assertThat(output).contains("3 tenures", "3 by one monotonic clock, 0 by wall clocks", "no history of c");
        }

        @Test
        void anOverlapOfOneMillisecondIsFound() throws IOException {
            a().acquired(1, 0, 900).released(1, 502).answers(9_000);
            b().acquired(2, 501, 1_400).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.OVERLAP);
            assertThat(output).contains("OVERLAP of PT0.001S by one monotonic clock", "a/01 with token 1", "b/01");
        }

        @Test
        void aTenureLastsUntilItsDeadlineAlthoughItsEndWasNoticedLate() throws IOException {
            a().acquired(1, 0, 900).lost(1, 5_000, 900).answers(9_000);
            b().acquired(2, 950, 1_800).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
        }

        @Test
        void aTenureThatGoesOnIsHeldWhenItsNodeAnswers() throws IOException {
            a().acquired(1, 0, 5_000).answers(1_000);
            b().acquired(2, 999, 2_000).answers(3_000);

            assertThat(check()).isEqualTo(HistoryChecker.OVERLAP);
        }

        @Test
        void whatANodeDidAfterItAnsweredIsNotHeldAgainstIt() throws IOException {
            a().acquired(1, 0, 5_000).answers(1_000);
            b().acquired(2, 1_001, 2_000).answers(3_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
        }

        @Test
        void aLaterHistoryOfTheSameNodeCompletesAnEarlierOne() throws IOException {
            a().acquired(1, 0, 900).answers(100);
            a().extended(1, 400, 8_000, 8_900).answers(8_100, 1);
            b().acquired(2, 7_000, 7_900).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.OVERLAP);
            assertThat(output).contains("2 tenures in 3 histories", "a/01 had forgotten its 1 oldest events");
        }

        @Test
        void aTenureWithoutItsBeginningIsKnownFromItsFirstExtension() throws IOException {
            a().extended(1, 400, 2_000, 2_900).answers(9_000);
            b().acquired(2, 300, 390).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
            b().acquired(3, 401, 900).answers(9_000);
            assertThat(check()).isEqualTo(HistoryChecker.OVERLAP);
        }

        @Test
        void aTenureThatTheWallClockEndedIsProvenUpToItsLastExtensionOnly() throws IOException {
            // Suspended after 500: the monotonic clock stood still, and the loss is noticed before the monotonic
            // deadline.
            a().acquired(1, 0, 900)
                    .extended(1, 500, 500, 1_400)
                    .lost(1, 600, 1_400)
                    .answers(9_000);
            b().acquired(2, 501, 1_300).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
        }
    }

    @Nested
    class OnSeveralMachines {

        @Test
        void anOverlapBeyondTheToleranceIsFound() throws IOException {
            a().acquired(1, 0, 9_000).answers(9_000);
            c().acquired(2, 7_000, 9_000).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.OVERLAP);
            assertThat(output).contains("OVERLAP of PT2S by wall clocks", "0 by one monotonic clock");
        }

        @Test
        void wallClocksThatDisagreeLessThanTheToleranceAccuseNobody() throws IOException {
            a().acquired(1, 0, 5_000).released(1, 2_000).answers(9_000);
            c().withWallClockAhead(-900).acquired(2, 2_010, 8_000).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
            assertThat(output).contains("of which 1 are too near to each other to be judged");
            assertThat(check("--strict")).isEqualTo(HistoryChecker.UNKNOWN);
            assertThat(check("--tolerance=PT0.1S")).isEqualTo(HistoryChecker.OVERLAP);
        }

        @Test
        void tenuresFarFromEachOtherAreJudged() throws IOException {
            a().acquired(1, 0, 900).answers(9_000);
            c().acquired(2, 2_000, 8_000).answers(9_000);

            assertThat(check("--strict")).isEqualTo(HistoryChecker.NONE);
        }

        /** It answered before its timer noticed. */
        @Test
        void aTenureThatASuspendHasEndedUnnoticedIsProvenUpToItsLastExtensionOnly() throws IOException {
            a().acquired(1, 0, 900)
                    .extended(1, 500, 500, 1_400)
                    .withWallClockAhead(10_000)
                    .answers(600);
            c().acquired(2, 5_000, 12_000).answers(11_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
        }

        @Test
        void aMachineThatCannotTellItsClockIsComparedByWallClock() throws IOException {
            new Node("a", null, 0).acquired(1, 0, 900).answers(9_000);
            new Node("b", null, 500).acquired(2, 5_000, 5_500).answers(9_000);

            assertThat(check()).isEqualTo(HistoryChecker.NONE);
            assertThat(output).contains("1 by wall clocks");
        }
    }

    @Nested
    class SaysNothing {

        @Test
        void withoutFiles() {
            assertThat(check()).isEqualTo(HistoryChecker.UNKNOWN);
            assertThat(output).contains("usage: HistoryChecker");
        }

        @Test
        void withoutTenures() throws IOException {
            a().answers(1);

            assertThat(check()).isEqualTo(HistoryChecker.UNKNOWN);
            assertThat(output).contains("no tenure");
        }

        @Test
        void ofWhatItCannotRead() throws IOException {
            for (String text : List.of(
                    "",
                    "{",
                    "[",
                    "{}",
                    "[1]",
                    "null",
                    "\"a",
                    "{\"a\":1} x",
                    "{\"a\" 1}",
                    "[1 2]",
                    "\"\\u12\"",
                    "[".repeat(100),
                    "{\"error\":\"Unauthorized\"}")) {
                Path file = directory.resolve("broken.json");
                Files.writeString(file, text);
                assertThat(check(file.toString())).as(text).isEqualTo(HistoryChecker.UNKNOWN);
                assertThat(output).startsWith(file + ": not ");
            }
            assertThat(check("no-such-file.json")).isEqualTo(HistoryChecker.UNKNOWN);
            assertThat(check("--tolerance=soon")).isEqualTo(HistoryChecker.UNKNOWN);
        }

        /** The JVM exits with 1 where an exception ends it, which says that two tenures overlapped. */
        @Test
        void ofAKindOfEventThatItDoesNotKnow() throws IOException {
            a().add("TRANSFERRED", 1, 0, 0, null).answers(1);

            assertThat(check()).isEqualTo(HistoryChecker.UNKNOWN);
            assertThat(output).contains(files.get(0), "an event of kind 'TRANSFERRED' with a fencing token");
        }
    }

    @Test
    void anArrayOfHistoriesAndSeveralLeasesAreReadFromOneFile() throws IOException {
        a().acquired(1, 0, 900).answers(900);
        b().acquired(2, 1_000, 1_900).answers(1_900);
        String one = Files.readString(Path.of(files.get(0)));
        String other = Files.readString(Path.of(files.get(1))).replace("\"job\"", "\"other\"");
        files.clear();
        Path file = directory.resolve("all.json");
        Files.writeString(file, "[" + one + "," + other + "]");

        assertThat(check(file.toString())).isEqualTo(HistoryChecker.NONE);
        assertThat(output).contains("lease 'job' of cell 'default': 1 tenures", "lease 'other'");
    }
}
