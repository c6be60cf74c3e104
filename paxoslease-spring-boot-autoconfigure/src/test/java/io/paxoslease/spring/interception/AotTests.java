package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.core.env.MapPropertySource;
import org.springframework.javapoet.ClassName;

/** What ahead-of-time processing learns about the proxies of guarded beans. */
class AotTests {

    interface Contract {
        @LeaderOnly("jobs")
        String run();
    }

    static class Implementation implements Contract {
        @Override
        public String run() {
            return "ran";
        }
    }

    private static RuntimeHints process(boolean proxyTargetClass) {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("test", Map.of("spring.aop.proxy-target-class", proxyTargetClass)));
            context.register(PaxosLeaseInterceptionAutoConfiguration.class, FakeLeases.class, Implementation.class);
            DefaultGenerationContext generation = new DefaultGenerationContext(
                    new ClassNameGenerator(ClassName.get("io.paxoslease", "Application")),
                    new InMemoryGeneratedFiles());
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
            generation.writeGeneratedContent();
            return generation.getRuntimeHints();
        }
    }

    @Test
    void knowsTheInterfacesOfProxies() {
        assertThat(process(false).proxies().jdkProxyHints())
                .anySatisfy(hint -> assertThat(hint.getProxiedInterfaces())
                        .anyMatch(type -> type.getCanonicalName().endsWith("Contract")));
    }

    @Test
    void knowsTheClassesOfProxies() {
        assertThat(process(true).reflection().typeHints())
                .anyMatch(hint -> hint.getType().getName().contains("Implementation$$SpringCGLIB$$"));
    }
}
