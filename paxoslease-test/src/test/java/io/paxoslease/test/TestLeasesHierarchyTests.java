package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.ContextHierarchy;

/** A test of contexts of which the uppermost has the node. */
@SpringBootTest
@ContextHierarchy({
    @ContextConfiguration(classes = TestLeasesHierarchyTests.Parent.class),
    @ContextConfiguration(classes = TestLeasesHierarchyTests.Child.class),
    @ContextConfiguration(classes = TestLeasesHierarchyTests.NotAutoConfigured.class)
})
@AutoConfigureTestLeases
class TestLeasesHierarchyTests {

    @Autowired
    private TestLeases leases;

    @Autowired
    private Job job;

    @Test
    void theGuardedMethodsOfTheChildAskTheNodeOfTheParent() {
        assertThat(job.run()).isEqualTo("ran");

        leases.revoke("job");

        assertThat(job.run()).isNull();
    }

    @Test
    void eachMethodBeginsWithAReset() {
        theGuardedMethodsOfTheChildAskTheNodeOfTheParent();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Parent {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(exclude = PaxosLeaseAutoConfiguration.class)
    @Import(Job.class)
    static class Child {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(exclude = PaxosLeaseAutoConfiguration.class)
    static class NotAutoConfigured {}

    static class Job {
        @LeaderOnly("job")
        public String run() {
            return "ran";
        }
    }
}
