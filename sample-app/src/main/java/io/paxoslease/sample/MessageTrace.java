package io.paxoslease.sample;

import io.paxoslease.protocol.Ballot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The last rounds that a node began, message by message, for the demo's picture of them. */
final class MessageTrace {

    private static final int ROUNDS = 6;
    private static final int MESSAGES = 64;

    /**
     * One message between two nodes.
     *
     * @param type {@code prepare}, {@code propose}, {@code release}; {@code promised}, {@code blocked}, {@code accepted}, {@code rejected}; {@code
     *     lost} where no answer came
     * @param from who sent it
     * @param to who received it, or should have
     * @param millis when this node sent it or learned of it, by its wall clock
     */
    record Line(String type, String from, String to, double millis) {}

    /**
     * The messages of one ballot.
     *
     * @param lease the name of the lease
     * @param node who began the round
     * @param counter the counter of the ballot
     * @param lines the messages in the order in which the node saw them
     */
    record Round(String lease, String node, long counter, List<Line> lines) {}

    private final Deque<Round> rounds = new ArrayDeque<>();

    synchronized void add(String lease, Ballot ballot, Line line) {
        Round round = rounds.stream()
                .filter(known ->
                        known.counter() == ballot.counter() && known.lease().equals(lease))
                .findFirst()
                .orElse(null);
        if (round == null) {
            round = new Round(lease, ballot.owner().nodeId(), ballot.counter(), new ArrayList<>());
            rounds.addLast(round);
            if (rounds.size() > ROUNDS) {
                rounds.removeFirst();
            }
        }
        if (round.lines().size() < MESSAGES) {
            round.lines().add(line);
        }
    }

    /** The rounds, the oldest first. */
    synchronized List<Round> rounds() {
        return rounds.stream()
                .map(round -> new Round(round.lease(), round.node(), round.counter(), List.copyOf(round.lines())))
                .toList();
    }
}
