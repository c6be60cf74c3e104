package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;

@SpringBootTest(classes = TestLeasesResetListenerTests.Application.class)
@AutoConfigureTestLeases
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TestLeasesResetListenerTests {

    @Autowired
    private LeaseManager manager;

    @BeforeAll
    void stand() {
        manager.election("report").start();
    }

    @Test
    void whatATestClassStandsForAtItsBeginningIsNotTheApplications() {
        assertThat(manager.election("report").isLeader()).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
