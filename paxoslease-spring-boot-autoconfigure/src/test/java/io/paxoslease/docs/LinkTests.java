package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Every relative link of a document leads to a file, and to a heading if it names one. */
class LinkTests {

    private static final Pattern LINK = Pattern.compile("\\[[^]]*]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.+)$");
    private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```$");

    @Test
    void everyRelativeLinkLeadsSomewhere() {
        List<String> broken = new ArrayList<>();
        Documents.markdown().forEach((name, path) -> {
            Matcher link = LINK.matcher(prose(path));
            while (link.find()) {
                if (!link.group(1).matches("[a-z]+:.*") && !leadsSomewhere(path, link.group(1))) {
                    broken.add(name + ": " + link.group(1));
                }
            }
        });
        assertThat(broken).isEmpty();
    }

    /** A link to the second of two leads to the first. */
    @Test
    void noPageHasTwoHeadingsOfTheSameAnchor() {
        Documents.markdown()
                .forEach((name, path) -> assertThat(anchors(path)).as(name).doesNotHaveDuplicates());
    }

    private static boolean leadsSomewhere(Path from, String link) {
        int hash = link.indexOf('#');
        String file = hash < 0 ? link : link.substring(0, hash);
        Path target = file.isEmpty() ? from : from.resolveSibling(file).normalize();
        return Files.exists(target) && (hash < 0 || anchors(target).contains(link.substring(hash + 1)));
    }

    /** Headings as GitHub makes anchors of them. */
    private static List<String> anchors(Path path) {
        List<String> anchors = new ArrayList<>();
        Matcher heading = HEADING.matcher(prose(path));
        while (heading.find()) {
            anchors.add(heading.group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-'));
        }
        return anchors;
    }

    private static String prose(Path path) {
        return CODE.matcher(Documents.read(path)).replaceAll("");
    }
}
