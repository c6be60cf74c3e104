package io.paxoslease.spring.interception;

import io.paxoslease.protocol.Names;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaderOnly.OnLoss;
import io.paxoslease.spring.LeaderOnly.Otherwise;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.core.MethodClassKey;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.Schedules;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringValueResolver;

/**
 * Finds {@link LeaderOnly} and reads it. The method of the target class comes first, then the class that declares it, then the method
 * that was called (that of an interface, say), then its class, then the method of an interface of the target class. Safe to use from any thread.
 */
final class GuardedMethods {

    private static final Pattern UNITLESS = Pattern.compile("[+-]?\\d+");
    private static final boolean REACTOR =
            ClassUtils.isPresent("reactor.core.publisher.Flux", GuardedMethods.class.getClassLoader());

    /** By its name, because applications without messages do not have it. */
    private static final String MESSAGE_MAPPING = "org.springframework.messaging.handler.annotation.MessageMapping";

    /** Likewise for Spring Integration. */
    private static final String SERVICE_ACTIVATOR = "org.springframework.integration.annotation.ServiceActivator";

    /** Likewise for Camel. */
    private static final String CAMEL_CONSUME = "org.apache.camel.Consume";

    /** Likewise for ShedLock. */
    private static final String SHED_LOCK = "net.javacrumbs.shedlock.spring.annotation.SchedulerLock";

    private static final String KOTLIN_FLOW = "kotlinx.coroutines.flow.Flow";

    private final StringValueResolver resolver;
    private final String defaultLease;
    private final Map<MethodClassKey, GuardedMethod> known = new ConcurrentHashMap<>();

    GuardedMethods(StringValueResolver resolver, String defaultLease) {
        this.resolver = resolver;
        this.defaultLease = defaultLease;
    }

    /** Whether a call of a method on a target of a class is guarded. */
    boolean isGuarded(Method method, @Nullable Class<?> targetClass) {
        return find(method, AopUtils.getMostSpecificMethod(method, targetClass), targetClass) != null;
    }

    /** Whether a class itself is annotated. */
    static boolean isGuarded(Class<?> type) {
        return MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(LeaderOnly.class);
    }

