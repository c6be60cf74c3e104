package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.Lease;
import io.paxoslease.LeaseManager;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import io.paxoslease.spring.interception.elsewhere.JobOfAnotherPackage;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import kotlin.coroutines.Continuation;
import org.apache.camel.Consume;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.server.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.OverridingClassLoader;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ReactiveTypeDescriptor;
import org.springframework.integration.annotation.ServiceActivator;
import org.springframework.messaging.MessageHandler;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What cannot be guarded stops the start and says why. */
class StartUpFailureTests {

    private final FakeLeases leases = new FakeLeases();

    private AbstractThrowableAssert<?, ? extends Throwable> startingWith(Class<?> bean, String... properties) {
        Throwable[] failure = new Throwable[1];
        Guarded.context(leases)
                .withClassLoader(bean.getClassLoader())
                .withUserConfiguration(bean)
                .withPropertyValues(properties)
                .run(context -> failure[0] = context.getStartupFailure());
        Throwable cause = failure[0];
        while (cause != null && !(cause instanceof UnguardableMethodException) && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return assertThat(cause).isInstanceOf(UnguardableMethodException.class);
    }

    private void assertStartsWith(Class<?> bean) {
        Guarded.context(leases)
                .withUserConfiguration(bean)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class WithPrivate {
        @LeaderOnly
        private void tick() {}
    }

    @Test
    void refusesPrivateMethods() {
        startingWith(WithPrivate.class)
                .hasMessageContaining("WithPrivate.tick()")
                .hasMessageContaining("private methods")
                .hasMessageContaining("Make it public");
    }

    @Configuration(proxyBeanMethods = false)
    static class MadeLater {
        @Bean
        @Lazy
        WithPrivate job() {
            return new WithPrivate();
        }
    }

    /** Else the second one who asks for the bean would get it, without a guard. */
    @Test
    void refusesALazyBeanEachTimeThatItIsAskedFor() {
        Guarded.context(leases).withUserConfiguration(MadeLater.class).run(context -> {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> context.getBean(WithPrivate.class))
                        .hasRootCauseInstanceOf(UnguardableMethodException.class);
            }
        });
    }

    static class WithFinal {
        @LeaderOnly
        public final void tick() {}
    }

    @Test
    void refusesFinalMethods() {
        startingWith(WithFinal.class).hasMessageContaining("WithFinal.tick()").hasMessageContaining("final method");
    }

    static class WithStatic {
        @LeaderOnly
        public static void tick() {}
    }

    @Test
    void refusesStaticMethods() {
        startingWith(WithStatic.class).hasMessageContaining("static methods");
    }

    static class BelowAnotherPackage extends JobOfAnotherPackage {}

    @Test
    void refusesPackagePrivateMethodsOfAnotherPackage() {
        startingWith(BelowAnotherPackage.class)
                .hasMessageContaining("JobOfAnotherPackage.tick()")
                .hasMessageContaining("BelowAnotherPackage cannot override a package-private method of another package")
                .hasMessageContaining("Make it public or protected");
        assertStartsWith(JobOfAnotherPackage.class);
    }

    public static class WithPackagePrivate {
        @LeaderOnly
        void tick() {}
    }

    static class BelowAnotherClassLoader extends WithPackagePrivate {}

    /** To the virtual machine that is another package, whatever its name. */
    @Test
    void refusesPackagePrivateMethodsOfAnotherClassLoader() throws ClassNotFoundException {
        ClassLoader restarted = new OverridingClassLoader(getClass().getClassLoader()) {
            @Override
            protected boolean isEligibleForOverriding(String className) {
                return className.equals(BelowAnotherClassLoader.class.getName());
            }
        };
        startingWith(restarted.loadClass(BelowAnotherClassLoader.class.getName()))
                .hasMessageContaining("WithPackagePrivate.tick()")
                .hasMessageContaining("another package or class loader");
        assertStartsWith(BelowAnotherClassLoader.class);
    }

    static final class FinalClass {
        @LeaderOnly
        public void tick() {}
    }

    @Test
    void refusesFinalClasses() {
        startingWith(FinalClass.class).hasMessageContaining("FinalClass").hasMessageContaining("the class is final");
    }

    static class WithPrimitive {
        @LeaderOnly
        public int count() {
            return 1;
        }
    }

    @Test
    void refusesPrimitiveReturnTypesThatMayBeSkipped() {
        startingWith(WithPrimitive.class)
                .hasMessageContaining("WithPrimitive.count()")
                .hasMessageContaining("no int to return")
                .hasMessageContaining("Otherwise.THROW");
    }

