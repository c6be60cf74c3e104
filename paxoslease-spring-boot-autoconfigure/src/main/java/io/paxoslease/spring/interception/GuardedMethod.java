package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import io.paxoslease.spring.LeaderOnly.OnLoss;
import io.paxoslease.spring.LeaderOnly.Otherwise;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * What is known about a guarded method before any call.
 *
 * @param method the method of the target class
 * @param leaseName the lease that it needs
 * @param minRemainingNanos how long the lease must last from the call on, 0 for no such limit
 * @param otherwise what a call does without the lease
 * @param onLoss what happens to a running call when the lease ends
 * @param scheduled whether Spring's scheduler calls it, so that it must not overlap itself
 * @param adapter for a reactive return type its adapter, else null
 */
record GuardedMethod(
        Method method,
        String leaseName,
        long minRemainingNanos,
        Otherwise otherwise,
        OnLoss onLoss,
        boolean scheduled,
        @Nullable ReactiveAdapter adapter) {

    boolean interrupts() {
        return onLoss == OnLoss.INTERRUPT;
    }

    /** What a call returns that was not made. */
    @Nullable
    Object nothing() {
        Class<?> type = method.getReturnType();
        if (type == Optional.class) {
            return Optional.empty();
        } else if (isFuture(type) && type.isAssignableFrom(CompletableFuture.class)) {
            return CompletableFuture.completedFuture(null);
        } else if (type == OptionalInt.class) {
            return OptionalInt.empty();
        } else if (type == OptionalLong.class) {
            return OptionalLong.empty();
        } else if (type == OptionalDouble.class) {
            return OptionalDouble.empty();
        } else if (type.isPrimitive() && type != void.class) {
            // Only a scheduled method gets here, and its scheduler does not look at the result.
            return Array.get(Array.newInstance(type, 1), 0);
        }
        return null;
    }

    static boolean isFuture(Class<?> type) {
        return Future.class.isAssignableFrom(type) || CompletionStage.class.isAssignableFrom(type);
    }

    /** The arguments of a call, with the lease where the caller left a place for it. */
    @Nullable
    Object[] withLease(@Nullable Object[] arguments, Lease lease) {
        @Nullable Object[] completed = arguments;
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (types[i] == Lease.class && arguments[i] == null) {
                if (completed == arguments) {
                    completed = arguments.clone();
                }
                completed[i] = lease;
            }
        }
        return completed;
    }
}
