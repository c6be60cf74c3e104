package io.paxoslease.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.OtherJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;

/** A candidate that ends the process, as one may that cannot do its work. */
class ExitingCandidateTests {

    private static final int STATUS = 7;

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class App {

        public static void main(String... arguments) {
            SpringApplication.run(App.class, arguments);
        }

        @Bean
        Candidate candidate() {
            return new AbstractCandidate("app", "jobs") {
                @Override
                public void onGranted(Context granted) {
                    System.exit(STATUS);
                }

                @Override
                public void onRevoked(Context revoked) {
                    System.out.println("revoked, which leads: " + revoked.isLeader());
                }
            };
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SynchronizedApp {

        public static void main(String... arguments) {
            SpringApplication.run(SynchronizedApp.class, arguments);
        }

        @Bean
        Candidate candidate() {
            return new AbstractCandidate("app", "jobs") {
                @Override
                public synchronized void onGranted(Context granted) {
                    System.exit(STATUS);
                }

                @Override
                public synchronized void onRevoked(Context revoked) {
                    System.out.println("revoked");
                }
            };
        }
    }

    @Test
    void isRevokedAndNotWaitedFor(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.runApplication(directory, App.class);
        assertThat(end.status()).isEqualTo(STATUS);
        assertThat(end.output()).contains("revoked, which leads: false").doesNotContain("still running");
    }

    /** As long as a phase may last, but not for ever: the thread that ends the process has the lock until that ends. */
    @Test
    void isWaitedForInVainIfItWaitsForItself(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.runApplication(
                directory, SynchronizedApp.class, "--spring.lifecycle.timeout-per-shutdown-phase=1s");
        assertThat(end.status()).isEqualTo(STATUS);
        assertThat(end.output()).contains("still running").doesNotContain("revoked");
    }
}
