package io.paxoslease.test;

import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/** Makes the application one node of a cell in memory. Equal to others of its kind, so that test classes share contexts. */
record TestLeasesContextCustomizer() implements ContextCustomizer {

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
        ConfigurableEnvironment environment = context.getEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource("paxoslease-test", properties(hasMembers(environment))));
        new AnnotatedBeanDefinitionReader((BeanDefinitionRegistry) context.getBeanFactory())
                .register(TestLeasesConfiguration.class);
    }

    private static boolean hasMembers(ConfigurableEnvironment environment) {
        return Binder.get(environment)
                .bind("paxoslease.members", Bindable.mapOf(String.class, String.class))
                .isBound();
    }

    /** Nothing is ever sent to these URLs, and the secret authenticates nobody: it stands for the one that only the real nodes have. */
    private static Map<String, Object> properties(boolean membersAreSet) {
        Map<String, Object> properties = new LinkedHashMap<>();
        properties.put("paxoslease.enabled", "true");
        properties.put("paxoslease.node-id", "application");
        properties.put("paxoslease.security.shared-secret", "a secret of no use to anybody");
        if (!membersAreSet) {
            for (int i = 1; i <= 3; i++) {
                properties.put("paxoslease.members.node-" + i, "http://localhost:" + i);
            }
        }
        return properties;
    }
}
