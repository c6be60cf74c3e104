package io.paxoslease.test;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/** The settings that make an application a node of a cell in memory, whatever it sets itself. */
final class TestProperties {

    private TestProperties() {}

    /** The ids of the members that the application lists. */
    static Set<String> members(ConfigurableEnvironment environment) {
        BindResult<Map<String, String>> members =
                Binder.get(environment).bind("paxoslease.members", Bindable.mapOf(String.class, String.class));
        return members.isBound() ? members.get().keySet() : Set.of();
    }

    /** Nothing is ever sent to these URLs, and the secret authenticates nobody: it stands for the one that only the real nodes have. */
    static void set(ConfigurableEnvironment environment, String nodeId, Collection<String> members) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("paxoslease.enabled", "true");
        properties.put("paxoslease.node-id", nodeId);
        properties.put("paxoslease.security.shared-secret", "a secret of no use to anybody");
        properties.put("paxoslease.ssl.bundle", "");
        properties.put("paxoslease.transport", "http");
        int port = 1;
        for (String member : members) {
            properties.put("paxoslease.members[" + member + "]", "http://localhost:" + port++);
        }
        environment.getPropertySources().addFirst(new MapPropertySource("paxoslease-test", properties));
    }
}
