package io.paxoslease.spring.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** ShedLock's published contract tests, on the cells that people run. */
class PaxosLeaseLockProviderContractTests {

    @Nested
    class OnOneNode extends LockProviderContract {

        private static LeaseNode node;

        @BeforeAll
        static void startNode() {
            node = LocalCell.standalone();
        }

        @AfterAll
        static void closeNode() {
            node.close();
        }

        @Override
        LeaseManager manager() {
            return node;
        }
    }

    /** Here "locked" and "unlocked" are what another node of the cell sees. */
    @Nested
    class OnACellOfThree extends LockProviderContract {

        private static LocalCell cell;

        @BeforeAll
        static void startCell() {
            cell = LocalCell.of(3);
        }

        @AfterAll
        static void closeCell() {
            cell.close();
        }

        @Override
        LeaseManager manager() {
            return cell.node(1);
        }

        @Override
        protected void assertLocked(String lockName) {
            super.assertLocked(lockName);
            assertThat(cell.node(2).tryAcquire(PaxosLeaseLockProvider.PREFIX + lockName, LocalCell.leaseTime()))
                    .isEmpty();
        }

        @Override
        protected void assertUnlocked(String lockName) {
            super.assertUnlocked(lockName);
            Awaitility.await()
                    .atMost(LocalCell.leaseTime().minusSeconds(1))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> cell.node(2)
                            .tryAcquire(PaxosLeaseLockProvider.PREFIX + lockName, LocalCell.leaseTime())
                            .map(lease -> {
                                lease.release();
                                return lease;
                            })
                            .isPresent());
            cell.awaitDelivered();
        }
    }
}
