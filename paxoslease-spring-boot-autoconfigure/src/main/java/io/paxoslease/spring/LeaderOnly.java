package io.paxoslease.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * A method that runs only while this node holds a lease, so on at most one node of the cell at a time. Works on {@code @Scheduled}
 * and {@code @Async} methods, listeners and methods called directly. The candidacy for the lease starts by itself.
 *
 * <p>Each call reads, without blocking, whether the lease is held at that instant. If so, the method runs with the lease as
 * {@link io.paxoslease.Lease#current()}; otherwise it does not run, see {@link #otherwise()}. A call that has begun goes on if the
 * lease ends meanwhile, see {@link #onLoss()}; what must never be done twice carries the lease's fencing token along.
 *
 * <p>A parameter of type {@link io.paxoslease.Lease} for which the caller passes {@code null} receives the lease. Spring calls
 * {@code @Scheduled} methods without arguments only and finds those of controllers and listeners by itself; use {@code Lease.current()} there.
 *
 * <p>Reactive return types ({@code Mono}, {@code Flux} and what Spring can adapt to them) are guarded at subscription: each
 * subscription asks for the lease anew and then calls the method, which finds the lease in the Reactor context under
 * {@code Lease.class}.
 *
 * <p>A {@code @Scheduled} method so guarded does not run twice at the same time on one node either, whatever the scheduler does: a
 * call that meets a running one is skipped.
 *
 * <p>On a class it applies to the methods that the class and its subclasses declare and that a proxy can guard, as with
 * {@code @Transactional}: not to methods inherited from above, private and static ones. It does not apply to
 * {@code @Bean} methods and to those of {@code Object}. An annotation on a method wins over one on its class.
 *
 * <p>As with every proxy in Spring, a call within the object itself is not guarded. What cannot be guarded, or would always be refused, stops
 * the start of the application:
 *
 * <ul>
 *   <li>private, final and static methods, package-private ones inherited from another package, methods of final classes, {@code @Bean}
 *       methods, suspending functions of Kotlin, primitive return types with {@link Otherwise#SKIP};
 *   <li>what Spring calls on the object itself: {@code @PostConstruct}, {@code @PreDestroy}, {@code InitializingBean},
 *       {@code DisposableBean}, init and destroy methods of a {@code @Bean};
 *   <li>what Camel calls on the object itself: methods with {@code @Consume};
 *   <li>beans behind an object that hides the annotation, which another {@code BeanPostProcessor} made, and those handed out while they are made;
 *   <li>what is called once, before a node can lead: Spring Boot's runners, {@code SmartInitializingSingleton},
 *       {@code SmartLifecycle.start} where it starts by itself, a {@code @Scheduled} task that runs once without a delay, listeners of
 *       {@code ContextRefreshedEvent}, {@code WebServerInitializedEvent}, {@code ApplicationStartedEvent} and {@code ApplicationReadyEvent};
 *   <li>what ShedLock locks before the guard is asked: {@code @SchedulerLock} with {@code interceptMode = PROXY_SCHEDULER}.
 * </ul>
 *
 * <p>With {@code paxoslease.enabled=false} nothing is guarded: methods run as if the annotation were absent.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface LeaderOnly {

    /** The name of the lease, with placeholders if needed; empty for the one that {@code paxoslease.default-lease} names. */
    @AliasFor("name")
    String value() default "";

    /** The same as {@link #value()}. */
    @AliasFor("value")
    String name() default "";

    /**
     * How long the lease must last from the moment of the call, as in {@code 2s} or {@code PT2S}, with placeholders if needed. With
     * less left, the call is treated as on a node that does not lead. Empty for no such limit.
     */
    String minRemaining() default "";

    /** What a call does while this node does not hold the lease. */
    Otherwise otherwise() default Otherwise.SKIP;

    /** What happens to a running call when the lease ends. */
    OnLoss onLoss() default OnLoss.CONTINUE;

    /** What a call does while this node does not hold the lease. */
    enum Otherwise {

        /**
         * Returns at once with what stands for nothing: an empty {@code Optional}, an empty publisher, a future completed with
         * {@code null}, else {@code null}.
         */
        SKIP,

        /** Throws {@link NotLeaderException}; a reactive method signals it to its subscriber. */
        THROW
    }

    /** What happens to a running call when the lease ends, be it lost or given up. */
    enum OnLoss {

        /** Nothing; the method may ask {@code Lease.current()}. */
        CONTINUE,

        /**
         * The thread that runs the method is interrupted, never after the method has returned. A
         * {@code CompletableFuture} that the method returned is cancelled, a subscription ends with
         * {@link io.paxoslease.LeaseLostException}. What a method throws because of it goes to its caller. Another {@code Future} is left
         * alone, because it does not tell when its work ends.
         */
        INTERRUPT
    }
}
