package io.paxoslease.spring.boot;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.shedlock.PaxosLeaseLockProvider;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * ShedLock on leases, where ShedLock is on the class path and the application has no lock provider of its own. Stopping waits for the tasks under
 * locks on leases, whoever made the provider.
 */
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
    AdapterDrain paxosLeaseShedLockDrain(ListableBeanFactory beans, PaxosLeaseProperties properties) {
        return new AdapterDrain(
                AdapterDrain.EARLY,
                () -> CompletableFuture.allOf(
                        onLeases(beans).map(PaxosLeaseLockProvider::drain).toArray(CompletableFuture<?>[]::new)),
                () -> onLeases(beans).forEach(PaxosLeaseLockProvider::resume),
                properties.shutdown().drainTimeout(),
                "tasks under a ShedLock lock");
    }

    /**
     * By what the beans are, whatever they were declared as. One that is declared as another type and was not made yet has no lock. Those of
     * a parent go on when its child closes.
     */
    private static Stream<PaxosLeaseLockProvider> onLeases(ListableBeanFactory beans) {
        return beans.getBeansOfType(PaxosLeaseLockProvider.class, false, true).values().stream();
    }
}
