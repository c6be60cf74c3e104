package io.paxoslease.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import io.kubernetes.client.openapi.models.V1ConfigMap;
import io.kubernetes.client.openapi.models.V1NetworkPolicy;
import io.kubernetes.client.openapi.models.V1PodDisruptionBudget;
import io.kubernetes.client.openapi.models.V1Service;
import io.kubernetes.client.openapi.models.V1StatefulSet;
import io.paxoslease.spring.boot.PaxosLeaseProperties;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.yaml.snakeyaml.Yaml;

/** What docs/deploy has is valid, and says what it means to Spring Boot. */
class DeploymentTests {

    private static final Path DEPLOY = Path.of("..", "docs", "deploy");

    private interface Schema {
        void check(JsonElement json) throws IOException;
    }

    private static final Map<String, Schema> SCHEMAS = Map.of(
            "ConfigMap", V1ConfigMap::validateJsonElement,
            "Service", V1Service::validateJsonElement,
            "StatefulSet", V1StatefulSet::validateJsonElement,
            "PodDisruptionBudget", V1PodDisruptionBudget::validateJsonElement,
            "NetworkPolicy", V1NetworkPolicy::validateJsonElement);

    private static List<Map<String, Object>> manifests() throws IOException {
        List<Map<String, Object>> manifests = new ArrayList<>();
        for (Object manifest : new Yaml().loadAll(Files.readString(DEPLOY.resolve("kubernetes.yaml")))) {
            manifests.add(map(manifest));
        }
        return manifests;
    }

    private static Map<String, Object> manifest(String kind, String name) throws IOException {
        return manifests().stream()
                .filter(each -> each.get("kind").equals(kind)
                        && map(each.get("metadata")).get("name").equals(name))
                .findAny()
                .orElseThrow();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    private static Object at(Object value, Object... path) {
        Object found = value;
        for (Object step : path) {
            found = step instanceof Integer index
                    ? list(found).get(index)
                    : map(found).get(step);
        }
        return found;
    }

    private static void check(Map<String, Object> manifest) throws IOException {
        SCHEMAS.get(manifest.get("kind")).check(new Gson().toJsonTree(manifest));
    }

    @Test
    void kubernetesManifestsFitTheSchema() throws IOException {
        assertThat(manifests()).hasSize(6);
        for (Map<String, Object> manifest : manifests()) {
            check(manifest);
        }
    }

    @Test
    void theSchemaCheckFindsAMisspelledField() throws IOException {
        Map<String, Object> wrong = new LinkedHashMap<>(manifest("StatefulSet", "billing"));
        Map<String, Object> spec = new LinkedHashMap<>(map(wrong.get("spec")));
        spec.put("podManagmentPolicy", "Parallel");
        wrong.put("spec", spec);
        assertThatThrownBy(() -> check(wrong)).hasMessageContaining("podManagmentPolicy");
    }

    @Test
    void membersOnKubernetesAreThePodsByTheNamesOfTheHeadlessService() throws IOException {
        Map<String, Object> set = manifest("StatefulSet", "billing");
        String service = (String) at(set, "spec", "serviceName");
        Object port = at(manifest("Service", service), "spec", "ports", 0, "port");
        Map<String, Object> expected = new TreeMap<>();
        for (int i = 0; i < (Integer) at(set, "spec", "replicas"); i++) {
            expected.put("billing-" + i, "http://billing-" + i + "." + service + ":" + port);
        }
        Object config = new Yaml().load((String) at(manifest("ConfigMap", "billing-cell"), "data", "application.yaml"));

        assertThat(map(at(config, "paxoslease", "members"))).isEqualTo(expected);
        assertThat(at(manifest("Service", service), "spec", "clusterIP")).isEqualTo("None");
        assertThat(at(manifest("Service", service), "spec", "publishNotReadyAddresses"))
                .isEqualTo(true);
        assertThat(at(set, "spec", "template", "spec", "containers", 0, "ports", 0, "containerPort"))
                .isEqualTo(port);
    }

    @Test
    void variablesOnKubernetesAreProperties() throws IOException {
        Map<String, Object> variables = new TreeMap<>();
        Object container = at(manifest("StatefulSet", "billing"), "spec", "template", "spec", "containers", 0, "env");
        for (Object variable : list(container)) {
            variables.put((String) at(variable, "name"), "a text of sixteen bytes");
        }

        PaxosLeaseProperties properties = bind(variables);
        assertThat(properties.nodeId()).isEqualTo("a text of sixteen bytes");
        assertThat(properties.security().sharedSecret()).isEqualTo("a text of sixteen bytes");
    }

    @Test
    void membersOfTheComposeFileAreItsServices() throws IOException {
        Map<String, Object> compose = map(new Yaml().load(Files.readString(DEPLOY.resolve("compose.yaml"))));
        Set<String> services = map(compose.get("services")).keySet();
        assertThat(services).hasSize(3);
        for (String service : services) {
            PaxosLeaseProperties properties = bind(map(at(compose, "services", service, "environment")));
            assertThat(properties.nodeId()).isEqualTo(service);
            assertThat(properties.cellName()).isEqualTo("billing");
            assertThat(properties.security().sharedSecret()).startsWith("${CELL_SECRET:?");
            assertThat(properties.members().keySet()).isEqualTo(services);
            assertThat(properties.members())
                    .allSatisfy((id, url) -> assertThat(url).isEqualTo("http://" + id + ":8080"));
        }
    }

    @Test
    void variablesOfTheServiceUnitAreProperties() throws IOException {
        String unit = Files.readString(DEPLOY.resolve("billing.service"));
        Map<String, Object> variables = new TreeMap<>();
        Matcher matcher = Pattern.compile("(?<==| )(PAXOSLEASE_[A-Z_]+)=(\\S+)").matcher(unit);
        while (matcher.find()) {
            variables.put(matcher.group(1), matcher.group(2));
        }
        assertThat(bind(variables).nodeId()).isEqualTo("%H");
        assertThat(bind(variables).security().sharedSecret()).isNotNull();
    }

    /** A guarded call and a request that do not end take the drain time-out, and then a phase each: of the web server and of Spring's scheduler. */
    @Test
    void thereIsTimeToStopWhereACallAndARequestDoNotEnd() throws IOException {
        long drain = bind(Map.of("PAXOSLEASE_NODEID", "n1"))
                .shutdown()
                .drainTimeout()
                .toSeconds();
        int longest = (int) drain + 2 * 30;
        Object pod = at(manifest("StatefulSet", "billing"), "spec", "template", "spec");
        Object compose = new Yaml().load(Files.readString(DEPLOY.resolve("compose.yaml")));
        String unit = Files.readString(DEPLOY.resolve("billing.service"));

        assertThat((Integer) at(pod, "terminationGracePeriodSeconds")).isGreaterThan(longest);
        assertThat(seconds("(\\d+)s", (String) at(compose, "x-billing", "stop_grace_period")))
                .isGreaterThan(longest);
        assertThat(seconds("(?s).*\nTimeoutStopSec=(\\d+)\n.*", unit)).isGreaterThan(longest);
    }

    private static int seconds(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        assertThat(matcher.matches()).as(text).isTrue();
        return Integer.parseInt(matcher.group(1));
    }

    /** As Spring Boot reads the variables of its process. */
    private static PaxosLeaseProperties bind(Map<String, Object> variables) {
        SystemEnvironmentPropertySource source = new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, variables);
        return new Binder(ConfigurationPropertySources.from(source))
                .bind("paxoslease", PaxosLeaseProperties.class)
                .get();
    }
}
