package io.paxoslease.spring.interception;

import io.paxoslease.Lease;
import io.paxoslease.LeaseLostException;
import io.paxoslease.spring.NotLeaderException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ReactiveAdapter;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Guards publishers: every subscription is a call of its own, which asks for the lease, calls the method and lasts until the stream
 * ends. Loaded only if Reactor is there.
 */
final class ReactiveGate {

    private ReactiveGate() {}

    static Object guard(
            GuardedLeases leases, GuardedMethod method, ReactiveAdapter adapter, ProxyMethodInvocation invocation) {
        Publisher<?> guarded = adapter.isMultiValue()
                ? Flux.deferContextual(outer -> Flux.from(subscribe(leases, method, adapter, invocation, outer)))
                : Mono.deferContextual(outer -> Mono.from(subscribe(leases, method, adapter, invocation, outer)));
        return adapter.fromPublisher(guarded);
    }

    private static Publisher<?> subscribe(
            GuardedLeases leases,
            GuardedMethod method,
            ReactiveAdapter adapter,
            ProxyMethodInvocation invocation,
            ContextView outer) {
        GuardedCall call;
        try {
            call = leases.admit(
                    method,
                    invocation.getThis(),
                    new GuardedLeases.Caller(
                            outer.hasKey(Lease.class), outer.getOrDefault(CallObserver.CONTEXT_KEY, null)));
        } catch (NotLeaderException refused) {
            return Mono.error(refused);
        }
        if (call == null) {
            return Mono.empty();
        }
        try {
            // The invocation itself never proceeds: each subscription goes on from here with a copy.
            Object result = LeaderOnlyInterceptor.proceed(call, (ProxyMethodInvocation) invocation.invocableClone());
            Publisher<?> body = result == null ? Mono.empty() : adapter.toPublisher(result);
            return adapter.isMultiValue() ? guard(call, Flux.from(body)) : guard(call, Mono.from(body));
        } catch (Throwable failure) {
            call.failedWith(failure);
            call.end(true);
            Exceptions.throwIfFatal(failure);
            return Mono.error(failure);
        }
    }

    private static <T> Publisher<T> guard(GuardedCall call, Flux<T> body) {
        Flux<T> limited = body;
        if (call.method().interrupts()) {
            // An error of the other publisher would not cancel the body, a value does.
            AtomicBoolean over = new AtomicBoolean();
            limited = body.takeUntilOther(leaseEnd(call).doOnNext(lost -> over.set(true)))
                    .concatWith(Mono.defer(() -> over.get() ? Mono.error(lost(call)) : Mono.empty()));
        }
        return limited.contextWrite(context -> inside(call, context))
                .doOnError(call::failedWith)
                .doFinally(signal -> call.end(signal == SignalType.ON_ERROR));
    }

    private static <T> Publisher<T> guard(GuardedCall call, Mono<T> body) {
        Mono<T> limited = call.method().interrupts()
                ? Mono.firstWithSignal(body, leaseEnd(call).flatMap(lost -> Mono.error(lost(call))))
                : body;
        return limited.contextWrite(context -> inside(call, context))
                .doOnError(call::failedWith)
                .doFinally(signal -> call.end(signal == SignalType.ON_ERROR));
    }

    private static Context inside(GuardedCall call, Context outer) {
        Object observation = call.observation();
        Context context = outer.put(Lease.class, call.lease());
        return observation == null ? context : context.put(CallObserver.CONTEXT_KEY, observation);
    }

    /** Emits when the lease ends, on a thread that may run the application's code. */
    private static Mono<Boolean> leaseEnd(GuardedCall call) {
        return Mono.<Boolean>create(sink -> call.onLeaseEnd(() -> sink.success(true)))
                .publishOn(Schedulers.boundedElastic());
    }

    private static LeaseLostException lost(GuardedCall call) {
        return new LeaseLostException(call.lease().name(), call.lease().fencingToken());
    }
}
