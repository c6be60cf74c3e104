package io.paxoslease.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.paxoslease.node.EventQueue;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Cells of nodes whose two roles share one index, with many more resources than rows, under lives that end all the time: rows, slots and numbers of
 * incarnations are used again and again. What comes from other nodes is handled with a reading of the clock that is older than that of what was
 * handled before it, as where a thread waits for the acceptor's lock.
 */
class BusyTablesTests {

    private static final long MILLI = 1_000_000L;
    private static final long MAX_LEASE = 50 * MILLI;
    private static final Timing TIMING = new Timing(MAX_LEASE, 0.05);
    private static final int NODES = 3;
    private static final int RESOURCES = 150;
    private static final int ROWS = 60;
    private static final Cell CELL = new Cell("cell", List.of("n0", "n1", "n2"));

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void noLeaseHasTwoOwnersAndTokensGrow(long seed) {
        Run run = new Run(seed, Set.of());
        assertThat(run.violation(20_000)).as("seed %d", seed).isNull();
        assertThat(run.tenures).isGreaterThan(1_000);
        assertThat(run.extensions).isGreaterThan(1_000);
        assertThat(run.lateReadings).isGreaterThan(1_000);
        assertThat(run.refusals).containsKeys(Acceptor.Refusal.TABLE_FULL, Acceptor.Refusal.QUARANTINED);
    }

    @ParameterizedTest
    @EnumSource(
            value = Mistake.class,
            names = {
                "OVERWRITING",
                "RECORD_SHORTENED",
                "LOWER_BALLOT_SERVED",
                "PROMISE_FORGOTTEN_WITH_IDLE_ENTRY",
                "QUARANTINE_TOO_SHORT"
            })
    void aMistakeShows(Mistake mistake) {
        String found = null;
        for (long seed = 1; seed <= 8 && found == null; seed++) {
            found = new Run(seed, EnumSet.of(mistake)).violation(20_000);
        }
        assertThat(found).isNotNull();
    }

    private static final class Node {
        final String id;
        final double rate;
        final long origin;
        int life;
        Acceptor acceptor;
        Proposer proposer;
        BallotSequence ballots;

        Node(String id, double rate, long origin) {
            this.id = id;
            this.rate = rate;
            this.origin = origin;
        }

        Now now(long trueNanos) {
            return new Now(origin + (long) (trueNanos * rate), 1_790_000_000_000L + trueNanos / MILLI);
        }
    }

    private static final class Run {
        final Set<Mistake> mistakes;
        final Random random;
        final EventQueue queue = new EventQueue();
        final Node[] nodes = new Node[NODES];
        final Map<String, Long> tokens = new HashMap<>();
        final Map<Acceptor.Refusal, Long> refusals = new HashMap<>();
        long nonces;
        long trueNanos;
        long tenures;
        long extensions;
        long lateReadings;
        String violation;

        Run(long seed, Set<Mistake> mistakes) {
            this.mistakes = mistakes;
            this.random = new Random(seed);
            for (int i = 0; i < NODES; i++) {
                long origin = random.nextBoolean() ? Long.MAX_VALUE - random.nextInt(2_000) * MILLI : random.nextLong();
                nodes[i] = new Node("n" + i, 1 + 0.05 * (random.nextInt(3) - 1), origin);
                boot(nodes[i]);
            }
        }

        String violation(long millis) {
            for (Node node : nodes) {
                act(node);
                restart(node);
            }
            while (queue.nextAt() <= millis * MILLI && violation == null) {
                trueNanos = queue.nextAt();
                queue.poll().run();
            }
            return violation;
        }

        private void boot(Node node) {
            Now now = node.now(trueNanos);
            ResourceIndex index = new ResourceIndex(random.nextLong());
            node.life++;
            node.ballots = new BallotSequence(now);
            node.acceptor = mistakes.isEmpty()
                    ? new Acceptor(TIMING, ROWS, now, index)
                    : new WeakAcceptor(mistakes, TIMING, ROWS, now);
            node.acceptor.open(now);
            node.proposer = new Proposer(new Incarnation(node.id, ++nonces), CELL, TIMING, node.ballots, index);
        }

