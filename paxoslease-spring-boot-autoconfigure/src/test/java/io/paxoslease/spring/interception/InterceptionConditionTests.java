package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.boot.InvalidCellConfigurationException;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;

/** When {@link PaxosLeaseInterceptionAutoConfiguration} applies. */
class InterceptionConditionTests {

    static class Job {
        @LeaderOnly("jobs")
        public String run() {
            return "ran";
        }
    }

    @Test
    void appliesByDefault() {
        Guarded.context(new FakeLeases()).withBean(Job.class).run(context -> {
            assertThat(context)
                    .hasSingleBean(LeaderOnlyBeanPostProcessor.class)
                    .hasSingleBean(GuardedLeases.class)
                    .hasSingleBean(LeaderOnlyRegistry.class);
            assertThat(context.getBean(Job.class).run()).isNull();
        });
    }

    @Test
    void guardsNothingWhenDisabled() {
        Guarded.context(new FakeLeases())
                .withBean(Job.class)
                .withPropertyValues("paxoslease.enabled=false")
                .run(context -> {
                    assertThat(context)
                            .doesNotHaveBean(LeaderOnlyBeanPostProcessor.class)
                            .doesNotHaveBean(GuardedLeases.class);
                    assertThat(context.getBean(Job.class).run()).isEqualTo("ran");
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"yes", "on", "1", "TRUE"})
    void appliesHoweverSpringReadsTruth(String value) {
        Guarded.context(new FakeLeases())
                .withBean(Job.class)
                .withPropertyValues("paxoslease.enabled=" + value)
                .run(context -> assertThat(context.getBean(Job.class).run()).isNull());
    }

    /** Without guards jobs run on every node: not because of a misspelt word. */
    @ParameterizedTest
    @ValueSource(strings = {"ture", "", "${PAXOSLEASE_TESTS_NO_SUCH_VARIABLE}"})
    void aValueThatIsNoTruthValueFailsTheStart(String value) {
        Guarded.context(new FakeLeases())
                .withBean(Job.class)
                .withPropertyValues("paxoslease.enabled=" + value)
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(InvalidCellConfigurationException.class)
                        .hasMessage("Property paxoslease.enabled = '" + value + "': it is neither true nor false"));
    }

    @Test
    void usesTheBeansOfTheApplication() {
        LeaderOnlyRegistry registry = new LeaderOnlyRegistry();
        Guarded.context(new FakeLeases())
                .withBean(Job.class)
                .withBean("mine", LeaderOnlyRegistry.class, () -> registry)
                .run(context -> {
                    assertThat(context).hasSingleBean(LeaderOnlyRegistry.class);
                    assertThat(registry.leaseNames()).containsExactly("jobs");
                });
    }

    @Test
    void worksWithLazyInitialization() {
        Guarded.context(new FakeLeases())
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .withBean(Job.class)
                .run(context -> {
                    assertThat(context.getBeanFactory().containsSingleton("paxosLeaseGuardedLeases"))
                            .isTrue();
                    assertThat(context.getBean(Job.class).run()).isNull();
                });
    }
}
