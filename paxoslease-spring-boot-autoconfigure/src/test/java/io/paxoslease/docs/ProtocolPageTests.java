package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code docs/protocol.md} names methods and tests that exist, and every rule. */
class ProtocolPageTests {

    private static final String PAGE = "docs/protocol.md";
    private static final Pattern MEMBER = Pattern.compile("`([A-Z]\\w+)#(\\w+)`");
    private static final Pattern TEST_CLASS = Pattern.compile("`([A-Z]\\w+(?:Tests|IT))`");
    private static final Pattern RULE_ROW = Pattern.compile("(?m)^\\| ([PALTX]\\d+) \\|(.+)\\|$");
    private static final Pattern RULE_IN_SOURCE = Pattern.compile("\\b([PALTX]\\d{1,2})\\b[.,:;)]");

    private final Map<String, Path> classes = classes();

    @Test
    void everyMemberInTheTablesExists() {
        List<String> missing = new ArrayList<>();
        Matcher member = MEMBER.matcher(Documents.read(PAGE));
        while (member.find()) {
            Path source = classes.get(member.group(1));
            if (source == null
                    || !Pattern.compile("\\b" + member.group(2) + "\\b")
                            .matcher(Documents.read(source))
                            .find()) {
                missing.add(member.group());
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void everyTestClassInTheTablesExists() {
        List<String> missing = new ArrayList<>();
        Matcher test = TEST_CLASS.matcher(Documents.read(PAGE));
        while (test.find()) {
            if (!classes.containsKey(test.group(1))) {
                missing.add(test.group(1));
            }
        }
        assertThat(missing).isEmpty();
    }

    @Test
    void everyRuleHasARowWithItsMethodsAndTests() {
        List<String> rules = new ArrayList<>();
        Matcher row = RULE_ROW.matcher(Documents.read(PAGE));
        while (row.find()) {
            String[] cells = row.group(2).split("\\|", -1);
            assertThat(cells).as("the row of %s", row.group(1)).hasSize(4);
            assertThat(cells[1]).as("where %s is", row.group(1)).contains("#");
            assertThat(cells[2]).as("the tests of %s", row.group(1)).containsPattern(TEST_CLASS);
            rules.add(row.group(1));
        }
        assertThat(rules)
                .containsExactly(
                        "P1", "P2", "P3", "P4", "P5", "P6", "A1", "A2", "A3", "A4", "L1", "T1", "T2", "T3", "T4", "X1",
                        "X2", "X3", "X4", "X5", "X6", "X7", "X8", "X9", "X10", "X11");
    }

    @Test
    void everyRuleThatACommentCitesIsInTheTables() {
        TreeSet<String> cited = new TreeSet<>();
        Documents.sources().forEach((name, path) -> {
            if (name.startsWith("paxoslease-core/src/main/")) {
                Matcher rule = RULE_IN_SOURCE.matcher(Documents.read(path));
                while (rule.find()) {
                    cited.add(rule.group(1));
                }
            }
        });
        TreeSet<String> listed = new TreeSet<>();
        Matcher row = RULE_ROW.matcher(Documents.read(PAGE));
        while (row.find()) {
            listed.add(row.group(1));
        }
        assertThat(cited).isNotEmpty();
        assertThat(listed).containsAll(cited);
    }

    private static Map<String, Path> classes() {
        Map<String, Path> classes = new TreeMap<>();
        Documents.sources().forEach((name, path) -> classes.put(name.replaceAll(".*/|\\.java$", ""), path));
        return classes;
    }
}
