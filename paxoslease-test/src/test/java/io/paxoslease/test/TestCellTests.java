package io.paxoslease.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.paxoslease.LeaseManager;
import io.paxoslease.spring.LeaderOnly;
import io.paxoslease.spring.LeaseAcquiredEvent;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.LeaseReleasedEvent;
import io.paxoslease.spring.boot.actuate.CellView;
import io.paxoslease.wire.MemberStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

class TestCellTests {

    private static final Duration LEASE_TIME = Duration.ofSeconds(10);
    private static final Duration LONG_ENOUGH = Duration.ofMinutes(1);

    private final TestCell cell = TestCell.of("node-1", "node-2", "node-3");
    private final Map<String, ConfigurableApplicationContext> nodes = new TreeMap<>();

    @AfterEach
    void end() {
        cell.close();
        assertThat(nodes.values()).noneMatch(ConfigurableApplicationContext::isActive);
    }

    @Test
    void theJobRunsOnOneNodeAndOnAnotherWhenThatOneIsCutOff() {
        start("node-1", "node-2", "node-3");
        cell.grant("job", "node-1");
        assertThat(runsOn()).containsExactly("node-1");
        long token = recorder("node-1").tokens.get(0);

        cell.partition("node-1");
        assertThat(runsOn()).containsExactly("node-1");

        cell.advance(LEASE_TIME);
        assertThat(runsOn()).doesNotContain("node-1");

        cell.advance(LONG_ENOUGH);
        List<String> successor = runsOn();
        assertThat(successor).hasSize(1).isNotEqualTo(List.of("node-1"));
        assertThat(recorder(successor.get(0)).tokens.get(0)).isGreaterThan(token);
        assertThat(cell.leader("job")).hasValue(successor.get(0));

        cell.heal("node-1");
        cell.advance(LONG_ENOUGH);
        assertThat(runsOn()).isEqualTo(successor);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void noPortMatters(CapturedOutput output) {
        nodes.put("node-1", start(cell, "node-1", "--server.port=0"));

        assertThat(output).contains("PaxosLease: node 'node-1'").doesNotContain("server.port=0");
    }

    @Test
    void nobodyLeadsUntilTimeHasPassedAndThenOneNodeDoes() {
        start("node-1", "node-2", "node-3");
        cell.advance(Duration.ZERO);
        assertThat(cell.leader("job")).isEmpty();
        assertThat(runsOn()).isEmpty();

        cell.advance(LONG_ENOUGH);
        assertThat(runsOn()).hasSize(1).containsExactly(cell.leader("job").orElseThrow());
    }

    @Test
    void twoOfThreeNodesAreAMajorityAndOneIsNot() {
        start("node-1", "node-2");
        cell.grant("job", "node-1");

        nodes.get("node-2").close();
        cell.advance(LONG_ENOUGH);
        assertThat(cell.leader("job")).isEmpty();
        assertThatThrownBy(() -> cell.grant("job", "node-1")).hasMessageContaining("majority");

        start("node-2");
        cell.advance(LONG_ENOUGH);
        assertThat(runsOn()).hasSize(1);
    }

    @Test
    void aNodeThatIsClosedHandsOverAndOneThatIsPausedFirstDoesNot() {
        start("node-1", "node-2", "node-3");
        cell.grant("job", "node-1");

        nodes.remove("node-1").close();
        cell.advance(Duration.ofSeconds(1));
        String second = cell.leader("job").orElseThrow();

        start("node-1");
        cell.advance(LONG_ENOUGH);
        assertThat(cell.leader("job")).hasValue(second);
        cell.pause(second);
        nodes.remove(second).close();
        cell.advance(Duration.ofSeconds(1));
        assertThat(cell.leader("job")).isEmpty();

        cell.advance(LONG_ENOUGH);
        assertThat(runsOn()).hasSize(1);
        start(second);
        cell.grant("job", second);
        assertThat(runsOn()).containsExactly(second);
    }

    @Test
    void aPausedNodeNoticesNothingUntilItIsResumed() {
        start("node-1", "node-2", "node-3");
        cell.grant("job", "node-1");

        cell.pause("node-1");
        cell.advance(LONG_ENOUGH);
        assertThat(recorder("node-1").events).doesNotHaveAnyElementsOfTypes(LeaseLostEvent.class);
        assertThat(runsOn()).hasSize(1).isNotEqualTo(List.of("node-1"));

        cell.resume("node-1");
        assertThat(recorder("node-1").events).hasAtLeastOneElementOfType(LeaseLostEvent.class);
    }

    @Test
    void aPausedNodeHasNoVoteMeanwhile() {
        start("node-1", "node-2", "node-3");
        cell.grant("job", "node-1");

        cell.pause("node-2");
        cell.advance(LEASE_TIME);
        assertThat(cell.leader("job")).hasValue("node-1");

        cell.pause("node-3");
        cell.advance(LEASE_TIME);
        assertThat(cell.leader("job")).isEmpty();
    }

    @Test
    void grantMovesTheLeadAndEverybodyHasBeenTold() {
        start("node-1", "node-2");
        cell.grant("job", "node-1");
        assertThat(recorder("node-1").events).hasAtLeastOneElementOfType(LeaseAcquiredEvent.class);

        cell.grant("job", "node-2");
        assertThat(runsOn()).containsExactly("node-2");
        assertThat(recorder("node-1").events).hasAtLeastOneElementOfType(LeaseReleasedEvent.class);
        assertThat(recorder("node-2").events).hasAtLeastOneElementOfType(LeaseAcquiredEvent.class);

        node("node-2").election("job").stop();
        cell.advance(Duration.ofSeconds(1));
        assertThat(cell.leader("job")).hasValue("node-1");
    }

    @Test
    void aNodeThatStoodBackIsACandidateAgainAlsoIfItHadTakenTheLeaseBefore() {
        start("node-1", "node-2");
        cell.advance(LONG_ENOUGH);
        assertThat(node("node-2").tryAcquire("import", LEASE_TIME)).isPresent();
        node("node-2").election("import").start();

        cell.grant("import", "node-1");
        node("node-1").election("import").stop();
        cell.advance(Duration.ofSeconds(1));

        assertThat(cell.leader("import")).hasValue("node-2");
    }

    @Test
    void aNodeThatOnlyTookTheLeaseIsNoCandidateAfterwards() {
        start("node-1", "node-2");
        cell.advance(LONG_ENOUGH);
        node("node-2").election("import");
        assertThat(node("node-2").tryAcquire("import", LEASE_TIME)).isPresent();

        cell.grant("import", "node-1");
        node("node-1").election("import").stop();
        cell.advance(LONG_ENOUGH);

        assertThat(cell.leader("import")).isEmpty();
    }

    @Test
    void grantWaitsForTheEndOfALeaseWhoseOwnerCannotBeReached() {
        start("node-1", "node-2", "node-3");
        cell.grant("job", "node-1");
        cell.partition("node-1");

        cell.grant("job", "node-3");

        assertThat(runsOn()).containsExactly("node-3");
        assertThat(recorder("node-1").events).hasAtLeastOneElementOfType(LeaseLostEvent.class);
    }

    @Test
    void healthIsThatOfTheCellInMemory() {
        start("node-1", "node-2");
        cell.advance(LONG_ENOUGH);
        assertThat(health("node-1")).isEqualTo(Status.UP);

        cell.partition("node-2");
        assertThat(health("node-1")).isEqualTo(Status.DOWN);
        assertThat(health("node-2")).isEqualTo(Status.DOWN);

        nodes.get("node-2").close();
        start("node-2");
        assertThat(health("node-2")).isEqualTo(Status.DOWN);

        cell.heal("node-2");
        assertThat(health("node-1")).isEqualTo(Status.UP);
        start("node-3");
        assertThat(health("node-3")).isEqualTo(Status.OUT_OF_SERVICE);
    }

    @Test
    void healthTellsAPausedNodeFromOneThatIsCutOff() {
        start("node-1", "node-2", "node-3");
        cell.advance(LONG_ENOUGH);

        cell.pause("node-2");
        cell.partition("node-3");

        Map<String, MemberStatus> seen =
                nodes.get("node-1").getBean(CellView.class).members();
        assertThat(seen.get("node-2").problem()).isEqualTo("paused by the test");
        assertThat(seen.get("node-3").problem()).isEqualTo("cut off by the test");
    }

    @Test
    void aContextRunnerMakesANodeToo() {
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .withInitializer(cell.node("node-2"))
                .run(context -> {
                    start("node-1");
                    cell.grant("job", "node-2");
                    context.getBean(Job.class).run();
                    assertThat(context.getBean(Recorder.class).tokens).hasSize(1);
                });
    }

    @Test
    void theMembersOfTheApplicationMustBeThoseOfTheCell() {
        String[] listed = {
            "--paxoslease.members.node-1=http://${NOT_KNOWN_HERE}:1", "--paxoslease.members.node-2=http://10.0.0.2:1"
        };
        assertThatThrownBy(() -> start(cell, "node-1", listed)).hasMessageContaining("[node-1, node-2]");

        try (TestCell pair = TestCell.of("node-2", "node-1");
                ConfigurableApplicationContext first = start(pair, "node-1", listed);
                ConfigurableApplicationContext second = start(pair, "node-2", listed)) {
            pair.grant("job", "node-2");
            first.getBean(Job.class).run();
            second.getBean(Job.class).run();
            assertThat(first.getBean(Recorder.class).tokens).isEmpty();
            assertThat(second.getBean(Recorder.class).tokens).hasSize(1);
        }
    }

    @Test
    void whatCannotBeDoneSaysWhy() {
        assertThatThrownBy(TestCell::of).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> cell.node("node-4")).hasMessageContaining("[node-1, node-2, node-3]");
        assertThatThrownBy(() -> cell.partition("node-4")).hasMessageContaining("'node-4'");
        assertThatThrownBy(() -> cell.grant("job", "node-1")).hasMessageContaining("does not run");
        assertThatThrownBy(() -> cell.pause("node-1")).hasMessageContaining("does not run");
        assertThatThrownBy(() -> cell.advance(Duration.ofSeconds(-1))).hasMessageContaining("backwards");

        start("node-1", "node-2");
        assertThatThrownBy(() -> start(cell, "node-1")).hasMessageContaining("runs already");
        assertThatThrownBy(() -> start(cell, "node-3", "--paxoslease.lease-time=20s"))
                .hasMessageContaining("do not fit");

        cell.partition("node-1");
        assertThatThrownBy(() -> cell.grant("job", "node-1")).hasMessageContaining("heal it first");
        cell.heal("node-1");
        cell.pause("node-1");
        assertThatThrownBy(() -> cell.grant("job", "node-1")).hasMessageContaining("resume it first");
        cell.resume("node-1");

        cell.grant("import", "node-2");
        node("node-2").election("import").stop();
        node("node-2").tryAcquire("import", LEASE_TIME).orElseThrow().autoExtend();
        assertThatThrownBy(() -> cell.grant("import", "node-1")).hasMessageContaining("tryAcquire");
    }