    static class Starter implements ApplicationRunner {
        @Override
        @LeaderOnly
        public void run(ApplicationArguments arguments) {}
    }

    @LeaderOnly
    static class CommandLineStarter implements CommandLineRunner {
        @Override
        public void run(String... arguments) {}
    }

    /** They run before the application is ready, hence before any candidacy begins. */
    @ParameterizedTest
    @ValueSource(classes = {Starter.class, CommandLineStarter.class})
    void refusesTheRunnersOfSpringBoot(Class<?> runner) {
        startingWith(runner)
                .hasMessageContaining(runner.getSimpleName() + ".run(")
                .hasMessageContaining("before the application is ready")
                .hasMessageContaining("so that the guard would refuse it on every node")
                .hasMessageContaining("LeaseManager.acquire");
    }

    @LeaderOnly
    static class GuardedSingleton implements SmartInitializingSingleton {
        @Override
        public void afterSingletonsInstantiated() {}
    }

    static class Lifecycle implements SmartLifecycle {
        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return false;
        }
    }

    static class GuardedLifecycle extends Lifecycle {
        @Override
        @LeaderOnly
        public void start() {}
    }

    @ParameterizedTest
    @CsvSource({"GuardedSingleton, afterSingletonsInstantiated()", "GuardedLifecycle, start()"})
    void refusesWhatSpringCallsBeforeTheApplicationIsReady(String bean, String method) throws ClassNotFoundException {
        startingWith(Class.forName(getClass().getName() + "$" + bean))
                .hasMessageContaining(bean + "." + method)
                .hasMessageContaining("before the application is ready");
    }

    static class StartedByTheApplication extends GuardedLifecycle {
        @Override
        public boolean isAutoStartup() {
            return false;
        }
    }

    @Test
    void acceptsTheStartOfWhatTheApplicationStarts() {
        assertStartsWith(StartedByTheApplication.class);
    }

    static class OtherMethodOfARunner implements CommandLineRunner {
        @Override
        public void run(String... arguments) {}

        @LeaderOnly
        public void run(ApplicationArguments arguments) {}

        @LeaderOnly
        public void run(String[] arguments, int from) {}

        @LeaderOnly
        public void goOn(String... arguments) {}
    }

    static class OtherMethodsOfALifecycle extends Lifecycle {
        @LeaderOnly
        public void start(String what) {}

        @LeaderOnly
        public void goOn() {}
    }

    static class OfSuchNames {
        @LeaderOnly
        public void run(String... arguments) {}

        @LeaderOnly
        public void start() {}

        @LeaderOnly
        public void destroy() {}
    }

    @ParameterizedTest
    @ValueSource(classes = {OtherMethodOfARunner.class, OtherMethodsOfALifecycle.class, OfSuchNames.class})
    void acceptsMethodsThatSpringDoesNotCall(Class<?> bean) {
        assertStartsWith(bean);
    }

    static class Initialized {
        static final AtomicInteger RUNS = new AtomicInteger();

        @PostConstruct
        @LeaderOnly
        public void init() {
            RUNS.incrementAndGet();
        }
    }

    static class Destroyed {
        @PreDestroy
        @LeaderOnly
        public void end() {}
    }

    static class InitializedBean implements InitializingBean {
        @Override
        @LeaderOnly
        public void afterPropertiesSet() {}
    }

    static class DestroyedBean implements DisposableBean {
        @Override
        @LeaderOnly
        public void destroy() {}
    }

    /** They would run on every node. */
    @ParameterizedTest
    @ValueSource(classes = {Initialized.class, Destroyed.class, InitializedBean.class, DestroyedBean.class})
    void refusesCallbacksThatComeNotThroughTheProxy(Class<?> bean) {
        startingWith(bean).hasMessageContaining("on the bean itself").hasMessageContaining("LeaseManager.acquire");
    }

    /** Each attempt to start would run it once, on every node. */
    @Test
    void refusesACallbackBeforeItRuns() {
        startingWith(Initialized.class).hasMessageContaining("on the bean itself");
        assertThat(Initialized.RUNS).hasValue(0);
    }

    /** Spring fills in nothing there, so it offers no chance to refuse it before. */
    record InitializedRecord(int value) implements Known {
        @Override
        @PostConstruct
        @LeaderOnly
        public void known() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class RecordBehindAnInterface {
        @Bean
        Known initialized() {
            return new InitializedRecord(1);
        }
    }

    record NamedRecord(int value) implements Known {
        @Override
        @LeaderOnly
        public void known() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class RecordWithANamedMethod {
        @Bean(initMethod = "known")
        Known named() {
            return new NamedRecord(1);
        }
    }

    static class OnAKnownMethod implements Known {
        @Override
        @LeaderOnly
        public void known() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class NamedMethodOfAProxy {
        @Bean(initMethod = "known")
        Known named() {
            return (Known) new ProxyFactory(new OnAKnownMethod()).getProxy();
        }
    }

    /** Its guard comes when it was called already. */
    @Test
    void refusesACallbackBehindAProxyOfTheApplication() {
        startingWith(NamedMethodOfAProxy.class).hasMessageContaining("on the bean itself");
    }

    @ParameterizedTest
    @ValueSource(classes = {RecordBehindAnInterface.class, RecordWithANamedMethod.class})
    void refusesACallbackOfARecord(Class<?> bean) {
        startingWith(bean, "spring.aop.proxy-target-class=false").hasMessageContaining("on the bean itself");
    }

    static class InitializedByTheApplication implements InitializingBean {
        private boolean ran;

        @Override
        @LeaderOnly
        public void afterPropertiesSet() {
            ran = true;
        }
    }

    /** Of which Spring does not ask while it fills it in. */
    @Test
    void refusesACallbackOfWhatTheApplicationHasInitialized() {
        InitializedByTheApplication bean = new InitializedByTheApplication();
        Guarded.context(leases)
                .run(context -> assertThatExceptionOfType(UnguardableMethodException.class)
                        .isThrownBy(
                                () -> context.getAutowireCapableBeanFactory().initializeBean(bean, "initialized"))
                        .withMessageContaining("on the bean itself"));
        assertThat(bean.ran).isFalse();
    }

    @LeaderOnly
    static class GuardedAndInitialized {
        @PostConstruct
        void init() {}

        public void work() {}
    }

    @Test
    void acceptsCallbacksOfAGuardedClass() {
        assertStartsWith(GuardedAndInitialized.class);
    }

    static class Consuming {
        @Consume("direct:orders")
        @LeaderOnly
        public void take(String order) {}
    }

    @LeaderOnly
    static class ConsumingByTheClass {
        @Consume("direct:orders")
        public void take(String order) {}
    }

    static class ConsumingAbove {
        @Consume("direct:orders")
        public void take(String order) {}
    }

    @LeaderOnly
    static class AnnotatedBelowAConsumer extends ConsumingAbove {
        public void work() {}
    }

    /** It takes the bean before there is a proxy. */
    @ParameterizedTest
    @ValueSource(classes = {Consuming.class, ConsumingByTheClass.class, AnnotatedBelowAConsumer.class})
    void refusesWhatCamelCallsOnTheBeanItself(Class<?> bean) {
        startingWith(bean).hasMessageContaining(".take(String)").hasMessageContaining("Camel");
    }

    static class ConsumingBesides extends ConsumingAbove {
        @LeaderOnly
        public void work() {}
    }

    @Test
    void acceptsWhatCamelCallsBesideAGuardedMethod() {
        assertStartsWith(ConsumingBesides.class);
    }

    static class Opened {
        @LeaderOnly
        public void open() {}
    }

    static class Closed {
        @LeaderOnly
        public void close() {}
    }

    static class ShutDown {
        @LeaderOnly
        public void shutdown() {}
    }

    static class AutoClosed implements AutoCloseable {
        @Override
        @LeaderOnly
        public void close() {}
    }

    @LeaderOnly
    static class GuardedAndClosed {
        public void open() {}

        public void close() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class WithInitMethod {
        @Bean(initMethod = "open")
        Opened opened() {
            return new Opened();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithDestroyMethod {
        @Bean(destroyMethod = "open")
        Opened opened() {
            return new Opened();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithInferredClose {
        @Bean
        Closed closed() {
            return new Closed();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithInferredShutdown {
        @Bean
        ShutDown shutDown() {
            return new ShutDown();
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                WithInitMethod.class,
                WithDestroyMethod.class,
                WithInferredClose.class,
                WithInferredShutdown.class,
                AutoClosed.class
            })
    void refusesTheInitAndDestroyMethodsOfADefinition(Class<?> bean) {
        startingWith(bean)
                .hasMessageContaining("on the bean itself and not on its proxy")
                .hasMessageContaining("LeaseAcquiredEvent");
    }

    @Configuration(proxyBeanMethods = false)
    static class NotInferred {
        @Bean(destroyMethod = "")
        Closed closed() {
            return new Closed();
        }
    }

    static class DestroyedOtherwise extends Closed implements DisposableBean {
        @Override
        public void destroy() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class NotInferredOfADisposableBean {
        @Bean
        DestroyedOtherwise closed() {
            return new DestroyedOtherwise();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrototypeOnly {
        @Bean
        @Scope("prototype")
        Closed closed() {
            return new Closed();
        }

        @Bean
        String holder(Closed closed) {
            return "holds " + closed;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ByTheClass {
        @Bean(initMethod = "open")
        GuardedAndClosed guarded() {
            return new GuardedAndClosed();
        }
    }

    static class Made implements FactoryBean<Closed> {
        @Override
        public Closed getObject() {
            return new Closed();
        }

        @Override
        public Class<?> getObjectType() {
            return Closed.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MadeByAFactory {
        @Bean
        Made closed() {
            return new Made();
        }

        @Bean
        String holder(Closed closed) {
            return "holds " + closed;
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                NotInferred.class,
                NotInferredOfADisposableBean.class,
                PrototypeOnly.class,
                ByTheClass.class,
                MadeByAFactory.class,
                Closed.class
            })
    void acceptsMethodsOfSuchNamesThatSpringDoesNotCallOrTheClassGuards(Class<?> bean) {
        assertStartsWith(bean);
    }

    /** As Spring makes what a test asks to be autowired. */
    @Test
    void acceptsABeanWithoutADefinition() {
        Guarded.context(leases)
                .run(context -> assertThat(
                                context.getAutowireCapableBeanFactory().createBean(Closed.class))
                        .isNotNull());
    }

    @EnableScheduling
    static class OneTime {
        @Scheduled(initialDelay = 0)
        @LeaderOnly
        public void tick() {}
    }

    @LeaderOnly
    static class OneTimeByTheClass {
        @Scheduled(cron = "0 0 3 * * *")
        @Scheduled(initialDelay = 0, timeUnit = TimeUnit.SECONDS)
        public void tick() {}
    }

    @ParameterizedTest
    @ValueSource(classes = {OneTime.class, OneTimeByTheClass.class})
    void refusesOneTimeTasks(Class<?> bean) {
        startingWith(bean)
                .hasMessageContaining("neither cron nor fixedDelay nor fixedRate")
                .hasMessageContaining("so that the guard would refuse it everywhere")
                .hasMessageContaining("LeaseAcquiredEvent");
    }

    static class Repeated {
        @Scheduled(cron = "${at:-}")
        @Scheduled(fixedRate = 3_600_000)
        @Scheduled(fixedDelay = 0)
        @Scheduled(fixedRateString = "PT1H")
        @Scheduled(fixedDelayString = "PT1H", initialDelay = 0)
        @LeaderOnly
        public void tick() {}
    }

    static class Delayed {
        @Scheduled(initialDelay = 60_000)
        @Scheduled(initialDelayString = "PT1M")
        @LeaderOnly
        public void tick() {}
    }

    @ParameterizedTest
    @ValueSource(classes = {Repeated.class, Delayed.class})
    void acceptsTasksThatAreRepeatedOrComeLater(Class<?> bean) {
        assertStartsWith(bean);
    }

    @MessageMapping
    @Retention(RetentionPolicy.RUNTIME)
    @interface SomeListener {}

    static class Skipping {
        @SomeListener
        @LeaderOnly
        public void take(String message) {}
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfMessagesThatAreLost(CapturedOutput output) {
        assertStartsWith(Skipping.class);
        assertThat(output).contains("Skipping.take(String)", "message", "Otherwise.THROW", "Kafka does not");
    }

    static class SkippingActivator {
        @ServiceActivator(inputChannel = "orders")
        @LeaderOnly
        public void take(String message) {}
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfMessagesOfSpringIntegrationThatAreLost(CapturedOutput output) {
        assertStartsWith(SkippingActivator.class);
        assertThat(output).contains("SkippingActivator.take(String)", "a role of Spring Integration");
    }

    @Configuration(proxyBeanMethods = false)
    @LeaderOnly
    static class MakesAnActivator {
        @Bean
        @ServiceActivator(inputChannel = "orders")
        MessageHandler activator() {
            return message -> {};
        }
    }

    @Test
    void leavesEndpointsThatAreBeansAlone() {
        assertStartsWith(MakesAnActivator.class);
    }

    static class Refusing {
        @SomeListener
        @LeaderOnly(otherwise = LeaderOnly.Otherwise.THROW)
        public void take(String message) {}
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void doesNotWarnOfListenersThatRefuse(CapturedOutput output) {
        assertStartsWith(Refusing.class);
        assertThat(output).doesNotContain("Refusing.take");
    }

    static class TakesAFlux implements Function<Flux<String>, Flux<String>> {
        @Override
        @LeaderOnly
        public Flux<String> apply(Flux<String> messages) {
            return messages;
        }
    }

    abstract static class Taking<T> implements Consumer<T> {
        @Override
        @LeaderOnly
        public void accept(T message) {}
    }

    static class TakesAFluxByItsType extends Taking<Flux<String>> {}

    static class TakesSingleMessages extends Taking<String> {}

    @LeaderOnly
    static class SuppliesAFlux implements Supplier<Flux<String>> {
        @Override
        public Flux<String> get() {
            return Flux.empty();
        }
    }

    static class RefusesAFlux implements Consumer<Flux<String>> {
        @Override
        @LeaderOnly(otherwise = LeaderOnly.Otherwise.THROW)
        public void accept(Flux<String> messages) {}
    }

    /** Spring Cloud Stream calls them before this node can have won an election, and not again. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfFunctionsOfAFluxBesideSpringCloudStream(CapturedOutput output) {
        Guarded.context(leases)
                .withBean("org.springframework.cloud.stream.function.FunctionConfiguration", Object.class)
                .withUserConfiguration(
                        TakesAFlux.class,
                        TakesAFluxByItsType.class,
                        TakesSingleMessages.class,
                        SuppliesAFlux.class,
                        RefusesAFlux.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("TakesAFlux.apply(Flux)", "'startUpFailureTests.TakesAFluxByItsType'", "SuppliesAFlux.get()")
                .contains("also where this node leads")
                .doesNotContain("TakesSingleMessages", "RefusesAFlux");
    }

    /** The application says which ones are bound. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void doesNotWarnOfFunctionsOfAFluxThatAreNotBound(CapturedOutput output) {
        Guarded.context(leases)
                .withBean("org.springframework.cloud.stream.function.FunctionConfiguration", Object.class)
                .withPropertyValues("spring.cloud.function.definition=other; first|bound ")
                .withBean("bound", TakesAFlux.class)
                .withBean("unbound", SuppliesAFlux.class)
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains("of bean 'bound' takes or supplies").doesNotContain("SuppliesAFlux");
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void doesNotWarnOfFunctionsOfAFluxElsewhere(CapturedOutput output) {
        assertStartsWith(TakesAFlux.class);
        assertThat(output).doesNotContain("TakesAFlux.apply");
    }

    @LeaderOnly("work")
    static class Leading {
        @EventListener
        void begin(LeaseAcquiredEvent event) {}

        @EventListener({ContextClosedEvent.class, LeaseReleasedEvent.class})
        void end() {}
    }

    static class LossListener implements ApplicationListener<LeaseLostEvent> {
        @Override
        @LeaderOnly("work")
        public void onApplicationEvent(LeaseLostEvent event) {}
    }

    /** They come when the lease is not held any more. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void warnsOfGuardedListenersOfTheEndOfALease(CapturedOutput output) {
        assertStartsWith(Leading.class);
        assertStartsWith(LossListener.class);
        assertThat(output)
                .contains("Leading.end()", "LossListener.onApplicationEvent(", "refuses the end of lease 'work'")
                .doesNotContain("Leading.begin(");
    }

    static class OnReady {
        @EventListener
        @LeaderOnly
        void on(ApplicationReadyEvent event) {}
    }

    static class OnStarted {
        @EventListener(ApplicationStartedEvent.class)
        @LeaderOnly
        void on() {}
    }

    static class OnRefreshed {
        @EventListener(classes = {PayloadApplicationEvent.class, ContextRefreshedEvent.class})
        @LeaderOnly
        void on(ApplicationEvent event) {}
    }

    static class OnWebServer {
        @EventListener
        @LeaderOnly
        void on(ServletWebServerInitializedEvent event) {}
    }

    @LeaderOnly
    static class ReadyListener implements ApplicationListener<ApplicationReadyEvent> {
        @Override
        public void onApplicationEvent(ApplicationReadyEvent event) {}
    }

    abstract static class ListenerOfAnything<E extends ApplicationEvent> implements ApplicationListener<E> {
        @Override
        @LeaderOnly
        public void onApplicationEvent(E event) {}
    }

    static class StartedListener extends ListenerOfAnything<ApplicationStartedEvent> {}

    /** They come before this node can have won an election, and not again. */
    @ParameterizedTest
    @CsvSource({
        "OnReady, ApplicationReadyEvent",
        "OnStarted, ApplicationStartedEvent",
        "OnRefreshed, ContextRefreshedEvent",
        "OnWebServer, ServletWebServerInitializedEvent",
        "ReadyListener, ApplicationReadyEvent",
        "StartedListener, ApplicationStartedEvent"
    })
    void refusesListenersOfTheEventsOfTheStart(String listener, String event) throws ClassNotFoundException {
        startingWith(Class.forName(getClass().getName() + "$" + listener))
                .hasMessageContaining(event + " is published once")
                .hasMessageContaining("so that the guard would refuse it there")
                .hasMessageContaining("LeaseAcquiredEvent");
    }

    static class OnOtherEvents {
        @EventListener
        @LeaderOnly
        void on(ContextClosedEvent event) {}

        @EventListener
        @LeaderOnly
        void onAny(ApplicationEvent event) {}

        @EventListener
        void onReady(ApplicationReadyEvent event) {}

        @LeaderOnly
        void onApplicationEvent(ApplicationReadyEvent event) {}
    }

    static class ClosedListener extends ListenerOfAnything<ContextClosedEvent> {
        @LeaderOnly
        void called(ApplicationReadyEvent event) {}
    }

    @ParameterizedTest
    @ValueSource(classes = {OnOtherEvents.class, ClosedListener.class})
    void acceptsOtherListeners(Class<?> listener) {
        assertStartsWith(listener);
    }

    @LeaderOnly
    static class FinalInClass {
        public final void tick() {}
    }

    @Test
    void refusesFinalMethodsOfAnAnnotatedClass() {
        startingWith(FinalInClass.class).hasMessageContaining("FinalInClass.tick()");
    }

    interface Known {
        void known();
    }

    static class BehindAnInterface implements Known {
        @Override
        public void known() {}

        @LeaderOnly
        public void unknown() {}
    }

    @Test
    void refusesMethodsThatAnInterfaceProxyDoesNotHave() {
        startingWith(BehindAnInterface.class, "spring.aop.proxy-target-class=false")
                .hasMessageContaining("BehindAnInterface.unknown()")
                .hasMessageContaining("spring.aop.proxy-target-class=true");
        Guarded.context(leases)
                .withBean(BehindAnInterface.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoKindsOfProxies {
        @Bean
        BehindAnInterface first() {
            return new BehindAnInterface();
        }

        @Bean
        Known second() {
            return (Known) new ProxyFactory(new BehindAnInterface()).getProxy();
        }
    }

    @Test
    void refusesThemAlsoIfAnotherBeanOfTheClassHasAProxyOfTheClass() {
        startingWith(TwoKindsOfProxies.class).hasMessageContaining("BehindAnInterface.unknown() of bean 'second'");
    }

    @LeaderOnly
    static class GuardedBehindAnInterface implements Known {
        @Override
        public void known() {}

        public void unknown() {}
    }

    /** Nobody else can call them there. */
    @Test
    void acceptsMethodsOfAnAnnotatedClassThatAnInterfaceProxyDoesNotHave() {
        Guarded.context(leases)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean(GuardedBehindAnInterface.class)
                .run(context -> assertThat(context.getBean(Known.class)).matches(AopUtils::isJdkDynamicProxy));
    }

    static class PrivateBehindAnInterface implements Known {
        @Override
        public void known() {}

        @LeaderOnly
        private void hidden() {}
    }

    /** Their proxies are of one class. */
    @Test
    void refusesMethodsAlsoIfABeanOfAnotherClassHasTheSameInterfaces() {
        Guarded.context(leases)
                .withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean(GuardedBehindAnInterface.class)
                .withBean(PrivateBehindAnInterface.class)
                .run(context -> assertThat(context.getStartupFailure())
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("PrivateBehindAnInterface.hidden()"));
    }

    @EnableScheduling
    @Configuration
    static class ScheduledWithParameter {
        @Scheduled(fixedRate = 1000)
        @LeaderOnly
        public void tick(Lease lease) {}
    }

    @Test
    void refusesParametersOfScheduledMethodsAndPointsToTheCurrentLease() {
        startingWith(ScheduledWithParameter.class)
                .hasMessageContaining("ScheduledWithParameter.tick(Lease)")
                .hasMessageContaining("Lease.current()");
    }

    static class ScheduledAbove {
        @Scheduled(fixedRate = 1000)
        public void tick() {}
    }

    @LeaderOnly
    static class AnnotatedBelow extends ScheduledAbove {}

    interface ScheduledByDefault {
        @Scheduled(fixedRate = 1000)
        default void tick() {}
    }

    @LeaderOnly
    static class AnnotatedWithDefaultJob implements ScheduledByDefault {}

    @LeaderOnly
    static class AnnotatedWithPrivateJob {
        @Scheduled(fixedRate = 1000)
        private void tick() {}
    }

    static class ListenerAbove {
        @EventListener
        public void on(ContextClosedEvent event) {}
    }

    @LeaderOnly
    static class AnnotatedBelowAListener extends ListenerAbove {}

    static class MessagesAbove {
        @SomeListener
        public void take(String message) {}
    }

    @LeaderOnly
    static class AnnotatedBelowMessages extends MessagesAbove {}

    @LeaderOnly
    static class AnnotatedOverAListener extends ListenerAbove {
        @Override
        public void on(ContextClosedEvent event) {}
    }

    @Test
    void refusesListenersThatTheAnnotationOnTheClassDoesNotReach() {
        startingWith(AnnotatedBelowAListener.class)
                .hasMessageContaining("ListenerAbove.on(ContextClosedEvent)")
                .hasMessageContaining("does not reach it, because it is inherited")
                .hasMessageContaining("override the method");
        startingWith(AnnotatedBelowMessages.class).hasMessageContaining("MessagesAbove.take(String)");
        assertStartsWith(AnnotatedOverAListener.class);
    }

    @Test
    void refusesScheduledMethodsThatTheAnnotationOnTheClassDoesNotReach() {
        startingWith(AnnotatedBelow.class)
                .hasMessageContaining("ScheduledAbove.tick()")
                .hasMessageContaining("inherited");
        startingWith(AnnotatedWithDefaultJob.class)
                .hasMessageContaining("ScheduledByDefault.tick()")
                .hasMessageContaining("inherited");
        startingWith(AnnotatedWithPrivateJob.class)
                .hasMessageContaining("AnnotatedWithPrivateJob.tick()")
                .hasMessageContaining("private");
    }

    @Configuration
    static class BeanMethod {
        @LeaderOnly
        @Bean
        String text() {
            return "text";
        }
    }

    @Test
    void refusesBeanMethods() {
        startingWith(BeanMethod.class).hasMessageContaining("BeanMethod.text()").hasMessageContaining("@Bean");
    }

    static class BadMargin {
        @LeaderOnly(minRemaining = "${margin}")
        public void tick() {}
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "-2s", "-PT1S", "20"})
    void refusesMarginsThatAreNoDurations(String margin) {
        startingWith(BadMargin.class, "margin=" + margin).hasMessageContaining("minRemaining '" + margin + "'");
    }

    @Test
    void refusesPlaceholdersWithoutAValue() {
        startingWith(BadMargin.class).hasMessageContaining("'${margin}' cannot be resolved");
    }

    static class LongName {
        @LeaderOnly("${name}")
        public void tick() {}
    }

    @Test
    void refusesNamesThatAreTooLong() {
        startingWith(LongName.class, "name=" + "x".repeat(256)).hasMessageContaining("longer than 255 bytes");
    }

    static class SpecialPublisher {
        abstract static class OwnMono extends Mono<String> {}

        @LeaderOnly
        public OwnMono run() {
            return null;
        }
    }

    @Test
    void refusesPublishersThatItCannotMake() {
        startingWith(SpecialPublisher.class).hasMessageContaining("is not a OwnMono");
    }

    static class Suspending {
        @LeaderOnly
        public Object run(Continuation<? super String> rest) {
            return "ran";
        }
    }

    @EnableScheduling
    @LeaderOnly
    static class SuspendingJob {
        @Scheduled(fixedRate = 1000)
        public Object run(Continuation<? super String> rest) {
            return "ran";
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Suspending.class, SuspendingJob.class})
    void refusesSuspendingFunctions(Class<?> bean) {
        startingWith(bean).hasMessageContaining(".run(Continuation)").hasMessageContaining("suspending function");
    }

    static class KotlinFlow {
        interface StateFlow<T> extends kotlinx.coroutines.flow.Flow<T> {}

        @LeaderOnly
        public StateFlow<String> run() {
            throw new UnsupportedOperationException();
        }
    }

    /** Else the lease were asked for when the stream is made, and not when it is collected. */
    @Test
    void refusesStreamsOfKotlinThatSpringCannotAdapt() {
        startingWith(KotlinFlow.class).hasMessageContaining("kotlinx-coroutines-reactor");
    }

    static class NeverEmpty {
        record Single(Publisher<?> publisher) {}

        @LeaderOnly
        public Single run() {
            return new Single(Mono.just("ran"));
        }
    }

    static class NeverEmptyAndRefused extends NeverEmpty {
        @Override
        @LeaderOnly(otherwise = LeaderOnly.Otherwise.THROW)
        public Single run() {
            return super.run();
        }
    }

    /** RxJava's Single is one. */
    @Test
    void refusesStreamsThatCannotBeEmptyAndMayBeSkipped() {
        ReactiveAdapterRegistry.getSharedInstance()
                .registerReactiveType(
                        ReactiveTypeDescriptor.singleRequiredValue(NeverEmpty.Single.class),
                        single -> ((NeverEmpty.Single) single).publisher(),
                        NeverEmpty.Single::new);
        startingWith(NeverEmpty.class).hasMessageContaining("a Single that is skipped cannot be empty");
        assertStartsWith(NeverEmptyAndRefused.class);
    }

    static class PlainPublishers {
        @LeaderOnly
        public Flow.Publisher<String> run() {
            return null;
        }
    }

    @Test
    void acceptsPublishersOfTheJdk() {
        Guarded.context(leases)
                .withBean(PlainPublishers.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void failsWithoutALeaseManagerIfThereIsSomethingToGuard() {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class));
        runner.run(context -> assertThat(context).hasNotFailed());
        runner.withBean(BehindAnInterface.class)
                .run(context -> assertThat(context.getStartupFailure()).hasMessageContaining("no LeaseManager bean"));
    }

    private static ApplicationContextRunner withANode() {
        LeaseNode node =
                new LeaseNode(NodeSettings.standalone("n1", Duration.ofSeconds(10)), new NoTransport(), new Random(1));
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class))
                .withBean(LeaseManager.class, () -> node, definition -> definition.setDestroyMethodName(""));
    }

    @Test
    void refusesAMarginThatTheLeaseTimeNeverLeaves() {
        ApplicationContextRunner runner = withANode().withBean(BadMargin.class);
        runner.withPropertyValues("margin=10s")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("minRemaining of PT10S is never left of the lease time of PT10S"));
        runner.withPropertyValues("margin=9s")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void refusesSuchAMarginOfALazyBeanWhenItIsMade() {
        ApplicationContextRunner runner =
                withANode().withBean(BadMargin.class, BadMargin::new, definition -> definition.setLazyInit(true));
        runner.withPropertyValues("margin=10s")
                .run(context -> assertThatThrownBy(() -> context.getBean(BadMargin.class))
                        .hasRootCauseInstanceOf(UnguardableMethodException.class)
                        .hasStackTraceContaining("is never left of the lease time"));
        runner.withPropertyValues("margin=9s")
                .run(context -> assertThat(context.getBean(BadMargin.class)).isNotNull());
    }

    @Test
    void theAnalyzerSeparatesWhatIsWrongFromWhatToDo() {
        UnguardableMethodException failure =
                new UnguardableMethodException("method a.B.c()", "b", "it is final", "Remove 'final'.");
        FailureAnalysis analysis = new LeaderOnlyFailureAnalyzer().analyze(new RuntimeException("outer", failure));
        assertThat(analysis.getDescription())
                .startsWith("@LeaderOnly cannot guard method a.B.c() of bean 'b': it is final.")
                .contains("on every node");
        assertThat(analysis.getAction()).isEqualTo("Remove 'final'.");
    }

    static class AnyPublisher {
        @LeaderOnly
        public Publisher<String> run() {
            return Mono.just("ran");
        }
    }

    @Test
    void acceptsThePlainPublisherType() {
        Guarded.context(leases)
                .withBean(AnyPublisher.class)
                .run(context -> assertThat(context).hasNotFailed());
    }
}
