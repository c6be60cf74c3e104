package io.paxoslease.spring.interception;

import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Contexts with guarded beans over {@link FakeLeases}. */
final class Guarded {

    private Guarded() {}

    static ApplicationContextRunner context(FakeLeases leases) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class))
                .withBean(FakeLeases.class, () -> leases);
    }

    /** Counts how calls end. */
    static final class Outcomes implements CallListener {
        private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();

        static Outcomes of(ApplicationContext context) {
            Outcomes outcomes = new Outcomes();
            context.getBean(GuardedLeases.class).addCallListener(outcomes);
            return outcomes;
        }

        @Override
        public void onCall(String leaseName, Outcome outcome) {
            counts.computeIfAbsent(leaseName + ":" + outcome, key -> new AtomicInteger())
                    .incrementAndGet();
        }

        int count(String lease, Outcome outcome) {
            AtomicInteger count = counts.get(lease + ":" + outcome);
            return count == null ? 0 : count.get();
        }
    }
}
