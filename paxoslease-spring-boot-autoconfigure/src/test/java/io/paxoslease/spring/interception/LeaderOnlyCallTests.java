package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.LeaderHint;
import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaderOnly.Otherwise;
import io.paxoslease.spring.NotLeaderException;
import io.paxoslease.spring.boot.PaxosLeaseInterceptionAutoConfiguration;
import io.paxoslease.spring.bounded.LocalCell;
import io.paxoslease.spring.interception.CallListener.Outcome;
import io.paxoslease.spring.interception.Guarded.Outcomes;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.core.annotation.AliasFor;

/** What a call of a guarded method does. */
class LeaderOnlyCallTests {

    private final FakeLeases leases = new FakeLeases();

    static class Service {
        int runs;
        Lease lease;

        @LeaderOnly("orders")
        public void run() {
            runs++;
            lease = Lease.current().orElse(null);
        }

        @LeaderOnly("orders")
        public String text() {
            return "ran";
        }

        @LeaderOnly("orders")
        public Optional<String> optional() {
            return Optional.of("ran");
        }

        @LeaderOnly("orders")
        public OptionalInt optionalInt() {
            return OptionalInt.of(1);
        }

        @LeaderOnly("orders")
        public OptionalLong optionalLong() {
            return OptionalLong.of(1);
        }

        @LeaderOnly("orders")
        public OptionalDouble optionalDouble() {
            return OptionalDouble.of(1);
        }

        @LeaderOnly("orders")
        public CompletableFuture<String> failing() {
            return CompletableFuture.failedFuture(new IllegalStateException("mine"));
        }

        @LeaderOnly("orders")
        public CompletableFuture<String> future() {
            return CompletableFuture.completedFuture("ran");
        }

        @LeaderOnly("orders")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedFuture("ran");
        }

        @LeaderOnly("orders")
        public Future<String> plainFuture() {
            return CompletableFuture.completedFuture("ran");
        }

        @LeaderOnly(name = "orders", otherwise = Otherwise.THROW)
        public int number() {
            return 7;
        }

        @LeaderOnly("orders")
        public void fail() {
            throw new IllegalArgumentException("mine");
        }

        @LeaderOnly(name = "orders", minRemaining = "${margin}")
        public String withMargin() {
            return "ran";
        }

