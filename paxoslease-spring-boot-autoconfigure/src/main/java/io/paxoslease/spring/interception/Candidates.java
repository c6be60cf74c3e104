package io.paxoslease.spring.interception;

import io.paxoslease.spring.LeaderOnly;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Tells quickly which classes cannot be guarded: those in whose hierarchy neither a type nor a method has an annotation that is or
 * carries {@link LeaderOnly}. Nearly every bean of an application is one; to search each of its methods through the whole hierarchy
 * would be most of what this library costs at start-up. Safe to use from any thread.
 */
final class Candidates {

    private final Map<Class<? extends Annotation>, Boolean> annotations = new ConcurrentHashMap<>();
    private final Map<Class<?>, Boolean> types = new ConcurrentHashMap<>();

    /** Whether a class may be guarded; false is certain. */
    boolean mayBeGuarded(@Nullable Class<?> type) {
        if (type == null || type == Object.class) {
            return false;
        }
        Boolean known = types.get(type);
        if (known == null) {
            known = isCandidate(type);
            types.put(type, known);
        }
        return known;
    }

    private boolean isCandidate(Class<?> type) {
        if (mayBeGuarded(type.getSuperclass()) || isAnnotated(type)) {
            return true;
        }
        for (Class<?> each : type.getInterfaces()) {
            if (mayBeGuarded(each)) {
                return true;
            }
        }
        for (AnnotatedElement method : ReflectionUtils.getDeclaredMethods(type)) {
            if (isAnnotated(method)) {
                return true;
            }
        }
        return false;
    }

    private boolean isAnnotated(AnnotatedElement element) {
        for (Annotation annotation : element.getDeclaredAnnotations()) {
            if (annotations.computeIfAbsent(annotation.annotationType(), Candidates::isGuard)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isGuard(Class<? extends Annotation> annotation) {
        return annotation == LeaderOnly.class || AnnotatedElementUtils.isAnnotated(annotation, LeaderOnly.class);
    }
}
