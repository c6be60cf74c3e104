package io.paxoslease.test;

import java.util.List;
import java.util.Set;
import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.MergedContextConfiguration;

/**
 * Makes the application one node of a cell in memory, in a hierarchy of contexts the uppermost. Equal to others of its kind, so that test classes share
 * contexts.
 */
record TestLeasesContextCustomizer() implements ContextCustomizer {

    @Override
    public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
        if (mergedConfig.getParent() != null) {
            return;
        }
        ConfigurableEnvironment environment = context.getEnvironment();
        Set<String> members = TestProperties.members(environment);
        TestProperties.set(
                environment, "application", members.isEmpty() ? List.of("node-1", "node-2", "node-3") : members);
        // What was generated ahead of time has it, but not what is in the environment.
        if (!AotDetector.useGeneratedArtifacts()) {
            new AnnotatedBeanDefinitionReader((BeanDefinitionRegistry) context.getBeanFactory())
                    .register(TestLeasesConfiguration.class);
        }
    }
}
