package io.paxoslease.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** What others build on a lock registry; Spring Cloud Task's single-instance lock is this initiator, too. */
class LockRegistryUsersTests {

    private static final Duration SOON = LocalCell.leaseTime().multipliedBy(5);

    private static LocalCell cell;

    private PaxosLeaseLockRegistry first;
    private PaxosLeaseLockRegistry second;

    @BeforeAll
    static void startCell() {
        cell = LocalCell.of(3);
    }

    @AfterAll
    static void closeCell() {
        cell.close();
    }

    @BeforeEach
    void createRegistries() {
        first = new PaxosLeaseLockRegistry(cell.node(1), LocalCell.leaseTime());
        second = new PaxosLeaseLockRegistry(cell.node(2), LocalCell.leaseTime());
    }

    @AfterEach
    void closeRegistries() {
        first.close();
        second.close();
    }

    @Test
    void springIntegrationsOwnLeaderInitiatorElectsOneAndReplacesItWhenItIsLost() throws Exception {
        LockRegistryLeaderInitiator one = initiator(first);
        LockRegistryLeaderInitiator two = initiator(second);
        one.start();
        await().atMost(SOON).until(() -> one.getContext().isLeader());
        two.start();
        assertThat(two.getContext().isLeader()).isFalse();

        cell.isolate(1);
        try {
            await().atMost(SOON).until(() -> two.getContext().isLeader());
            await().atMost(SOON).until(() -> !one.getContext().isLeader());
        } finally {
            cell.rejoin(1);
        }
        two.stop();

        await().atMost(SOON).until(() -> one.getContext().isLeader());
        one.destroy();
        two.destroy();
    }

    private static LockRegistryLeaderInitiator initiator(PaxosLeaseLockRegistry registry) {
        LockRegistryLeaderInitiator initiator =
                new LockRegistryLeaderInitiator(registry, new DefaultCandidate("", "old"));
        initiator.setHeartBeatMillis(50);
        initiator.setBusyWaitMillis(10);
        return initiator;
    }
}
