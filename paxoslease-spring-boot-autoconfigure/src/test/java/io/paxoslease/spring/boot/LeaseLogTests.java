package io.paxoslease.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.paxoslease.LeaderElection;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.Transport;
import io.paxoslease.protocol.Incarnation;
import io.paxoslease.protocol.Now;
import io.paxoslease.protocol.Request;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

class LeaseLogTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(PaxosLeaseAutoConfiguration.class));

    private final Logger logger = (Logger) LoggerFactory.getLogger("io.paxoslease");
    private final Level before = logger.getLevel();
    private final Map<String, Thread> threads = new ConcurrentHashMap<>();
    private volatile CountDownLatch blocks = new CountDownLatch(0);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>() {
        @Override
        protected void append(ILoggingEvent line) {
            if (line.getFormattedMessage().contains("'jobs'")) {
                awaitSafely(blocks);
            }
            super.append(line);
            threads.put(line.getFormattedMessage(), Thread.currentThread());
        }
    };

    private static void awaitSafely(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @BeforeEach
    void listen() {
        lines.start();
        logger.addAppender(lines);
        logger.setLevel(Level.DEBUG);
    }

    @AfterEach
    void restore() {
        logger.detachAppender(lines);
        logger.setLevel(before);
    }

    @Test
    void leadershipIsInformationAndWhatCodeTakesAndGivesBackIsDetail() {
        runner.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            LeaderElection election = node.election("jobs");
            election.start();
            await().until(election::isLeader);
            election.stop();
            node.tryAcquire("lock:1", Duration.ofSeconds(1)).orElseThrow().release();
            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();

            assertThat(levels(" leads 'jobs'")).containsExactly(Level.INFO);
            assertThat(levels(" released 'jobs'")).containsExactly(Level.INFO);
            assertThat(levels(" leads 'lock:1'")).containsExactly(Level.DEBUG);
            assertThat(levels(" released 'lock:1'")).containsExactly(Level.DEBUG);
            assertThat(levels("quarantine")).isEmpty();
        });
    }

    /** As where nobody reads the standard output. A candidate that is not told that it does not lead any more goes on. */
    @Test
    void listenersAreToldWhileTheLogBlocks() {
        CountDownLatch flows = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(2);
        blocks = flows;
        runner.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            node.addListener(transition -> {
                if (transition.kind() != LeaseTransition.Kind.LEADER_CHANGED) {
                    told.countDown();
                }
            });
            try {
                LeaderElection election = node.election("jobs");
                election.start();
                await().until(election::isLeader);
                election.stop();
                assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
                assertThat(levels("'jobs'")).isEmpty();
            } finally {
                flows.countDown();
            }
            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .filteredOn(line -> line.contains(" leads 'jobs'") || line.contains(" released 'jobs'"))
                    .satisfiesExactly(
                            line -> assertThat(line).contains(" leads 'jobs'"),
                            line -> assertThat(line).contains(" released 'jobs'"));
        });
    }

    @Test
    void withoutDetailLeadershipIsToldAllTheSame() {
        logger.setLevel(Level.INFO);
        runner.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            node.election("jobs");
            LeaseLog log = new LeaseLog(node, Runnable::run);
            for (LeaseTransition.Kind kind : LeaseTransition.Kind.values()) {
                log.onTransition(ownTransition(kind, "jobs"));
                log.onTransition(ownTransition(kind, "lock:1"));
            }
            assertThat(levels("'jobs'")).containsExactly(Level.INFO, Level.WARN, Level.WARN, Level.INFO);
            assertThat(levels("'lock:1'")).containsExactly(Level.WARN, Level.WARN);
        });
    }

    /** X6. An acceptor that records a proposal does not know whether a majority does. */
    @Test
    void anotherLeaderIsToldAsAHint() {
        runner.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            node.election("jobs");
            new LeaseLog(node, Runnable::run).onTransition(leaderChanged("jobs", "n2"));

            assertThat(levels("'jobs' is led by n2, as far as is known")).containsExactly(Level.INFO);
        });
    }

    /** As it goes on a node that is cut off from the leader alone: the hint ends with each lease time, and comes back through the others. */
    @Test
    void theSameLeaderIsToldAgainOnlyAfterAnother() {
        runner.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            node.election("jobs");
            LeaseLog log = new LeaseLog(node, Runnable::run);
            for (int i = 0; i < 3; i++) {
                log.onTransition(leaderChanged("jobs", "n2"));
                log.onTransition(leaderChanged("jobs", null));
            }
            assertThat(levels("'jobs' is led by n2")).containsExactly(Level.INFO);

            log.onTransition(leaderChanged("jobs", "n3"));
            log.onTransition(leaderChanged("jobs", "n2"));
            assertThat(levels("'jobs' is led by n2")).hasSize(2);

            log.onTransition(ownTransition(LeaseTransition.Kind.ACQUIRED, "jobs"));
            log.onTransition(leaderChanged("jobs", "n2"));
            assertThat(levels("'jobs' is led by n2")).hasSize(3);

            log.onTransition(leaderChanged("jobs", node.settings().nodeId()));
            assertThat(levels("'jobs' is led by " + node.settings().nodeId())).isEmpty();

            log.onTransition(leaderChanged("lock:1", "n2"));
            log.onTransition(leaderChanged("lock:1", "n2"));
            assertThat(levels("'lock:1' is led by n2"))
                    .as("of names without an election nothing is kept")
                    .containsExactly(Level.DEBUG, Level.DEBUG);
        });
    }

    /** A leader that is cut off tries some seven times in its last lease time, with each of its leases. */
    @Test
    void extensionsInVainAreWarnedOfOnceUntilOneSucceedsOrTheLeaseEnds() {
        runner.run(context -> {
            LeaseLog log = new LeaseLog(context.getBean(LeaseNode.class), Runnable::run);
            for (LeaseTransition.Kind end :
                    List.of(LeaseTransition.Kind.EXTENDED, LeaseTransition.Kind.LOST, LeaseTransition.Kind.RELEASED)) {
                lines.list.clear();
                log.onTransition(ownTransition(LeaseTransition.Kind.EXTENSION_FAILED, "jobs"));
                log.onTransition(ownTransition(LeaseTransition.Kind.EXTENDED, "other"));
                log.onTransition(ownTransition(LeaseTransition.Kind.EXTENSION_FAILED, "jobs"));
                assertThat(levels("could not extend 'jobs'")).containsExactly(Level.WARN, Level.DEBUG);

                log.onTransition(ownTransition(end, "jobs"));
            }
        });
    }

    @Test
    void aLossNamesAllThatEndsALease() {
        runner.run(context -> {
            new LeaseLog(context.getBean(LeaseNode.class), Runnable::run)
                    .onTransition(ownTransition(LeaseTransition.Kind.LOST, "jobs"));
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .anyMatch(line -> line.contains("lost 'jobs', token 7")
                            && line.contains("a pause of this process, a step of its wall clock, or members"));
        });
    }

    /** An application may make names of what its users write, and the id of a node comes from elsewhere. */
    @Test
    void namesForgeNoLines() {
        runner.run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            LeaseLog log = new LeaseLog(node, Runnable::run);
            log.onTransition(leaderChanged("jobs", "n\nERROR b"));
            log.onTransition(new LeaseTransition(
                    LeaseTransition.Kind.EXTENSION_FAILED, "jobs", 7, null, "held by n\nERROR b", Duration.ZERO));
            node.tryAcquire("a\nERROR b", Duration.ofSeconds(1)).orElseThrow().release();
            assertThat(node.awaitTold(Duration.ofSeconds(10))).isTrue();

            assertThat(levels(" leads 'a?ERROR b'")).containsExactly(Level.DEBUG);
            assertThat(lines.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .noneMatch(line -> line.contains("\n"));
        });
    }

    /** n0 of three, with a short quarantine. */
    private ApplicationContextRunner member() {
        return runner.withUserConfiguration(PaxosLeaseAutoConfigurationTests.OwnChannel.class)
                .withPropertyValues(
                        "paxoslease.lease-time=100ms",
                        "paxoslease.node-id=n0",
                        "paxoslease.members.n0=http://localhost:18081",
                        "paxoslease.members.n1=http://localhost:18082",
                        "paxoslease.members.n2=http://localhost:18083");
    }

    @Configuration(proxyBeanMethods = false)
    static class DefectiveTransport {
        @Bean
        @Primary
        Transport defective() {
            return new Transport() {
                @Override
                public void start(Incarnation self, Receiver receiver) {}

                @Override
                public void send(int acceptor, Request request) {
                    throw new IllegalStateException("planted");
                }

                @Override
                public void flush() {}

                @Override
                public void close() {}
            };
        }
    }

    @Test
    void theAcceptorOfANodeThatGaveUpInItsQuarantineIsNotSaidToVote() {
        member().withUserConfiguration(DefectiveTransport.class).run(context -> {
            LeaseNode node = context.getBean(LeaseNode.class);
            node.tryAcquire("job", Duration.ofMillis(50));
            assertThat(node.isFailed()).isTrue();
            await().until(() -> node.quarantineRemainingNanos() == 0);

            context.getBean(PaxosLeaseLifecycle.class).tellEndOfQuarantine();

            assertThat(levels("is over, its acceptor votes")).isEmpty();
        });
    }

    @Test
    void theEndOfQuarantineIsToldByADaemonThreadThatIsNamedAndDoesNotStay() {
        String line = "PaxosLease: the quarantine of node 'n0' is over, its acceptor votes";
        member().run(context -> {
            await().until(() -> threads.containsKey(line));
            Thread thread = threads.get(line);
            assertThat(thread.getName()).isEqualTo("paxoslease-n0-start");
            assertThat(thread.isDaemon()).isTrue();
            await().until(() -> !thread.isAlive());
        });
    }

    /** As where a test stops it. */
    @Test
    void theEndOfQuarantineIsThatByTheNodesOwnClock() {
        String words = "is over, its acceptor votes";
        AtomicReference<Now> now = new AtomicReference<>(new Now(0, System.currentTimeMillis()));
        member().withBean(NodeClock.class, () -> now::get).run(context -> {
            await().during(Duration.ofMillis(300)).until(() -> levels(words).isEmpty());
            now.set(new Now(Duration.ofSeconds(1).toNanos(), System.currentTimeMillis()));
            await().until(() -> levels(words).size() == 1);
        });
    }

    private static LeaseTransition ownTransition(LeaseTransition.Kind kind, String lease) {
        return new LeaseTransition(kind, lease, 7, null, null, Duration.ofMillis(1));
    }

    private static LeaseTransition leaderChanged(String lease, @Nullable String leader) {
        return new LeaseTransition(LeaseTransition.Kind.LEADER_CHANGED, lease, 0, leader, null, Duration.ZERO);
    }

    private List<Level> levels(String words) {
        return List.copyOf(lines.list).stream()
                .filter(line -> line.getFormattedMessage().contains(words))
                .map(ILoggingEvent::getLevel)
                .toList();
    }
}
