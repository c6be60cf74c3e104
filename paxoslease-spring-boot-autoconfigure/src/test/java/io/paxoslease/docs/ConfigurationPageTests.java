package io.paxoslease.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.boot.PaxosLeaseProperties;
import java.io.IOException;
import java.lang.reflect.Parameter;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.ByteArrayResource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code docs/configuration.md} and the metadata of the properties say the same. */
class ConfigurationPageTests {

    private static final String PAGE = "docs/configuration.md";
    private static final String NO_DEFAULT = "none";

    /** A row of a table whose first cell is a property. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(paxoslease\\.[^`]+)` \\| ([^|]+) \\|");

    /** A property or a meter in any text; not part of a package or a longer word. */
    private static final Pattern MENTION =
            Pattern.compile("(?<![\\w./-])paxoslease\\.([a-z][a-z0-9-]*(?:\\[[^]]+])?(?:\\.[a-z<][a-z0-9<>-]*)*)");

    @Test
    void everyPropertyIsDocumentedWithItsDefaultAndNoOtherIs() {
        assertThat(documented()).isEqualTo(existing());
    }

    @Test
    void everyPropertyNamedInADocumentExists() {
        List<String> unknown = new ArrayList<>();
        List<String> known = new ArrayList<>(existing().keySet());
        known.addAll(OperationsPageTests.metersInSources());
        known.addAll(OperationsPageTests.observationsInSources());
        Documents.markdown().forEach((name, path) -> {
            Matcher mention = MENTION.matcher(Documents.read(path));
            while (mention.find()) {
                String property = canonical("paxoslease." + mention.group(1));
                if (known.stream().noneMatch(other -> other.equals(property) || other.startsWith(property + "."))) {
                    unknown.add(name + ": " + mention.group());
                }
            }
        });
        assertThat(unknown).isEmpty();
    }

    @Test
    void everyExampleBindsAndNamesOnlyPropertiesThatExist() throws IOException {
        int examples = 0;
        for (String page : List.of("README.md", PAGE)) {
            for (Documents.Block block : Documents.blocks(page)) {
                if (block.language().equals("yaml")) {
                    assertThat(block.marker()).as(block.text()).isEqualTo("properties");
                    requireValid(block.text());
                    examples++;
                }
            }
        }
        assertThat(examples).isGreaterThan(5);
    }

    @Test
    void idsOfMembersMayHaveDotsAndUnderscoresWithoutBrackets() {
        StandardEnvironment environment = new StandardEnvironment();
        Map<String, Object> source = new TreeMap<>();
        for (String key : List.of(".node-1.example.com", ".Node_2", ".node:3", "[node:4]")) {
            source.put("paxoslease.members" + key, "http://localhost:8080");
        }
        environment.getPropertySources().addFirst(new MapPropertySource("ids", source));
        assertThat(Binder.get(environment)
                        .bindOrCreate("paxoslease", PaxosLeaseProperties.class)
                        .members())
                .containsOnlyKeys("node-1.example.com", "Node_2", "node3", "node:4");
    }

    private static void requireValid(String yaml) throws IOException {
        PropertySource<?> source = new YamlPropertySourceLoader()
                .load("example", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                .get(0);
        StandardEnvironment environment = new StandardEnvironment();
        environment.getSystemProperties().put("HOSTNAME", "node-1");
        environment.getSystemProperties().put("CELL_SECRET", "0123456789abcdef");
        environment.getPropertySources().addFirst(source);
        PaxosLeaseProperties properties =
                Binder.get(environment).bindOrCreate("paxoslease", PaxosLeaseProperties.class);
        for (String name : ((EnumerablePropertySource<?>) source).getPropertyNames()) {
            if (name.startsWith("paxoslease.")) {
                assertThat(existing()).containsKey(canonical(name));
            }
            Matcher bracket = Pattern.compile("(members|leases)\\.?\\[([^]]+)]").matcher(name);
            if (bracket.find()) {
                Map<String, ?> map = bracket.group(1).equals("members") ? properties.members() : properties.leases();
                assertThat(map).as(name).containsKey(bracket.group(2));
            }
        }
    }

    /** What the build says exists, with defaults; {@value #NO_DEFAULT} where there is none. */
    private static Map<String, String> existing() {
        Map<String, String> properties = new TreeMap<>();
        for (JsonNode property :
                JsonMapper.shared().readTree(Documents.read(metadata())).get("properties")) {
            String name = property.get("name").asString();
            JsonNode value = property.get("defaultValue");
            if (name.equals("paxoslease.members")) {
                properties.put(name + ".<node-id>", NO_DEFAULT);
            } else if (name.equals("paxoslease.leases")) {
                properties.putAll(ofOneLease());
            } else if (name.startsWith("paxoslease.")) {
                properties.put(name, value == null ? NO_DEFAULT : value.asString());
            }
        }
        assertThat(properties).hasSizeGreaterThan(10);
        return properties;
    }

    /** The metadata has no entries for what is inside of a map. */
    private static Map<String, String> ofOneLease() {
        Map<String, String> properties = new TreeMap<>();
        for (Parameter parameter :
                PaxosLeaseProperties.LeaseProperties.class.getDeclaredConstructors()[0].getParameters()) {
            String name = parameter.getName().replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT);
            DefaultValue value = parameter.getAnnotation(DefaultValue.class);
            properties.put("paxoslease.leases.<name>." + name, value == null ? NO_DEFAULT : value.value()[0]);
        }
        return properties;
    }

    private static Map<String, String> documented() {
        Map<String, String> properties = new TreeMap<>();
        Matcher row = ROW.matcher(Documents.read(PAGE));
        while (row.find()) {
            String cell = row.group(2);
            String value = cell.startsWith(NO_DEFAULT) ? NO_DEFAULT : cell.replaceAll("^`(.*)`$", "$1");
            assertThat(properties.put(row.group(1), value))
                    .as("%s is documented once", row.group(1))
                    .isNull();
        }
        return properties;
    }

    /** With placeholders in place of node ids and lease names. */
    private static String canonical(String property) {
        return property.replaceFirst("^(paxoslease\\.members)(\\.?\\[[^]]+]|\\.[^.]+)$", "$1.<node-id>")
                .replaceFirst("^(paxoslease\\.leases)(\\.?\\[[^]]+]|\\.[^.]+)", "$1.<name>");
    }

    private static Path metadata() {
        try {
            return Path.of(PaxosLeaseProperties.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolve("META-INF/spring-configuration-metadata.json");
        } catch (URISyntaxException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
