package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import io.paxoslease.spring.OtherJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.event.EventListener;
import org.springframework.core.annotation.Order;

/** A listener that ends the process, as one may that wants to start afresh when the lease is lost. */
class ExitingListenerTests {

    private static final int STATUS = 7;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {

        public static void main(String... arguments) {
            SpringApplication.run(App.class, arguments);
        }

        @Order(1)
        @EventListener(LeaseAcquiredEvent.class)
        void exit() {
            System.exit(STATUS);
        }

        @Order(2)
        @EventListener
        void print(LeaseAcquiredEvent event) {
            System.out.println("also told: acquired " + event.leaseName());
        }

        @EventListener
        void print(LeaseReleasedEvent event) {
            System.out.println("also told: released " + event.leaseName());
        }
    }

    @Test
    void isNotWaitedFor(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.runApplication(directory, App.class, "--paxoslease.leases.jobs.candidate=true");
        assertThat(end.status()).isEqualTo(STATUS);
        assertThat(end.output())
                .contains("also told: acquired jobs", "also told: released jobs")
                .doesNotContain("still busy");
    }
}
