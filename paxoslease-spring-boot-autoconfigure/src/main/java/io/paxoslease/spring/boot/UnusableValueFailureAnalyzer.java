package io.paxoslease.spring.boot;

import java.lang.reflect.RecordComponent;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionFailedException;

/**
 * Says what a setting must be whose value is of another kind: no time, no number, or a text where settings belong. Before Spring Boot's own
 * analyzer, which names a missing converter, and shows secrets.
 */
@Order(0)
final class UnusableValueFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

    private record Advice(String rule, String remedy) {}

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
        InvalidCellConfigurationException refusal =
                cause.getName().toString().startsWith(Settings.PREFIX) ? refusal(cause) : null;
        return refusal == null ? null : new FailureAnalysis(refusal.getMessage(), refusal.remedy(), cause);
    }

    private static @Nullable InvalidCellConfigurationException refusal(BindException cause) {
        if (cause.getCause() instanceof UnboundConfigurationPropertiesException unbound) {
            return ofNoEntry(unbound.getUnboundProperties().iterator().next());
        }
        String name = cause.getName().toString();
        Advice advice = cause.getCause() instanceof ConversionException
                ? advice(name, cause.getTarget().getBoxedType().resolve(Object.class))
                : null;
        String below = name.substring(Settings.PREFIX.length());
        if (advice != null) {
            return refusal(below, cause.getProperty(), cause.getCause(), advice);
        }
        return below.startsWith("security.") ? hidden(below) : null;
    }

    /** Spring Boot's own analyzer would show the value, or that of the setting before, which is the secret. */
    private static InvalidCellConfigurationException hidden(String name) {
        return Settings.invalid(
                name,
                null,
                "it cannot be read",
                "A secret is a text, without a placeholder that leads back to itself; in JSON no entry of accepted-secrets is null.");
    }

    /** Its value is not shown, because it may be a secret. */
    private static InvalidCellConfigurationException ofNoEntry(ConfigurationProperty property) {
        return new InvalidCellConfigurationException(
                property.getName().toString(),
                null,
                "it is no entry of a list" + UnreadProperties.place(property),
                "Number the entries from 0 without a gap, all in one file. In YAML write each on a line of its own after a dash.");
    }

    private static InvalidCellConfigurationException refusal(
            String name, @Nullable ConfigurationProperty property, @Nullable Throwable failure, Advice advice) {
        if (property == null) {
            return Settings.invalid(name, null, advice.rule(), advice.remedy());
        }
        // What was converted has no placeholders that have a value. It is null where a blank means none, as it does to
        // a number.
        Object converted = failure instanceof ConversionFailedException failed ? failed.getValue() : null;
        String shown = MemberUrls.withoutPassword(String.valueOf(converted == null ? property.getValue() : converted));
        return converted != null && Settings.hasPlaceholder(shown)
                ? Settings.unresolved(name, shown)
                : Settings.invalid(name, shown, advice.rule() + UnreadProperties.place(property), advice.remedy());
    }

    private static @Nullable Advice advice(String name, Class<?> type) {
        if (Map.class.isAssignableFrom(type) || type.isRecord()) {
            return ofABlock(name, type);
        }
        if (type == Duration.class) {
            return new Advice("it is no time", "Write a whole number and its unit, such as 500ms, 10s, 5m, 1h or 1d.");
        }
        if (type == Boolean.class) {
            return new Advice("it is neither true nor false", "Set it to true or false, or leave it out.");
        }
        if (type == Integer.class) {
            return new Advice(
                    "it is no whole number of at most " + Integer.MAX_VALUE, "Set such a number, or leave it out.");
        }
        if (type == Double.class) {
            return new Advice("it is no number", "Set a number such as 0.01, or leave it out.");
        }
        if (type.isEnum()) {
            String values = Arrays.stream(type.getEnumConstants())
                    .map(value -> value.toString().toLowerCase(Locale.ROOT))
                    .collect(Collectors.joining(" nor "));
            return new Advice("it is neither " + values, "Set it to one of them, or leave it out.");
        }
        if (type == InetAddress.class) {
            return new Advice(
                    "it is neither an IP address nor a name that this machine can look up",
                    "Set an IP address of this machine, or leave it out.");
        }
        return null;
    }

    private static Advice ofABlock(String name, Class<?> type) {
        if (name.equals(Settings.PREFIX + "members")) {
            return new Advice(
                    "members are URLs, each below an id",
                    "Write one setting for each member, paxoslease.members.node-1=http://10.0.0.1:8080. In YAML that is node-1:"
                            + " http://10.0.0.1:8080 on a line below members, with a blank after the colon.");
        }
        if (name.startsWith(Settings.PREFIX + "leases")) {
            return new Advice(
                    "the settings of a lease stand below its name",
                    "Write for example paxoslease.leases.billing.lease-time=5s for the lease billing; its settings are "
                            + names(PaxosLeaseProperties.LeaseProperties.class)
                            + ". A lease without any needs no entry.");
        }
        return new Advice(
                "it has no value of its own, but settings below it",
                "Set them under " + name + ": " + names(type) + ".");
    }

    private static String names(Class<?> properties) {
        return Arrays.stream(properties.getRecordComponents())
                .map(RecordComponent::getName)
                .map(component -> component.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }
}
