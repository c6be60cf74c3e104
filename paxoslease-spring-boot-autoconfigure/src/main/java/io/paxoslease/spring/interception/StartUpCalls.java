package io.paxoslease.spring.interception;

import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Tells the methods that are called when this node does not lead: once, while the application starts and no election can have been won
 * yet, or when a lease has ended.
 */
final class StartUpCalls {

    private static final List<Class<?>> EVENTS =
            List.of(ContextRefreshedEvent.class, ApplicationStartedEvent.class, ApplicationReadyEvent.class);

    /** By its name, because applications without a web server do not have it. */
    private static final String WEB_SERVER_EVENT =
            "org.springframework.boot.web.server.context.WebServerInitializedEvent";

    private static final List<String> CALLBACKS =
            List.of("jakarta.annotation.PostConstruct", "jakarta.annotation.PreDestroy");

    private StartUpCalls() {}

    /** Whether Spring calls it once, before the application is ready. */
    static boolean isBeforeReady(Method method, Class<?> type) {
        return isRunner(method, type)
                || implementsIt(method, "afterSingletonsInstantiated", SmartInitializingSingleton.class, type)
                || (implementsIt(method, "start", SmartLifecycle.class, type) && startsByItself(type));
    }

    private static boolean implementsIt(Method method, String name, Class<?> callback, Class<?> type) {
        return method.getName().equals(name) && method.getParameterCount() == 0 && callback.isAssignableFrom(type);
    }

    /** Unless the class says something about it: then the application may be who calls. */
    private static boolean startsByItself(Class<?> type) {
        return ClassUtils.getMethod(type, "isAutoStartup").getDeclaringClass() == SmartLifecycle.class;
    }

    private static boolean isRunner(Method method, Class<?> type) {
        Class<?>[] parameters = method.getParameterTypes();
        return method.getName().equals("run")
                && parameters.length == 1
                && ((parameters[0] == ApplicationArguments.class && ApplicationRunner.class.isAssignableFrom(type))
                        || (parameters[0] == String[].class && CommandLineRunner.class.isAssignableFrom(type)));
    }

    /** Whether it is guarded by itself and called on the bean in its proxy, whoever leads. A class may be guarded and have such methods. */
    static boolean isCallback(Method method, Class<?> type) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return annotations.isPresent(LeaderOnly.class)
                && (CALLBACKS.stream().anyMatch(annotations::isPresent)
                        || implementsIt(method, "afterPropertiesSet", InitializingBean.class, type)
                        || implementsIt(method, "destroy", DisposableBean.class, type));
    }

    /** The methods that the definition of a bean names, or leaves to be found, to be called on the bean at its beginning and end. */
    static Stream<Method> callbacks(BeanDefinition definition, Class<?> type) {
        if (!(definition instanceof AbstractBeanDefinition known)) {
            return Stream.empty();
        }
        Stream<String> init = namesOf(known.getInitMethodNames());
        return Stream.concat(init, known.isPrototype() ? Stream.empty() : destroyMethods(known, type))
                .map(name -> ReflectionUtils.findMethod(type, name))
                .filter(Objects::nonNull);
    }

    private static Stream<String> namesOf(String @Nullable [] names) {
        return names == null ? Stream.empty() : Stream.of(names);
    }

    /** As the container finds them: of a class that is closeable also without being told to. */
    private static Stream<String> destroyMethods(AbstractBeanDefinition definition, Class<?> type) {
        String[] names = definition.getDestroyMethodNames();
        boolean closeable = AutoCloseable.class.isAssignableFrom(type);
        boolean infers =
                names == null ? closeable : names.length == 1 && AbstractBeanDefinition.INFER_METHOD.equals(names[0]);
        if (!infers) {
            return namesOf(names);
        }
        return DisposableBean.class.isAssignableFrom(type)
                ? Stream.empty()
                : Stream.of(ClassUtils.hasMethod(type, "close") ? "close" : "shutdown");
    }

    /** Whether one of its schedules has neither a period nor a delay in which an election could be won. */
    static boolean isOneTimeTaskAtOnce(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).stream(Scheduled.class)
                .anyMatch(StartUpCalls::isOneTimeAtOnce);
    }

    private static boolean isOneTimeAtOnce(MergedAnnotation<Scheduled> scheduled) {
        return Stream.of("cron", "fixedDelayString", "fixedRateString", "initialDelayString")
                        .noneMatch(period -> StringUtils.hasText(scheduled.getString(period)))
                && scheduled.getLong("fixedDelay") < 0
                && scheduled.getLong("fixedRate") < 0
                && scheduled.getLong("initialDelay") <= 0;
    }

    /** The event of the start that the method listens to, be it among others. */
    static Optional<Class<?>> event(Method method, Class<?> type) {
        return listenedTo(method, type)
                .filter(event -> EVENTS.contains(event) || GuardedMethods.isA(WEB_SERVER_EVENT, event))
                .findFirst();
    }

    /** Whether it is a function that takes a {@code Flux}, or supplies one: Spring Cloud Stream calls it once, for all messages to come. */
    static boolean isFunctionOfAFlux(Method method, Class<?> type) {
        String name = method.getName();
        if (method.getParameterCount() == 0) {
            return name.equals("get")
                    && Supplier.class.isAssignableFrom(type)
                    && isFlux(ResolvableType.forMethodReturnType(method, type));
        }
        return method.getParameterCount() == 1
                && ((name.equals("apply") && Function.class.isAssignableFrom(type))
                        || (name.equals("accept") && Consumer.class.isAssignableFrom(type)))
                && isFlux(ResolvableType.forMethodParameter(method, 0, type));
    }

    private static boolean isFlux(ResolvableType type) {
        return GuardedMethods.isA("reactor.core.publisher.Flux", type.toClass());
    }

    /** Whether it listens to the end of leases, be it among others. */
    static boolean isToldOfAnEnd(Method method, Class<?> type) {
        return listenedTo(method, type)
                .anyMatch(event -> LeaseLostEvent.class.isAssignableFrom(event)
                        || LeaseReleasedEvent.class.isAssignableFrom(event));
    }

    private static Stream<Class<?>> listenedTo(Method method, Class<?> type) {
        MergedAnnotation<EventListener> listener =
                MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(EventListener.class);
        Class<?>[] named = listener.isPresent() ? listener.getClassArray("classes") : new Class<?>[0];
        if (named.length > 0) {
            return Stream.of(named);
        }
        boolean takesTheEvent = method.getParameterCount() == 1
                && (listener.isPresent()
                        || (method.getName().equals("onApplicationEvent")
                                && ApplicationListener.class.isAssignableFrom(type)));
        return takesTheEvent
                ? Stream.of(ResolvableType.forMethodParameter(method, 0, type).toClass())
                : Stream.empty();
    }
}