        private void restart(Node node) {
            queue.add(trueNanos + (200 + random.nextInt(800)) * MILLI, () -> {
                node.acceptor.refusals().forEach((reason, count) -> refusals.merge(reason, count, Long::sum));
                boot(node);
                restart(node);
            });
        }

        private void act(Node node) {
            queue.add(trueNanos + random.nextInt((int) (MILLI / 2)), () -> {
                List<Effect> effects = new ArrayList<>();
                Now now = node.now(trueNanos);
                // Some names are wanted by all.
                String name = "r" + (random.nextBoolean() ? random.nextInt(5) : random.nextInt(RESOURCES));
                long lease = random.nextInt(4) == 0 ? Timing.MIN_LEASE_NANOS : MAX_LEASE;
                switch (random.nextInt(8)) {
                    case 0, 1 -> node.proposer.start(name, lease, now, effects);
                    case 2, 3, 4 -> node.proposer.startInOneRoundTrip(name, lease, now, effects);
                    case 5 -> node.proposer.giveUp(name, now, effects);
                    case 6 -> node.proposer.release(name, now, effects);
                    default -> node.acceptor.sweep(50, now);
                }
                perform(node, effects, now);
                act(node);
            });
        }

        private void perform(Node node, List<Effect> effects, Now now) {
            while (!effects.isEmpty()) {
                Effect effect = effects.remove(0);
                if (effect instanceof Effect.Broadcast broadcast) {
                    for (int i = 0; i < NODES; i++) {
                        if (nodes[i] == node) {
                            Response response = handle(node, broadcast.request(), now);
                            if (response != null) {
                                node.proposer.onResponse(i, response, now, effects);
                            }
                        } else {
                            send(node, i, broadcast.request());
                        }
                    }
                } else if (effect instanceof Effect.Acquired acquired) {
                    tenures++;
                    check(node, acquired.tenure());
                    Long before = tokens.put(
                            acquired.tenure().resource(), acquired.tenure().token());
                    if (before != null && before >= acquired.tenure().token()) {
                        violation = "the token fell from " + before + " to " + acquired.tenure();
                    }
                } else if (effect instanceof Effect.Extended extended) {
                    extensions++;
                    check(node, extended.tenure());
                }
            }
        }

        private void check(Node owner, Tenure tenure) {
            for (Node node : nodes) {
                if (node != owner && node.proposer.tenure(tenure.resource(), node.now(trueNanos)) != null) {
                    violation = "two owners: " + tenure + " and " + node.id + " at " + trueNanos;
                }
            }
        }

        private long delay() {
            return random.nextInt(10) == 0 ? random.nextInt((int) (2 * MAX_LEASE)) : random.nextInt((int) MILLI);
        }

        private void send(Node from, int to, Request request) {
            Node acceptor = nodes[to];
            for (int copies = random.nextInt(10) == 0 ? random.nextInt(3) : 1; copies > 0; copies--) {
                queue.add(trueNanos + delay(), () -> {
                    Now read = acceptor.now(trueNanos);
                    int life = acceptor.life;
                    long wait = random.nextInt(5) == 0 ? random.nextInt((int) (2 * MAX_LEASE)) : 0;
                    lateReadings += wait > MILLI ? 1 : 0;
                    queue.add(trueNanos + wait, () -> {
                        Response response = life == acceptor.life ? handle(acceptor, request, read) : null;
                        if (response != null) {
                            answer(from, from.life, to, response);
                        }
                    });
                });
            }
        }

        private void answer(Node node, int life, int acceptor, Response response) {
            queue.add(trueNanos + delay(), () -> {
                if (node.life == life) {
                    List<Effect> effects = new ArrayList<>();
                    Now now = node.now(trueNanos);
                    node.proposer.onResponse(acceptor, response, now, effects);
                    perform(node, effects, now);
                }
            });
        }

        private static Response handle(Node node, Request request, Now now) {
            node.ballots.observe(request.ballot().counter(), now);
            return node.acceptor.onRequest(request, now);
        }
    }
}
