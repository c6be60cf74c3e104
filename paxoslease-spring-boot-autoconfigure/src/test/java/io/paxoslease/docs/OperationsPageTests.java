package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.protocol.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/operations.md} lists the meters that the code makes. */
class OperationsPageTests {

    private static final Pattern OBSERVATION_IN_SOURCE = Pattern.compile("return \"(paxoslease\\.[a-z.]+)\";");
    private static final Pattern METER_IN_SOURCE = Pattern.compile("\"(paxoslease\\.[a-z.]+)\"");
    private static final Pattern METER_ROW =
            Pattern.compile("(?m)^\\| `(paxoslease\\.[a-z.]+)` \\| (?:gauge|counter|timer) \\|");

    private static final Pattern STEP_ROW =
            Pattern.compile("(?m)^\\| ([a-z](?: [a-z])+) \\| ([a-z](?: [a-z])+) \\| (yes|no)\\b.*$");
    private static final Pattern LOG_ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| (?:info|warn|error) \\|");
    private static final Pattern SYMPTOM_ROW = Pattern.compile("(?m)^\\| \"([^\"]+)\"");
    private static final Pattern OUTCOME_ROW = Pattern.compile("(?m)^\\| (?:`prepare`|`frame`|the same).*$");

    @Test
    void theTableOfMetersIsComplete() {
        Set<String> documented = new TreeSet<>();
        Matcher row = METER_ROW.matcher(Documents.read("docs/operations.md"));
        while (row.find()) {
            documented.add(row.group(1));
        }
        assertThat(documented).isEqualTo(metersInSources());
    }

    @Test
    void everyObservationIsDocumented() {
        String page = Documents.read("docs/operations.md");
        assertThat(observationsInSources())
                .hasSize(2)
                .allSatisfy(name -> assertThat(page).contains("\n| `" + name + "` |"));
    }

    @Test
    void theLinesOfTheLogAreThoseOfTheSources() {
        assertThat(textsOfTheSources(LOG_ROW)).isGreaterThan(20);
    }

    @Test
    void theSymptomsAreQuotedFromTheSources() {
        assertThat(textsOfTheSources(SYMPTOM_ROW)).isGreaterThan(5);
    }

    /** The words between the variable parts of a text must be in one source, in this order. */
    private static int textsOfTheSources(Pattern row) {
        List<String> main = Documents.sources().entrySet().stream()
                .filter(source -> source.getKey().contains("/src/main/"))
                .map(source -> Documents.read(source.getValue()).replaceAll("\\s+", " "))
                .toList();
        int texts = 0;
        Matcher found = row.matcher(Documents.read("docs/operations.md"));
        while (found.find()) {
            String text = found.group(1);
            assertThat(main).as(text).anyMatch(source -> containsInOrder(source, text.split("[…\\[\\]']+")));
            texts++;
        }
        return texts;
    }

    private static boolean containsInOrder(String source, String[] parts) {
        int at = 0;
        for (String part : parts) {
            String words = part.strip();
            at = source.indexOf(words, at);
            if (at < 0) {
                return false;
            }
            at += words.length();
        }
        return true;
    }

    @Test
    void theOutcomesOfMessagesAreThoseOfTheWire() {
        StringBuilder wire = new StringBuilder();
        Documents.sources().forEach((name, path) -> {
            if (name.contains("/src/main/") && name.contains("/paxoslease/wire/")) {
                wire.append(Documents.read(path));
            }
        });
        List<String> unknown = new ArrayList<>();
        Matcher row = OUTCOME_ROW.matcher(Documents.read("docs/operations.md"));
        while (row.find()) {
            Matcher word = Pattern.compile("`([a-z-]+)`").matcher(row.group());
            while (word.find()) {
                if (wire.indexOf('"' + word.group(1) + '"') < 0) {
                    unknown.add(word.group(1));
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void theStepsBetweenListsOfMembersAreAllowedAsTheyAreSaidToBe() {
        int steps = 0;
        Matcher row = STEP_ROW.matcher(Documents.read("docs/operations.md"));
        while (row.find()) {
            assertThat(cell(row.group(1)).majoritiesMeet(cell(row.group(2))))
                    .as(row.group())
                    .isEqualTo(row.group(3).equals("yes"));
            steps++;
        }
        assertThat(steps).isGreaterThan(3);
    }

    private static Cell cell(String members) {
        return new Cell("default", List.of(members.split(" ")));
    }

    /** The names of meters in the classes that make them. */
    static Set<String> metersInSources() {
        return named("/actuate/", METER_IN_SOURCE);
    }

    /** The names of observations in their conventions. */
    static Set<String> observationsInSources() {
        return named("/observation/Default", OBSERVATION_IN_SOURCE);
    }

    private static Set<String> named(String place, Pattern pattern) {
        Set<String> names = new TreeSet<>();
        Documents.sources().forEach((name, path) -> {
            if (name.contains("/src/main/") && name.contains(place)) {
                Matcher found = pattern.matcher(Documents.read(path));
                while (found.find()) {
                    names.add(found.group(1));
                }
            }
        });
        return names;
    }
}
