package io.paxoslease.spring.interception;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.util.ClassUtils;

/**
 * Sees each bean before any other post-processor does. So it knows what a bean was if one of them puts something else in its place that hides the
 * annotations, and has guarded at once what is made before the guards have their turn: because another post-processor needs it, say. Warns of
 * objects that Spring hands to no post-processor here. Safe to use from any thread.
 */
public final class FirstLook
        implements BeanDefinitionRegistryPostProcessor, ApplicationListener<ContextRefreshedEvent>, Ordered {

    private static final Log LOG = LogFactory.getLog(FirstLook.class);
    private static final String GUARDS = "paxosLeaseLeaderOnlyBeanPostProcessor";

    private final Candidates candidates = new Candidates();
    /** The classes of beans that a thread initializes and that may be guarded, by their names. Others may make others of the same name. */
    private final ThreadLocal<Map<String, Class<?>>> made = ThreadLocal.withInitial(HashMap::new);

    private @Nullable BeanFactory own;

    /** Makes the object. */
    public FirstLook() {}

    /** Before the other ones that can ask for beans. */
    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        // Definitions stay as they are.
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
        own = factory;
        warnOfUnguarded(
                factory,
                name -> factory.containsBeanDefinition(name)
                        ? "was made before post-processors, because a BeanDefinitionRegistryPostProcessor needs it"
                        : null);
        for (BeanFactory above = factory.getParentBeanFactory();
                above instanceof ConfigurableListableBeanFactory parent;
                above = parent.getParentBeanFactory()) {
            warnOfOther(parent, "is of a parent context, which is not auto-configured itself");
        }
        if (factory instanceof AbstractBeanFactory beans) {
            // No bean itself: as one it would be registered again with the others, behind them.
            beans.addBeanPostProcessor(new First(beans));
        }
    }

    /** Child contexts tell their parents of it. */
    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext().getAutowireCapableBeanFactory()
                instanceof ConfigurableListableBeanFactory factory) {
            if (factory == own) {
                warnOfUnguarded(factory, name -> whyUnseen(factory, name));
            } else {
                warnOfOther(factory, "is of a child context, which is not auto-configured itself");
            }
        }
    }

    /** A context with guards warns of its beans itself, and knows which of them are in the place of others. */
    private void warnOfOther(ConfigurableListableBeanFactory factory, String why) {
        if (!factory.containsLocalBean(GUARDS)) {
            warnOfUnguarded(factory, name -> why);
        }
    }

    /** Null if post-processors saw it; also of an object in the place of a bean, which the mock of a test is. */
    private @Nullable String whyUnseen(ConfigurableListableBeanFactory factory, String name) {
        if (!factory.containsBeanDefinition(name)) {
            return "was registered as an object, which no post-processor of Spring sees";
        }
        if (factory.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition
                && definition.isSynthetic()) {
            return "has a definition that is synthetic, so that no post-processor of Spring sees it";
        }
        return made.get().containsKey(name)
                ? "came to no further post-processors, because one of them returned null for it"
                : null;
    }

    /** Of those for which there is a reason. */
    private void warnOfUnguarded(ConfigurableListableBeanFactory factory, Function<String, @Nullable String> reason) {
        for (String name : factory.getSingletonNames()) {
            String why = reason.apply(name);
            // One that is still being made would be handed out too early.
            Object bean = why != null && factory.containsSingleton(name) ? factory.getSingleton(name) : null;
            if (bean != null && mayBeGuarded(bean) && !hasGuard(bean)) {
                LOG.warn("The methods with @LeaderOnly of bean '" + name + "' ("
                        + bean.getClass().getName() + ") are not guarded and run on every node: it " + why);
            }
        }
    }

    /** Also behind the proxies of others. */
    private static boolean hasGuard(@Nullable Object bean) {
        return bean instanceof Advised advised
                && (Stream.of(advised.getAdvisors()).anyMatch(each -> each.getAdvice() instanceof LeaderOnlyInterceptor)
                        || hasGuard(AopProxyUtils.getSingletonTarget(bean)));
    }

    /** What is infrastructure hands calls on to a bean that is guarded itself, and may have to make it to tell its class. */
    private boolean mayBeGuarded(Object bean) {
        try {
            return !(bean instanceof AopInfrastructureBean) && candidates.mayBeGuarded(userClass(bean));
        } catch (RuntimeException | LinkageError unknown) {
            // What an optional library that is missing keeps from being looked at. Where the guards have their turn,
            // they fail.
            return false;
        }
    }

    private static Class<?> userClass(Object bean) {
        return ClassUtils.getUserClass(AopUtils.getTargetClass(bean));
    }

    Candidates candidates() {
        return candidates;
    }

    /** What a bean was before other post-processors had it, null if that may not be guarded; forgets it. */
    @Nullable
    Class<?> takeMade(String beanName) {
        return made.get().remove(beanName);
    }

    /** In front of the others. */
    private final class First implements BeanPostProcessor {
        private final AbstractBeanFactory factory;

        First(AbstractBeanFactory factory) {
            this.factory = factory;
        }

        @Override
        public Object postProcessBeforeInitialization(Object bean, String beanName) {
            // The last one of the name may have failed half-way.
            takeMade(beanName);
            LeaderOnlyBeanPostProcessor early = look(bean, beanName);
            return early == null ? bean : early.postProcessBeforeInitialization(bean, beanName);
        }

        /** Also of what a factory bean made, of which Spring tells nothing before. */
        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            LeaderOnlyBeanPostProcessor early = look(bean, beanName);
            return early == null ? bean : early.postProcessAfterInitialization(bean, beanName);
        }

        /** Answers who guards it, unless that has its turn later. */
        private @Nullable LeaderOnlyBeanPostProcessor look(Object bean, String beanName) {
            if (!mayBeGuarded(bean)) {
                return null;
            }
            made.get().put(beanName, userClass(bean));
            LeaderOnlyBeanPostProcessor guards = factory.getBean(GUARDS, LeaderOnlyBeanPostProcessor.class);
            return factory.getBeanPostProcessors().contains(guards) ? null : guards;
        }
    }
}
