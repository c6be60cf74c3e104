package io.paxoslease.spring.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.bounded.LocalCell;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** ShedLock's own contract, both of its classes: the extensible one extends the plain one. */
abstract class LockProviderContract extends AbstractExtensibleLockProviderIntegrationTest {

    private PaxosLeaseLockProvider provider;

    abstract LeaseManager manager();

    @BeforeEach
    void createProvider() {
        provider = new PaxosLeaseLockProvider(manager(), LocalCell.leaseTime());
    }

    @AfterEach
    void closeProvider() {
        provider.close();
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return provider;
    }

    @Override
    protected void assertLocked(String lockName) {
        assertThat(provider.lease(lockName)).isPresent();
    }

    @Override
    protected void assertUnlocked(String lockName) {
        assertThat(provider.lease(lockName)).isEmpty();
    }
}
