package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.shedlock.PaxosLeaseLockProvider;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

@ExtendWith(OutputCaptureExtension.class)
class PaxosLeaseShedLockAutoConfigurationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(PaxosLeaseShedLockAutoConfiguration.class));

    private final ApplicationContextRunner withNode =
            runner.withBean(LeaseNode.class, LocalCell::standalone).withPropertyValues("paxoslease.lease-time=2s");

    @Test
    void providesTheLockProvider() {
        withNode.run(context ->
                assertThat(context).hasSingleBean(PaxosLeaseLockProvider.class).hasSingleBean(AdapterDrain.class));
    }

    @Test
    void backsOffFromTheApplicationsOwnLockProvider() {
        withNode.withBean(LockProvider.class, () -> configuration -> Optional.empty())
                .run(context -> assertThat(context).doesNotHaveBean(PaxosLeaseLockProvider.class));
    }

    @Test
    void makesNoLockProviderThatNobodyAskedFor() {
        AtomicBoolean made = new AtomicBoolean();
        withNode.withBean(
                        LockProvider.class,
                        () -> {
                            made.set(true);
                            return configuration -> Optional.empty();
                        },
                        definition -> definition.setLazyInit(true))
                .run(context -> context.getSourceApplicationContext().close());

        assertThat(made).isFalse();
    }

    @Test
    void doesNothingWithoutShedLock() {
        withNode.withClassLoader(new FilteredClassLoader("net.javacrumbs.shedlock"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("paxosLeaseLockProvider"));
    }

    @Test
    void doesNothingWithoutLeases() {
        runner.run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
    }

    @Test
    void letsAScheduledTaskOfAShedLockApplicationRunUnderItsLock() {
        withNode.withUserConfiguration(ShedLockApplication.class).run(context -> {
            ShedLockApplication application = context.getBean(ShedLockApplication.class);
            assertThat(application.ran.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(application.token.get()).isPositive();
        });
    }

    @Test
    void stoppingWaitsForTheTaskThatRuns() {
        withNode.run(PaxosLeaseShedLockAutoConfigurationTests::stoppingWaitsForATask);
    }

    @Test
    void stoppingWaitsForTheTaskUnderAProviderThatTheApplicationDeclaredByItsInterface() {
        withNode.withUserConfiguration(OwnProvider.class)
                .run(PaxosLeaseShedLockAutoConfigurationTests::stoppingWaitsForATask);
    }

    @Test
    void stoppingWaitsForTheTaskUnderAProviderWithinAnother() {
        withNode.withUserConfiguration(OwnProvider.class, ProviderAroundIt.class)
                .run(PaxosLeaseShedLockAutoConfigurationTests::stoppingWaitsForATask);
    }

    @Test
    void stoppingWaitsForTheTasksUnderAllProviders() {
        withNode.withUserConfiguration(OwnProvider.class, SecondProvider.class).run(context -> {
            SimpleLock first = lock(context.getBean("locks", LockProvider.class), "report");
            SimpleLock second = lock(context.getBean("moreLocks", LockProvider.class), "invoices");
            CountDownLatch stopped = new CountDownLatch(1);

            context.getBean(AdapterDrain.class).stop(stopped::countDown);

            first.unlock();
            assertThat(stopped.getCount()).isOne();
            second.unlock();
            assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
        });
    }

    private static void stoppingWaitsForATask(ApplicationContext context) throws InterruptedException {
        SimpleLock lock = lock(context.getBean(LockProvider.class), "report");
        CountDownLatch stopped = new CountDownLatch(1);

        context.getBean(AdapterDrain.class).stop(stopped::countDown);

        assertThat(stopped.getCount()).isOne();
        assertThat(context.getBean(PaxosLeaseLockProvider.class).lease("report"))
                .isPresent();
        lock.unlock();
        assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private static SimpleLock lock(LockProvider provider, String name) {
        return provider.lock(new LockConfiguration(Instant.now(), name, Duration.ofHours(1), Duration.ZERO))
                .orElseThrow();
    }

    @Test
    void stoppingDoesNotWaitForever() {
        withNode.withPropertyValues("paxoslease.shutdown.drain-timeout=50ms").run(context -> {
            lock(context.getBean(LockProvider.class), "report");
            CountDownLatch stopped = new CountDownLatch(1);

            context.getBean(AdapterDrain.class).stop(stopped::countDown);

            assertThat(stopped.await(15, TimeUnit.SECONDS)).isTrue();
        });
    }

    @Test
    void aContextThatIsStartedAgainGrantsLocks() {
        withNode.run(context -> {
            LockProvider provider = context.getBean(LockProvider.class);
            context.getSourceApplicationContext().stop();
            assertThat(provider.lock(
                            new LockConfiguration(Instant.now(), "report", Duration.ofHours(1), Duration.ZERO)))
                    .isEmpty();

            context.getSourceApplicationContext().start();

            lock(provider, "report").unlock();
        });
    }

    @Test
    void whatBeganToStopBeforeItWasStartedAgainDoesNotSayThatItReleases(CapturedOutput output) {
        withNode.withPropertyValues("paxoslease.shutdown.drain-timeout=5s").run(context -> {
            lock(context.getBean(LockProvider.class), "report");
            AdapterDrain drain = context.getBean(AdapterDrain.class);
            CountDownLatch stopped = new CountDownLatch(1);

            drain.stop(stopped::countDown);
            drain.start();

            assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(output).doesNotContain("released all the same");
        });
    }

    @Test
    void whatBeganToStopBeforeItWasStartedAgainSaysNothingOfTheNextStop(CapturedOutput output) {
        withNode.withPropertyValues("paxoslease.shutdown.drain-timeout=5s").run(context -> {
            SimpleLock lock = lock(context.getBean(LockProvider.class), "report");
            AdapterDrain drain = context.getBean(AdapterDrain.class);
            CountDownLatch stopped = new CountDownLatch(2);

            drain.stop(stopped::countDown);
            drain.start();
            lock.unlock();
            drain.stop(stopped::countDown);

            assertThat(stopped.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(output).doesNotContain("released all the same");
        });
    }

    @Configuration
    static class OwnProvider {

        @Bean
        LockProvider locks(LeaseManager manager) {
            return new PaxosLeaseLockProvider(manager, Duration.ofSeconds(2));
        }
    }

    @Configuration
    static class ProviderAroundIt {

        @Bean
        @Primary
        LockProvider aroundIt(@Qualifier("locks") LockProvider locks) {
            return locks::lock;
        }
    }

    @Configuration
    static class SecondProvider {

        @Bean
        LockProvider moreLocks(LeaseManager manager) {
            return new PaxosLeaseLockProvider(manager, Duration.ofSeconds(2));
        }
    }

    /** Written as ShedLock's documentation has it; nothing in it knows where the locks come from. */
    @Configuration
    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "PT30S")
    static class ShedLockApplication {

        final CountDownLatch ran = new CountDownLatch(2);
        final AtomicReference<Long> token = new AtomicReference<>();

        @Bean
        Job job(PaxosLeaseLockProvider provider) {
            return new Job(provider, this);
        }
    }

    static class Job {

        private final PaxosLeaseLockProvider provider;
        private final ShedLockApplication application;

        Job(PaxosLeaseLockProvider provider, ShedLockApplication application) {
            this.provider = provider;
            this.application = application;
        }

        @Scheduled(fixedRate = 20)
        @SchedulerLock(name = "report")
        public void run() {
            LockAssert.assertLocked();
            application.token.set(provider.lease("report").orElseThrow().fencingToken());
            application.ran.countDown();
        }
    }
}
