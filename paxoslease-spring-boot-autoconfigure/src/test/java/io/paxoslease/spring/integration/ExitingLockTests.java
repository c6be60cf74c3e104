package io.paxoslease.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.OtherJvm;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;

/** A thread that ends the process while it holds a lock, as one may that cannot do its work. */
class ExitingLockTests {

    private static final int STATUS = 7;

    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class App {

        public static void main(String... arguments) {
            SpringApplication.run(App.class, arguments);
        }

        @Bean
        CommandLineRunner exit(PaxosLeaseLockRegistry locks) {
            return arguments -> {
                locks.obtain("import").lock();
                System.exit(STATUS);
            };
        }
    }

    @Test
    void isNotWaitedFor(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.runApplication(directory, App.class, "--paxoslease.shutdown.drain-timeout=3s");
        assertThat(end.status()).isEqualTo(STATUS);
        assertThat(end.output()).doesNotContain("threads that hold a lock of the registry still run");
    }
}
