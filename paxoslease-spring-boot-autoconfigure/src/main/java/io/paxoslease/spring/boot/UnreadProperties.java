package io.paxoslease.spring.boot;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.Environment;

/**
 * Finds settings under {@code paxoslease} that nothing reads: most of them are misspelt. Those of the process's environment are left out, where a
 * platform writes names of its own, and so are system properties.
 */
final class UnreadProperties {

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("paxoslease");

    private static final ConfigurationPropertyName MEMBERS = PREFIX.append("members");

    /** The last part of the name of the members, without what it belongs under. */
    private static final ConfigurationPropertyName BESIDE = ConfigurationPropertyName.of("members");

    /** What conditions read. */
    private static final List<ConfigurationPropertyName> SWITCHES = Stream.of(
                    "paxoslease.ui.enabled", "paxoslease.readiness.quarantine")
            .map(ConfigurationPropertyName::of)
            .toList();

    /** The settings below the prefix that are bound apart from the others. */
    private static final Map<String, Class<?>> APART = Map.of(
            "quartz", PaxosLeaseQuartzProperties.class,
            "integration", PaxosLeaseIntegrationProperties.class,
            "metrics", PaxosLeaseMetricsProperties.class);

    private UnreadProperties() {}

    /**
     * The names of the settings, each with the place where it was found, which may be empty.
     *
     * @param environment where applications have their settings
     */
    static Map<String, String> in(Environment environment) {
        Map<String, String> unread = new TreeMap<>();
        written(environment)
                .forEach(source -> source.stream()
                        .filter(name -> name.equals(PREFIX) || PREFIX.isAncestorOf(name)
                                ? !isRead(name) || isTextOfABlock(name, source)
                                : isBesideItsBlock(name, source))
                        .forEach(name ->
                                unread.putIfAbsent(name.toString(), place(source.getConfigurationProperty(name)))));
        return unread;
    }

    /**
     * Whether there is a list where there should be names. YAML gives those that are numbers without quotes the same form, but nobody counts
     * names from zero.
     *
     * @param parent what has the list
     * @param environment where applications have their settings
     */
    static boolean isList(String parent, Environment environment) {
        ConfigurationPropertyName list = ConfigurationPropertyName.of(parent);
        int index = list.getNumberOfElements();
        return written(environment)
                .flatMap(IterableConfigurationPropertySource::stream)
                .filter(name -> list.isAncestorOf(name) && name.isNumericIndex(index))
                .anyMatch(name -> name.getElement(index, Form.ORIGINAL).equals("0"));
    }

    private static Stream<IterableConfigurationPropertySource> written(Environment environment) {
        UnboundElementsSourceFilter written = new UnboundElementsSourceFilter();
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .filter(source -> source instanceof IterableConfigurationPropertySource && written.apply(source))
                .map(IterableConfigurationPropertySource.class::cast);
    }

    /** The URL of a member that lacks its indentation: the block above it has no entries then. */
    private static boolean isBesideItsBlock(ConfigurationPropertyName name, ConfigurationPropertySource source) {
        ConfigurationProperty member = BESIDE.isAncestorOf(name) ? source.getConfigurationProperty(name) : null;
        return member != null
                && member.getValue().toString().contains("://")
                && Stream.of(PREFIX, MEMBERS).anyMatch(block -> source.getConfigurationProperty(block) != null);
    }

    /** A block that nothing binds as a whole: what is written there instead of settings is lost. */
    private static boolean isTextOfABlock(ConfigurationPropertyName name, ConfigurationPropertySource source) {
        boolean block = name.getNumberOfElements() < 3
                && (SWITCHES.stream().anyMatch(name::isAncestorOf)
                        || APART.containsKey(name.getElement(1, Form.UNIFORM)));
        ConfigurationProperty text = block ? source.getConfigurationProperty(name) : null;
        return text != null && !text.getValue().toString().isBlank();
    }

    /** Where a property was written, to be put behind its name; empty if that is not known. */
    static String place(@Nullable ConfigurationProperty property) {
        Origin origin = Origin.from(property);
        return origin == null ? "" : " (" + origin + ")";
    }

    static boolean isRead(ConfigurationPropertyName name) {
        if (SWITCHES.stream().anyMatch(known -> known.equals(name) || name.isAncestorOf(known))) {
            return true;
        }
        Class<?> apart = APART.get(name.getElement(1, Form.UNIFORM));
        return apart == null ? isRead(name, 1, PaxosLeaseProperties.class) : isRead(name, 2, apart);
    }

    /** A block without entries has the name of the block alone. */
    private static boolean isRead(ConfigurationPropertyName name, int element, Class<?> properties) {
        return element == name.getNumberOfElements()
                || Arrays.stream(properties.getRecordComponents())
                        .filter(component ->
                                component.getName().equalsIgnoreCase(name.getElement(element, Form.UNIFORM)))
                        .anyMatch(component -> isRead(name, element + 1, component));
    }

    private static boolean isPosition(ConfigurationPropertyName name, int element) {
        return element + 1 == name.getNumberOfElements()
                && name.getElement(element, Form.UNIFORM).matches("\\d+");
    }

    /** A key consists of several elements where the values are texts, of one otherwise. */
    private static boolean isRead(ConfigurationPropertyName name, int element, RecordComponent component) {
        Class<?> type = component.getType();
        boolean ends = element == name.getNumberOfElements();
        if (type.isRecord()) {
            return isRead(name, element, type);
        }
        if (!Map.class.isAssignableFrom(type)) {
            return ends || (Collection.class.isAssignableFrom(type) && isPosition(name, element));
        }
        Type value = ((ParameterizedType) component.getGenericType()).getActualTypeArguments()[1];
        return ends || !(value instanceof Class<?> each && each.isRecord()) || isRead(name, element + 1, each);
    }
}
