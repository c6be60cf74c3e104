package io.paxoslease.spring.interception;

import io.paxoslease.spring.LeaderOnly.Otherwise;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.boot.context.properties.bind.BindResult;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Proxies the beans that have methods with {@code @LeaderOnly}, and stops the start of the application where that would not guard
 * them.
 *
 * <p>A post-processor of its own, not an {@code Advisor} bean: whether Spring applies those depends on what else is on the class
 * path and on {@code spring.aop.auto}, and one that is not applied lets a job run on every node. On a bean that is proxied already, the
 * guard goes behind asynchronous execution (the lease is asked for on the thread that runs the method) and before everything else,
 * transactions for example. Spring's retries come later and go before it, so that each attempt asks for the lease.
 */
public final class LeaderOnlyBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private static final long serialVersionUID = 1L;

    private static final Log LOG = LogFactory.getLog(LeaderOnlyBeanPostProcessor.class);

    private final transient Environment environment;
    private final transient ObjectProvider<LeaderOnlyRegistry> registry;
    private final transient ObjectProvider<GuardedLeases> leases;
    private final transient Candidates candidates = new Candidates();
    private final transient Set<Class<?>> checked = ConcurrentHashMap.newKeySet();
    private transient @Nullable GuardedMethods methods;
    private transient @Nullable GuardedLeases guardedLeases;
    private transient @Nullable ConfigurableListableBeanFactory definitions;

    /**
     * Makes the post-processor. Beans are asked for when they are needed first, so that none is made too early.
     *
     * @param environment tells the default lease and the kind of proxies
     * @param registry where the names of leases go
     * @param leases decides about the calls
     */
    public LeaderOnlyBeanPostProcessor(
            Environment environment,
            ObjectProvider<LeaderOnlyRegistry> registry,
            ObjectProvider<GuardedLeases> leases) {
        this.environment = environment;
        this.registry = registry;
        this.leases = leases;
        setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        // Before the post-processors that hand beans to the containers of message listeners.
        setOrder(Ordered.LOWEST_PRECEDENCE - 100);
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        super.setBeanFactory(beanFactory);
        this.definitions = beanFactory instanceof ConfigurableListableBeanFactory listable ? listable : null;
        // A placeholder without a value is told with the other settings.
        BindResult<String> defaultLease = Binder.get(environment).bind("paxoslease.default-lease", String.class);
        GuardedMethods found = new GuardedMethods(
                new EmbeddedValueResolver((ConfigurableBeanFactory) beanFactory),
                defaultLease.isBound() ? defaultLease.get() : "leader");
        this.methods = found;
        this.advisor = new DefaultPointcutAdvisor(
                new StaticMethodMatcherPointcut() {
                    @Override
                    public boolean matches(Method method, Class<?> targetClass) {
                        return found.isGuarded(method, targetClass);
                    }
                },
                new LeaderOnlyInterceptor(found, this::guardedLeases));
    }

    private GuardedLeases guardedLeases() {
        GuardedLeases known = guardedLeases;
        if (known == null) {
            known = leases.getObject();
            guardedLeases = known;
        }
        return known;
    }

    /** Before Spring calls anything on the bean itself. */
    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
        if (candidates.mayBeGuarded(type)) {
            refuseCallbacks(beanName, type);
        }
        return true;
    }

    /** Spring does not ask the above about a record, nor about what the application has it initialize. */
    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        postProcessAfterInstantiation(bean, beanName);
        return bean;
    }

    private void refuseCallbacks(String beanName, Class<?> type) {
        refuseCallbacksOfTheDefinition(beanName, type);
        if (!checked.contains(type)) {
            MethodIntrospector.selectMethods(
                            type, (Method method) -> StartUpCalls.isCallback(method, type) ? Boolean.TRUE : null)
                    .keySet()
                    .forEach(method -> {
                        throw calledOnTheBeanItself(method, beanName);
                    });
        }
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Advisor guard = advisor;
        if (guard == null || bean instanceof AopInfrastructureBean) {
            return bean;
        }
        Class<?> targetClass = AopUtils.getTargetClass(bean);
        Object guarded = bean;
        if (bean instanceof Advised advised && !advised.isFrozen()) {
            if (isEligible(advised, targetClass) && advised.indexOf(guard) < 0) {
                advised.addAdvisor(behindAsync(advised), guard);
            }
        } else {
            guarded = proxy(bean, beanName, targetClass);
        }
        if (isEligible(targetClass)
                || (candidates.mayBeGuarded(targetClass) && GuardedMethods.isGuarded(targetClass))) {
            check(guarded, beanName, targetClass);
        } else if (guarded instanceof Advised advised) {
            for (Class<?> type : advised.getProxiedInterfaces()) {
                if (isEligible(type)) {
                    check(guarded, beanName, type);
                }
            }
        }
        return guarded;
    }

    @Override
    protected boolean isEligible(Class<?> targetClass) {
        return candidates.mayBeGuarded(targetClass) && super.isEligible(targetClass);
    }

    private boolean isEligible(Advised advised, Class<?> targetClass) {
        if (isEligible(targetClass)) {
            return true;
        }
        for (Class<?> type : advised.getProxiedInterfaces()) {
            if (isEligible(type)) {
                return true;
            }
        }
        return false;
    }

    private static int behindAsync(Advised advised) {
        Advisor[] advisors = advised.getAdvisors();
        for (int i = advisors.length; i > 0; i--) {
            if (advisors[i - 1].getAdvice() instanceof AsyncExecutionInterceptor) {
                return i;
            }
        }
        return 0;
    }

    private Object proxy(Object bean, String beanName, Class<?> targetClass) {
        try {
            return super.postProcessAfterInitialization(bean, beanName);
        } catch (AopConfigException impossible) {
            throw new UnguardableMethodException(
                    "class " + targetClass.getName(),
                    beanName,
                    Modifier.isFinal(targetClass.getModifiers())
                            ? "the class is final, so that no proxy can extend it"
                            : "no proxy can extend the class (" + impossible.getMessage() + ")",
                    "Make the class neither final nor private (in Kotlin: open, or the compiler plugin 'spring'), or move the"
                            + " method to another bean.");
        }
    }

    /** Fails unless all that is annotated is guarded; remembers the leases. */
    private void check(Object bean, String beanName, Class<?> targetClass) {
        Class<?> type = ClassUtils.getUserClass(targetClass);
        boolean byInterface = Proxy.isProxyClass(bean.getClass());
        Class<?> checkedAs = byInterface && !type.isInterface() ? bean.getClass() : type;
        if (checked.contains(checkedAs)) {
            return;
        }
        GuardedMethods found = Objects.requireNonNull(methods);
        Map<Method, Boolean> annotated = MethodIntrospector.selectMethods(
                type, (Method method) -> found.isGuarded(method, type) ? Boolean.TRUE : null);
        for (Method method : annotated.keySet()) {
            if (byInterface && !GuardedMethods.isAnnotated(method) && !isOnInterface(method, bean, type)) {
                // By the class, and nobody else can call it.
                continue;
            }
            requireProxied(method, bean, beanName, type, byInterface);
            if (!(bean instanceof Advised advised) || advised.indexOf(Objects.requireNonNull(advisor)) < 0) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "the bean is a frozen proxy, which takes no more advice",
                        "Do not freeze the proxy, or annotate the methods of its interfaces.");
            }
            GuardedMethod guarded = Objects.requireNonNull(found.get(method, type, beanName));
            if (guarded.scheduled() && method.getParameterCount() > 0) {
                throw GuardedMethods.unguardable(
                        method,
                        beanName,
                        "Spring calls @Scheduled methods without arguments only",
                        "Remove the parameter and call Lease.current() inside the method for the lease it runs under.");
            }
            refuseCallsAtTheStart(method, beanName, type);
            if (guarded.otherwise() == Otherwise.SKIP && GuardedMethods.isMessageListener(method)) {
                LOG.warn("The @LeaderOnly method " + GuardedMethods.describe(method) + " of bean '" + beanName
                        + "' takes messages also where this node does not lead, and skips them there: they are lost. Set"
                        + " otherwise = Otherwise.THROW and let the broker deliver again, or start the container on"
                        + " LeaseAcquiredEvent and stop it when the lease ends.");
            }
            if (StartUpCalls.isToldOfAnEnd(method, type)) {
                LOG.warn("The @LeaderOnly method " + GuardedMethods.describe(method) + " of bean '" + beanName
                        + "' listens to the end of leases, which comes when this node does not hold the lease any more: the"
                        + " guard refuses the end of lease '" + guarded.leaseName()
                        + "' itself. Do without the annotation"
                        + " there; if it is on the class, move it to the methods that need it.");
            }
            registry.getObject().add(guarded, beanName);
        }
        if (GuardedMethods.isGuarded(type)) {
            MethodIntrospector.selectMethods(
                            type, (Method method) -> GuardedMethods.isCalledBySpring(method) ? Boolean.TRUE : null)
                    .keySet()
                    .forEach(method -> requireReached(method, beanName, found, type));
        }
        // Not before: a lazy bean that was refused may be asked for again.
        checked.add(checkedAs);
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
        for (Class<?> each : ClassUtils.getAllInterfaces(bean)) {
            for (Method candidate : each.getMethods()) {
                if (candidate.getName().equals(method.getName())
                        && (candidate.equals(method)
                                || AopUtils.getMostSpecificMethod(candidate, type)
                                        .equals(method))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** An annotation on the class does not reach every method; what seems guarded and is not would run on every node. */
    private static void requireReached(Method method, String beanName, GuardedMethods found, Class<?> type) {
        if (found.isGuarded(method, type)) {
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