    private void start(String... ids) {
        Stream.of(ids).forEach(id -> nodes.put(id, start(cell, id)));
    }

    private static ConfigurableApplicationContext start(TestCell cell, String id, String... arguments) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .initializers(cell.node(id))
                .properties("spring.main.banner-mode=off")
                .run(arguments);
    }

    /** Calls the job on each node, and says on which of them it ran. */
    private List<String> runsOn() {
        List<String> ran = new ArrayList<>();
        nodes.keySet().forEach(id -> {
            int before = recorder(id).tokens.size();
            nodes.get(id).getBean(Job.class).run();
            if (recorder(id).tokens.size() > before) {
                ran.add(id);
            }
        });
        return ran;
    }

    private Recorder recorder(String id) {
        return nodes.get(id).getBean(Recorder.class);
    }

    private LeaseManager node(String id) {
        return nodes.get(id).getBean(LeaseManager.class);
    }

    private Status health(String id) {
        return nodes.get(id)
                .getBean("paxosleaseHealthIndicator", HealthIndicator.class)
                .health()
                .getStatus();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Job.class, Recorder.class})
    static class Application {}

    static class Job {

        private final Recorder recorder;

        Job(Recorder recorder) {
            this.recorder = recorder;
        }

        @LeaderOnly("job")
        void run() {
            recorder.tokens.add(LeaderOnlyAssert.assertGuarded("job").fencingToken());
        }
    }

    static class Recorder {

        final List<Long> tokens = new ArrayList<>();
        final List<LeaseEvent> events = new CopyOnWriteArrayList<>();

        /** Slow, so that a method that does not wait for it is found out. */
        @EventListener
        void on(LeaseEvent event) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            events.add(event);
        }
    }
}