        @LeaderOnly("orders")
        public List<Object> withLease(String text, Lease own, Lease other) {
            return List.of(text, own, other);
        }
    }

    private void run(ContextConsumer<AssertableApplicationContext> scenario) {
        Guarded.context(leases)
                .withBean(Service.class)
                .withPropertyValues("margin=2s")
                .run(scenario);
    }

    @Test
    void runsOnlyWhileTheLeaseIsHeldAndAsksAtEachCall() {
        run(context -> {
            Service service = context.getBean(Service.class);
            Outcomes outcomes = Outcomes.of(context);

            service.run();
            assertThat(runs(service)).isZero();

            FakeLeases.FakeLease lease = leases.lead("orders");
            service.run();
            assertThat(runs(service)).isEqualTo(1);
            assertThat(lease(service)).isSameAs(lease);
            assertThat(Lease.current()).isEmpty();

            leases.lose("orders");
            service.run();
            assertThat(runs(service)).isEqualTo(1);
            assertThat(outcomes.count("orders", Outcome.RUN)).isEqualTo(1);
            assertThat(outcomes.count("orders", Outcome.SKIPPED)).isEqualTo(2);
        });
    }

    @Test
    void returnsWhatStandsForNothingWhenSkipped() {
        run(context -> {
            Service service = context.getBean(Service.class);
            assertThat(service.text()).isNull();
            assertThat(service.optional()).isEmpty();
            assertThat(service.optionalInt()).isEmpty();
            assertThat(service.optionalLong()).isEmpty();
            assertThat(service.optionalDouble()).isEmpty();
            assertThat(service.future()).isCompletedWithValue(null);
            assertThat(service.stage().toCompletableFuture()).isCompletedWithValue(null);
            assertThat(service.plainFuture().get()).isNull();
        });
    }

    @Test
    void returnsWhatTheMethodReturnsWhenItRuns() {
        leases.lead("orders");
        run(context -> {
            Service service = context.getBean(Service.class);
            assertThat(service.text()).isEqualTo("ran");
            assertThat(service.optional()).contains("ran");
            assertThat(service.future()).isCompletedWithValue("ran");
            assertThat(service.number()).isEqualTo(7);
        });
    }

    @Test
    void throwsWithTheHintedLeaderWhenAskedTo() {
        leases.election("orders").hint = new LeaderHint("node-9", Duration.ofSeconds(3));
        run(context -> {
            Outcomes outcomes = Outcomes.of(context);
            assertThatExceptionOfType(NotLeaderException.class)
                    .isThrownBy(() -> context.getBean(Service.class).number())
                    .satisfies(refused -> {
                        assertThat(refused.leaseName()).isEqualTo("orders");
                        assertThat(refused.leader()).contains("node-9");
                    })
                    .withMessageContaining("'orders'")
                    .withMessageContaining("'node-9'");
            assertThat(outcomes.count("orders", Outcome.REFUSED)).isEqualTo(1);
        });
    }

    static class Refused {
        @LeaderOnly(value = "orders", otherwise = Otherwise.THROW)
        public void run() {}
    }

    /** Whoever sends such a call on to the leader would send it here again. */
    @Test
    void throwsWithoutLeaderWhereCodeOfThisNodeHoldsTheLease() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(PaxosLeaseInterceptionAutoConfiguration.class))
                .withBean(LeaseNode.class, LocalCell::standalone)
                .withBean(Refused.class)
                .run(context -> {
                    LeaseNode node = context.getBean(LeaseNode.class);
                    assertThat(node.tryAcquire("orders", Duration.ofSeconds(3))).isPresent();
                    assertThat(node.election("orders").leader()).isPresent();
                    assertThatExceptionOfType(NotLeaderException.class)
                            .isThrownBy(() -> context.getBean(Refused.class).run())
                            .satisfies(refused -> assertThat(refused.leader()).isEmpty())
                            .withMessage(
                                    "This node does not lead, but its code or the process before it holds the lease;"
                                            + " lease 'orders', node 'solo', no leader is known");
                });
    }

    @Test
    void passesOnWhatTheMethodThrows() {
        leases.lead("orders");
        run(context -> {
            Outcomes outcomes = Outcomes.of(context);
            assertThatThrownBy(() -> context.getBean(Service.class).fail())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("mine");
            assertThat(outcomes.count("orders", Outcome.FAILED)).isEqualTo(1);
            assertThat(context.getBean(GuardedLeases.class).inFlight()).isZero();
        });
    }

    @Test
    void countsAStageAsItEnds() {
        leases.lead("orders");
        run(context -> {
            Outcomes outcomes = Outcomes.of(context);
            Service service = context.getBean(Service.class);
            assertThat(service.future()).isCompleted();
            assertThat(outcomes.count("orders", Outcome.RUN)).isEqualTo(1);
            assertThat(service.failing()).isCompletedExceptionally();
            assertThat(outcomes.count("orders", Outcome.FAILED)).isEqualTo(1);
            assertThat(outcomes.count("orders", Outcome.RUN)).isEqualTo(1);
        });
    }

    @Test
    void skipsWhenLessIsLeftThanAskedFor() {
        FakeLeases.FakeLease lease = leases.lead("orders");
        run(context -> {
            Service service = context.getBean(Service.class);
            lease.remaining = Duration.ofSeconds(2);
            assertThat(service.withMargin()).isEqualTo("ran");
            lease.remaining = Duration.ofMillis(1999);
            assertThat(service.withMargin()).isNull();
        });
    }

    @Test
    void fillsLeaseParametersThatTheCallerLeavesEmpty() {
        FakeLeases.FakeLease held = leases.lead("orders");
        Lease own = new FakeLeases().lead("own");
        run(context -> {
            Service service = context.getBean(Service.class);
            assertThat(service.withLease("a", own, null)).containsExactly("a", own, held);
            assertThat(service.withLease("a", null, null)).containsExactly("a", held, held);
        });
    }

    private static int runs(Service proxy) {
        return target(proxy).runs;
    }

    private static Lease lease(Service proxy) {
        return target(proxy).lease;
    }

    private static Service target(Service proxy) {
        return (Service) org.springframework.aop.framework.AopProxyUtils.getSingletonTarget(proxy);
    }

    @Retention(RetentionPolicy.RUNTIME)
    @Target({ElementType.METHOD, ElementType.TYPE})
    @LeaderOnly(otherwise = Otherwise.THROW)
    @interface Exclusive {
        @AliasFor(annotation = LeaderOnly.class, attribute = "name")
        String lease();
    }

    static class Composed {
        @Exclusive(lease = "${region}-jobs")
        public String run() {
            return "ran";
        }
    }

    @Test
    void readsComposedAnnotationsAndPlaceholders() {
        leases.lead("north-jobs");
        Guarded.context(leases)
                .withBean(Composed.class)
                .withPropertyValues("region=north")
                .run(context -> {
                    assertThat(context.getBean(Composed.class).run()).isEqualTo("ran");
                    assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames())
                            .containsExactly("north-jobs");
                    leases.lose("north-jobs");
                    assertThatThrownBy(() -> context.getBean(Composed.class).run())
                            .isInstanceOf(NotLeaderException.class);
                });
    }

    static class Bare {
        @LeaderOnly
        public String run() {
            return "ran";
        }
    }

    @Test
    void usesTheDefaultLeaseWithoutAName() {
        leases.lead("leader");
        leases.lead("other");
        Guarded.context(leases).withBean(Bare.class).run(context -> {
            assertThat(context.getBean(Bare.class).run()).isEqualTo("ran");
            assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames()).containsExactly("leader");
        });
        Guarded.context(leases)
                .withBean(Bare.class)
                .withPropertyValues("paxoslease.default-lease=other")
                .run(context -> assertThat(
                                context.getBean(LeaderOnlyRegistry.class).leaseNames())
                        .containsExactly("other"));
    }

    static class Base {
        public String inherited() {
            return "ran";
        }
    }

    @LeaderOnly("class")
    static class WholeClass extends Base {
        public String open() {
            return "ran";
        }

        String packagePrivate() {
            return helper();
        }

        @LeaderOnly("method")
        public String own() {
            return "ran";
        }

        private String helper() {
            return "ran";
        }

        @Override
        public String toString() {
            return "whole";
        }
    }

    static class Sub extends WholeClass {
        @Override
        public String open() {
            return "sub";
        }
    }

    @Test
    void onAClassReachesItsMethodsAndThoseOfItsSubclasses() {
        Guarded.context(leases).withBean(WholeClass.class).run(context -> {
            WholeClass bean = context.getBean(WholeClass.class);
            assertThat(bean.open()).isNull();
            assertThat(bean.packagePrivate()).isNull();
            assertThat(bean.inherited()).isEqualTo("ran");
            assertThat(bean).hasToString("whole");
            leases.lead("class");
            assertThat(bean.open()).isEqualTo("ran");
            assertThat(bean.packagePrivate()).isEqualTo("ran");
            assertThat(bean.own()).isNull();
            assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames()).containsExactly("class", "method");
            leases.lose("class");
        });
        Guarded.context(leases).withBean(Sub.class).run(context -> {
            assertThat(context.getBean(Sub.class).open()).isNull();
            assertThat(context.getBean(Sub.class).packagePrivate()).isNull();
        });
    }

    interface Contract {
        @LeaderOnly("orders")
        String run();
    }

    static class Unaware {
        public String run() {
            return "ran";
        }
    }

    static class Inheriting extends Unaware implements Contract {}

    /** The method knows nothing of the interface, and a proxy of the class sees the method alone. */
    @Test
    void findsTheAnnotationOnAnInterfaceWhoseMethodIsInherited() {
        for (String proxyTargetClass : List.of("true", "false")) {
            FakeLeases own = new FakeLeases();
            Guarded.context(own)
                    .withBean(Inheriting.class)
                    .withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                    .run(context -> {
                        assertThat(context.getBean(LeaderOnlyRegistry.class).leaseNames())
                                .containsExactly("orders");
                        assertThat(context.getBean(Contract.class).run()).isNull();
                        own.lead("orders");
                        assertThat(context.getBean(Contract.class).run()).isEqualTo("ran");
                    });
        }
    }

    interface Handler<T> {
        String unguarded(T message);

        @LeaderOnly("orders")
        String handle(T message);
    }

    interface AlsoHandling {
        String handle(String message);
    }

    static class HandlesStrings implements AlsoHandling {
        public String unguarded(String message) {
            return message;
        }

        @Override
        public String handle(String message) {
            return message;
        }
    }

    static class InheritsFromAnotherInterface extends HandlesStrings implements AlsoHandling, Handler<String> {}

    /** Its parameter is another one there, and the first interface that has such a method says nothing. */
    @Test
    void findsTheAnnotationOnAGenericInterfaceWhoseMethodIsInherited() {
        for (String proxyTargetClass : List.of("true", "false")) {
            FakeLeases own = new FakeLeases();
            Guarded.context(own)
                    .withBean(InheritsFromAnotherInterface.class)
                    .withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                    .run(context -> {
                        @SuppressWarnings("unchecked")
                        Handler<String> handler = context.getBean(Handler.class);
                        AlsoHandling also = context.getBean(AlsoHandling.class);
                        assertThat(handler.handle("a")).isNull();
                        assertThat(also.handle("a")).isNull();
                        assertThat(handler.unguarded("a")).isEqualTo("a");
                        own.lead("orders");
                        assertThat(handler.handle("a")).isEqualTo("a");
                        assertThat(also.handle("a")).isEqualTo("a");
                    });
        }
    }

    static class Implementation implements Contract {
        @Override
        public String run() {
            return "ran";
        }
    }

    @Test
    void findsTheAnnotationOnAnInterface() {
        for (String proxyTargetClass : List.of("true", "false")) {
            Guarded.context(new FakeLeases())
                    .withBean(Implementation.class)
                    .withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                    .run(context ->
                            assertThat(context.getBean(Contract.class).run()).isNull());
        }
    }
}
