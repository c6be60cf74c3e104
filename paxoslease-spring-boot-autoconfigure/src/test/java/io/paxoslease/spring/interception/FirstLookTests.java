package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.spring.LeaderOnly;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.PriorityOrdered;

/** No annotated method of a bean runs without its guard unless something says so. */
class FirstLookTests {

    private final FakeLeases leases = new FakeLeases();

    interface Job {
        void work();
    }

    record Order() {}

    static class Worker implements Job {
        final List<String> done = new CopyOnWriteArrayList<>();

        @Override
        @LeaderOnly("work")
        public void work() {
            done.add("work");
        }

        @EventListener
        @LeaderOnly("work")
        public void on(Order order) {
            done.add("order");
        }

        List<String> done() {
            return done;
        }
    }

    // What stands in front of a bean.

    private abstract static class InFront implements BeanPostProcessor, PriorityOrdered {
        abstract Object inFrontOf(Job job);

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            return bean instanceof Job job ? inFrontOf(job) : bean;
        }

        @Override
        public int getOrder() {
            return 0;
        }
    }

    static class PlainProxies extends InFront {
        @Override
        Object inFrontOf(Job job) {
            return Proxy.newProxyInstance(
                    Job.class.getClassLoader(),
                    job.getClass().getInterfaces(),
                    (proxy, method, arguments) -> method.invoke(job, arguments));
        }
    }

    static class OpaqueProxies extends InFront {
        @Override
        Object inFrontOf(Job job) {
            ProxyFactory factory = new ProxyFactory(job);
            factory.setOpaque(true);
            return factory.getProxy();
        }
    }

    record Decorated(Job job) implements Job {
        @Override
        public void work() {
            job.work();
        }
    }

    static class Decorators extends InFront {
        @Override
        Object inFrontOf(Job job) {
            return new Decorated(job);
        }
    }

    static class EarlyDecorators implements BeanPostProcessor {
        @Override
        public Object postProcessBeforeInitialization(Object bean, String beanName) {
            return bean instanceof Job job ? new Decorated(job) : bean;
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {PlainProxies.class, OpaqueProxies.class, Decorators.class, EarlyDecorators.class})
    void refusesWhatHidesTheAnnotations(Class<?> inFront) {
        Guarded.context(leases)
                .withUserConfiguration(inFront, Worker.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("in its place, which hides the annotation"));
    }

    static class WorkerFactory implements FactoryBean<Job> {
        @Override
        public Job getObject() {
            return new Worker();
        }

        @Override
        public Class<?> getObjectType() {
            return Job.class;
        }
    }

    /** Spring tells nothing of those before they are initialized. */
    @Test
    void refusesWhatHidesTheAnnotationsOfWhatAFactoryMakes() {
        Guarded.context(leases)
                .withUserConfiguration(PlainProxies.class, WorkerFactory.class)
                .run(context -> assertThatThrownBy(() -> context.getBean(Job.class))
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("FirstLookTests$Worker."));
    }

    interface AnnotatedJob extends Job {
        @Override
        @LeaderOnly("work")
        void work();
    }

    @LeaderOnly("work")
    static class BehindTheInterface implements AnnotatedJob {
        static final List<String> DONE = new CopyOnWriteArrayList<>();

        @Override
        public void work() {
            DONE.add("work");
        }

        public void onNoInterface() {}
    }

    @Test
    void guardsAPlainProxyWhoseInterfaceIsAnnotated() {
        Guarded.context(leases)
                .withUserConfiguration(PlainProxies.class, BehindTheInterface.class)
                .run(context -> {
                    context.getBean(Job.class).work();
                    assertThat(BehindTheInterface.DONE).isEmpty();
                    leases.lead("work");
                    context.getBean(Job.class).work();
                    assertThat(BehindTheInterface.DONE).containsExactly("work");
                });
    }

    static class DecoratedByInterface implements AnnotatedJob {
        private final @Nullable Job job;

        /** For the proxy. */
        DecoratedByInterface() {
            this(null);
        }

        DecoratedByInterface(@Nullable Job job) {
            this.job = job;
        }

        @Override
        public void work() {
            Objects.requireNonNull(job).work();
        }
    }

    static class DecoratorsByInterface extends InFront {
        @Override
        Object inFrontOf(Job job) {
            return new DecoratedByInterface(job);
        }
    }

    /** As clients of HTTP are made. */
    static class ProxyOfTheInterface implements FactoryBean<AnnotatedJob> {
        @Override
        public AnnotatedJob getObject() {
            return ProxyFactory.getProxy(AnnotatedJob.class, (MethodInterceptor) call -> {
                BehindTheInterface.DONE.add("work");
                return null;
            });
        }

        @Override
        public Class<?> getObjectType() {
            return AnnotatedJob.class;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "DecoratorsByInterface, BehindTheInterface",
        "DecoratorsByInterface, ProxyOfTheInterface",
        "PlainProxiesOfAll, ProxyOfTheInterface"
    })
    void guardsWhatStandsInFrontWhereItsInterfaceIsAnnotated(String inFront, String behind) throws Exception {
        BehindTheInterface.DONE.clear();
        Guarded.context(leases)
                .withUserConfiguration(nested(inFront), nested(behind))
                .run(context -> {
                    Job job = context.getBean(Job.class);
                    job.work();
                    assertThat(BehindTheInterface.DONE).isEmpty();
                    leases.lead("work");
                    job.work();
                    assertThat(BehindTheInterface.DONE).containsExactly("work");
                });
    }

    private static Class<?> nested(String name) throws ClassNotFoundException {
        return Class.forName(FirstLookTests.class.getName() + "$" + name);
    }

    interface Other {
        void other();
    }

    static class BehindHalfAnInterface extends BehindTheInterface implements Other {
        @Override
        @LeaderOnly("work")
        public void other() {}
    }

    @Test
    void refusesAPlainProxyOfWhichOneInterfaceIsAnnotatedAndOneIsNot() {
        Guarded.context(leases)
                .withBean(PlainProxiesOfAll.class)
                .withBean(BehindHalfAnInterface.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("BehindHalfAnInterface.other()"));
    }

    static class PlainProxiesOfAll extends InFront {
        @Override
        Object inFrontOf(Job job) {
            return Proxy.newProxyInstance(
                    Job.class.getClassLoader(),
                    new Class<?>[] {AnnotatedJob.class, Other.class},
                    (proxy, method, arguments) -> method.invoke(job, arguments));
        }
    }

    static class Plain implements Job {
        @Override
        public void work() {}
    }

    /** One of the name is being made while another thread makes another one, which is not to be guarded. */
    static class Meanwhile extends Worker implements InitializingBean {
        private final BeanFactory beans;

        Meanwhile(BeanFactory beans) {
            this.beans = beans;
        }

        @Override
        public void afterPropertiesSet() {
            CompletableFuture.supplyAsync(() -> beans.getBean("job")).join();
        }
    }

    static class Failing extends Worker implements InitializingBean {
        @Override
        public void afterPropertiesSet() {
            throw new IllegalStateException("not this time");
        }
    }

    @Configuration
    static class MakesDifferentJobs {
        final Queue<Job> jobs = new ConcurrentLinkedQueue<>();

        @Bean
        @Scope("prototype")
        Job job() {
            return Objects.requireNonNull(jobs.poll());
        }
    }

    @Test
    void tellsBeansOfOneNameApart() {
        Guarded.context(leases).withUserConfiguration(MakesDifferentJobs.class).run(context -> {
            Queue<Job> jobs = context.getBean(MakesDifferentJobs.class).jobs;
            jobs.addAll(List.of(new Meanwhile(context), new Plain()));
            assertThat(context.getBean("job")).isInstanceOf(Meanwhile.class);
            jobs.addAll(List.of(new Failing(), new Plain()));
            assertThatThrownBy(() -> context.getBean("job")).hasRootCauseMessage("not this time");
            assertThat(context.getBean("job")).isInstanceOf(Plain.class);
        });
    }

    // What is made before the guards are.

    static class NeedsTheJob implements BeanPostProcessor, Ordered {
        NeedsTheJob(Job job) {}

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration
    static class MakesAPostProcessor {
        final List<String> done = new CopyOnWriteArrayList<>();

        @Bean
        BeanFactoryPostProcessor postProcessor() {
            return factory -> {};
        }

        @EventListener
        @LeaderOnly("work")
        public void on(Order order) {
            done.add("order");
        }

        List<String> done() {
            return done;
        }
    }

    @Test
    void guardsABeanThatAnotherPostProcessorNeeds() {
        Guarded.context(leases)
                .withUserConfiguration(NeedsTheJob.class, Worker.class)
                .run(context -> {
                    assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames())
                            .containsExactly("work");
                    Worker worker = context.getBean(Worker.class);
                    worker.work();
                    context.publishEvent(new Order());
                    assertThat(worker.done()).isEmpty();
                    leases.lead("work");
                    worker.work();
                    context.publishEvent(new Order());
                    assertThat(worker.done()).containsExactly("work", "order");
                });
    }

    @Test
    void guardsAConfigurationThatMakesAPostProcessor() {
        Guarded.context(leases).withUserConfiguration(MakesAPostProcessor.class).run(context -> {
            context.publishEvent(new Order());
            MakesAPostProcessor configuration = context.getBean(MakesAPostProcessor.class);
            assertThat(configuration.done()).isEmpty();
            leases.lead("work");
            context.publishEvent(new Order());
            assertThat(configuration.done()).containsExactly("order");
        });
    }

    /** Spring says of each bean that it misses a post-processor where one is counted that is not there. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void leavesSpringsCountOfPostProcessorsAsItIs(CapturedOutput output) {
        Guarded.context(leases)
                .withUserConfiguration(Worker.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain("not eligible for getting processed by all BeanPostProcessors");
    }

    static class InACircle extends Worker {
        @Autowired
        Asking asking;
    }

    static class Asking {
        final Job job;

        Asking(ApplicationContext context) {
            job = context.getBean(Job.class);
        }
    }

    static class AskingLater {
        final ObjectProvider<Job> job;

        AskingLater(ObjectProvider<Job> job) {
            this.job = job;
        }
    }

    static class InNoCircle extends Worker {
        @Autowired
        AskingLater asking;
    }

    /** It would be the bean itself. */
    @Test
    void refusesABeanThatIsHandedOutWhileItIsMade() {
        Guarded.context(leases)
                .withAllowCircularReferences(true)
                .withUserConfiguration(InACircle.class, Asking.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("while it is still being made"));
        Guarded.context(leases)
                .withAllowCircularReferences(true)
                .withUserConfiguration(InNoCircle.class, AskingLater.class)
                .run(context -> {
                    context.getBean(AskingLater.class).job.getObject().work();
                    assertThat(context.getBean(InNoCircle.class).done()).isEmpty();
                });
    }

    // What no post-processor of the context sees.

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfAnObjectThatIsRegisteredAsItIs(CapturedOutput output) {
        Guarded.context(leases)
                .withInitializer(context -> context.getBeanFactory().registerSingleton("known", new Worker()))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains("of bean 'known' (" + Worker.class.getName(), "was registered as an object");
    }

    /** The last post-processors of the factory can register objects, too. */
    private static ApplicationContextInitializer<ConfigurableApplicationContext> registersLate(String name) {
        return context -> context.addBeanFactoryPostProcessor(new BeanFactoryPostProcessor() {
            @Override
            public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
                factory.addBeanPostProcessor(new BeanPostProcessor() {
                    @Override
                    public Object postProcessAfterInitialization(Object bean, String beanName) {
                        if (bean instanceof Worker && !factory.containsSingleton(name)) {
                            factory.registerSingleton(name, new Worker());
                        }
                        return bean;
                    }
                });
            }
        });
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfAnObjectThatIsRegisteredWhileBeansAreMade(CapturedOutput output) {
        Guarded.context(leases)
                .withInitializer(registersLate("late"))
                .withBean("own", Worker.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("of bean 'late' (" + Worker.class.getName())
                .containsOnlyOnce("was registered as an object");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfABeanWhoseDefinitionIsSynthetic(CapturedOutput output) {
        Guarded.context(leases)
                .withBean(
                        "internal",
                        Worker.class,
                        Worker::new,
                        definition -> ((AbstractBeanDefinition) definition).setSynthetic(true))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce("of bean 'internal' (" + Worker.class.getName())
                .contains("it has a definition that is synthetic");
    }

    @Configuration
    static class MakesARegistryPostProcessor extends Worker {
        @Bean
        BeanDefinitionRegistryPostProcessor registryPostProcessor() {
            return registry -> {};
        }
    }

    /** No method that is not static can be called without its object. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfABeanThatIsMadeBeforeTheFirstLook(CapturedOutput output) {
        Guarded.context(leases)
                .withUserConfiguration(MakesARegistryPostProcessor.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsOnlyOnce("are not guarded").contains("it was made before post-processors");
    }

    static class ReturnsNull extends InFront {
        @Override
        public @Nullable Object postProcessAfterInitialization(Object bean, String beanName) {
            return bean instanceof Job ? null : bean;
        }

        @Override
        Object inFrontOf(Job job) {
            return job;
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfABeanForWhichAPostProcessorReturnedNull(CapturedOutput output) {
        Guarded.context(leases)
                .withUserConfiguration(ReturnsNull.class)
                .withBean("cut", Worker.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).containsOnlyOnce("of bean 'cut' (").contains("one of them returned null for it");
    }

    /** As the mocks of a test are, whose guard nobody misses. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void doesNotWarnOfAnObjectInThePlaceOfABean(CapturedOutput output) {
        Guarded.context(leases)
                .withInitializer(registersLate("mocked"))
                .withBean("first", Worker.class)
                .withBean("mocked", Worker.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain("are not guarded");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfContextsThatAreNotAutoConfiguredThemselves(CapturedOutput output) {
        new ApplicationContextRunner()
                .withBean("above", Worker.class)
                .run(above -> Guarded.context(leases)
                        .withBean("own", Worker.class)
                        .withParent(above)
                        .run(own -> new ApplicationContextRunner()
                                .withBean("below", Worker.class)
                                .withParent(own)
                                .run(below -> assertThat(below).hasNotFailed())));
        assertThat(output)
                .contains("of bean 'above' (", "is of a parent context")
                .contains("of bean 'below' (", "is of a child context")
                .doesNotContain("of bean 'own' (");
    }

    /** It warns of its own beans itself, and knows which of them are mocks. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void doesNotSpeakForAContextThatIsAutoConfiguredItself(CapturedOutput output) {
        Guarded.context(leases)
                .withInitializer(context -> context.getBeanFactory().registerSingleton("above", new Worker()))
                .run(above -> Guarded.context(leases)
                        .withParent(above)
                        .withInitializer(registersLate("mocked"))
                        .withBean("first", Worker.class)
                        .withBean("mocked", Worker.class)
                        .run(own -> assertThat(own).hasNotFailed()));
        assertThat(output).containsOnlyOnce("are not guarded").contains("of bean 'above' (");
    }

    @Configuration
    static class ProxiesOfOthers {
        /** It comes after the guard. */
        @Bean
        static DefaultAdvisorAutoProxyCreator proxies() {
            DefaultAdvisorAutoProxyCreator proxies = new DefaultAdvisorAutoProxyCreator();
            proxies.setProxyTargetClass(true);
            return proxies;
        }

        @Bean
        static Advisor advisor() {
            NameMatchMethodPointcut work = new NameMatchMethodPointcut().addMethodName("work");
            work.setClassFilter(Worker.class::isAssignableFrom);
            return new DefaultPointcutAdvisor(work, (MethodInterceptor) MethodInvocation::proceed);
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void findsTheGuardBehindTheProxiesOfOthers(CapturedOutput output) {
        Guarded.context(leases)
                .withUserConfiguration(ProxiesOfOthers.class, Worker.class)
                .run(own -> new ApplicationContextRunner()
                        .withInitializer(
                                below -> below.getBeanFactory().registerSingleton("shared", own.getBean(Worker.class)))
                        .withParent(own)
                        .run(below -> assertThat(below).hasNotFailed()));
        assertThat(output).doesNotContain("are not guarded");
    }

    interface OfAnOptionalLibrary {}

    static class WithAnOptionalLibrary {
        void use(OfAnOptionalLibrary library) {}
    }

    /** Nothing but the guards has looked at it so far. */
    @Test
    void letsBeWhatItCannotLookAt() throws Exception {
        ClassLoader withoutTheLibrary = new OverridingClassLoader(getClass().getClassLoader()) {
            @Override
            protected boolean isEligibleForOverriding(String className) {
                return className.equals(WithAnOptionalLibrary.class.getName());
            }

            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (name.equals(OfAnOptionalLibrary.class.getName())) {
                    throw new ClassNotFoundException(name);
                }
                return super.loadClass(name, resolve);
            }
        };
        Object bean = BeanUtils.instantiateClass(withoutTheLibrary.loadClass(WithAnOptionalLibrary.class.getName()));
        ApplicationContextInitializer<ConfigurableApplicationContext> registers =
                context -> context.getBeanFactory().registerSingleton("known", bean);
        new ApplicationContextRunner()
                .withInitializer(registers)
                .run(above -> Guarded.context(leases)
                        .withInitializer(registers)
                        .withParent(above)
                        .run(own -> new ApplicationContextRunner()
                                .withInitializer(registers)
                                .withParent(own)
                                .run(below -> assertThat(below).hasNotFailed())));
    }
}
