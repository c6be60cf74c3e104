package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.NotLeaderException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import reactor.core.publisher.Mono;

/** The guard is there, once and in its place, whatever else proxies a bean. */
class ProxyTests {

    private final FakeLeases leases = new FakeLeases();

    interface Work {
        Optional<String> run();

        CompletableFuture<String> later();
    }

    static class Worker implements Work {
        @Override
        @LeaderOnly("work")
        public Optional<String> run() {
            TRACE.add("body");
            return Optional.of("ran");
        }

        @Override
        @Async
        @LeaderOnly("work")
        public CompletableFuture<String> later() {
            TRACE.add("body");
            return CompletableFuture.completedFuture(Thread.currentThread().getName() + " "
                    + Lease.current().map(Lease::name).orElse("none"));
        }
    }

    private static final List<String> TRACE = new CopyOnWriteArrayList<>();

    /** Stands for a transaction interceptor. */
    static Advisor tracing() {
        NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
        pointcut.addMethodName("run");
        pointcut.addMethodName("later");
        return new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) invocation -> {
            TRACE.add("tx");
            return invocation.proceed();
        });
    }

    static class TracingPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {
        private static final long serialVersionUID = 1L;

        TracingPostProcessor(int order) {
            this.advisor = tracing();
            setOrder(order);
        }
    }

    @EnableAsync
    @Configuration(proxyBeanMethods = false)
    static class AsyncConfiguration {}

    @EnableAsync(order = Ordered.LOWEST_PRECEDENCE - 1000)
    @Configuration(proxyBeanMethods = false)
    static class EarlyAsyncConfiguration {}

    @ParameterizedTest
    @CsvSource({"true,true", "true,false", "false,true", "false,false"})
    void guardsWhateverTheSettingsOfSpringAop(boolean auto, boolean proxyTargetClass) {
        Guarded.context(leases)
                .withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class))
                .withPropertyValues("spring.aop.auto=" + auto, "spring.aop.proxy-target-class=" + proxyTargetClass)
                .withBean("worker", Worker.class)
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    assertThat(AopUtils.isCglibProxy(work)).isEqualTo(proxyTargetClass);
                    assertThat(work.run()).isEmpty();
                    leases.lead("work");
                    assertThat(work.run()).contains("ran");
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {Ordered.HIGHEST_PRECEDENCE, Ordered.LOWEST_PRECEDENCE - 1000, Ordered.LOWEST_PRECEDENCE})
    void asksForTheLeaseBeforeATransactionBegins(int order) {
        TRACE.clear();
        Guarded.context(leases)
                .withBean("worker", Worker.class)
                .withBean("tx", TracingPostProcessor.class, () -> new TracingPostProcessor(order))
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    assertThat(work.run()).isEmpty();
                    assertThat(TRACE).isEmpty();
                    leases.lead("work");
                    assertThat(work.run()).contains("ran");
                    assertThat(TRACE).containsExactly("tx", "body");
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {Ordered.HIGHEST_PRECEDENCE, Ordered.LOWEST_PRECEDENCE})
    void guardsBesideAnAutoProxyCreator(int order) {
        TRACE.clear();
        Guarded.context(leases)
                .withBean("worker", Worker.class)
                .withBean("creator", DefaultAdvisorAutoProxyCreator.class, () -> {
                    DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
                    creator.setOrder(order);
                    return creator;
                })
                .withBean("tx", Advisor.class, ProxyTests::tracing)
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    assertThat(work.run()).isEmpty();
                    assertThat(TRACE).doesNotContain("body");
                    TRACE.clear();
                    leases.lead("work");
                    assertThat(work.run()).contains("ran");
                    assertThat(TRACE).containsExactly("tx", "body");
                });
    }

    @ParameterizedTest
    @CsvSource({
        "true," + Ordered.HIGHEST_PRECEDENCE,
        "false," + Ordered.HIGHEST_PRECEDENCE,
        "true," + Ordered.LOWEST_PRECEDENCE,
        "false," + Ordered.LOWEST_PRECEDENCE
    })
    void asksForTheLeaseOnTheThreadThatRunsAnAsyncMethod(boolean early, int txOrder) {
        TRACE.clear();
        Guarded.context(leases)
                .withUserConfiguration(early ? EarlyAsyncConfiguration.class : AsyncConfiguration.class)
                .withBean("worker", Worker.class)
                .withBean("tx", TracingPostProcessor.class, () -> new TracingPostProcessor(txOrder))
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    Advisor[] advisors = ((Advised) work).getAdvisors();
                    assertThat(indexOf(advisors, AsyncExecutionInterceptor.class))
                            .isLessThan(indexOf(advisors, LeaderOnlyInterceptor.class));
                    assertThat(work.later().get(15, TimeUnit.SECONDS)).isNull();
                    leases.lead("work");
                    assertThat(work.later().get(15, TimeUnit.SECONDS))
                            .endsWith(" work")
                            .doesNotStartWith(Thread.currentThread().getName() + " ");
                    assertThat(TRACE.indexOf("body")).isEqualTo(TRACE.size() - 1);
                });
    }

    private static int indexOf(Advisor[] advisors, Class<?> advice) {
        for (int i = 0; i < advisors.length; i++) {
            if (advice.isInstance(advisors[i].getAdvice())) {
                return i;
            }
        }
        return -1;
    }

    @EnableResilientMethods
    @Configuration(proxyBeanMethods = false)
    static class ResilientConfiguration {}

    static class Flaky {
        private final AtomicInteger calls = new AtomicInteger();
        private final FakeLeases leases;

        Flaky(FakeLeases leases) {
            this.leases = leases;
        }

        @Retryable(delay = 1)
        @LeaderOnly("work")
        public Long token(Lease lease) {
            return failOnce(lease);
        }

        @Retryable(delay = 1)
        @LeaderOnly("work")
        public Mono<Long> later(Lease lease) {
            return Mono.fromCallable(() -> failOnce(lease));
        }

        private Long failOnce(Lease lease) {
            if (calls.incrementAndGet() % 2 == 1) {
                leases.lead("work");
                throw new IllegalStateException("once");
            }
            return lease.fencingToken();
        }

        @Retryable(delay = 1, maxRetries = 3, excludes = NotLeaderException.class)
        @LeaderOnly(name = "work", otherwise = LeaderOnly.Otherwise.THROW)
        public void strict() {}

        @Retryable(delay = 1)
        @LeaderOnly("work")
        public String losing() {
            leases.lose("work");
            throw new IllegalStateException("lost");
        }
    }

    /** Spring puts retries before all that is there. Else what is tried again went on under a lease that is over. */
    @Test
    void asksForTheLeaseAtEachAttemptOfARetry() {
        long first = leases.lead("work").fencingToken();
        Guarded.context(leases)
                .withUserConfiguration(ResilientConfiguration.class)
                .withBean(Flaky.class)
                .run(context -> {
                    Flaky flaky = context.getBean(Flaky.class);
                    assertThat(flaky.token(null)).isEqualTo(first + 1);
                    assertThat(flaky.later(null).block()).isEqualTo(first + 2);
                    assertThat(flaky.losing()).isNull();
                    Guarded.Outcomes outcomes = Guarded.Outcomes.of(context);
                    assertThatThrownBy(flaky::strict).isInstanceOf(NotLeaderException.class);
                    assertThat(outcomes.count("work", CallListener.Outcome.REFUSED))
                            .isEqualTo(1);
                });
    }

    @Configuration
    static class JobsInConfiguration {
        @LeaderOnly("work")
        public String run() {
            return helper();
        }

        @Bean
        String helper() {
            return "helped";
        }
    }

    @LeaderOnly("work")
    @Configuration
    static class AnnotatedConfiguration {
        public String run() {
            return "ran";
        }

        @Bean
        String helper() {
            return "helped";
        }
    }

    @Test
    void guardsMethodsOfConfigurationClassesButNotTheirBeans() {
        Guarded.context(leases).withUserConfiguration(JobsInConfiguration.class).run(context -> {
            assertThat(context.getBean(String.class)).isEqualTo("helped");
            assertThat(context.getBean(JobsInConfiguration.class).run()).isNull();
        });
        Guarded.context(leases)
                .withUserConfiguration(AnnotatedConfiguration.class)
                .run(context -> {
                    assertThat(context.getBean(String.class)).isEqualTo("helped");
                    assertThat(context.getBean(AnnotatedConfiguration.class).run())
                            .isNull();
                });
    }

    record Placed(String what) {}

    static class Listener {
        final List<String> seen = new CopyOnWriteArrayList<>();

        @EventListener
        @LeaderOnly("work")
        void on(Placed placed) {
            seen.add(placed.what());
        }

        List<String> seen() {
            return seen;
        }
    }

    @Test
    void guardsEventListeners() {
        Guarded.context(leases).withBean(Listener.class).run(context -> {
            context.publishEvent(new Placed("first"));
            leases.lead("work");
            context.publishEvent(new Placed("second"));
            assertThat(context.getBean(Listener.class).seen()).containsExactly("second");
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class ScopedConfiguration {
        @Bean
        @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Worker worker() {
            return new Worker();
        }
    }

    @Test
    void guardsTheTargetOfAScopedProxyOnce() {
        Guarded.context(leases).withUserConfiguration(ScopedConfiguration.class).run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work).isInstanceOf(AopInfrastructureBean.class);
            assertThat(work.run()).isEmpty();
            leases.lead("work");
            Guarded.Outcomes outcomes = Guarded.Outcomes.of(context);
            assertThat(work.run()).contains("ran");
            assertThat(outcomes.count("work", CallListener.Outcome.RUN)).isEqualTo(1);
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoNamesConfiguration {
        @Bean
        Worker worker() {
            return new Worker();
        }

        @Bean
        Work work(Worker worker) {
            return worker;
        }
    }

    /** Else its calls were counted twice, and a scheduled one met itself. */
    @Test
    void guardsABeanOfTwoNamesOnce() {
        leases.lead("work");
        Guarded.context(leases)
                .withUserConfiguration(TwoNamesConfiguration.class)
                .run(context -> {
                    Guarded.Outcomes outcomes = Guarded.Outcomes.of(context);
                    assertThat(context.getBean("work", Work.class).run()).contains("ran");
                    assertThat(outcomes.count("work", CallListener.Outcome.RUN)).isEqualTo(1);
                });
    }

    private static Work frozen(boolean proxyTargetClass) {
        ProxyFactory factory = new ProxyFactory(new Worker());
        factory.setProxyTargetClass(proxyTargetClass);
        factory.setFrozen(true);
        return (Work) factory.getProxy();
    }

    @Test
    void guardsAFrozenProxyOfAClassByAnotherAndRefusesOneOfInterfaces() {
        Guarded.context(leases).withBean("work", Work.class, () -> frozen(true)).run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.run()).isEmpty();
            leases.lead("work");
            assertThat(work.run()).contains("ran");
        });
        Guarded.context(leases)
                .withBean("work", Work.class, () -> frozen(false))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("the bean is a frozen proxy"));
    }

    /** A proxy of the same interfaces is of the same class. */
    @Test
    void refusesAFrozenProxyOfInterfacesAlsoBesideAnotherBeanOfItsClass() {
        Guarded.context(leases)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean("worker", Worker.class)
                .withBean("work", Work.class, () -> frozen(false))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("bean 'work'"));
    }

    interface Job {
        Optional<String> call();
    }

    static class Reports implements Job {
        @Override
        @LeaderOnly("reports")
        public Optional<String> call() {
            return Optional.of("reported");
        }
    }

    static class Invoices implements Job {
        @Override
        @LeaderOnly("invoices")
        public Optional<String> call() {
            return Optional.of("sent");
        }
    }

    /** Else nobody would stand for the leases of all classes but the first, and their jobs would run nowhere. */
    @Test
    void tellsOfTheLeasesOfEveryClassBehindAnInterface() {
        Guarded.context(leases)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean(Reports.class)
                .withBean(Invoices.class)
                .run(context -> {
                    assertThat(context.getBeansOfType(Job.class).values()).allMatch(AopUtils::isJdkDynamicProxy);
                    assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames())
                            .containsExactly("invoices", "reports");
                });
    }

    interface Client {
        @LeaderOnly("work")
        String fetch();
    }

    @Test
    void guardsInterfacesThatHaveNoImplementation() {
        Guarded.context(leases)
                .withBean(
                        "client",
                        Client.class,
                        () -> ProxyFactory.getProxy(Client.class, (MethodInterceptor) invocation -> "fetched"))
                .run(context -> {
                    assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames())
                            .containsExactly("work");
                    assertThat(context.getBean(Client.class).fetch()).isNull();
                    leases.lead("work");
                    assertThat(context.getBean(Client.class).fetch()).isEqualTo("fetched");
                });
    }

    static class ClientFactory implements FactoryBean<Client> {
        @Override
        public Client getObject() {
            return (Client) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Client.class},
                    (proxy, method, arguments) -> "fetched");
        }

        @Override
        public Class<?> getObjectType() {
            return Client.class;
        }
    }

    /** Clients of REST interfaces and mappers of SQL are such; the names of their classes change from run to run. */
    @Test
    void guardsProxiesThatAreNotOfSpringUnderTheNamesOfTheirInterfaces() {
        leases.lead("work");
        Guarded.context(leases).withBean(ClientFactory.class).run(context -> {
            List<Method> observed = new CopyOnWriteArrayList<>();
            context.getBean(GuardedLeases.class).observeCalls((method, lease, outer) -> {
                observed.add(method);
                throw new IllegalStateException("seen");
            });
            assertThatThrownBy(context.getBean(Client.class)::fetch).hasMessage("seen");
            assertThat(observed).containsExactly(Client.class.getDeclaredMethod("fetch"));
        });
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyConfiguration {
        @Bean
        @Lazy
        Worker worker() {
            return new Worker();
        }
    }

    @Test
    void tellsOfLeasesOfBeansThatAreMadeLater() {
        Guarded.context(leases).withUserConfiguration(LazyConfiguration.class).run(context -> {
            List<String> told = new CopyOnWriteArrayList<>();
            context.getBean(LeaderOnlyRegistry.class).forEachLease(told::add);
            assertThat(told).isEmpty();
            assertThat(context.getBean(Worker.class).run()).isEmpty();
            assertThat(told).containsExactly("work");
            context.getBean(LeaderOnlyRegistry.class).forEachLease(told::add);
            assertThat(told).containsExactly("work", "work");
        });
    }
}
