package io.paxoslease.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cloud.task.configuration.EnableTask;
import org.springframework.cloud.task.configuration.SingleInstanceTaskListener;
import org.springframework.cloud.task.configuration.TaskProperties;
import org.springframework.cloud.task.listener.TaskExecutionException;
import org.springframework.cloud.task.repository.TaskNameResolver;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.integration.support.locks.LockRegistry;

/** Tasks of one name, each an application of its own, of which one may run at a time. The guide shows their configuration. */
class SpringCloudTaskTests {

    private static final Duration SOON = LocalCell.leaseTime().multipliedBy(30);
    private static final int ATTEMPTS = 5;

    private final Map<String, ApplicationContext> applications = new ConcurrentHashMap<>();
    private final Map<String, CountDownLatch> finish = new ConcurrentHashMap<>();
    private final List<String> running = new ArrayList<>();
    private LocalCell cell;

    @BeforeEach
    void startCell() {
        cell = LocalCell.of(3);
    }

    @AfterEach
    void closeCell() {
        finish.values().forEach(CountDownLatch::countDown);
        cell.close();
    }

    @Test
    void aTaskIsRefusedWhileAnotherOfItsNameRuns() throws Exception {
        CompletableFuture<Void> first = startBlocked(SingleInstanceTask.class, "one");

        assertRefused(() -> run(SingleInstanceTask.class, "two"));
        end(first, "one");
        runSoon(SingleInstanceTask.class, "three");

        assertThat(running).containsExactly("one", "three");
    }

    @Test
    void aTaskThatCannotReachAMajorityIsRefused() {
        cell.isolate(1);
        cell.isolate(2);

        assertRefused(() -> run(SingleInstanceTask.class, "one"));
    }

    @Test
    void aTaskThatIsCutOffLosesItsLockAndRunsOn() throws Exception {
        CompletableFuture<Void> first = startBlocked(SingleInstanceTask.class, "one");
        PaxosLeaseLockRegistry locks = applications.get("one").getBean(PaxosLeaseLockRegistry.class);
        assertThat(locks.lease("reports")).isPresent();

        cell.isolate("one");
        await().atMost(SOON).until(() -> locks.lease("reports").isEmpty());
        runSoon(SingleInstanceTask.class, "two");

        assertThat(first).isNotDone();
        end(first, "one");
    }

    @Test
    void aTaskThatTakesItsLockBeforeItsNodeStartsIsRefused() {
        assertRefused(() -> run(TaskBeforeItsNode.class, "one"));
    }

    @Test
    void theTasksOwnPropertyLocksNothingWithoutADatabase() throws Exception {
        CompletableFuture<Void> first =
                startBlocked(Task.class, "one", "--spring.cloud.task.single-instance-enabled=true");

        run(Task.class, "two", "--spring.cloud.task.single-instance-enabled=true");

        assertThat(running).containsExactly("one", "two");
        end(first, "one");
    }

    private CompletableFuture<Void> startBlocked(Class<?> application, String node, String... arguments) {
        finish.put(node, new CountDownLatch(1));
        CompletableFuture<Void> ended = CompletableFuture.runAsync(() -> runSoon(application, node, arguments));
        await().atMost(SOON).until(() -> ended.isDone() || runs(node));
        assertThat(ended).isNotDone();
        return ended;
    }

    private void end(CompletableFuture<Void> task, String node) throws Exception {
        finish.get(node).countDown();
        task.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    /** A busy machine may need more than the half second after which a task is refused. */
    private void runSoon(Class<?> application, String node, String... arguments) {
        for (int attempt = 1; ; attempt++) {
            try {
                run(application, node, arguments);
                return;
            } catch (ApplicationContextException refused) {
                if (attempt == ATTEMPTS) {
                    throw refused;
                }
            }
        }
    }

    private void run(Class<?> application, String node, String... arguments) {
        new SpringApplicationBuilder(application)
                .web(WebApplicationType.NONE)
                .initializers(context -> {
                    applications.put(node, context);
                    GenericApplicationContext beans = (GenericApplicationContext) context;
                    beans.registerBean(LeaseNode.class, () -> cell.proposer(node));
                    beans.registerBean(ApplicationRunner.class, () -> ignored -> work(node));
                })
                .properties(
                        "spring.main.banner-mode=off",
                        "logging.level.root=warn",
                        "paxoslease.lease-time=" + LocalCell.leaseTime(),
                        "spring.cloud.task.name=reports")
                .run(arguments)
                .close();
    }

    private void work(String node) throws InterruptedException {
        synchronized (running) {
            running.add(node);
        }
        CountDownLatch latch = finish.get(node);
        if (latch != null) {
            latch.await();
        }
    }

    private boolean runs(String node) {
        synchronized (running) {
            return running.contains(node);
        }
    }

    private static void assertRefused(ThrowingCallable run) {
        assertThatThrownBy(run)
                .hasStackTraceContaining(
                        TaskExecutionException.class.getName() + ": Task with name \"reports\" is already running");
    }

    @Configuration
    @EnableAutoConfiguration
    @EnableTask
    static class Task {}

    @Configuration
    @EnableAutoConfiguration
    @Import(SingleInstanceConfiguration.class)
    static class SingleInstanceTask {}

    @Configuration
    @EnableAutoConfiguration
    @Import(SingleInstanceConfiguration.class)
    static class TaskBeforeItsNode {

        @Bean
        static BeanFactoryPostProcessor taskBeforeNode() {
            return beans -> beans.getBeanDefinition("taskLifecycleListener").setDependsOn();
        }
    }
}

// snippet task
@Configuration
@EnableTask
class SingleInstanceConfiguration {

    @Bean
    SingleInstanceTaskListener singleInstance(
            LockRegistry<?> locks,
            TaskNameResolver name,
            TaskProperties properties,
            ApplicationEventPublisher events,
            ApplicationContext context) {
        return new SingleInstanceTaskListener(locks, name, properties, events, context);
    }

    @Bean
    static BeanFactoryPostProcessor nodeBeforeTask() {
        return beans -> beans.getBeanDefinition("taskLifecycleListener").setDependsOn("paxosLeaseLifecycle");
    }
}
// end
