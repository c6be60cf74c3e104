package io.paxoslease.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The documents and sources of this repository, as text. */
final class Documents {

    /** The directory of the repository. */
    static final Path ROOT = root();

    private static final Set<String> NOT_OURS = Set.of("target", ".git", "node_modules");

    private static final Pattern FENCE =
            Pattern.compile("(?m)(?:^ *<!-- *([^>]*?) *-->\\n)?^( *)```(\\w+)\\n(.*?)^ *```$", Pattern.DOTALL);

    /**
     * A fenced block of code.
     *
     * @param marker the comment on the line above, empty if there is none
     * @param language what stands behind the fence
     * @param text the lines between the fences, without the indentation of the fence
     */
    record Block(String marker, String language, String text) {}

    private Documents() {}

    private static Path root() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.exists(directory.resolve("README.md")) || !Files.exists(directory.resolve("mvnw"))) {
            directory = directory.getParent();
            if (directory == null) {
                throw new IllegalStateException("No directory above this one has README.md and mvnw");
            }
        }
        return directory;
    }

    static String read(String path) {
        return read(ROOT.resolve(path));
    }

    static String read(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Every document, by its path from the root. */
    static Map<String, Path> markdown() {
        return files(".md");
    }

    /** Every Java source, by its path from the root. */
    static Map<String, Path> sources() {
        return files(".java");
    }

    /** Every fenced block of a document. */
    static List<Block> blocks(String path) {
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = FENCE.matcher(read(path));
        while (matcher.find()) {
            String marker = matcher.group(1) == null ? "" : matcher.group(1);
            String text = matcher.group(4).replaceAll("(?m)^" + matcher.group(2), "");
            blocks.add(new Block(marker, matcher.group(3), text));
        }
        return blocks;
    }

    private static Map<String, Path> files(String suffix) {
        Map<String, Path> files = new TreeMap<>();
        // What a build writes is not even looked at: it may be gone the next moment.
        SimpleFileVisitor<Path> visitor = new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return NOT_OURS.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().endsWith(suffix)) {
                    files.put(ROOT.relativize(file).toString().replace('\\', '/'), file);
                }
                return FileVisitResult.CONTINUE;
            }
        };
        try {
            Files.walkFileTree(ROOT, visitor);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return files;
    }
}
