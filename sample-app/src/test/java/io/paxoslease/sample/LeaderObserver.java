package io.paxoslease.sample;

import io.paxoslease.sample.Tenures.Tenure;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import tools.jackson.databind.JsonNode;

/**
 * An observer outside of the cell that asks all nodes all the time who leads. An answer is true at some instant between its question and
 * its arrival; see {@link Tenures} for what follows from many of them.
 */
final class LeaderObserver implements AutoCloseable {

    private final Map<List<Object>, Tenure> tenures = new ConcurrentHashMap<>();
    private final Map<List<Object>, Long> leaseEnds = new ConcurrentHashMap<>();
    private final AtomicLong answers = new AtomicLong();
    private final List<Thread> threads;
    private final long pauseMillis;
    private volatile boolean closed;

    LeaderObserver(Collection<NodeProcess> nodes, Duration pause) {
        pauseMillis = pause.toMillis();
        threads = nodes.stream()
                .map(node -> new Thread(() -> watch(node), "observer-" + node.id()))
                .toList();
        threads.forEach(thread -> thread.setDaemon(true));
        threads.forEach(Thread::start);
    }

    private void watch(NodeProcess node) {
        while (!closed) {
            long askedNanos = System.nanoTime();
            node.lease().ifPresent(view -> note(view, askedNanos, System.nanoTime()));
            try {
                Thread.sleep(pauseMillis);
            } catch (InterruptedException interrupt) {
                return;
            }
        }
    }

    private void note(JsonNode view, long askedNanos, long answeredNanos) {
        answers.incrementAndGet();
        String incarnation = view.path("incarnation").asString("");
        view.path("leases").propertyStream().forEach(entry -> {
            JsonNode lease = entry.getValue();
            if (lease.path("heldHere").asBoolean(false)) {
                long token = lease.path("fencingToken").asLong();
                tenures.merge(
                        List.of(entry.getKey(), token, incarnation),
                        new Tenure(entry.getKey(), token, incarnation, answeredNanos, askedNanos),
                        Tenure::merge);
                leaseEnds.merge(
                        List.of(entry.getKey(), token),
                        askedNanos
                                + Duration.parse(lease.path("remaining").asString("PT0S"))
                                        .toNanos(),
                        Math::max);
            }
        });
    }

    /** How many answers there were. */
    long answers() {
        return answers.get();
    }

    Collection<Tenure> tenures() {
        return tenures.values();
    }

    /** Until when the tenure with a token may have lasted, if it was seen; later if it was extended after the last look. */
    Optional<Long> leaseEndNanos(String lease, long token) {
        return Optional.ofNullable(leaseEnds.get(List.of(lease, token)));
    }

    /** One sentence for each moment at which there were two leaders. */
    List<String> contradictions() {
        return Tenures.contradictions(List.copyOf(tenures.values()));
    }

    @Override
    public void close() {
        closed = true;
        threads.forEach(Thread::interrupt);
    }
}
