package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.integration.PaxosLeaseLeaderInitiators;
import io.paxoslease.spring.integration.PaxosLeaseLockRegistry;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;

class PaxosLeaseIntegrationAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseIntegrationAutoConfiguration.class));

    private final ApplicationContextRunner withNode =
            runner.withBean(LeaseNode.class, LocalCell::standalone).withPropertyValues("paxoslease.lease-time=500ms");

    @Test
    void providesTheLockRegistryAndTheElection() {
        withNode.run(context -> assertThat(context)
                .hasSingleBean(PaxosLeaseLockRegistry.class)
                .hasSingleBean(PaxosLeaseLeaderInitiators.class));
    }

    @Test
    void backsOffFromTheApplicationsOwnLockRegistry() {
        withNode.withBean(LockRegistry.class, DefaultLockRegistry::new)
                .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseLockRegistry.class));
    }

    @Test
    void leavesTheElectionToAnInitiatorOfTheApplication() {
        withNode.withBean(LockRegistryLeaderInitiator.class, () -> {
                    LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(new DefaultLockRegistry());
                    initiator.setAutoStartup(false);
                    return initiator;
                })
                .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseLeaderInitiators.class));
    }

    @Test
    void electsForTheRolesThatAreNamed() {
        withNode.withPropertyValues("paxoslease.integration.roles=a,b")
                .withBean(Candidate.class, () -> new DefaultCandidate("me", "b"))
                .run(context -> {
                    PaxosLeaseLeaderInitiators initiators = context.getBean(PaxosLeaseLeaderInitiators.class);
                    assertThat(initiators.initiator("a")).isPresent();
                    assertThat(initiators.initiator("b"))
                            .hasValueSatisfying(initiator ->
                                    assertThat(initiator).hasToString("PaxosLeaseLeaderInitiator[role b, id me]"));
                    assertThat(initiators.initiator("c")).isEmpty();
                });
    }

    @Test
    void refusesTwoCandidatesForOneRole() {
        withNode.withBean("one", Candidate.class, () -> new DefaultCandidate("one", "role"))
                .withBean("two", Candidate.class, () -> new DefaultCandidate("two", "role"))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .hasMessageContaining("two candidates for the role 'role'"));
    }

    @Test
    void doesNothingWithoutSpringIntegration() {
        withNode.withClassLoader(new FilteredClassLoader("org.springframework.integration"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseLockRegistry"));
    }

    @Test
    void doesNothingWithoutLeases() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRegistry.class));
    }
}
