package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import org.junit.jupiter.api.Test;
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
                    assertThat(context.getBeanFactory().containsSingleton("guardedLeases"))
                            .isTrue();
                    assertThat(context.getBean(Job.class).run()).isNull();
                });
    }
}
