package io.paxoslease.spring.boot;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.shedlock.PaxosLeaseLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** ShedLock on leases, where ShedLock is on the class path and the application has no lock provider of its own. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnClass(LockProvider.class)
@ConditionalOnBean(LeaseManager.class)
@EnableConfigurationProperties(PaxosLeaseProperties.class)
public final class PaxosLeaseShedLockAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(LockProvider.class)
    PaxosLeaseLockProvider paxosLeaseLockProvider(LeaseManager manager, PaxosLeaseProperties properties) {
        return new PaxosLeaseLockProvider(manager, properties.leaseTime());
    }

    @Bean
    @ConditionalOnSingleCandidate(PaxosLeaseLockProvider.class)
    AdapterDrain paxosLeaseShedLockDrain(PaxosLeaseLockProvider provider, PaxosLeaseProperties properties) {
        return new AdapterDrain(
                provider::drain, provider::resume, properties.shutdown().drainTimeout(), "tasks under a ShedLock lock");
    }
}
