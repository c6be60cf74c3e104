package io.paxoslease.spring.quartz;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.OtherJvm;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;

/** A job that ends the process, as one may that cannot do its work. */
class ExitingJobTests {

    private static final int STATUS = 7;

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class App {

        public static void main(String... arguments) {
            SpringApplication.run(App.class, arguments);
        }

        @Bean(destroyMethod = "shutdown")
        Scheduler scheduler() throws SchedulerException {
            Properties settings = new Properties();
            settings.setProperty("org.quartz.threadPool.threadCount", "1");
            Scheduler scheduler = new StdSchedulerFactory(settings).getScheduler();
            scheduler.setJobFactory((bundle, ignored) -> execution -> System.exit(STATUS));
            return scheduler;
        }

        @EventListener(ApplicationReadyEvent.class)
        void schedule() throws SchedulerException {
            scheduler()
                    .scheduleJob(
                            JobBuilder.newJob(Job.class).build(),
                            TriggerBuilder.newTrigger()
                                    .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
                                    .build());
            scheduler().start();
        }
    }

    @Test
    void isNotWaitedFor(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.runApplication(
                directory, App.class, "--paxoslease.quartz.lease=jobs", "--paxoslease.shutdown.drain-timeout=3s");
        assertThat(end.status()).isEqualTo(STATUS);
        assertThat(end.output()).doesNotContain("jobs of Quartz still run");
    }
}
