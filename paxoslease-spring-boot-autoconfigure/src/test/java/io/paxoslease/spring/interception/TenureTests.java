package io.paxoslease.spring.interception;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.LeaseTransition;
import io.paxoslease.spring.LeaderOnly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a running call is told of the end of its lease. */
class TenureTests {

    private final FakeLeases leases = new FakeLeases();
    private final FakeLeases.FakeLease lease = leases.lead("jobs");
    private final List<String> told = new ArrayList<>();

    static class Jobs {
        @LeaderOnly("jobs")
        public void run() {}
    }

    private void running(Scenario scenario) {
        Guarded.context(leases).withBean(Jobs.class).run(context -> {
            GuardedLeases guarded = context.getBean(GuardedLeases.class);
            List<GuardedMethod> methods = new ArrayList<>();
            context.getBean(LeaderOnlyRegistry.class).require((method, bean) -> methods.add(method));
            GuardedCall call = guarded.admit(methods.get(0), null, GuardedLeases.Caller.OF_THIS_THREAD);
            scenario.play(guarded, call);
            call.end(false);
        });
    }

    private interface Scenario {
        void play(GuardedLeases guarded, GuardedCall call);
    }

    private static void released(GuardedLeases guarded, String name, long token) {
        guarded.onTransition(
                new LeaseTransition(LeaseTransition.Kind.RELEASED, name, token, null, null, Duration.ZERO));
    }

    private Runnable tell(String what) {
        return () -> told.add(what);
    }

    @Test
    void theActionThatWasSetLastIsTaken() {
        running((guarded, call) -> {
            call.onLeaseEnd(tell("first"));
            call.onLeaseEnd(tell("second"));
            lease.lose();
        });
        assertThat(told).containsExactly("second");
    }

    @Test
    void noActionIsTakenAfterTheCall() {
        running((guarded, call) -> {
            call.onLeaseEnd(tell("late"));
            call.end(false);
            lease.lose();
        });
        assertThat(told).isEmpty();
    }

    @Test
    void theActionIsTakenAtOnceWhereTheLeaseEndedBefore() {
        running((guarded, call) -> {
            lease.lose();
            call.onLeaseEnd(tell("at once"));
            assertThat(told).containsExactly("at once");
        });
        assertThat(told).hasSize(1);
    }

    @Test
    void anotherCallOfATenureThatEndedIsToldAtOnceToo() {
        TenureWatch watch = new TenureWatch(lease);
        watch.end();
        watch.add(tell("at once"));
        assertThat(told).containsExactly("at once");
    }

    /** As where no thread can be had that cancels a future. */
    @Test
    void whatCannotBeToldToOneCallIsToldToTheOthers() {
        TenureWatch watch = new TenureWatch(lease);
        watch.add(failing("first"));
        watch.add(failing("second"));
        watch.end();
        watch.add(failing("late"));
        assertThat(told).containsExactlyInAnyOrder("first", "second", "late");
    }

    private Runnable failing(String what) {
        return () -> {
            told.add(what);
            throw new NoClassDefFoundError("on purpose");
        };
    }

    @Test
    void onlyTheReleaseOfThisTenureCounts() {
        running((guarded, call) -> {
            call.onLeaseEnd(tell("ended"));
            released(guarded, "jobs", lease.fencingToken() - 1);
            released(guarded, "others", lease.fencingToken());
            assertThat(told).isEmpty();
            released(guarded, "jobs", lease.fencingToken());
            released(guarded, "jobs", lease.fencingToken());
        });
        assertThat(told).containsExactly("ended");
    }

    /** Who gives a lease up may have it again before its release is told. */
    @Test
    void aTenureHasEndedWhereTheNextIsKnown() {
        running((guarded, call) -> {
            call.onLeaseEnd(tell("first"));
            lease.release();
            FakeLeases.FakeLease next = leases.lead("jobs");
            guarded.tenures().of(next).add(tell("second"));
            assertThat(told).containsExactly("first");
            released(guarded, "jobs", lease.fencingToken());
            assertThat(told).containsExactly("first");
            released(guarded, "jobs", next.fencingToken());
        });
        assertThat(told).containsExactly("first", "second");
    }

    @Test
    void aCallThatComesLateToATenureDoesNotHideTheNext() {
        running((guarded, call) -> {
            lease.release();
            FakeLeases.FakeLease next = leases.lead("jobs");
            guarded.tenures().of(next).add(tell("second"));
            call.onLeaseEnd(tell("first"));
            assertThat(told).containsExactly("first");
            released(guarded, "jobs", next.fencingToken());
        });
        assertThat(told).containsExactly("first", "second");
    }

    @Test
    void nothingIsKeptForACallThatHasEnded() {
        running((guarded, call) -> {
            call.end(false);
            call.onLeaseEnd(tell("late"));
            lease.lose();
        });
        assertThat(told).isEmpty();
    }
}
