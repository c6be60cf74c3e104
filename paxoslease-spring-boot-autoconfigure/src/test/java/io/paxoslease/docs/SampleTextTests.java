package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Every Java text and every command in a document is one that is compiled, or names what exists. A Java text is either a snippet of a test class
 * ({@code snippet: Class name}) or a whole file ({@code file: Name.java}), and says which on the line above.
 */
@ExtendWith(OutputCaptureExtension.class)
class SampleTextTests {

    private static final Pattern SNIPPET =
            Pattern.compile("(?m)^( *)// snippet (\\w+)\\n(.*?)^ *// end$", Pattern.DOTALL);
    private static final Pattern OPTION = Pattern.compile("(?<=\\s)(-[-\\w.]+)(?:[= ]([^\\s-]\\S*))?");

    @Test
    void everyJavaTextIsCompiledByATest() {
        List<String> wrong = new ArrayList<>();
        Documents.markdown()
                .keySet()
                .forEach(page -> Documents.blocks(page).stream()
                        .filter(block -> block.language().equals("java"))
                        .filter(block -> !block.marker().startsWith("file: "))
                        .forEach(block -> {
                            String[] words = block.marker().split(" ");
                            boolean known = words.length == 3
                                    && words[0].equals("snippet:")
                                    && block.text().equals(snippets(words[1]).get(words[2]));
                            if (!known) {
                                wrong.add(page + ": " + block.marker() + "\n" + block.text());
                            }
                        }));
        assertThat(wrong).isEmpty();
    }

    private static Map<String, String> snippets(String testClass) {
        return Documents.sources().entrySet().stream()
                .filter(source -> source.getKey().endsWith("/" + testClass + ".java"))
                .flatMap(source ->
                        SNIPPET.matcher(Documents.read(source.getValue())).results())
                .collect(Collectors.toMap(
                        found -> found.group(2), found -> found.group(3).replaceAll("(?m)^" + found.group(1), "")));
    }

    @Test
    void theWholeApplicationOfTheReadmeCompilesAndLeads(@TempDir Path directory, CapturedOutput output)
            throws Exception {
        Path source = directory.resolve("FirstApplication.java");
        Files.writeString(source, file("FirstApplication.java").text());
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(
                            null,
                            files,
                            null,
                            List.of("-proc:none", "-d", directory.toString()),
                            null,
                            files.getJavaFileObjects(source))
                    .call();
            assertThat(compiled).isTrue();
        }
        try (URLClassLoader classes = new URLClassLoader(
                new URL[] {directory.toUri().toURL()}, getClass().getClassLoader())) {
            Class<?> application = classes.loadClass("com.example.FirstApplication");
            ClassLoader before = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(classes);
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(application)
                    .properties("server.port=0", "spring.main.banner-mode=off")
                    .run()) {
                assertThat(context.isRunning()).isTrue();
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> output.getOut().contains(" sends invoices, token "));
            } finally {
                Thread.currentThread().setContextClassLoader(before);
            }
        }
    }

    @Test
    void thePomOfTheReadmeNamesTheVersionsOfThisBuild() {
        String shown = file("pom.xml").text();
        String build = Documents.read("pom.xml");
        assertThat(shown)
                .contains("<version>" + first(build, "<boot.version>(.*?)</") + "</version>")
                .contains("<version>" + first(build, "<artifactId>paxoslease-parent</artifactId>\\s*<version>(.*?)</")
                        + "</version>")
                .contains("<artifactId>paxoslease-spring-boot-starter</artifactId>");
    }

    private static Documents.Block file(String name) {
        return Documents.blocks("README.md").stream()
                .filter(block -> block.marker().equals("file: " + name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void everyCommandNamesModulesProfilesTestsAndFilesThatExist() {
        String build = Documents.read("pom.xml") + Documents.read("paxoslease-benchmarks/pom.xml");
        String sources = String.join("\n", Documents.sources().keySet());
        List<String> wrong = new ArrayList<>();
        int commands = 0;
        for (String page : Documents.markdown().keySet()) {
            for (Documents.Block block : Documents.blocks(page)) {
                for (String line : lines(block)) {
                    commands++;
                    Matcher option = OPTION.matcher(line.replaceAll("#.*", ""));
                    while (option.find()) {
                        String name = option.group(1);
                        String value = option.group(2) == null ? "" : option.group(2);
                        boolean exists = switch (name) {
                            case "-pl" ->
                                Stream.of(value.split(","))
                                        .allMatch(module -> Files.isDirectory(Documents.ROOT.resolve(module)));
                            case "-Dtest", "-Dit.test" ->
                                value.equals("NoSuch") || sources.contains("/" + value.split("#")[0] + ".java");
                            default -> !name.startsWith("-P") || build.contains("<id>" + name.substring(2) + "</id>");
                        };
                        if (!exists) {
                            wrong.add(page + ": " + name + " " + value + " in: " + line);
                        }
                    }
                    String script = line.split(" ")[0];
                    if (script.startsWith("./") && !Files.isExecutable(Documents.ROOT.resolve(script))) {
                        wrong.add(page + ": " + script);
                    }
                }
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(commands).isGreaterThan(15);
    }

    /** The commands of a block, without the line breaks in them. */
    private static List<String> lines(Documents.Block block) {
        boolean shell = block.language().equals("sh") || block.text().startsWith("./mvnw");
        return shell
                ? block.text()
                        .replaceAll("\\\\\n *", " ")
                        .lines()
                        .filter(line -> !line.isBlank())
                        .toList()
                : List.of();
    }

    private static String first(String text, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        assertThat(found.find()).as(pattern).isTrue();
        return found.group(1);
    }
}