    static boolean isScheduled(Method method) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return annotations.isPresent(Scheduled.class) || annotations.isPresent(Schedules.class);
    }

    /** Whether Spring calls it whenever there is something to do, on every node. */
    static boolean isCalledBySpring(Method method) {
        return isScheduled(method)
                || isMessageListener(method)
                || MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(EventListener.class);
    }

    /**
     * Whether a container hands it messages, whoever leads: Kafka's, Rabbit's and JMS's listeners are all marked so. An endpoint that is itself a bean
     * is none.
     */
    static boolean isMessageListener(Method method) {
        MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return annotations.isPresent(MESSAGE_MAPPING)
                || (annotations.isPresent(SERVICE_ACTIVATOR) && !annotations.isPresent(Bean.class));
    }

    /** Whether Camel has it take messages, which it gives to the bean as it is before there is a proxy. */
    static boolean isCalledByCamel(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(CAMEL_CONSUME);
    }

    /** Whether it runs under a lock of ShedLock. */
    static boolean isLockedByShedLock(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(SHED_LOCK);
    }

    /**
     * What is known about a guarded method.
     *
     * @return null if the method is not guarded
     * @throws UnguardableMethodException if the annotation or the signature makes no sense
     */
    @Nullable
    GuardedMethod get(Method method, @Nullable Class<?> targetClass, String bean) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        GuardedMethod guarded = known.get(key);
        if (guarded == null) {
            Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
            MergedAnnotation<LeaderOnly> annotation = find(method, specific, targetClass);
            if (annotation == null) {
                return null;
            }
            // What a proxy made of interfaces declares has no name that says anything.
            guarded = read(annotation, Proxy.isProxyClass(specific.getDeclaringClass()) ? method : specific, bean);
            known.put(key, guarded);
        }
        return guarded;
    }

    private static @Nullable MergedAnnotation<LeaderOnly> find(
            Method method, Method specific, @Nullable Class<?> targetClass) {
        MergedAnnotation<LeaderOnly> found = findOn(specific);
        if (found == null && !specific.equals(method)) {
            found = findOn(method);
        }
        return found != null || targetClass == null ? found : findOnInterfaces(specific, targetClass);
    }

    /** It may be inherited from a class that knows nothing of the interface. */
    private static @Nullable MergedAnnotation<LeaderOnly> findOnInterfaces(Method specific, Class<?> targetClass) {
        for (Class<?> each : ClassUtils.getAllInterfacesForClassAsSet(targetClass)) {
            for (Method candidate : each.getMethods()) {
                if (isImplementedBy(specific, candidate, targetClass)) {
                    MergedAnnotation<LeaderOnly> found = findOn(candidate);
                    if (found != null) {
                        return found;
                    }
                }
            }
        }
        return null;
    }

    /** Whether a method of a class is what runs where one of an interface is called, be its parameters more general. */
    static boolean isImplementedBy(Method specific, Method ofInterface, Class<?> targetClass) {
        return ofInterface.getName().equals(specific.getName())
                && AopUtils.getMostSpecificMethod(ofInterface, targetClass).equals(specific);
    }

    /** Whether the method itself is annotated, not just its class. */
    static boolean isAnnotated(Method method) {
        return own(method).isPresent();
    }

    private static MergedAnnotation<LeaderOnly> own(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(LeaderOnly.class);
    }

    private static @Nullable MergedAnnotation<LeaderOnly> findOn(Method method) {
        MergedAnnotation<LeaderOnly> own = own(method);
        if (own.isPresent()) {
            return own;
        }
        if (!isReachedByClass(method)) {
            return null;
        }
        MergedAnnotation<LeaderOnly> ofClass = MergedAnnotations.from(
                        method.getDeclaringClass(), SearchStrategy.TYPE_HIERARCHY)
                .get(LeaderOnly.class);
        return ofClass.isPresent() ? ofClass : null;
    }

    private static boolean isReachedByClass(Method method) {
        return !Modifier.isPrivate(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && ClassUtils.isUserLevelMethod(method)
                && !ReflectionUtils.isObjectMethod(method)
                && !MergedAnnotations.from(method).isPresent(Bean.class);
    }

    private GuardedMethod read(MergedAnnotation<LeaderOnly> annotation, Method method, String bean) {
        Otherwise otherwise = annotation.getEnum("otherwise", Otherwise.class);
        return new GuardedMethod(
                method,
                leaseName(annotation.getString("name"), method, bean),
                minRemainingNanos(annotation.getString("minRemaining"), method, bean),
                otherwise,
                annotation.getEnum("onLoss", OnLoss.class),
                isScheduled(method),
                adapter(method, otherwise, bean));
    }

    private String leaseName(String text, Method method, String bean) {
        String name = resolve("name", text, method, bean);
        try {
            return Names.require("lease name", name.isEmpty() ? defaultLease : name, Names.MAX_RESOURCE_BYTES);
        } catch (IllegalArgumentException wrong) {
            throw unguardable(method, bean, String.valueOf(wrong.getMessage()), "Give it a name of 1 to 255 bytes.");
        }
    }

    private long minRemainingNanos(String text, Method method, String bean) {
        String value = resolve("minRemaining", text, method, bean);
        if (value.isEmpty()) {
            return 0;
        }
        try {
            Duration duration = DurationStyle.detectAndParse(value);
            // Without a unit it would be milliseconds, too few to be of any use.
            boolean hasUnit = !UNITLESS.matcher(value).matches();
            if (duration.isZero() || (hasUnit && !duration.isNegative())) {
                return duration.toNanos();
            }
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            // reported below
        }
        throw unguardable(
                method,
                bean,
                "its minRemaining '" + value + "' is not a duration of zero or more with a unit",
                "Write a duration such as 2s or PT2S.");
    }

    private String resolve(String attribute, String text, Method method, String bean) {
        String why;
        try {
            String value = resolver.resolveStringValue(text);
            if (value == null || !value.contains("${")) {
                return value == null ? "" : value.trim();
            }
            why = "";
        } catch (RuntimeException unresolvable) {
            why = " (" + unresolvable.getMessage() + ")";
        }
        throw unguardable(
                method,
                bean,
                "its " + attribute + " '" + text + "' cannot be resolved" + why,
                "Set the property, or give the placeholder a default as in ${key:default}.");
    }

    private static @Nullable ReactiveAdapter adapter(Method method, Otherwise otherwise, String bean) {
        Class<?> type = method.getReturnType();
        if (isSuspending(method)) {
            throw unguardable(
                    method, bean, "it is a suspending function", "Return Mono, Flux or Flow, or do not suspend.");
        }
        if (type.isPrimitive() && type != void.class && otherwise == Otherwise.SKIP) {
            throw unguardable(
                    method,
                    bean,
                    "a call that is skipped has no " + type + " to return",
                    "Return void, an object or an Optional, or set otherwise = Otherwise.THROW; if the annotation is on the class,"
                            + " it may be moved to the methods that need it.");
        }
        ReactiveAdapter adapter = GuardedMethod.isFuture(type)
                ? null
                : ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
        if (adapter == null || !adapter.getDescriptor().isDeferred()) {
            if (isA(KOTLIN_FLOW, type)) {
                throw unguardable(
                        method,
                        bean,
                        "Spring adapts a Flow with kotlinx-coroutines-reactor, which is not on the class path",
                        "Add org.jetbrains.kotlinx:kotlinx-coroutines-reactor.");
            }
            if (isPublisher(type)) {
                throw withoutReactor(method, bean);
            }
            return null;
        }
        if (!REACTOR) {
            throw withoutReactor(method, bean);
        }
        if (!type.isAssignableFrom(adapter.getReactiveType())) {
            throw unguardable(
                    method,
                    bean,
                    "a guarded " + adapter.getReactiveType().getSimpleName() + " is not a " + type.getSimpleName(),
                    "Return " + adapter.getReactiveType().getSimpleName() + ".");
        }
        if (otherwise == Otherwise.SKIP && !adapter.supportsEmpty()) {
            throw unguardable(
                    method,
                    bean,
                    "a " + type.getSimpleName() + " that is skipped cannot be empty",
                    "Return a type that can be empty, or set otherwise = Otherwise.THROW.");
        }
        return adapter;
    }

    private static UnguardableMethodException withoutReactor(Method method, String bean) {
        return unguardable(
                method,
                bean,
                "publishers are guarded with Reactor, which is not on the class path",
                "Add io.projectreactor:reactor-core.");
    }

    private static boolean isPublisher(Class<?> type) {
        return Flow.Publisher.class.isAssignableFrom(type) || isA("org.reactivestreams.Publisher", type);
    }

    /** Whether a type is, extends or implements one that may not be on the class path. */
    static boolean isA(String name, @Nullable Class<?> type) {
        return type != null
                && (type.getName().equals(name)
                        || isA(name, type.getSuperclass())
                        || Stream.of(type.getInterfaces()).anyMatch(each -> isA(name, each)));
    }

    /** It returns before its work is done, and is called again to go on. */
    private static boolean isSuspending(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return types.length > 0 && types[types.length - 1].getName().equals("kotlin.coroutines.Continuation");
    }

    static UnguardableMethodException unguardable(Method method, String bean, String reason, String remedy) {
        return new UnguardableMethodException("method " + describe(method), bean, reason, remedy);
    }

    static String describe(Method method) {
        StringBuilder parameters = new StringBuilder();
        for (Class<?> type : method.getParameterTypes()) {
            parameters.append(parameters.isEmpty() ? "" : ", ").append(type.getSimpleName());
        }
        return method.getDeclaringClass().getName() + "." + method.getName() + "(" + parameters + ")";
    }
}
