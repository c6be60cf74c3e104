package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** A slice has the auto-configurations that its annotations name, and no others. */
@SpringBootTest(classes = TestSliceTests.Application.class)
@OverrideAutoConfiguration(enabled = false)
@AutoConfigureTestLeases
class TestSliceTests {

    @Autowired
    private TestLeases leases;

    @Autowired
    private Job job;

    @Test
    void guardsThere() {
        assertThat(job.run()).isEqualTo("ran");
        leases.revoke("job");
        assertThat(job.run()).isNull();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Job.class)
    static class Application {}

    static class Job {

        @LeaderOnly("job")
        String run() {
            return "ran";
        }
    }
}
