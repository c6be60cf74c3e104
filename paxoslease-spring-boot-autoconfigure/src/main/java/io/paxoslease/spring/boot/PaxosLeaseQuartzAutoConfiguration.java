package io.paxoslease.spring.boot;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.quartz.PaxosLeaseTriggerListener;
import java.util.Objects;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** On request, lets the jobs of Quartz run on the leader only. */
@AutoConfiguration(afterName = "io.paxoslease.spring.boot.PaxosLeaseAutoConfiguration")
@ConditionalOnClass(Scheduler.class)
@ConditionalOnBean(LeaseManager.class)
@ConditionalOnProperty(prefix = "paxoslease.quartz", name = "lease")
@EnableConfigurationProperties({PaxosLeaseProperties.class, PaxosLeaseQuartzProperties.class})
public final class PaxosLeaseQuartzAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean
    PaxosLeaseTriggerListener paxosLeaseTriggerListener(LeaseManager manager, PaxosLeaseQuartzProperties properties) {
        String lease = Objects.requireNonNull(properties.lease());
        Settings.requireVisible("quartz.lease", "it", lease);
        try {
            return new PaxosLeaseTriggerListener(manager.election(lease));
        } catch (IllegalArgumentException wrong) {
            throw new InvalidCellConfigurationException(
                    "paxoslease.quartz.lease",
                    lease,
                    String.valueOf(wrong.getMessage()),
                    "Give it the name of a lease, of 1 to 255 bytes, or leave it out: then jobs run on every node.");
        }
    }

    /** In the context that has the listener: a child that closes stops nothing of its parent. */
    @Bean
    @ConditionalOnBean(value = PaxosLeaseTriggerListener.class, search = SearchStrategy.CURRENT)
    AdapterDrain paxosLeaseQuartzDrain(PaxosLeaseTriggerListener listener, PaxosLeaseProperties properties) {
        return new AdapterDrain(
                AdapterDrain.EARLY,
                listener::drain,
                listener::resume,
                properties.shutdown().drainTimeout(),
                "jobs of Quartz");
    }

    /** Before the schedulers start, which is when the context starts its lifecycles. */
    @Bean
    SmartInitializingSingleton paxosLeaseQuartzGuard(
            ObjectProvider<Scheduler> schedulers,
            PaxosLeaseTriggerListener listener,
            ObjectProvider<LeaseNode> node,
            PaxosLeaseQuartzProperties properties) {
        return () -> {
            node.ifAvailable(leases -> leases.need(Objects.requireNonNull(properties.lease()), listener));
            schedulers.forEach(scheduler -> guard(scheduler, listener));
        };
    }

    private static void guard(Scheduler scheduler, PaxosLeaseTriggerListener listener) {
        try {
            scheduler.getListenerManager().addTriggerListener(listener);
            scheduler.getListenerManager().addJobListener(listener);
        } catch (SchedulerException failure) {
            throw new IllegalStateException("The scheduler " + scheduler + " takes no listener", failure);
        }
    }
}
