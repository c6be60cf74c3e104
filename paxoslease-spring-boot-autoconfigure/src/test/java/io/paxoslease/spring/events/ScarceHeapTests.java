package io.paxoslease.spring.events;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.LeaseNode;
import io.paxoslease.node.LeaseTransition;
import io.paxoslease.node.LeaseTransition.Kind;
import io.paxoslease.node.NoTransport;
import io.paxoslease.node.NodeClock;
import io.paxoslease.node.NodeSettings;
import io.paxoslease.protocol.Now;
import io.paxoslease.spring.FullHeap;
import io.paxoslease.spring.LeaseLostEvent;
import io.paxoslease.spring.OtherJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** The heap has room for a few objects only while leases end, so that one step after the other fails of what is done about that. */
class ScarceHeapTests {

    private static final int ALL_TOLD = 7;

    /** A process of its own, since everything in it suffers. */
    static final class Node {

        private static final Duration TIME = Duration.ofSeconds(10);
        private static final List<String> NAMES = List.of("a", "b", "c", "d", "e", "f");

        private static long nanos;

        private static final NodeClock CLOCK = new NodeClock() {
            @Override
            public Now now() {
                return new Now(nanos, 1_800_000_000_000L + nanos / 1_000_000);
            }

            @Override
            public boolean isDriven() {
                return true;
            }
        };

        public static void main(String... arguments) throws InterruptedException {
            // What is used for the first time needs more than a few objects.
            boolean all = isEachEndToldOnce(100_000) && isEachEndToldOnce(50_000);
            for (int bytes = 0; bytes < 2_500; bytes += 150) {
                all &= isEachEndToldOnce(bytes);
            }
            Runtime.getRuntime().halt(all ? ALL_TOLD : 1);
        }

        private static boolean isEachEndToldOnce(int bytes) throws InterruptedException {
            List<String> ended = Collections.synchronizedList(new ArrayList<>(100));
            LeaseNode node = new LeaseNode(
                    NodeSettings.standalone("n1", TIME), new NoTransport(), new SplittableRandom(1), CLOCK);
            node.addListener(transition -> note(transition, ended));
            node.openAcceptor();
            node.start();
            boolean all =
                    NAMES.stream().allMatch(name -> node.tryAcquire(name, TIME).isPresent());
            node.awaitTold(TIME);
            nanos += TIME.toNanos();
            FullHeap.leaving(bytes, node::onTime);
            node.onTime();
            node.awaitTold(TIME);
            node.close();
            Collections.sort(ended);
            System.out.println(bytes + " bytes: " + ended);
            return all && ended.equals(NAMES);
        }

        private static void note(LeaseTransition transition, List<String> ended) {
            if (transition.kind() == Kind.LOST) {
                ended.add(transition.leaseName());
            }
        }
    }

    static final class Publisher {

        private static final Duration LONG = Duration.ofSeconds(20);
        private static final AtomicInteger FIRST = new AtomicInteger();
        private static final AtomicInteger SECOND = new AtomicInteger();

        /** Calling one needs no memory, so that it does not fail itself. */
        record Listener(AtomicInteger calls) implements ApplicationListener<LeaseLostEvent> {

            @Override
            public void onApplicationEvent(LeaseLostEvent event) {
                calls.incrementAndGet();
            }
        }

        public static void main(String... arguments) throws InterruptedException {
            AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
            context.addApplicationListener(new Listener(FIRST));
            context.addApplicationListener(new Listener(SECOND));
            context.registerBean(LeaseEventPublisher.class, () -> new LeaseEventPublisher("source", "n1", context));
            context.refresh();
            LeaseEventPublisher publisher = context.getBean(LeaseEventPublisher.class);
            boolean all = isEndToldToBoth(publisher, 1, 100_000) && isEndToldToBoth(publisher, 2, 50_000);
            for (int i = 0; i < 8; i++) {
                all &= isEndToldToBoth(publisher, i + 3, 400 * i);
            }
            Runtime.getRuntime().halt(all ? ALL_TOLD : 1);
        }

        private static boolean isEndToldToBoth(LeaseEventPublisher publisher, long token, int bytes)
                throws InterruptedException {
            publisher.onTransition(transition(Kind.ACQUIRED, token));
            publisher.awaitTold(LONG);
            LeaseTransition lost = transition(Kind.LOST, token);
            FullHeap.leaving(bytes, () -> publisher.onTransition(lost));
            publisher.awaitDelivered(LONG);
            System.out.println(bytes + " bytes: " + FIRST + " and " + SECOND + " of " + token);
            return FIRST.get() == token && SECOND.get() == token;
        }

        private static LeaseTransition transition(Kind kind, long token) {
            return new LeaseTransition(kind, "jobs", token, null, null, Duration.ZERO);
        }
    }

    @Test
    void keepsNoEndOfATenureFromAListenerOfTheNode(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.run(directory, List.of("-XX:+UseSerialGC", "-Xms12m", "-Xmx12m"), Node.class);
        assertThat(end.status()).as(end.output()).isEqualTo(ALL_TOLD);
    }

    @Test
    void keepsNoEndOfATenureFromAListenerOfEvents(@TempDir Path directory) throws Exception {
        OtherJvm.End end = OtherJvm.run(directory, List.of("-XX:+UseSerialGC", "-Xms24m", "-Xmx24m"), Publisher.class);
        assertThat(end.status()).as(end.output()).isEqualTo(ALL_TOLD);
    }
}
