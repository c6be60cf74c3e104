package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.aot.AotDetector;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.SpringProperties;
import org.springframework.test.context.ContextLoader;
import org.springframework.test.context.MergedContextConfiguration;

class TestLeasesContextCustomizerTests {

    @AfterEach
    void useNothingGenerated() {
        SpringProperties.setProperty(AotDetector.AOT_ENABLED, null);
    }

    @Test
    void addsOnlyItsPropertiesToWhatWasGeneratedAheadOfTime() {
        GenericApplicationContext generated = customized();
        SpringProperties.setFlag(AotDetector.AOT_ENABLED);
        GenericApplicationContext started = customized();
        assertThat(generated.getBeanDefinitionNames()).contains("testLeasesConfiguration");
        assertThat(started.getBeanDefinitionNames()).doesNotContain("testLeasesConfiguration");
        assertThat(started.getEnvironment().getProperty("paxoslease.node-id")).isEqualTo("application");
    }

    private static GenericApplicationContext customized() {
        GenericApplicationContext context = new GenericApplicationContext();
        new TestLeasesContextCustomizer()
                .customizeContext(
                        context,
                        new MergedContextConfiguration(
                                TestLeasesContextCustomizerTests.class, null, null, null, (ContextLoader) null));
        return context;
    }
}
