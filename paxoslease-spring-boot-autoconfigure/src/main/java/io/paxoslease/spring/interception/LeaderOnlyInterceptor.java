package io.paxoslease.spring.interception;

import io.paxoslease.LeaseScope;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;

/** Runs a guarded method if the lease is held, and does what its annotation says if not. */
final class LeaderOnlyInterceptor implements MethodInterceptor {

    private static final Log LOG = LogFactory.getLog(LeaderOnlyInterceptor.class);

    private final Set<Method> warned = ConcurrentHashMap.newKeySet();
    private final GuardedMethods methods;
    private final Supplier<GuardedLeases> leases;

    LeaderOnlyInterceptor(GuardedMethods methods, Supplier<GuardedLeases> leases) {
        this.methods = methods;
        this.leases = leases;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Class<?> targetClass = target == null ? null : AopUtils.getTargetClass(target);
        GuardedMethod method = methods.get(invocation.getMethod(), targetClass, "unknown");
        if (method == null) {
            return invocation.proceed();
        }
        ProxyMethodInvocation call = (ProxyMethodInvocation) invocation;
        if (method.adapter() != null) {
            return ReactiveGate.guard(leases.get(), method, method.adapter(), call);
        }
        GuardedCall admitted = leases.get().admit(method, target, GuardedLeases.Caller.OF_THIS_THREAD);
        return admitted == null ? method.nothing() : run(admitted, call);
    }

    private @Nullable Object run(GuardedCall call, ProxyMethodInvocation invocation) throws Throwable {
        boolean returned = false;
        Object result = null;
        Interruption interruption = call.method().interrupts() ? Interruption.begin() : null;
        try {
            if (interruption != null) {
                call.onLeaseEnd(interruption::interrupt);
            }
            result = proceed(call, invocation);
            returned = true;
        } catch (Throwable failure) {
            call.failedWith(failure);
            throw failure;
        } finally {
            if (interruption != null) {
                call.forgetLeaseEnd();
                interruption.end();
            }
            if (!returned) {
                call.end(true);
            }
        }
        endWith(call, result);
        return result;
    }

    /** Calls the method with the lease at hand. */
    static @Nullable Object proceed(GuardedCall call, ProxyMethodInvocation invocation) throws Throwable {
        @Nullable Object[] arguments = invocation.getArguments();
        @Nullable Object[] completed = call.method().withLease(arguments, call.lease());
        if (completed != arguments) {
            invocation.setArguments(completed);
        }
        LeaseScope scope = LeaseScope.open(call.lease());
        call.enter();
        try {
            return proceedObserved(call, invocation);
        } finally {
            call.exit();
            scope.close();
        }
    }

    private static @Nullable Object proceedObserved(GuardedCall call, ProxyMethodInvocation invocation)
            throws Throwable {
        CallObserver.Scope scope = call.open();
        try {
            return invocation.proceed();
        } finally {
            scope.close();
        }
    }

    /** The call ends when the method has returned, or when the work ends that the returned stage stands for. */
    private void endWith(GuardedCall call, @Nullable Object result) {
        if (!(result instanceof CompletionStage<?> stage)) {
            if (result instanceof Future<?> future && !future.isDone()) {
                warnOfWorkThatGoesOn(call.method());
            }
            call.end(false);
            return;
        }
        if (call.method().interrupts() && result instanceof Future<?> future) {
            // Not on the thread that tells of the loss: what depends on the future may take its time.
            call.onLeaseEnd(() ->
                    CompletableFuture.runAsync(() -> future.cancel(true), LeaderOnlyInterceptor::onThreadOfItsOwn));
        }
        stage.whenComplete((value, failure) -> {
            call.failedWith(failure);
            call.end(failure != null);
        });
    }

    /** The common pool may be full of the very tasks that wait for a cancellation. */
    private static void onThreadOfItsOwn(Runnable cancellation) {
        Thread thread = new Thread(cancellation, "paxoslease-cancel");
        thread.setDaemon(true);
        thread.start();
    }

    private void warnOfWorkThatGoesOn(GuardedMethod method) {
        if (warned.add(method.method())) {
            LOG.warn("The @LeaderOnly method " + GuardedMethods.describe(method.method())
                    + " returned a Future that does not tell when its work ends: it goes on when the lease ends, and when the"
                    + " application stops the lease is released meanwhile. Return a CompletableFuture.");
        }
    }
}
