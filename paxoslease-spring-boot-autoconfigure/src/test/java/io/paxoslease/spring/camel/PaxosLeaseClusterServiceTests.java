package io.paxoslease.spring.camel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.paxoslease.spring.bounded.LocalCell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.camel.CamelContext;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.cluster.CamelClusterEventListener;
import org.apache.camel.cluster.CamelClusterMember;
import org.apache.camel.cluster.CamelClusterView;
import org.apache.camel.impl.DefaultCamelContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Routes of two Camel applications, written as Camel's documentation of the master component has them. */
class PaxosLeaseClusterServiceTests {

    private static final Duration SOON = LocalCell.leaseTime().multipliedBy(8);

    private LocalCell cell;
    private Application first;
    private Application second;

    @BeforeEach
    void start() throws Exception {
        cell = LocalCell.of(3);
        first = new Application(1);
        second = new Application(2);
    }

    @AfterEach
    void stop() throws Exception {
        first.camel.close();
        second.camel.close();
        cell.close();
    }

    @Test
    void aMasterRouteRunsOnOneNode() {
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 2);

        second.camel.start();
        await().pollDelay(LocalCell.leaseTime()).until(() -> true);

        assertThat(second.polls).hasValue(0);
        assertThat(first.service.isLeader("reports")).isTrue();
        assertThat(second.service.isLeader("reports")).isFalse();
    }

    @Test
    void stoppingTheApplicationHandsTheRouteOver() {
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 0);
        second.camel.start();

        first.camel.stop();

        await().atMost(SOON).until(() -> second.polls.get() > 0);
    }

    @Test
    void aNodeThatIsCutOffStopsItsRouteAndAnotherTakesOver() {
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 0);
        second.camel.start();

        cell.isolate(1);

        await().atMost(SOON).until(() -> second.polls.get() > 0);
        awaitThatItIsStill(first);
    }

    @Test
    void theViewTellsWhoLeads() throws Exception {
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 0);
        CamelClusterView here = first.service.getView("reports");
        CamelClusterView there = second.service.getView("reports");
        List<String> told = new CopyOnWriteArrayList<>();
        there.addEventListener((CamelClusterEventListener.Leadership)
                (view, leader) -> told.add(leader == null ? "nobody" : leader.getId()));
        assertThat(told).as("before the view runs").isEmpty();
        second.camel.start();

        await().atMost(SOON).until(() -> told.contains("n1"));

        assertThat(there.getLeader()).map(CamelClusterMember::getId).contains("n1");
        assertThat(here.getLeader()).map(CamelClusterMember::isLocal).contains(true);
        assertThat(there.getLocalMember().isLeader()).isFalse();
        assertThat(there.getLeader()).map(CamelClusterMember::isLeader).contains(true);
        assertThat(here.getMembers()).map(CamelClusterMember::getId).containsExactly("n1", "n2", "n3");
        List<String> added = new ArrayList<>();
        there.addEventListener(new CamelClusterEventListener.Membership() {
            @Override
            public void memberAdded(CamelClusterView view, CamelClusterMember member) {
                added.add(member.getId() + (member.isLeader() ? " leads" : ""));
            }

            @Override
            public void memberRemoved(CamelClusterView view, CamelClusterMember member) {}
        });
        assertThat(added).containsExactly("n1 leads", "n2", "n3");
    }

    /** Camel's consumers wait for a lock in their listener and hold that lock while they remove it. */
    @Test
    void aListenerIsRemovedWhileAnotherIsTold() throws Exception {
        first.camel.start();
        CamelClusterView view = first.service.getView("reports");
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch removed = new CountDownLatch(1);
        CamelClusterEventListener.Leadership waiting = (which, leader) -> {
            told.countDown();
            awaitEnd(removed);
        };
        Thread adding = new Thread(() -> view.addEventListener(waiting));
        adding.start();
        awaitEnd(told);

        Thread removing = new Thread(() -> view.removeEventListener(waiting));
        removing.start();
        removing.join(SOON.toMillis() / 2);

        boolean done = !removing.isAlive();
        removed.countDown();
        adding.join(SOON.toMillis());
        assertThat(done).isTrue();
    }

    @Test
    void aListenerThatThrowsDoesNotKeepARouteFromStopping() throws Exception {
        AtomicBoolean broken = new AtomicBoolean();
        CamelClusterEventListener.Leadership listener = (which, leader) -> {
            if (broken.get()) {
                throw new NoClassDefFoundError("on purpose");
            }
        };
        first.service.getView("reports").addEventListener(listener);
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 0);
        broken.set(true);

        cell.isolate(1);

        awaitThatItIsStill(first);
    }

    @Test
    void aViewThatIsStoppedHandsItsRouteOverAndGetsItBackLater() throws Exception {
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 0);
        second.camel.start();

        first.service.stopView("reports");

        await().atMost(SOON).until(() -> second.polls.get() > 0);
        awaitThatItIsStill(first);
        second.service.stopView("reports");
        first.service.startView("reports");
        int before = first.polls.get();
        await().atMost(SOON).until(() -> first.polls.get() > before);
        awaitThatItIsStill(second);
    }

    @Test
    void aViewThatIsStoppedDoesNotLeadAlsoIfTheLeaseIsKeptForOthers() throws Exception {
        cell.node(1).need("reports", this);
        first.camel.start();
        await().atMost(SOON).until(() -> first.polls.get() > 0);

        AtomicInteger told = new AtomicInteger();
        first.service.getView("reports").addEventListener((CamelClusterEventListener.Leadership) (view, leader) -> {
            if (leader == null || !leader.isLocal()) {
                told.incrementAndGet();
            }
        });

        first.service.stopView("reports");

        assertThat(first.service.isLeader("reports")).isFalse();
        await("at once and again after two seconds")
                .atMost(Duration.ofSeconds(9))
                .until(() -> told.get() >= 2);
        awaitThatItIsStill(first);
        assertThat(cell.node(1).election("reports").isLeader()).isTrue();
        first.service.startView("reports");
        int before = first.polls.get();
        await().atMost(SOON).until(() -> first.polls.get() > before);
    }

    private static void awaitThatItIsStill(Application application) {
        await().atMost(SOON).until(() -> {
            int before = application.polls.get();
            await().pollDelay(Duration.ofMillis(300)).until(() -> true);
            return application.polls.get() == before;
        });
    }

    /** Camel's master component starts a consumer one second after it was told to. */
    @Test
    void aRouteThatBeganAfterItsLeadershipWasLostIsStopped() throws Exception {
        first.camel.start();
        await().atMost(SOON).pollInterval(Duration.ofMillis(1)).until(() -> first.service.isLeader("reports"));
        // It is told meanwhile, and does not start yet.
        await().pollDelay(Duration.ofMillis(300)).until(() -> true);

        cell.isolate(1);
        cell.node(1).election("reports").resign();

        await().atMost(SOON).until(() -> first.polls.get() > 0);
        assertThat(first.service.isLeader("reports")).isFalse();
        awaitThatItIsStill(first);
    }

    /** Stands for a machine that stands still while it is told the first times. */
    @Test
    void aListenerIsToldAgainLongAfterTheLeadershipWasLost() throws Exception {
        first.camel.start();
        await().atMost(SOON).until(() -> first.service.isLeader("reports"));
        cell.isolate(1);
        long lost = System.nanoTime();
        await().atMost(SOON).until(() -> !first.service.isLeader("reports"));
        AtomicBoolean toldLate = new AtomicBoolean();
        first.service.getView("reports").addEventListener((CamelClusterEventListener.Leadership)
                (view, leader) -> toldLate.compareAndSet(
                        false,
                        System.nanoTime() - lost > TimeUnit.SECONDS.toNanos(9)
                                && (leader == null || !leader.isLocal())));

        await().atMost(SOON).untilTrue(toldLate);
    }

    private static void awaitEnd(CountDownLatch latch) {
        try {
            assertThat(latch.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private final class Application {

        final AtomicInteger polls = new AtomicInteger();
        final PaxosLeaseClusterService service;
        final CamelContext camel = new DefaultCamelContext();

        Application(int node) throws Exception {
            service = new PaxosLeaseClusterService(cell.node(node));
            camel.addService(service);
            camel.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("master:reports:timer:tick?delay=0&period=20").process(exchange -> polls.incrementAndGet());
                }
            });
        }
    }
}
