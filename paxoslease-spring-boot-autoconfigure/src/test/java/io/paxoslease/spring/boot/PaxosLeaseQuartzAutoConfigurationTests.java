package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.quartz.PaxosLeaseTriggerListener;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.impl.StdSchedulerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

class PaxosLeaseQuartzAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseQuartzAutoConfiguration.class))
            .withUserConfiguration(QuartzApplication.class)
            .withBean(LeaseNode.class, LocalCell::standalone);

    @Test
    void guardsEverySchedulerOnRequest() {
        runner.withPropertyValues("paxoslease.quartz.lease=jobs").run(context -> {
            assertThat(context.getBean(Scheduler.class).getListenerManager().getTriggerListeners())
                    .containsExactly(context.getBean(PaxosLeaseTriggerListener.class));
            assertThat(context.getBean(LeaseManager.class).election("jobs").isLeader())
                    .isTrue();
        });
    }

    @Test
    void doesNothingUnlessAsked() {
        runner.run(context -> {
            assertThat(context).doesNotHaveBean(PaxosLeaseTriggerListener.class);
            assertThat(context.getBean(Scheduler.class).getListenerManager().getTriggerListeners())
                    .isEmpty();
        });
    }

    @Test
    void doesNothingWithoutQuartz() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseQuartzAutoConfiguration.class))
                .withBean(LeaseNode.class, LocalCell::standalone)
                .withPropertyValues("paxoslease.quartz.lease=jobs")
                .withClassLoader(new FilteredClassLoader("org.quartz"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseTriggerListener"));
    }

    @Configuration
    static class QuartzApplication {

        @Bean(destroyMethod = "shutdown")
        Scheduler scheduler() throws SchedulerException {
            Properties settings = new Properties();
            settings.setProperty("org.quartz.threadPool.threadCount", "1");
            return new StdSchedulerFactory(settings).getScheduler();
        }
    }
}
