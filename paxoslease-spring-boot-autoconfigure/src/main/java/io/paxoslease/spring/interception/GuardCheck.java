package io.paxoslease.spring.interception;

import io.paxoslease.spring.LeaderOnly.Otherwise;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Stops the start of the application where a method that is annotated would run without its guard, or its guard would always refuse it; warns where
 * it would lose something. What is guarded goes to the registry. Safe to use from any thread.
 */
final class GuardCheck {

    private static final Log LOG = LogFactory.getLog(GuardCheck.class);

    /** ShedLock's advice of the scheduler is in there; it locks before anything is called. By its name, because applications may not have it. */
    private static final String LOCKING_SCHEDULER =
            "net.javacrumbs.shedlock.spring.aop.SchedulerProxyLockConfiguration";

    /** Likewise for Spring Cloud Stream, which binds functions with it. */
    private static final String BINDS_FUNCTIONS = "org.springframework.cloud.stream.function.FunctionConfiguration";

    private final GuardedMethods methods;
    private final Advisor guard;
    private final ObjectProvider<LeaderOnlyRegistry> registry;
    private final @Nullable ConfigurableListableBeanFactory definitions;
    private final Set<Checked> checked = ConcurrentHashMap.newKeySet();
    private final Set<Class<?>> withoutCallbacks = ConcurrentHashMap.newKeySet();

    GuardCheck(
            GuardedMethods methods,
            Advisor guard,
            ObjectProvider<LeaderOnlyRegistry> registry,
            @Nullable ConfigurableListableBeanFactory definitions) {
        this.methods = methods;
        this.guard = guard;
        this.registry = registry;
        this.definitions = definitions;
    }

    /** What beans have in common that need one check: a proxy made of interfaces tells nothing of the class behind it, nor of its advice. */
    private record Checked(Class<?> type, Class<?> proxy, boolean guarded) {}

    /** Fails if an annotated method of a bean is called on the bean itself: by Spring when it is initialized or destroyed, or by Camel. */
    void refuseCallbacks(String beanName, Class<?> type) {
        refuseCallbacksOfTheDefinition(beanName, type);
        if (!withoutCallbacks.contains(type)) {
            methodsOf(type, method -> StartUpCalls.isCallback(method, type)).forEach(method -> {
                throw calledOnTheBeanItself(method, beanName);
            });
            methodsOf(type, method -> GuardedMethods.isCalledByCamel(method) && isMeant(method, type))
                    .forEach(method -> {
                        throw calledByCamel(method, beanName);
                    });
            withoutCallbacks.add(type);
        }
    }

    private boolean isMeant(Method method, Class<?> type) {
        return GuardedMethods.isGuarded(type) || methods.isGuarded(method, type);
    }

    private static Set<Method> methodsOf(Class<?> type, ReflectionUtils.MethodFilter which) {
        return MethodIntrospector.selectMethods(type, which);
    }

    /** For each bean, because another one of the class may be defined without. */
    private void refuseCallbacksOfTheDefinition(String beanName, Class<?> type) {
        ConfigurableListableBeanFactory factory = definitions;
        if (factory == null || !factory.containsBeanDefinition(beanName)) {
            return;
        }
        StartUpCalls.callbacks(factory.getMergedBeanDefinition(beanName), type)
                .filter(GuardedMethods::isAnnotated)
                .findFirst()
                .ifPresent(method -> {
                    throw calledOnTheBeanItself(method, beanName);
                });
    }

    private static UnguardableMethodException calledOnTheBeanItself(Method method, String beanName) {
        return GuardedMethods.unguardable(
                method,
                beanName,
                "Spring calls it on the bean itself and not on its proxy, so that it would run on every node",
                "Call LeaseManager.acquire inside the method, or do the work in a listener of LeaseAcquiredEvent or"
                        + " LeaseLostEvent.");
    }

    private static UnguardableMethodException calledByCamel(Method method, String beanName) {
        return GuardedMethods.unguardable(
                method,
                beanName,
                "Camel calls methods with @Consume on the bean itself and not on its proxy, so that it would run on every node",
                "Have a route call the bean by its name, which gets the proxy; if the annotation is on the class, it may be moved to"
                        + " the methods that need it.");
    }

