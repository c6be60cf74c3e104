package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.Lease;
import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.LeaseTransition.Kind;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.spring.FullHeap;
import io.paxoslease.spring.LeaseEvent;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.OtherJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.event.EventListener;

/** The heap is full for a moment, to the last byte, while a listener fails: it is told of the end of the lease when there is room again. */
class FullHeapTests {

    /** Not 0, with which a JVM may end as well whose threads have all died. */
    private static final int TOLD = 7;

    /** A process of its own, since everything in it suffers. */
    static final class Node {

        private static final Duration LONG = Duration.ofSeconds(60);

        private static final CountDownLatch MAY_FILL = new CountDownLatch(1);
        private static final CountDownLatch OTHER_TOLD = new CountDownLatch(1);
        private static final CountDownLatch TOLD_OF_END = new CountDownLatch(1);

        public static void main(String... arguments) throws Exception {
            FullHeap.releaseOnceFull();
            if (arguments[0].equals("node")) {
                node();
            } else {
                publisher();
            }
            boolean told = TOLD_OF_END.await(LONG.toSeconds(), TimeUnit.SECONDS);
            Runtime.getRuntime().halt(told ? TOLD : 1);
        }

        /** What comes for a lease whose listener is at work waits for the thread of that listener. */
        private static void node() throws Exception {
            LeaseNode node =
                    new LeaseNode(NodeSettings.standalone("n1", LONG), new NoTransport(), new SplittableRandom(1));
            node.addListener(Node::onTransition);
            node.openAcceptor();
            node.start();
            Lease lease = take(node, "jobs");
            take(node, "other");
            OTHER_TOLD.await();
            MAY_FILL.countDown();
            FullHeap.awaitRoom();
            // Unless the node has given it up meanwhile.
            lease.release();
        }

        private static Lease take(LeaseNode node, String name) {
            return node.tryAcquire(name, LONG).orElseThrow();
        }

        private static void onTransition(LeaseTransition transition) {
            if (transition.leaseName().equals("other")) {
                OTHER_TOLD.countDown();
            } else if (transition.kind() == Kind.ACQUIRED) {
                await(MAY_FILL);
                FullHeap.fill();
            } else {
                TOLD_OF_END.countDown();
            }
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        static final class Listener {

            @EventListener
            void on(LeaseEvent event) {
                if (event instanceof LeaseLostEvent) {
                    TOLD_OF_END.countDown();
                } else {
                    FullHeap.fill();
                }
            }
        }

        private static void publisher() throws Exception {
            AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
            context.register(Listener.class);
            context.registerBean(LeaseEventPublisher.class, () -> new LeaseEventPublisher("source", "n1", context));
            context.refresh();
            LeaseEventPublisher publisher = context.getBean(LeaseEventPublisher.class);
            publisher.onTransition(transition(Kind.ACQUIRED));
            FullHeap.awaitRoom();
            publisher.onTransition(transition(Kind.LOST));
        }

        private static LeaseTransition transition(Kind kind) {
            return new LeaseTransition(kind, "jobs", 5, null, null, Duration.ZERO);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"node", "publisher"})
    void keepsNoEndOfATenureFromAListener(String which, @TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.run(directory, List.of("-XX:+UseSerialGC", "-Xmx24m"), Node.class, which);
        assertThat(end.status()).as(end.output()).isEqualTo(TOLD);
    }
}
