package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/operations.md} lists the meters that the code makes. */
class OperationsPageTests {

    private static final Pattern METER_IN_SOURCE = Pattern.compile("\"(paxoslease\\.[a-z.]+)\"");
    private static final Pattern METER_ROW =
            Pattern.compile("(?m)^\\| `(paxoslease\\.[a-z.]+)` \\| (?:gauge|counter|timer) \\|");

    @Test
    void theTableOfMetersIsComplete() {
        Set<String> documented = new TreeSet<>();
        Matcher row = METER_ROW.matcher(Documents.read("docs/operations.md"));
        while (row.find()) {
            documented.add(row.group(1));
        }
        assertThat(documented).isEqualTo(metersInSources());
    }

    /** The names of meters in the classes that make them. */
    static Set<String> metersInSources() {
        Set<String> meters = new TreeSet<>();
        Documents.sources().forEach((name, path) -> {
            if (name.contains("/src/main/") && name.contains("/actuate/")) {
                Matcher meter = METER_IN_SOURCE.matcher(Documents.read(path));
                while (meter.find()) {
                    meters.add(meter.group(1));
                }
            }
        });
        return meters;
    }
}