    /** Fails unless all that is annotated is guarded; remembers the leases. */
    void requireGuarded(Object bean, String beanName, Class<?> targetClass) {
        Class<?> type = ClassUtils.getUserClass(targetClass);
        boolean byInterface = Proxy.isProxyClass(bean.getClass());
        boolean hasGuard = bean instanceof Advised advised && advised.indexOf(guard) >= 0;
        Checked check = new Checked(type, bean.getClass(), hasGuard);
        if (checked.contains(check)) {
            return;
        }
        for (Method method : methodsOf(type, method -> methods.isGuarded(method, type))) {
            if (byInterface && !GuardedMethods.isAnnotated(method) && !isOnInterface(method, bean, type)) {
                // By the class, and nobody else can call it.
                continue;
            }
            requireProxied(method, bean, beanName, type, byInterface);
            if (!hasGuard) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "the bean is a frozen proxy, which takes no more advice",
                        "Do not freeze the proxy, or annotate the methods of its interfaces.");
            }
            GuardedMethod guarded = Objects.requireNonNull(methods.get(method, type, beanName));
            if (guarded.scheduled() && method.getParameterCount() > 0) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "Spring calls @Scheduled methods without arguments only",
                        "Remove the parameter and call Lease.current() inside the method for the lease it runs under.");
            }
            if (guarded.scheduled() && GuardedMethods.isLockedByShedLock(method) && hasBean(LOCKING_SCHEDULER)) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "with interceptMode = PROXY_SCHEDULER its @SchedulerLock is taken before the guard is asked, so that a node"
                                + " which does not lead would take the lock and keep the one that leads from running",
                        "Remove interceptMode from @EnableSchedulerLock: then the guard is asked first. Or do without one of the"
                                + " two annotations.");
            }
            refuseCallsAtTheStart(method, beanName, type);
            warnOfLosses(guarded, method, beanName, type);
            registry.getObject().add(guarded, beanName);
        }
        if (GuardedMethods.isGuarded(type)) {
            methodsOf(type, GuardedMethods::isCalledBySpring).forEach(method -> requireReached(method, beanName, type));
        }
        // Not before: a lazy bean that was refused may be asked for again.
        checked.add(check);
    }

    /** Fails if what another post-processor has put in the place of a bean guards less than the class of the bean asks for. */
    void requireNotHidden(Object bean, String beanName, Class<?> made) {
        for (Method method : methodsOf(made, method -> methods.isGuarded(method, made))) {
            boolean asked = GuardedMethods.isAnnotated(method) || isOnInterface(method, bean, made);
            if (!(bean instanceof Advised advised && advised.indexOf(guard) >= 0)
                    || (asked && !isGuardedByInterface(method, advised, made))) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "another BeanPostProcessor has put an object of " + AopUtils.getTargetClass(bean)
                                + " in its place, which hides the annotation",
                        "Annotate the method of the interface, or have that post-processor make its proxies with Spring's"
                                + " ProxyFactory, or in postProcessAfterInitialization and without Ordered, so that it comes later.");
            }
        }
    }

    private boolean isGuardedByInterface(Method method, Advised bean, Class<?> made) {
        return onInterfaces(method, bean, made).anyMatch(each -> methods.isGuarded(each, bean.getTargetClass()));
    }

    private boolean hasBean(String name) {
        ConfigurableListableBeanFactory factory = definitions;
        return factory != null && factory.containsBean(name);
    }

    /** Unless the application says which functions are bound, and names others. */
    private boolean mayBeBound(String beanName) {
        ConfigurableListableBeanFactory factory = Objects.requireNonNull(definitions);
        String named = factory.resolveEmbeddedValue("${spring.cloud.function.definition:}");
        return named == null
                || named.isBlank()
                || List.of(named.trim().split("\\s*[;|,]\\s*")).contains(beanName);
    }

    private void warnOfLosses(GuardedMethod guarded, Method method, String beanName, Class<?> type) {
        if (guarded.otherwise() == Otherwise.SKIP && GuardedMethods.isMessageListener(method)) {
            LOG.warn("The @LeaderOnly method " + GuardedMethods.describe(method) + " of bean '" + beanName
                    + "' takes messages also where this node does not lead, and skips them there: they are lost. Start the"
                    + " container on LeaseAcquiredEvent and stop it when the lease ends, or give the endpoint a role of Spring"
                    + " Integration; or, if the broker delivers again what fails, later and to other nodes, set otherwise ="
                    + " Otherwise.THROW. Kafka does not.");
        }
        if (guarded.otherwise() == Otherwise.SKIP
                && StartUpCalls.isFunctionOfAFlux(method, type)
                && hasBean(BINDS_FUNCTIONS)
                && mayBeBound(beanName)) {
            LOG.warn("The @LeaderOnly method " + GuardedMethods.describe(method) + " of bean '" + beanName
                    + "' takes or supplies a Flux. If Spring Cloud Stream binds it, and does not poll it (@PollableBean), it is called once,"
                    + " for all messages to come, while the application starts and the guard refuses it: it handles nothing afterwards,"
                    + " also where this node leads."
                    + " Guard a function of single messages, or a method of another bean that it calls for each.");
        }
        if (StartUpCalls.isToldOfAnEnd(method, type)) {
            LOG.warn("The @LeaderOnly method " + GuardedMethods.describe(method) + " of bean '" + beanName
                    + "' listens to the end of leases, which comes when this node does not hold the lease any more: the"
                    + " guard refuses the end of lease '" + guarded.leaseName()
                    + "' itself. Do without the annotation"
                    + " there; if it is on the class, move it to the methods that need it.");
        }
    }

    private static void refuseCallsAtTheStart(Method method, String beanName, Class<?> type) {
        if (StartUpCalls.isBeforeReady(method, type)) {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    "Spring calls it before the application is ready, when no candidacy has begun, so that the guard"
                            + " would refuse it on every node",
                    "Call LeaseManager.acquire inside the method to wait for the lease, or do the work in a listener of"
                            + " LeaseAcquiredEvent; if the annotation is on the class, it may be moved to the methods that"
                            + " need it.");
        }
        if (StartUpCalls.isOneTimeTaskAtOnce(method)) {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    "its @Scheduled has neither cron nor fixedDelay nor fixedRate nor a delay: every node comes to it once at its"
                            + " start, before it can have won an election, so that the guard would refuse it everywhere",
                    "Give it a cron expression or a period, or do the work in a listener of LeaseAcquiredEvent; if the"
                            + " annotation is on the class, it may be moved to the methods that need it.");
        }
        StartUpCalls.event(method, type).ifPresent(event -> {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    event.getSimpleName()
                            + " is published once, when this node cannot have won an election in its cell yet, so"
                            + " that the guard would refuse it there",
                    "Do the work in a listener of LeaseAcquiredEvent or in a @Scheduled method; if the annotation is on the"
                            + " class, it may be moved to the methods that need it.");
        });
    }

    private static void requireProxied(
            Method method, Object bean, String beanName, Class<?> type, boolean byInterface) {
        int modifiers = method.getModifiers();
        if (Modifier.isStatic(modifiers)) {
            throw GuardedMethods.unguardable(
                    method, beanName, "a proxy does not see calls of static methods", "Make it an instance method.");
        }
        if (Modifier.isPrivate(modifiers)) {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    "a proxy does not see calls of private methods",
                    "Make it public, protected or package-private.");
        }
        if (MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Bean.class)) {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    "the container calls @Bean methods to make beans, on every node",
                    "Annotate the methods of the bean that it makes, or their class.");
        }
        if (byInterface) {
            if (!isOnInterface(method, bean, type)) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "the bean's proxy is made of interfaces and none of them has the method",
                        "Add the method to an interface of the class, or let Spring proxy classes"
                                + " (spring.aop.proxy-target-class=true, the default).");
            }
        } else if (Modifier.isFinal(modifiers)) {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    "a proxy cannot override a final method",
                    "Remove 'final' (in Kotlin: open, or the compiler plugin 'spring').");
        } else if (isOutOfReach(method, bean.getClass())) {
            throw GuardedMethods.unguardable(
                    method,
                    beanName,
                    "a proxy of " + type.getName()
                            + " cannot override a package-private method of another package or class" + " loader",
                    "Make it public or protected.");
        }
    }

    /** A method of the same name in such a class is another method, and callers of this one do not reach it. */
    private static boolean isOutOfReach(Method method, Class<?> proxy) {
        int modifiers = method.getModifiers();
        Class<?> declaring = method.getDeclaringClass();
        return !Modifier.isPublic(modifiers)
                && !Modifier.isProtected(modifiers)
                && (declaring.getClassLoader() != proxy.getClassLoader()
                        || !declaring.getPackageName().equals(proxy.getPackageName()));
    }

    private static boolean isOnInterface(Method method, Object bean, Class<?> type) {
        return onInterfaces(method, bean, type).findAny().isPresent();
    }

    /** The methods of a bean's interfaces by which it is called. */
    private static Stream<Method> onInterfaces(Method method, Object bean, Class<?> type) {
        return Stream.of(ClassUtils.getAllInterfaces(bean))
                .flatMap(each -> Stream.of(each.getMethods()))
                .filter(each -> each.equals(method) || GuardedMethods.isImplementedBy(method, each, type));
    }

    /** An annotation on the class does not reach every method; what seems guarded and is not would run on every node. */
    private void requireReached(Method method, String beanName, Class<?> type) {
        if (methods.isGuarded(method, type)) {
            return;
        }
        throw GuardedMethods.unguardable(
                method,
                beanName,
                "Spring calls it, but the annotation on class " + type.getName() + " does not reach it, because it is "
                        + (Modifier.isPrivate(method.getModifiers())
                                ? "private"
                                : Modifier.isStatic(method.getModifiers()) ? "static" : "inherited"),
                Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers())
                        ? "Make it an instance method that is not private."
                        : "Annotate the class that declares the method, or override the method.");
    }
}
