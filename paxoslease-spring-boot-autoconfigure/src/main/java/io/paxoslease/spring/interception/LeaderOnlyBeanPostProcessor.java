package io.paxoslease.spring.interception;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;
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
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Proxies the beans that have methods with {@code @LeaderOnly}, and has {@link GuardCheck} stop the start of the application where that would
 * not guard them.
 *
 * <p>A post-processor of its own, not an {@code Advisor} bean: whether Spring applies those depends on what else is on the class
 * path and on {@code spring.aop.auto}, and one that is not applied lets a job run on every node. On a bean that is proxied already, the
 * guard goes behind asynchronous execution (the lease is asked for on the thread that runs the method) and before everything else,
 * transactions for example. Retries of Spring Framework come later and go before it, so that each attempt asks for the lease.
 */
public final class LeaderOnlyBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private static final long serialVersionUID = 1L;

    private final transient Environment environment;
    private final transient ObjectProvider<LeaderOnlyRegistry> registry;
    private final transient ObjectProvider<GuardedLeases> leases;
    private final transient FirstLook firstLook;
    private final transient Candidates candidates;
    private transient @Nullable GuardCheck check;
    private transient @Nullable GuardedLeases guardedLeases;

    /**
     * Makes the post-processor. Beans are asked for when they are needed first, so that none is made too early.
     *
     * @param environment tells the default lease and the kind of proxies
     * @param registry where the names of leases go
     * @param leases decides about the calls
     * @param firstLook knows what beans were before other post-processors had them
     */
    public LeaderOnlyBeanPostProcessor(
            Environment environment,
            ObjectProvider<LeaderOnlyRegistry> registry,
            ObjectProvider<GuardedLeases> leases,
            FirstLook firstLook) {
        this.environment = environment;
        this.registry = registry;
        this.leases = leases;
        this.firstLook = firstLook;
        this.candidates = firstLook.candidates();
        setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        // Before the post-processors that hand beans to the containers of message listeners.
        setOrder(Ordered.LOWEST_PRECEDENCE - 100);
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        super.setBeanFactory(beanFactory);
        // A placeholder without a value is told with the other settings.
        BindResult<String> defaultLease = Binder.get(environment).bind("paxoslease.default-lease", String.class);
        GuardedMethods found = new GuardedMethods(
                new EmbeddedValueResolver((ConfigurableBeanFactory) beanFactory),
                defaultLease.isBound() ? defaultLease.get() : "leader");
        Advisor guard = new DefaultPointcutAdvisor(
                new StaticMethodMatcherPointcut() {
                    @Override
                    public boolean matches(Method method, Class<?> targetClass) {
                        return found.isGuarded(method, targetClass);
                    }
                },
                new LeaderOnlyInterceptor(found, this::guardedLeases));
        this.advisor = guard;
        this.check = new GuardCheck(
                found,
                guard,
                registry,
                beanFactory instanceof ConfigurableListableBeanFactory definitions ? definitions : null);
    }

    private GuardedLeases guardedLeases() {
        GuardedLeases known = guardedLeases;
        if (known == null) {
            known = leases.getObject();
            guardedLeases = known;
        }
        return known;
    }

    private GuardCheck check() {
        return Objects.requireNonNull(check);
    }

    /** Before Spring calls anything on the bean itself. */
    @Override
    public boolean postProcessAfterInstantiation(Object bean, String beanName) {
        Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
        if (candidates.mayBeGuarded(type)) {
            check().refuseCallbacks(beanName, type);
        }
        return true;
    }

    /** Spring does not ask the above about a record, nor about what the application has it initialize. */
    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        postProcessAfterInstantiation(bean, beanName);
        return bean;
    }

    /** Whoever gets the bean while it is being made would call it without its guard. */
    @Override
    public Object getEarlyBeanReference(Object bean, String beanName) {
        Class<?> type = ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
        if (isEligible(type)) {
            throw new UnguardableMethodException(
                    "class " + type.getName(),
                    beanName,
                    "another bean asks for it while it is still being made, in a circle of references, and would get it without its"
                            + " guard",
                    "Break the circle, or let the other bean ask later (@Lazy, ObjectProvider).");
        }
        return bean;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> made = firstLook.takeMade(beanName);
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
            check().requireGuarded(guarded, beanName, targetClass);
        } else if (guarded instanceof Advised advised) {
            for (Class<?> type : advised.getProxiedInterfaces()) {
                if (isEligible(type)) {
                    check().requireGuarded(guarded, beanName, type);
                }
            }
        }
        if (made != null && !made.isAssignableFrom(targetClass)) {
            check().requireNotHidden(guarded, beanName, made);
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
}
